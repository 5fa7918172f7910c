#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "nax/data.hpp"
#include "nax/io/checkpoints.hpp"
#include "nax/io/inflate.hpp"
#include "nax/modules/data/tfrecord.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/training.hpp"
#include "support/text_of.hpp"

namespace logs_test {
using namespace nax;

std::string new_folder(const char* name) {
  const std::string folder = testing::TempDir() + "nax_" + name + std::to_string(::getpid());
  static_cast<void>(std::system(("rm -rf '" + folder + "'").c_str()));
  return folder;
}
std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The fields of a message of protocol buffers: numbers by their bits, others as bytes.
struct Field {
  std::uint64_t number = 0;
  std::string bytes;
  double real() const {
    double x;
    std::memcpy(&x, &number, sizeof x);
    return x;
  }
  float single() const {
    float x;
    std::memcpy(&x, &number, sizeof x);
    return x;
  }
};
std::multimap<int, Field> parsed(const std::string& message) {
  std::multimap<int, Field> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(message.at(at++));
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.size()) {
    const std::uint64_t tag = varint();
    Field field;
    const unsigned wire = tag & 7;
    if (wire == 0) {
      field.number = varint();
    } else {
      const std::size_t size = wire == 2 ? varint() : wire == 1 ? 8 : 4;
      field.bytes = message.substr(at, size);
      at += size;
      if (wire != 2) std::memcpy(&field.number, field.bytes.data(), size);
    }
    fields.emplace(static_cast<int>(tag >> 3), field);
  }
  return fields;
}
const Field& one(const std::multimap<int, Field>& fields, int number) {
  EXPECT_EQ(fields.count(number), 1u) << number;
  return fields.find(number)->second;
}

struct Evals {
  Array<float> loss;
  std::vector<Array<float>> layers;
};
void write_events(training::TensorBoard& board) {
  for (int step = 0; step < 3; ++step) board.scalar("loss", 1.0 / (1 << step), step * 1000);
  board.scalar("accuracy", Array<float>(0.75f), 3000000000);
  board.tree("eval", Evals{Array<float>(2.f), {Array<float>{-1, 0, 0.5, 1e30, std::nanf("")}}}, 7);
  board.text("note", "**bold** \"text\"", 5);
  board.image("grey", Array<float>{{0, 0.5, 1}, {2, -1, 0.25}}, 6);
  board.image("colours", zeros<std::uint8_t>({4, 5, 3}), 6);
}

TEST(TensorBoard, EventsAreRecordsOfProtocolBuffers) {
  const std::string folder = new_folder("events");
  training::TensorBoard board(folder + "/run/1", {.suffix = ".v2"});
  EXPECT_NE(board.path().find("/run/1/events.out.tfevents."), std::string::npos);
  EXPECT_EQ(board.path().substr(board.path().size() - 3), ".v2");
  write_events(board);
  board.flush();
  std::vector<std::string> events;
  // Its reader checks both checksums of each record.
  for (const io::Bytes& record : data::from_tfrecord(board.path()))
    events.emplace_back(record.begin(), record.end());
  ASSERT_EQ(events.size(), 10u);
  EXPECT_EQ(one(parsed(events[0]), 3).bytes, "brain.Event:2");
  EXPECT_GT(one(parsed(events[0]), 1).real(), 1.6e9);
  const auto value = [&](std::size_t i) {
    return parsed(one(parsed(one(parsed(events[i]), 5).bytes), 1).bytes);
  };
  EXPECT_EQ(one(parsed(events[3]), 2).number, 2000u);
  EXPECT_EQ(one(value(3), 1).bytes, "loss");
  EXPECT_EQ(one(value(3), 2).single(), 0.25f);
  EXPECT_EQ(one(parsed(events[4]), 2).number, 3000000000u);
  EXPECT_EQ(one(value(5), 1).bytes, "eval/loss");
  EXPECT_EQ(one(value(6), 1).bytes, "eval/layers/0");
  const auto histogram = parsed(one(value(6), 5).bytes);
  EXPECT_EQ(one(histogram, 1).real(), -1);
  EXPECT_EQ(one(histogram, 2).real(), static_cast<double>(1e30f));
  EXPECT_EQ(one(histogram, 3).real(), 4);
  std::vector<double> limits, counts;
  for (const auto& [number, to] : {std::pair(6, &limits), std::pair(7, &counts)}) {
    const std::string& bytes = one(histogram, number).bytes;
    to->resize(bytes.size() / 8);
    std::memcpy(to->data(), bytes.data(), bytes.size());
  }
  ASSERT_EQ(limits.size(), counts.size());
  EXPECT_TRUE(std::is_sorted(limits.begin(), limits.end()));
  double all = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    all += counts[i];
    for (const double x : {-1.0, 0.0, 0.5}) {  // each is in a bucket that counts
      if (x < limits[i] && (i == 0 || x >= limits[i - 1])) {
        EXPECT_GT(counts[i], 0) << x;
      }
    }
  }
  EXPECT_EQ(all, 4);

  const std::string png = one(parsed(one(value(8), 4).bytes), 4).bytes;
  // Rows of grey, each behind a filter of 0, as zlib packs them.
  const std::size_t data = png.find("IDAT") + 4;
  const io::Bytes packed(png.begin() + static_cast<std::ptrdiff_t>(data), png.end());
  const io::detail::Source source("png", "image", packed);
  io::detail::Inflate inflate(source, 2, packed.size(), "");
  std::uint8_t rows[8];
  EXPECT_EQ(inflate.read(rows, 8), 8u);
  EXPECT_EQ(std::vector<int>(rows, rows + 8), (std::vector<int>{0, 0, 128, 255, 0, 255, 0, 64}));
  EXPECT_NE(text_of<ShapeError>([&] {
              board.image("x", zeros({3, 4, 2}), 0);
            }).find("shape (3, 4, 2)"),
            std::string::npos);
  EXPECT_NE(text_of<IoError>([&] { training::TensorBoard("/proc/no"); }).find("cannot be opened"),
            std::string::npos);
}

// TensorBoard itself, where Python has it.
TEST(TensorBoard, ReadsThem) {
  const char* asked = std::getenv("NAX_PEERS_PYTHON");
  const std::string python = asked ? asked : "python3";
  if (std::system((python + " -c 'import tensorboard' 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << python << " has no tensorboard";
  const std::string folder = new_folder("tensorboard");
  {
    training::TensorBoard board(folder);
    write_events(board);
  }
  std::string printed;
  FILE* pipe = ::popen(
      (python + " " NAX_GOLDENS_DIR "/../training/read_events.py " + folder + " 2> /dev/null").c_str(), "r");
  for (int c; (c = std::fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(printed,
            "scalar loss 0:1 1000:0.5 2000:0.25\n"
            "scalar accuracy 3000000000:0.75\n"
            "scalar eval/loss 7:2\n"
            "histogram eval/layers/0 7 -1 1e+30 4 1e+30 4.0 True\n"
            "image grey 6 3 2 3 2\n"
            "image colours 6 5 4 5 4\n"
            "text note 5 **bold** \"text\"\n");
}

TEST(JsonLines, AppendsObjects) {
  const std::string path = new_folder("log") + ".jsonl";
  {
    training::JsonLines log(path);
    log.write({{"step", 1}, {"loss", 0.1}, {"ok", true}, {"name", "a \"b\"\n\\"}});
    log.write({{"x", Array<float>(1.5f)}, {"n", Array<int>(7)}, {"bad", std::nan("")}, {"big", 1e300}});
    EXPECT_EQ(text_of_file(path).size(), 111u);  // written at once
  }
  training::JsonLines(path).write({});
  EXPECT_EQ(text_of_file(path),
            "{\"step\": 1, \"loss\": 0.1, \"ok\": true, \"name\": \"a \\\"b\\\"\\u000a\\\\\"}\n"
            "{\"x\": 1.5, \"n\": 7, \"bad\": null, \"big\": 1e+300}\n{}\n");
  std::remove(path.c_str());
  EXPECT_NE(text_of<IoError>([&] {
              training::JsonLines("/dev/full").write({});
            }).find("'/dev/full' cannot be written"),
            std::string::npos);
}

TEST(JsonLines, WritesWholeIntegersAndUtf8) {
  const std::string path = new_folder("whole") + ".jsonl";
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  training::JsonLines(path).write({{"a", most},
                                   {"b", Array<std::uint64_t>(most)},
                                   {"c", std::numeric_limits<std::int64_t>::min()},
                                   {"d", Array<std::int64_t>((std::int64_t{1} << 53) + 1)},
                                   {"e", Array<bool>(true)},
                                   {"f", half(0.5f)},
                                   {"g", std::uint8_t{200}}});
  training::JsonLines(path).write(
      {{"\xc3\xa4\xff", "\xe2\x82\xac \xe2\x82 \x80\xc0\xaf"}, {"n", std::string("a\0b", 3)}});
  EXPECT_EQ(text_of_file(path),
            "{\"a\": 18446744073709551615, \"b\": 18446744073709551615, \"c\": -9223372036854775808, "
            "\"d\": 9007199254740993, \"e\": true, \"f\": 0.5, \"g\": 200}\n"
            "{\"\xc3\xa4\xef\xbf\xbd\": \"\xe2\x82\xac \xef\xbf\xbd\xef\xbf\xbd "
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\", \"n\": \"a\\u0000b\"}\n");
  std::remove(path.c_str());
}

TEST(EarlyStopping, AFirstNanCountsOnce) {
  const double nan = std::nan("");
  auto stopping = training::EarlyStopping::make({.patience = 2});
  EXPECT_FALSE(stopping.improved());
  for (int i = 0; i < 2; ++i) {
    stopping = stopping.update(nan);
    EXPECT_FALSE(stopping.improved());
    EXPECT_FALSE(stopping.should_stop()) << i;
  }
  EXPECT_TRUE(stopping.update(nan).should_stop());
  EXPECT_TRUE(stopping.update(1.0).improved());
}

// A folder that cannot be made says why, not that it is not there.
TEST(TensorBoard, FoldersThatCannotBeMadeSayWhy) {
  std::ifstream mounts("/proc/mounts");
  std::string read_only;  // where there is one
  for (std::string device, path, type, options, line; std::getline(mounts, line);) {
    std::istringstream(line) >> device >> path >> type >> options;
    if (options == "ro" || options.rfind("ro,", 0) == 0) read_only = path;
  }
  const auto expect_says = [](const std::string& folder, const std::string& why) {
    for (const std::string& text : {text_of<IoError>([&] { training::TensorBoard board(folder); }),
                                    text_of<IoError>([&] { io::Checkpoints saved(folder); }),
                                    text_of<IoError>([&] { data::range(3).cache(folder).iterator(); })})
      EXPECT_EQ(text.substr(text.size() - std::min(text.size(), why.size())), why) << text;
  };
  if (!read_only.empty()) expect_says(read_only + "/nax/a", "Read-only file system");
  const std::string file = new_folder("file");
  std::ofstream(file) << "x";
  expect_says(file + "/a/b", "Not a directory");
  std::remove(file.c_str());
}

TEST(EarlyStopping, WaitsAndStops) {
  auto stopping = training::EarlyStopping::make({.patience = 2, .min_delta = 0.1});
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_FALSE(stopping.improved());
  stopping = stopping.update(1.0);
  EXPECT_TRUE(stopping.improved());
  stopping = stopping.update(Array<float>(0.95f));  // by too little
  EXPECT_FALSE(stopping.improved());
  stopping = stopping.update(std::nan(""));
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_TRUE(stopping.update(0.5f).improved());
  stopping = stopping.update(1);
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.best.item(), 1.0);
  const auto largest =
      training::EarlyStopping::make({.patience = 0, .maximize = true}).update(0.5).update(0.6);
  EXPECT_TRUE(largest.improved());
  EXPECT_TRUE(largest.update(0.6).should_stop());
}

TEST(Progress, TellsRateAndTimeLeft) {
  double now = 100;
  std::ostringstream out;
  const training::ProgressOptions options{
      .unit = "images", .out = &out, .always = true, .seconds = 1, .now = [&] { return now; }};
  {
    training::Progress progress(4000, options);
    progress.step(100, "loss 2");
    EXPECT_EQ(out.str(), "");  // no time has passed
    now += 2;
    progress.step(300, "loss 1.25");
    EXPECT_EQ(out.str(), "\r400/4000 10% 200 images/s, 0:18 left, loss 1.25");
    now += 10;
    progress.step(1000, "x");  // 100 in a second
    EXPECT_NEAR(progress.rate(), 200 - 100 * (1 - std::exp(-1)), 1e-9);
    now += 100;
    progress.step(2600);
  }
  const std::string text = out.str();
  EXPECT_EQ(text.substr(text.rfind('\r')), "\r4000/4000 100% 35.7 images/s, 1:52 in all\n");
  out.str("");
  {
    auto quiet = options;
    quiet.always = false;
    training::Progress progress(0, quiet);
    now += 10;
    progress.step(5);
    EXPECT_EQ(progress.line(), "5 0.5 images/s, 0:10 in all");
  }
  if (::isatty(STDERR_FILENO) != 1) {
    EXPECT_EQ(out.str(), "");
  }
  EXPECT_EQ(training::detail::duration_text(3 * 86400 + 3601), "3d 01:00:01");
}

}  // namespace logs_test
