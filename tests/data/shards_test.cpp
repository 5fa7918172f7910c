// Files that hold many examples: TFRecord, tf.train.Example, tar.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "data/elements.hpp"
#include "data/files.hpp"
#include "nax/modules/data/crc32c.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

namespace shards_test {
using namespace nax;
using io::Bytes;
using nax::testing::all_of;
using nax::testing::bytes_of;
using nax::testing::expect_error;
using nax::testing::file;
using nax::testing::golden;
using nax::testing::rest_of;

Bytes bytes(const std::string& text) { return Bytes(text.begin(), text.end()); }

void append_record(Bytes& to, const std::string& data) {
  const auto number = [&](std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  const std::size_t head = to.size();
  number(data.size(), 8);
  number(data::detail::masked_crc32c(to.data() + head, 8), 4);
  to.insert(to.end(), data.begin(), data.end());
  number(data::detail::masked_crc32c(data.data(), data.size()), 4);
}
Bytes records(int first, int last) {
  Bytes all;
  for (int i = first; i < last; ++i) append_record(all, std::string(static_cast<std::size_t>(i), 'x'));
  return all;
}
std::int64_t length(const Bytes& record) { return static_cast<std::int64_t>(record.size()); }

TEST(DataCrc32c, KnownSums) {
  EXPECT_EQ(data::detail::crc32c("", 0), 0u);
  EXPECT_EQ(data::detail::crc32c("123456789", 9), 0xe3069283u);
  EXPECT_EQ(data::detail::crc32c_by_tables("123456789", 9), 0xe3069283u);
  // By the instruction, in three streams, as by tables.
  std::vector<unsigned char> noise(10'000);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = static_cast<unsigned char>(i * i * 2654435761u >> 13);
  for (const std::size_t size : {1, 7, 8, 9, 3071, 3072, 3073, 3080, 6144, 9999})
    for (const std::size_t begin : {std::size_t{0}, std::size_t{1}})
      EXPECT_EQ(data::detail::crc32c(noise.data() + begin, size),
                data::detail::crc32c_by_tables(noise.data() + begin, size))
          << size;
  const Bytes zeros(32), ones(32, 0xff);
  EXPECT_EQ(data::detail::crc32c(zeros.data(), 32), 0x8a9136aau);  // RFC 3720
  EXPECT_EQ(data::detail::crc32c(ones.data(), 32), 0x62a8ab43u);
}

TEST(DataTfrecord, GoldenExamples) {
  const auto all = data::from_tfrecord(golden("examples.tfrecord")).map(data::parse_example);
  EXPECT_EQ(all.size(), 4);
  std::vector<data::Example> e;
  for (const data::Example& example : all) e.push_back(example);
  ASSERT_EQ(e.size(), 4u);
  EXPECT_EQ(e[0].bytes("image").size(), 256u);
  EXPECT_EQ(e[0].bytes("image")[255], 255);
  EXPECT_EQ(e[0].int64("label"), 7);
  EXPECT_EQ(e[0].float_list("box").to_vector(), (std::vector<float>{0, .25f, -1.5f, 3.0e38f}));
  EXPECT_EQ(e[1].text("image"), "");
  EXPECT_EQ(e[1].int64("label"), -1);
  EXPECT_EQ(e[1].bytes_list("names"), (std::vector<Bytes>{bytes("one"), {}, bytes("three")}));
  EXPECT_EQ(e[1].int64_list("ids").to_vector(),
            (std::vector<std::int64_t>{0, 127, 128, INT64_MAX, INT64_MIN}));
  EXPECT_EQ(e[2].int64("label"), std::int64_t{1} << 40);  // not packed
  EXPECT_EQ(e[2].float_list("box").to_vector(), (std::vector<float>{1, 2}));
  EXPECT_TRUE(e[3].features.empty());
}

TEST(DataTfrecord, MissingFieldsAreErrors) {
  const data::Example e =
      *data::from_tfrecord(golden("examples.tfrecord")).map(data::parse_example).iterator().next();
  expect_error<ValueError>("there is no feature 'x', only 'box', 'image', 'label'", [&] { e["x"]; });
  expect_error<ValueError>("feature 'box' has a float_list, not an int64_list", [&] { e.int64("box"); });
  expect_error<ValueError>("feature 'box' has 4 values, not one", [&] { e.float32("box"); });
  const auto labels = data::from_tfrecord(golden("examples.tfrecord")).map([](const Bytes& record) {
    return data::parse_example(record).int64("label");
  });
  expect_error<ValueError>(
      "examples.tfrecord' at offset 531: Example: there is no feature 'label', only none",
      [&] { all_of(labels); });
}

TEST(DataTfrecord, IndexedStreamedAndFromMemory) {
  const std::string a = file("a", records(0, 5)), b = file("b", {}), c = file("c", records(5, 12));
  const std::vector<std::string> paths{a, b, c};
  const auto indexed = data::from_tfrecord(paths).map(length);
  const auto streamed = data::from_tfrecord(paths, {.index = false}).map(length, {.threads = 2});
  std::vector<std::int64_t> expected;
  for (int i = 0; i < 12; ++i) expected.push_back(i);
  EXPECT_EQ(all_of(indexed), expected);
  EXPECT_EQ(all_of(streamed), expected);
  EXPECT_EQ(all_of(data::from_tfrecord(records(0, 12), "twelve").map(length, {.threads = 3})), expected);
  EXPECT_EQ(indexed.size(), 12);
  EXPECT_EQ(streamed.size(), std::nullopt);
  auto mixed = all_of(indexed.shuffle({.key = random::key(3)}));
  EXPECT_NE(mixed, expected);
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(mixed, expected);
  for (const auto& dataset : {indexed, streamed}) {
    auto it = dataset.iterator();
    for (int i = 0; i < 7; ++i) it.next();
    EXPECT_EQ(rest_of(dataset.iterator(it.state())), (std::vector<std::int64_t>{7, 8, 9, 10, 11}));
    EXPECT_EQ(all_of(dataset.skip(3).take(2)), (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(all_of(dataset.shard(1, 4)), (std::vector<std::int64_t>{1, 5, 9}));
  }
  EXPECT_EQ(data::from_tfrecord(std::vector<std::string>{}).size(), 0);
  // A position of other files is of another pipeline.
  auto it = indexed.iterator();
  it.next();
  EXPECT_THROW(data::from_tfrecord({a, c}).map(length).iterator(it.state()), ValueError);
}

TEST(DataTfrecord, MoreFilesThanMayBeOpen) {
  std::vector<std::string> paths;
  for (int i = 0; i < 150; ++i) paths.push_back(file("many", records(3, 5)));
  const auto n = data::from_tfrecord(paths).map(length, {.threads = 2});
  EXPECT_EQ(n.size(), 300);
  std::int64_t sum = 0;
  for (const std::int64_t i : n) sum += i;
  EXPECT_EQ(sum, 150 * 7);
}

TEST(DataTfrecord, DamageHasAPlace) {
  const Bytes good = records(100, 103);  // at 0, 116, 233
  const auto with = [&](std::size_t at) {
    Bytes bad = good;
    bad[at] ^= 4;
    return bad;
  };
  for (const bool index : {true, false}) {
    const auto read = [&](const Bytes& content, bool verify = true) {
      return [path = file("bad", content), index, verify] {
        all_of(data::from_tfrecord(path, {.index = index, .verify = verify}).map(length));
      };
    };
    expect_error<IoError>("is no TFRecord file: the length of a record has the wrong checksum, at offset 0",
                          read(with(1)));
    expect_error<IoError>("is damaged: the length of a record has the wrong checksum, at offset 116",
                          read(with(116)));
    expect_error<IoError>("is damaged: a record has the wrong checksum, at offset 116", read(with(140)));
    EXPECT_NO_THROW(read(with(140), false)());
    for (std::size_t size = 0; size < good.size(); ++size) {
      const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      if (size == 0 || size == 116 || size == 233)
        EXPECT_NO_THROW(read(cut)());
      else
        expect_error<IoError>(std::string("at offset ") + (size < 116   ? "0"
                                                           : size < 233 ? "116"
                                                                        : "233"),
                              read(cut));
    }
    expect_error<IoError>("cannot be opened",
                          [&] { all_of(data::from_tfrecord("/no/such", {.index = index}).map(length)); });
  }
  expect_error<IoError>("needs nax::storage", [] { all_of(data::from_tfrecord("s3://b/k").map(length)); });
}

TEST(DataExample, RefusesInvalidExamples) {
  const auto parse = [](const Bytes& b) { return [b] { data::parse_example(b); }; };
  EXPECT_NO_THROW(parse({})());
  EXPECT_NO_THROW(parse({0x10, 5, 0x19, 0, 0, 0, 0, 0, 0, 0, 0, 0x25, 0, 0, 0, 0})());  // unknown fields
  expect_error<IoError>("longer than what it lies in at offset 2", parse({0x0a, 5, 1}));
  expect_error<IoError>("at offset 10", parse(Bytes(11, 0x88)));
  expect_error<IoError>("unknown kind at offset 1", parse({0x0b}));
  expect_error<IoError>("an impossible field at offset 1", parse({0x02, 0}));
  // The offset counts from the beginning of the record, however deep it lies: floats of three bytes.
  expect_error<IoError>("ends within one at offset 13",
                        parse({0x0a, 14, 0x0a, 12, 0x0a, 1, 'x', 0x12, 7, 0x12, 5, 0x0a, 3, 1, 2, 3}));
  // The last of two lists counts, and lists of one kind are one.
  const data::Example e =
      data::parse_example({0x0a, 22,   0x0a, 20, 0x0a, 1, 'x',  0x12, 15,   0x12, 0,    0x1a,
                           3,    0x0a, 1,    5,  0x1a, 2, 0x08, 6,    0x1a, 2,    0x10, 9});
  EXPECT_EQ(e.int64_list("x").to_vector(), (std::vector<std::int64_t>{5, 6}));
}

TEST(DataTar, GoldenSamples) {
  for (const char* form : {"ustar", "pax", "gnu"}) {
    SCOPED_TRACE(form);
    const std::string path = golden("samples_") + form + ".tar";
    for (const bool index : {true, false}) {
      std::vector<data::Sample> s;
      for (const data::Sample& sample : data::from_tar(path, {.index = index})) s.push_back(sample);
      const bool longer = std::string(form) != "ustar";
      ASSERT_EQ(s.size(), longer ? 5u : 4u);
      EXPECT_EQ(s[0].key, "folder/one");
      EXPECT_EQ(s[0].files.size(), 3u);
      EXPECT_EQ(s[0]["jpg"], bytes("\xff\xd8 one"));
      EXPECT_EQ(s[0].text("cls"), "3");
      EXPECT_EQ(s[0].text("seg.png"), "mask");
      EXPECT_EQ(s[1].key, "two");
      EXPECT_EQ(s[1]["jpg"], Bytes(512));
      EXPECT_EQ(s[2].text("cls"), "");
      std::string deep;
      for (int i = 0; i < 30; ++i) deep += "a/";
      EXPECT_EQ(s[3].key, deep + std::string(90, 'n'));
      EXPECT_EQ(s[3].text("cls"), "deep");
      if (longer) {
        EXPECT_EQ(s[4].key, "long/" + std::string(130, 'x') + ".with.dots/three");
        EXPECT_EQ(s[4].text("txt"), "far");
      }
      expect_error<ValueError>("'two' has no member 'png', only 'cls', 'jpg'", [&] { s[1]["png"]; });
    }
    EXPECT_EQ(data::from_tar(path).size(), data::from_tar(bytes_of(path), "memory").size());
  }
}

TEST(DataTar, Pipeline) {
  const std::string path = golden("samples_gnu.tar");
  const auto labels = data::from_tar({path, path})
                          .filter([](const data::Sample& s) { return s.files.contains("jpg"); })
                          .map([](const data::Sample& s) {
                            return std::pair{std::stoll(s.text("cls")), length(s["jpg"])};
                          });
  std::string seen;
  for (const auto& [label, size] : labels) seen += std::to_string(label) + ":" + std::to_string(size) + " ";
  EXPECT_EQ(seen, "3:6 -1:512 3:6 -1:512 ");
  const auto needs = data::from_tar(path).map([](const data::Sample& s) { return length(s["jpg"]); });
  expect_error<ValueError>("samples_gnu.tar' at offset 7168: Sample: 'empty' has no member 'jpg', only 'cls'",
                           [&] { all_of(needs); });
}

// A ustar header that is right but for what `change` does to it.
Bytes member(const std::string& name, const std::string& content, const auto& change) {
  Bytes header(512);
  std::copy(name.begin(), name.end(), header.begin());
  const std::string size = (std::ostringstream() << std::oct << content.size()).str();
  std::copy(size.begin(), size.end(), header.begin() + 124);
  const std::string magic = "ustar";
  std::copy(magic.begin(), magic.end(), header.begin() + 257);
  header[156] = '0';
  change(header);
  std::fill_n(header.begin() + 148, 8, ' ');
  unsigned sum = 0;
  for (const std::uint8_t b : header) sum += b;
  const std::string text = (std::ostringstream() << std::oct << sum).str();
  std::copy(text.begin(), text.end(), header.begin() + 148);
  header.insert(header.end(), content.begin(), content.end());
  header.resize((header.size() + 511) / 512 * 512);
  return header;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(DataTar, DamageHasAPlace) {
  const auto as_is = [](Bytes&) {};
  const Bytes end(1024), a = member("a.x", "1", as_is), b = member("b.x", "2", as_is);
  const auto read = [](const Bytes& content) {
    return [content] {
      std::vector<std::string> keys;
      for (const data::Sample& s : data::from_tar(content, "bad.tar")) keys.push_back(s.key);
      return keys;
    };
  };
  EXPECT_EQ(read(a + b + end)(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read(end)(), std::vector<std::string>{});
  expect_error<IoError>("without the block of zeros that ends an archive, at offset 2048", read(a + b));
  expect_error<IoError>("at offset 0", read({}));
  Bytes bad = a + b + end;
  bad[1024] ^= 1;
  expect_error<IoError>("is damaged: the header of a member has the wrong checksum, at offset 1024",
                        read(bad));
  expect_error<IoError>("is no tar archive, or a compressed one", read(bytes(std::string(600, 'x'))));
  for (std::size_t size = 0; size < 2049; ++size) {
    const Bytes cut(bad.begin(), bad.begin() + static_cast<std::ptrdiff_t>(size));
    expect_error<IoError>("at offset ", read(cut));
  }
  const auto changed = [&](const auto& change) { return read(a + member("b.x", "2", change) + end); };
  expect_error<IoError>("it ends in the member 'b.x' of 68719476735 bytes, at offset 1024",
                        changed([](Bytes& h) { std::fill_n(h.begin() + 124, 12, '7'); }));
  expect_error<IoError>("an impossible size, at offset 1024", changed([](Bytes& h) { h[124] = 'x'; }));
  expect_error<IoError>("an impossible size",
                        changed([](Bytes& h) { std::fill_n(h.begin() + 124, 12, 0xff); }));
  expect_error<IoError>("of 9223372036854775807 bytes", changed([](Bytes& h) {
                          h[124] = 0x80, std::fill_n(h.begin() + 125, 11, 0);
                          std::fill_n(h.begin() + 129, 7, 0xff), h[128] = 0x7f;
                        }));
  EXPECT_EQ(changed([](Bytes& h) { h[124] = 0x80, std::fill_n(h.begin() + 125, 11, 0), h[135] = 1; })(),
            (std::vector<std::string>{"a", "b"}));
  expect_error<IoError>("a sparse member", changed([](Bytes& h) { h[156] = 'S'; }));
  expect_error<IoError>("two members 'x' in the sample 'a', at offset 1024", read(a + a + end));
  const auto pax = [&](const std::string& text) {
    return read(member("p", text, [](Bytes& h) { h[156] = 'x'; }) + a + end);
  };
  EXPECT_EQ(pax("16 path=q/c.txt\n11 mtime=1\n")(), (std::vector<std::string>{"q/c"}));
  for (const char* text :
       {"99 path=x\n", "path=x\n", "9 path=x", "5 ab\n", "3 \n", "10 size=1x\n", "0 a=b\n"})
    expect_error<IoError>("has a pax header that is damaged", pax(text));
  expect_error<IoError>("a sparse member", pax("22 GNU.sparse.major=1\n"));
}

}  // namespace shards_test
