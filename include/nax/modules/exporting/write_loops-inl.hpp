#pragma once

#include "nax/modules/exporting/step_writer.hpp"

NAX_BEGIN
namespace io::detail {

// Elements as they lie in memory, whatever the order of the operand's axes: turns copy bytes.
inline program::Operand StepWriter::in_a_row(program::Operand x, const Dims& shape) {
  x.indexed = 0;
  x.shape = shape, x.strides = Layout::row_major(shape);
  return x;
}

// The body's steps become nodes of this graph that depend on parameters of the loop.
inline void StepWriter::write_loop(const program::LoopWork& work) {
  const program::Step& step = *step_;
  const program::EndedBody* body = nullptr;
  for (const auto& one : recorder_.bodies)
    if (const auto* const ended = dynamic_cast<const program::EndedBody*>(one.get());
        ended && ended->work() == &work)
      body = ended;
  const std::size_t carries = work.carries.size();
  if (!body || body->results().size() != carries + work.out.size()) refuse();
  const std::int64_t loop = graph_.loops++;
  StepWriter inner(function_, body->recorder(), graph_);
  for (std::size_t k = 0; k < carries; ++k) {
    if (work.carries[k].step != 0) refuse();  // a derivative reads it turn by turn
    inner.slots_.set_parameter(body->arguments()[k], loop, static_cast<std::int64_t>(k));
  }
  const auto operand_at = [&](int i) -> const program::Operand& {
    return step.operands[static_cast<std::size_t>(i)];
  };
  for (std::size_t k = 0; k < work.in.size(); ++k) {
    const int slot = body->arguments()[carries + k];
    if (work.in[k].step == 0)
      inner.slots_.capture(slot, slots_, operand_at(work.in[k].operand).place.slot);
    else
      inner.slots_.set_parameter(slot, loop, static_cast<std::int64_t>(carries + k));
  }
  for (const program::Step& one : body->recorder().steps) inner.write(one);

  Node made{NodeKind::loop, {}, DType::int64, {}, {loop, work.turns, work.reverse}};
  std::vector<int> after, results;
  std::vector<std::int64_t> rows;
  for (std::size_t k = 0; k < carries; ++k) {
    const program::Operand &first = operand_at(work.carries[k].initial),
                           &last = operand_at(work.carries[k].result);
    made.inputs.push_back(slots_.read_whole(in_a_row(first, Dims(1, elements_of(last.shape)))));
    after.push_back(inner.slots_.whole(body->results()[k], last.dtype));
  }
  for (std::size_t k = 0; k < work.in.size(); ++k) {
    const program::Moving& m = work.in[k];
    const int parameter = m.step == 0 ? -1 : inner.slots_.parameter(body->arguments()[carries + k]);
    if (parameter < 0) continue;
    program::Operand all = operand_at(m.operand);
    all.place.offset += m.offset;
    all.dtype = dtype(parameter), all.indexed = 0;
    all.shape = Dims(1, work.turns);
    all.strides = Dims(1, m.step / static_cast<std::int64_t>(dtype_size(all.dtype)));
    all.shape.push_back(graph_[parameter].shape[0]), all.strides.push_back(1);
    made.inputs.push_back(graph_.reshape(slots_.read_whole(all), all.shape));
    rows.push_back(static_cast<std::int64_t>(carries + k));
  }
  for (std::size_t k = 0; k < work.out.size(); ++k)
    results.push_back(
        inner.slots_.whole(body->results()[carries + k], operand_at(work.out[k].operand).dtype));
  for (const std::size_t n : {carries, rows.size(), results.size()})
    made.numbers.push_back(static_cast<std::int64_t>(n));
  made.numbers.insert(made.numbers.end(), rows.begin(), rows.end());
  made.inputs.insert(made.inputs.end(), after.begin(), after.end());
  made.inputs.insert(made.inputs.end(), results.begin(), results.end());
  const int whole = graph_.add(std::move(made));
  const auto give = [&](std::size_t number, const program::Operand& to, const Dims& shape) {
    const int part =
        graph_.add({NodeKind::part, {whole}, to.dtype, shape, {static_cast<std::int64_t>(number)}});
    slots_.write(in_a_row(to, shape), part);
  };
  for (std::size_t k = 0; k < carries; ++k) {
    const program::Operand& to = operand_at(work.carries[k].result);
    give(k, to, Dims(1, elements_of(to.shape)));
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    Dims shape(1, work.turns);
    shape.push_back(graph_[results[k]].shape[0]);
    give(carries + k, operand_at(work.out[k].operand), shape);
  }
}

// The condition's steps and the body's become nodes that depend on parameters of their own.
inline void StepWriter::write_loop(const program::WhileWork& work) {
  const program::Step& step = *step_;
  std::vector<const program::EndedBody*> parts;  // condition, body
  for (const auto& one : recorder_.bodies)
    if (const auto* const ended = dynamic_cast<const program::EndedBody*>(one.get());
        ended && ended->work() == &work)
      parts.push_back(ended);
  if (parts.size() != 2) refuse();
  const std::size_t carries = work.carries.size();
  const std::int64_t loop = graph_.loops++, asked = graph_.loops++;
  const auto operand_at = [&](int i) -> const program::Operand& {
    return step.operands[static_cast<std::size_t>(i)];
  };
  const auto run = [&](const program::EndedBody& part, std::int64_t number, const auto& dtype_of_result) {
    StepWriter inner(function_, part.recorder(), graph_);
    for (std::size_t k = 0; k < carries; ++k)
      inner.slots_.set_parameter(part.arguments()[k], number, static_cast<std::int64_t>(k));
    for (const program::Recorder::Capture& c : part.recorder().captures)
      inner.slots_.capture(c.slot, slots_, c.from);
    for (const program::Step& one : part.recorder().steps) inner.write(one);
    std::vector<int> results;
    for (std::size_t k = 0; k < part.results().size(); ++k)
      results.push_back(inner.slots_.whole(part.results()[k], dtype_of_result(k)));
    return results;
  };
  Node made{
      NodeKind::loop, {}, DType::int64, {}, {loop, -1, asked, static_cast<std::int64_t>(carries), 0, 0}};
  for (std::size_t k = 0; k < carries; ++k) {
    const std::int64_t n = elements_of(operand_at(work.carries[k].result).shape);
    made.inputs.push_back(slots_.read_whole(in_a_row(operand_at(work.carries[k].initial), Dims(1, n))));
  }
  const auto dtype_of = [&](std::size_t k) { return operand_at(work.carries[k].result).dtype; };
  for (const int next : run(*parts[1], loop, dtype_of)) made.inputs.push_back(next);
  int answer = run(*parts[0], asked, [](std::size_t) { return DType::boolean; })[0];
  if (work.answers > 1) {  // of the examples of a vmap
    answer = graph_.reduce(NodeKind::max, graph_.cast(answer, DType::int32), {0});
    answer = truth(NodeKind::less, {number(0, answer), answer});
  }
  made.inputs.push_back(graph_.reshape(answer, {}));
  const int whole = graph_.add(std::move(made));
  for (std::size_t k = 0; k < carries; ++k) {
    const program::Operand& to = operand_at(work.carries[k].result);
    const Dims shape(1, elements_of(to.shape));
    const int part = graph_.add({NodeKind::part, {whole}, to.dtype, shape, {static_cast<std::int64_t>(k)}});
    slots_.write(in_a_row(to, shape), part);
  }
}

// Each branch's steps become nodes that depend on parameters of its own.
inline void StepWriter::write_branches(const program::BranchWork& work) {
  const program::Step& step = *step_;
  std::vector<const program::EndedBody*> bodies;
  for (const auto& one : recorder_.bodies)
    if (const auto* const ended = dynamic_cast<const program::EndedBody*>(one.get());
        ended && ended->work() == &work)
      bodies.push_back(ended);
  const std::size_t count = work.branches.size();
  for (const std::vector<int>& kept : work.kept)
    if (!kept.empty()) refuse();  // a derivative reads it
  if (bodies.size() != count) refuse();
  const auto operand_at = [&](int i) -> const program::Operand& {
    return step.operands[static_cast<std::size_t>(i)];
  };
  const DType integer = DType::int64;
  int which = graph_.cast(graph_.reshape(slots_.read_whole(operand_at(work.index)), {}), integer);
  which = make(NodeKind::minimum, {which, graph_.number(static_cast<double>(count - 1), integer)});
  which = make(NodeKind::maximum, {which, graph_.number(0, integer)});
  Node made{NodeKind::branches, {which}, integer, {}};
  std::vector<int> results;
  std::vector<std::int64_t> numbers;
  for (std::size_t b = 0; b < count; ++b) {
    const program::EndedBody& body = *bodies[b];
    const std::int64_t first = static_cast<std::int64_t>(made.inputs.size()) - 1;
    numbers.push_back(graph_.loops++);
    StepWriter inner(function_, body.recorder(), graph_);
    for (std::size_t k = 0; k < work.captured[b].size(); ++k)
      inner.slots_.set_parameter(body.arguments()[k], numbers[b], first + static_cast<std::int64_t>(k));
    for (const program::Step& one : body.recorder().steps) inner.write(one);
    for (std::size_t k = 0; k < work.results.size(); ++k)
      results.push_back(inner.slots_.whole(body.results()[k], operand_at(work.results[k]).dtype));
    for (std::size_t k = 0; k < work.captured[b].size(); ++k) {
      const int parameter = inner.slots_.parameter(body.arguments()[k]);
      if (parameter < 0) {  // nothing reads it
        made.inputs.push_back(which);
        continue;
      }
      program::Operand all = operand_at(work.captured[b][k].operand);
      all.place.offset += work.captured[b][k].offset;
      all.dtype = dtype(parameter);
      made.inputs.push_back(slots_.read_whole(in_a_row(all, graph_[parameter].shape)));
    }
  }
  made.numbers = {static_cast<std::int64_t>(count), static_cast<std::int64_t>(work.results.size()),
                  static_cast<std::int64_t>(made.inputs.size()) - 1};
  made.numbers.insert(made.numbers.end(), numbers.begin(), numbers.end());
  made.inputs.insert(made.inputs.end(), results.begin(), results.end());
  const int whole = graph_.add(std::move(made));
  for (std::size_t k = 0; k < work.results.size(); ++k) {
    const program::Operand& to = operand_at(work.results[k]);
    const Dims shape(1, elements_of(to.shape));
    const int part = graph_.add({NodeKind::part, {whole}, to.dtype, shape, {static_cast<std::int64_t>(k)}});
    slots_.write(in_a_row(to, shape), part);
  }
}

}  // namespace io::detail
NAX_END
