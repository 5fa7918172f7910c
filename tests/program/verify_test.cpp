#include <gtest/gtest.h>

#include <memory>
#include <nax/formula/recorder.hpp>
#include <nax/nax.hpp>
#include <nax/program/passes/verify.hpp>
#include <nax/program/record/loop.hpp>
#include <nax/program/replay/map_formula.hpp>
#include <string>
#include <utility>
#include <vector>

// The verifier finds each kind of wrong program, and names what is wrong.
namespace verify_test {
using namespace nax;
using program::Operand, program::Slot, program::Step;

Dims dims(std::initializer_list<std::int64_t> list) {
  Dims all;
  for (const std::int64_t n : list) all.push_back(n);
  return all;
}
Operand view(int slot, std::int64_t offset, std::initializer_list<std::int64_t> shape,
             std::initializer_list<std::int64_t> strides) {
  return {{slot, offset}, false, DType::float64, dims(shape), dims(strides)};
}
Operand run(int slot, std::int64_t offset, std::int64_t n) { return view(slot, offset, {n}, {1}); }
Operand written(Operand x) {
  x.written = true;
  return x;
}

// Four doubles of slot 1 are written of four of the argument, slot 0, and come out.
struct Content {
  std::vector<Slot> slots = {{32, Slot::Kind::argument}, {32}};
  std::vector<Step> steps;
  std::vector<program::Argument> arguments = {{0, DType::float64, dims({4})}};
  std::vector<int> results = {1};
  std::vector<program::Output> outputs;
  std::vector<std::int64_t> offsets;
  std::vector<int> donations;

  Content() {
    add("copy", {run(0, 0, 4), written(run(1, 0, 4))});
    program::Output out;
    out.dtype = DType::float64;
    out.layout.shape = dims({4});
    out.layout.strides = dims({1});
    outputs.push_back(out);
  }
  Step& add(const char* name, std::vector<Operand> operands) {
    Step step;
    step.name = name;
    step.operands = std::move(operands);
    steps.push_back(std::move(step));
    return steps.back();
  }
  // Empty where nothing is wrong.
  std::string problem(std::size_t arena = 0) const {
    const program::detail::MemoryPlan plan{offsets, arena, donations};
    try {
      program::detail::verify(slots, steps, arguments, results, outputs, "a pass", arena ? &plan : nullptr);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
};

void expect_problem(const Content& content, const char* text, std::size_t arena = 0) {
  EXPECT_NE(content.problem(arena).find(text), std::string::npos) << content.problem(arena);
}

TEST(Verify, RightProgramsPass) {
  EXPECT_EQ(Content().problem(), "");
  Content flipped;
  flipped.steps[0].operands[0] = view(0, 24, {4}, {-1});
  EXPECT_EQ(flipped.problem(), "");
  Content empty;
  empty.add("copy", {view(0, 4096, {0}, {1}), written(run(1, 0, 4))});
  EXPECT_EQ(empty.problem(), "");
}

TEST(Verify, FindsReadsAndWritesBeyondASlot) {
  Content read;
  read.steps[0].operands[0] = run(0, 8, 4);
  expect_problem(read, "after a pass: step 0 (copy) reads bytes 8 to 40 of slot 0, outside of its 32 bytes");
  Content write;
  write.steps[0].operands[1] = written(run(1, -8, 4));
  expect_problem(write, "writes bytes -8 to 24 of slot 1");
  Content strided;
  strided.steps[0].operands[0] = view(0, 0, {4}, {2});
  expect_problem(strided, "reads bytes 0 to 56 of slot 0");
}

// Indices may name any row: that all but one are there does not suffice.
TEST(Verify, FindsWhatIndicesMayName) {
  Content gather;
  Operand data = view(0, 0, {5, 4}, {1, 0});
  data.indexed = 1;
  gather.steps[0].operands[0] = data;
  expect_problem(gather, "reads bytes 0 to 40 of slot 0");
  Content scatter;
  scatter.slots.push_back({32});
  Operand target = written(view(2, 0, {4, 2}, {1, 0}));
  target.indexed = 1;
  scatter.add("scatter_add", {run(1, 0, 2), target});
  expect_problem(scatter, "step 1 (scatter_add) adds by index to bytes 0 to 32 of slot 2, of which byte 0");
  scatter.steps.back().name = "scatter";
  EXPECT_EQ(scatter.problem(), "");
}

TEST(Verify, FindsReadsOfWhatIsNotWritten) {
  Content part;
  part.steps[0].operands = {run(0, 0, 3), written(run(1, 0, 3))};
  expect_problem(part, "the end) returns bytes 0 to 32 of slot 1, of which byte 24 was not written");
  Content early;
  early.slots.push_back({32});
  early.add("copy", {run(2, 0, 4), written(run(1, 0, 4))});
  expect_problem(early, "step 1 (copy) reads bytes 0 to 32 of slot 2, of which byte 0 was not written");
}

TEST(Verify, FindsWritesToWhatIsRead) {
  Content shifted;
  shifted.add("copy", {run(1, 0, 3), written(run(1, 8, 3))});
  expect_problem(shifted, "reads bytes 0 to 24 of slot 1, which it writes as slot 1");
  Content constant;
  constant.slots[1].kind = Slot::Kind::constant;
  expect_problem(constant, "writes bytes 0 to 32 of slot 1, which is a constant");
}

TEST(Verify, FindsMemoryThatIsSharedTooEarly) {
  Content content;
  content.slots.push_back({32});
  content.slots.push_back({32});
  content.steps.clear();
  content.add("copy", {run(0, 0, 4), written(run(2, 0, 4))});
  content.add("copy", {run(0, 0, 4), written(run(3, 0, 4))});
  content.add("add", {run(2, 0, 4), run(3, 0, 4), written(run(1, 0, 4))});
  content.donations = {-1};
  content.slots[1].kind = Slot::Kind::result;
  content.offsets = {-1, -1, 0, 64};
  EXPECT_EQ(content.problem(128), "");
  content.offsets = {-1, -1, 0, 16};
  expect_problem(
      content, "step 2 (add) reads bytes 0 to 32 of slot 2, of which byte 16 was overwritten by slot 3", 128);
  // A result in the memory of an argument that is read afterwards, or by another way.
  content.offsets = {-1, -1, 0, 64};
  content.donations = {0};
  EXPECT_EQ(content.problem(128), "");
  content.add("copy", {run(0, 0, 4), written(run(3, 0, 4))});
  expect_problem(content, "step 3 (copy) reads bytes 0 to 32 of slot 0", 128);
  content.steps.pop_back();
  content.steps[2].operands[0] = run(0, 0, 4);
  expect_problem(content, "reads bytes 0 to 32 of slot 0, which it writes as slot 1 by another way", 128);
  content.steps[2].in_place = true;
  EXPECT_EQ(content.problem(128), "");
}

// Step 0 as a map that doubles its elements.
void double_by_formula(Step& step) {
  formula::Recorder recorder(DType::float64);
  auto map = std::make_shared<program::MapFormula>();
  const int x = recorder.input(0);
  map->formula = recorder.finish({recorder.record(formula::Operation::add, {x, x})});
  map->inputs = {{0}};
  map->results = {1};
  step.formula = map;
  program::run_by_formula(step);
}

TEST(Verify, FindsWrongFormulas) {
  Content right;
  double_by_formula(right.steps[0]);
  EXPECT_EQ(right.problem(), "");
  const auto with = [&](const auto& change) {
    Content content = right;
    auto map = std::make_shared<program::MapFormula>(*content.steps[0].formula);
    change(*map);
    content.steps[0].formula = map;
    return content;
  };
  const Content empty =
      with([](program::MapFormula& map) { map.formula.results.clear(), map.results.clear(); });
  expect_problem(empty, "after a pass: step 0 (copy) has a formula without results");
  Step step = empty.steps[0];
  EXPECT_THROW(program::run_by_formula(step), Error);
  expect_problem(with([](program::MapFormula& map) { map.formula.results.push_back(0); }),
                 "has a formula of other inputs or results than its own");
  expect_problem(with([](program::MapFormula& map) { map.inputs = {{1}}; }),
                 "has a formula of operands that it has not");
  expect_problem(with([](program::MapFormula& map) {
                   map.formula.results.assign(6, 1);
                   map.reduced.assign(5, {1, loops::ReduceKind::sum});
                 }),
                 "has a formula with too many reductions");
}

TEST(Verify, FindsWorksThatReachBeyondTheirOperands) {
  Content read;
  double_by_formula(read.steps[0]);
  read.steps[0].operands[0] = run(0, 0, 3);
  expect_problem(read, "has a work that reads bytes 0 to 32 of operand 0, which has bytes 0 to 24");
  Content flipped;
  flipped.steps[0].operands[0] = view(0, 24, {4}, {-1});
  double_by_formula(flipped.steps[0]);
  EXPECT_EQ(flipped.problem(), "");
  flipped.steps[0].operands[0] = run(0, 0, 4);
  expect_problem(flipped, "has a work that reads bytes -24 to 8 of operand 0, which has bytes 0 to 32");
}

struct NoWork final : program::Work {
  void run(void* const*) const override {}
};
// A body of four doubles to four doubles.
std::shared_ptr<const program::Program> body() {
  Content content;
  content.steps[0].work = std::make_shared<const NoWork>();
  program::Recorded recorded;
  recorded.slots = content.slots;
  recorded.steps = content.steps;
  recorded.arguments = content.arguments;
  content.outputs[0].slot = 1;
  return std::make_shared<const program::Program>(std::move(recorded), content.outputs);
}
// Three turns of the body, each over its own four doubles of 12.
Content loop(const auto& change) {
  Content content;
  auto work = std::make_shared<program::LoopWork>();
  work->body = body();
  work->turns = 3;
  work->in = {{0, 0, 32}};
  work->out = {{1, 0, 32}};
  change(*work);
  content.slots = {{96, Slot::Kind::argument}, {96}};
  content.steps.clear();
  content.add("scan", {run(0, 0, 12), written(run(1, 0, 12))}).work = work;
  content.arguments[0].shape = content.outputs[0].layout.shape = dims({12});
  return content;
}

TEST(Verify, FindsBodiesThatReachBeyondTheirOperands) {
  EXPECT_EQ(loop([](program::LoopWork&) {}).problem(), "");
  expect_problem(loop([](program::LoopWork& work) { work.turns = 4; }),
                 "step 0 (scan) has a work that reads bytes 0 to 128 of operand 0, which has bytes 0 to 96");
  expect_problem(loop([](program::LoopWork& work) { work.in[0].step = 40; }),
                 "reads bytes 0 to 112 of operand 0");
  expect_problem(loop([](program::LoopWork& work) { work.out[0].offset = 8; }),
                 "writes bytes 8 to 104 of operand 1");
  expect_problem(loop([](program::LoopWork& work) { work.out[0].operand = 0; }), "writes operand 0");
  expect_problem(loop([](program::LoopWork& work) { work.out[0].operand = 2; }), "uses operand 2 of 2");
  expect_problem(loop([](program::LoopWork& work) { work.in.clear(); }),
                 "runs a body of other arguments or results");
  expect_problem(loop([](program::LoopWork& work) { work.body = nullptr; }),
                 "runs a body of other arguments or results");
}

}  // namespace verify_test
