#include "nax/io/checkpoints.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "files.hpp"
#include "nax/io/numpy_files.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "nax/optim.hpp"
#include "nax/random.hpp"
#include "nax/transform/grad.hpp"

namespace checkpoints_test {
using namespace nax;
using files::expect_refused;
using Steps = std::vector<std::int64_t>;

// A unique folder that does not exist at first.
struct CheckpointsTest : testing::Test {
  ~CheckpointsTest() override { std::filesystem::remove_all(root); }
  std::string at(const std::string& name) const { return folder + "/" + name; }
  std::string root = files::path_of("checkpoints"), folder = root + "/runs/a";
};

struct Layer {
  Array<float> w, b;
};

TEST_F(CheckpointsTest, RestoresTheLastStep) {
  io::Checkpoints saved(folder);
  Layer layer{{{1, 2}}, {3}};
  EXPECT_EQ(saved.restore(layer), std::nullopt);
  EXPECT_EQ(layer.b.item(), 3);
  EXPECT_TRUE(saved.save(1, layer));
  EXPECT_TRUE(saved.save(10, Layer{{{4, 5}}, {6}}));
  EXPECT_TRUE(saved.save(10, Layer{{{7, 8}}, {9}}));  // again: replaced
  EXPECT_EQ(saved.steps(), (Steps{1, 10}));
  Layer back;
  EXPECT_EQ(saved.restore(back), 10);
  EXPECT_EQ(back.w.to_vector(), (std::vector<float>{7, 8}));
  EXPECT_EQ(saved.restore(back, 1), 1);
  EXPECT_EQ(back.w.to_vector(), (std::vector<float>{1, 2}));
  // Files of NumPy's.
  NpzFile file(at("step_10.npz"));
  EXPECT_EQ(file.files(), (std::vector<std::string>{"metric", "state.b", "state.w", "step"}));
  EXPECT_EQ(file.get<std::int64_t>("step").item(), 10);
}

TEST_F(CheckpointsTest, KeepsTheLastAndTheBest) {
  io::Checkpoints saved(folder, {.keep = 2, .every = 10, .best = io::Best::lowest});
  const double metrics[] = {5, 1, 3, std::numeric_limits<double>::quiet_NaN(), 2, 4};
  for (int step = 0; step < 60; ++step)
    EXPECT_EQ(saved.save(step, Array<int>(step), {.metric = metrics[step / 10]}), step % 10 == 0);
  EXPECT_EQ(saved.steps(), (Steps{10, 40, 50}));
  Array<int> x;
  EXPECT_EQ(saved.restore_best(x), 10);
  EXPECT_EQ(x.item(), 10);
  EXPECT_EQ(saved.restore(x), 50);
  io::Checkpoints highest(folder, {.best = io::Best::highest});
  EXPECT_EQ(highest.restore_best(x), 50);
  io::Checkpoints none(folder);
  EXPECT_NE(text_of<ValueError>([&] { none.restore_best(x); }).find(".best must say"), std::string::npos);
  EXPECT_NE(text_of<ValueError>([&] { io::Checkpoints(folder, {.every = 0}); }).find(".every must be"),
            std::string::npos);
}

TEST_F(CheckpointsTest, ADamagedOneIsNotTheBest) {
  io::Checkpoints saved(folder, {.keep = 2, .best = io::Best::lowest});
  for (int step = 1; step <= 3; ++step) saved.save(step, Array<int>(step), {.metric = 1. * step});
  std::filesystem::resize_file(at("step_1.npz"), 40);
  for (int step = 4; step <= 6; ++step) saved.save(step, Array<int>(step), {.metric = 1. * step});
  EXPECT_EQ(saved.steps(), (Steps{2, 5, 6}));
  Array<int> x;
  EXPECT_EQ(saved.restore_best(x), 2);
}

TEST_F(CheckpointsTest, LinksThatLeadNowhereArePassedOver) {
  io::Checkpoints saved(folder);
  Array<int> x;
  for (const char* name : {"step_5.npz", "step_6.npz"})
    std::filesystem::create_symlink("/no/such/file", at(name));
  expect_refused([&] { saved.restore(x); }, "step_6.npz' cannot be opened");
  io::Checkpoints(root + "/b").save(4, Array<int>(4));
  std::filesystem::copy_file(root + "/b/step_4.npz", at("step_4.npz"));
  EXPECT_EQ(saved.restore(x), 4);
  EXPECT_EQ(x.item(), 4);
}

TEST_F(CheckpointsTest, AForkedChildDoesNotKeepTheLock) {
  auto saved = std::make_unique<io::Checkpoints>(folder);
  saved->save(1, Array<int>(1));
  int to_child[2], from_child[2];
  ASSERT_EQ(::pipe(to_child) + ::pipe(from_child), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(to_child[1]);
    const std::unique_ptr<io::Checkpoints>* const left = new std::unique_ptr(std::move(saved));
    char byte = 0;
    if (::write(from_child[1], &byte, 1) != 1) ::_exit(1);
    static_cast<void>(::read(to_child[0], &byte, 1));  // until the other end is closed
    ::_exit(left->get() ? 0 : 1);
  }
  ::close(to_child[0]);
  char byte = 0;
  EXPECT_EQ(::read(from_child[0], &byte, 1), 1);
  saved.reset();
  EXPECT_TRUE(io::Checkpoints(folder).save(2, Array<int>(2)));
  ::close(to_child[1]);
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int end : from_child) ::close(end);
  // Nor does it give away the parent's.
  io::Checkpoints again(folder);
  again.save(3, Array<int>(3));
  const pid_t other = ::fork();
  if (other == 0) {
    again.~Checkpoints();
    ::_exit(0);
  }
  ::waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  expect_refused([&] { io::Checkpoints(folder).save(4, Array<int>(4)); }, "is being saved to");
}

TEST_F(CheckpointsTest, AnAsynchronousSaveHoldsTheStateOfItsCall) {
  io::Checkpoints saved(folder, {.async = true});
  Array<float> w = Array<float>{{1, 2}, {3, 4}};
  for (int step = 0; step < 20; ++step) {
    saved.save(step, std::pair{w, w.T()});
    w = std::move(w) + 1.f;
  }
  std::pair<Array<float>, Array<float>> back;
  for (int step = 0; step < 20; ++step) {
    saved.restore(back, step);
    const auto first = static_cast<float>(step + 1);
    EXPECT_EQ(back.first.to_vector(), (std::vector<float>{first, first + 1, first + 2, first + 3}));
    EXPECT_EQ(back.second.to_vector(), (std::vector<float>{first, first + 2, first + 1, first + 3}));
  }
}

TEST_F(CheckpointsTest, TheNextCallThrowsAnAsynchronousError) {
  io::Checkpoints saved(folder, {.every = 2, .async = true});
  const auto fail = [&] {
    ASSERT_EQ(std::filesystem::create_directory(at("step_2.npz")),
              true);  // a folder cannot be replaced by a file
    EXPECT_TRUE(saved.save(2, Array<float>{1}));
  };
  fail();
  expect_refused([&] { saved.wait(); }, "cannot be written: it is a folder");
  saved.wait();  // once only
  ASSERT_EQ(std::filesystem::remove(at("step_2.npz")), true);
  fail();
  expect_refused([&] { saved.save(4, Array<float>{1}); }, "it is a folder");
  ASSERT_EQ(std::filesystem::remove(at("step_2.npz")), true);
  fail();
  Array<float> x;
  expect_refused([&] { saved.restore(x); }, "it is a folder");
  ASSERT_EQ(std::filesystem::remove(at("step_2.npz")), true);
  fail();
  expect_refused(
      [&] {
        for (int i = 0; i < 10000; ++i)
          saved.save(3, x),
              std::this_thread::sleep_for(std::chrono::milliseconds(1));  // not due, but rethrows
      },
      "it is a folder");
  ASSERT_EQ(std::filesystem::remove(at("step_2.npz")), true);
  EXPECT_TRUE(saved.save(4, Array<float>{1}));
  EXPECT_EQ(saved.restore(x), 4);
  testing::internal::CaptureStderr();
  {
    io::Checkpoints last(root + "/b", {.async = true});
    ASSERT_EQ(std::filesystem::create_directory(root + "/b/step_0.npz"), true);
    last.save(0, x);
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("it is a folder"), std::string::npos);
}

TEST_F(CheckpointsTest, IgnoresAndRemovesUnfinishedFiles) {
  { io::Checkpoints(folder).save(5, Array<float>{1}); }
  const std::string foreign[] = {"step_x.npz",     "step_07.npz",       "step_.npz",
                                 "step_9.npz.bak", "other.npz.part1-0", "step_1234567890123456789.npz",
                                 "step_-1.npz"};
  for (const std::string& name : foreign) files::write(at(name), {1});
  files::write(at("step_6.npz.part1-0"), {1});
  {
    io::Checkpoints first(folder);
    EXPECT_FALSE(std::filesystem::exists(at("step_6.npz.part1-0")));
    first.save(5, Array<float>{1});
    files::write(at("step_6.npz.part1-0"), {1});
    io::Checkpoints second(folder);  // the first may be writing it
    EXPECT_TRUE(std::filesystem::exists(at("step_6.npz.part1-0")));
    Array<float> x;
    EXPECT_EQ(second.restore(x), 5);
    expect_refused([&] { second.save(6, x); }, "is being saved to by another Checkpoints");
  }
  io::Checkpoints saved(folder);
  EXPECT_FALSE(std::filesystem::exists(at("step_6.npz.part1-0")));
  for (const std::string& name : foreign) EXPECT_TRUE(std::filesystem::exists(at(name))) << name;
  EXPECT_EQ(saved.steps(), (Steps{5}));
}

TEST_F(CheckpointsTest, RefusesWhatDoesNotFit) {
  io::Checkpoints saved(folder);
  saved.save(7, Layer{{1, 2}, {3}});
  EXPECT_NE(text_of<ValueError>([&] { saved.save(6, Layer{}); }).find("has step 7 already, which is after 6"),
            std::string::npos);
  EXPECT_NE(text_of<ValueError>([&] { saved.save(-1, Layer{}); }).find("at least 0, got -1"),
            std::string::npos);
  Layer other{{}, {1, 2, 3}};
  expect_refused([&] { saved.restore(other); }, "(state.b) has shape (1,), the tree (3,)");
  EXPECT_EQ(other.w.size(), 0);
  Array<float> alone;
  expect_refused([&] { saved.restore(alone); }, "has no array named state");
  struct {
    Array<float> w;
  } half;
  expect_refused([&] { saved.restore(half); }, "has state.b, which the state has not");
  expect_refused([&] { saved.restore(other, 3); }, "cannot be opened");
  files::Bytes bytes = files::read(at("step_7.npz"));
  bytes[bytes.size() / 2] ^= 1;
  files::write(at("step_7.npz"), bytes);
  Layer damaged;
  expect_refused([&] { saved.restore(damaged); }, "is damaged");
  expect_refused([] { io::Checkpoints("/proc/nowhere/a"); }, "cannot be created or opened");
}

TEST_F(CheckpointsTest, DamagedOnesArePassedOver) {
  {
    io::Checkpoints saved(folder);
    for (int step = 1; step <= 4; ++step) saved.save(step, Layer{{1, 2}, {static_cast<float>(step)}});
  }
  files::Bytes bytes = files::read(at("step_4.npz"));
  bytes[bytes.size() / 2] ^= 1;
  files::write(at("step_4.npz"), bytes);
  std::filesystem::resize_file(at("step_3.npz"), 50);
  io::Checkpoints saved(folder);
  Layer back;
  // A state that does not fit is no damage.
  Array<float> alone;
  testing::internal::CaptureStderr();
  EXPECT_EQ(saved.restore(back), 2);
  EXPECT_EQ(back.b.item(), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(at("step_4.npz")), std::string::npos) << said;
  EXPECT_NE(said.find(at("step_3.npz")), std::string::npos) << said;
  EXPECT_EQ(saved.steps(), (Steps{1, 2}));
  EXPECT_TRUE(std::filesystem::exists(at("step_4.npz.damaged")));
  expect_refused([&] { saved.restore(alone); }, "has no array named state");
  EXPECT_TRUE(saved.save(3, back));
  EXPECT_EQ(saved.steps(), (Steps{1, 2, 3}));
}

struct Trained {
  Layer params;
  std::vector<Layer> moments;
  std::int64_t seen = 0;
};

TEST_F(CheckpointsTest, PartsAndOtherNamesAreRestored) {
  io::Checkpoints saved(folder);
  saved.save(1, Trained{{{{1, 2}}, {3}}, {{{4}, {5}}}, 9});
  Layer params;
  io::LoadReport report;
  EXPECT_EQ(
      saved.restore(params, {.strict = false, .rename = {{"state.params", "state"}}, .report = &report}), 1);
  EXPECT_EQ(params.w.to_vector(), (std::vector<float>{1, 2}));
  EXPECT_EQ(report.matched, (std::vector<std::string>{"state.w", "state.b"}));
  EXPECT_EQ(report.left,
            (std::vector<std::string>{"state.moments[0].b", "state.moments[0].w", "state.seen"}));
  // A leaf that the checkpoint has not keeps its value.
  struct {
    Layer params;
    Array<float> head{7};
  } more;
  EXPECT_EQ(saved.restore(more, 1, {.strict = false, .report = &report}), 1);
  EXPECT_EQ(more.params.b.item(), 3);
  EXPECT_EQ(more.head.item(), 7);
  EXPECT_EQ(report.missing, std::vector<std::string>{"state.head"});
  Layer other{{1, 2, 3}, {}};
  expect_refused(
      [&] {
        saved.restore(other, {.strict = false, .rename = {{"state.params", "state"}}});
      },
      "has shape (1, 2), the tree (3,)");
  const std::vector<io::CheckpointEntry> contents = saved.contents(1);
  ASSERT_EQ(contents.size(), 5u);
  EXPECT_EQ(contents[3].name, "state.params.w");
  EXPECT_EQ(contents[3].shape, (Shape{1, 2}));
  EXPECT_EQ(contents[3].dtype, DType::float32);
  EXPECT_EQ(contents[4].name, "state.seen");
  EXPECT_EQ(contents[4].dtype, DType::int64);
  expect_refused([&] { saved.contents(2); }, "cannot be opened");
}

// Trains from the folder's last checkpoint, and returns the parameters after `steps` steps.
Array<float> train(const std::string& folder, int steps) {
  const auto adam = optim::adam(0.1);
  const Array<float> start{1, -2, 3};
  auto state = std::tuple{start, adam.init(start), random::key(1)};
  io::Checkpoints saved(folder, {.keep = 1, .async = true});
  for (std::int64_t step = saved.restore(state).value_or(0); step < steps; ++step) {
    auto& [w, moments, key] = state;
    const auto keys = random::split(key);
    const Array<float> noise = random::normal(keys[0], {3});
    const auto loss = [&](const Array<float>& x) { return sum(square(x - noise)); };
    const auto [updates, next] = adam.update(grad(loss)(w), moments, w);
    w = optim::apply_updates(w, updates);
    moments = next;
    key = keys[1];
    saved.save(step + 1, state);
  }
  return std::get<0>(state);
}

TEST_F(CheckpointsTest, AResumedTrainingGivesTheSameBits) {
  const Array<float> whole = train(folder, 9);
  for (const int steps : {2, 5, 6}) train(root + "/parts", steps);
  EXPECT_EQ(train(root + "/parts", 9).to_vector(), whole.to_vector());
}

}  // namespace checkpoints_test
