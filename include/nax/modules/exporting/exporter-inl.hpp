#pragma once

#include "nax/modules/exporting/exporter.hpp"
#include "nax/modules/exporting/expressions.hpp"
#include "nax/modules/exporting/fold_batch_norm-inl.hpp"
#include "nax/modules/exporting/write_arrays-inl.hpp"
#include "nax/modules/exporting/write_loops-inl.hpp"
#include "nax/modules/exporting/write_networks-inl.hpp"
#include "nax/modules/exporting/write_places-inl.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/record/device.hpp"

NAX_BEGIN
namespace io::detail {

inline void StepWriter::write(const program::Step& step) {
  step_ = &step;
  call_ = dynamic_cast<const program::detail::CallWork*>(step.work.get());
  const program::StepExpression e = step.work->expression();
  if (step.checks) return;  // of what is written here anyway
  if (e.parts) return write_expression(e);
  if (const auto* const loop = dynamic_cast<const program::LoopWork*>(step.work.get()))
    return write_loop(*loop);
  if (const auto* const loop = dynamic_cast<const program::WhileWork*>(step.work.get()))
    return write_loop(*loop);
  if (const auto* const choice = dynamic_cast<const program::BranchWork*>(step.work.get()))
    return write_branches(*choice);
  if (!call_) return write_bytes();
  switch (call_->op()) {
#define NAX_CASE(name, Form) \
  case ops::Op::name:        \
    return write(*static_cast<const ops::Form*>(call_->form()));
    NAX_OPERATIONS(NAX_CASE)
#undef NAX_CASE
  }
}

inline void StepWriter::write_expression(const program::StepExpression& e) {
  std::vector<int> arrays;
  for (std::size_t i = 0; i + 1 < step_->operands.size(); ++i)
    arrays.push_back(slots_.read(step_->operands[i]));
  const program::Operand& to = step_->operands.back();
  const auto refuse = [&](const std::string& what) { slots_.refuse(what); };
  const int value = expression_nodes(graph_, e, arrays, reduced_as(to.dtype, e.reduced), refuse);
  slots_.write(to, e.reduced ? reduce(*e.reduced, graph_.expand(value, to.shape), to) : value);
}

inline void StepWriter::write_bytes() {
  const std::vector<program::Operand>& x = step_->operands;
  if (step_->name == "zeros")
    slots_.clear(x[0]);
  else if (step_->name == "constant" || step_->name == "copy")
    slots_.copy_bytes(x[0], x[1]);
  else
    refuse();
}

inline Graph graph_of_recording(const char* function, System system, bool unrolls,
                                const std::vector<ArrayBase>& arguments, RecordedCall f, bool& has_loops) {
  program::Recording recording(unrolls);
  recording.recorder().composes = true;
  std::vector<ArrayBase> own;
  for (const ArrayBase& a : arguments) own.push_back(recording.argument(a));
  std::vector<ArrayBase> made = f(own);
  const std::vector<program::Output> outputs = recording.outputs(made);
  program::Recorder& recorded = recording.recorder();
  has_loops = !recorded.bodies.empty();
  std::vector<int> results;
  for (const program::Output& out : outputs) results.push_back(out.slot);
  program::detail::drop_dead_steps(recorded.slots, recorded.steps, results);
  program::detail::find_constants(recorded.slots, recorded.steps, results, recorded.constants);
  Graph graph;
  graph.system = system;
  StepWriter writer(function, recorded, graph);
  for (const program::Step& step : recorded.steps) writer.write(step);
  for (const program::Output& out : outputs) writer.write_result(out);
  // Bytes that are not the function's own live as long as the graph.
  for (const auto& one : recorded.constants) graph.held.push_back(one);
  for (const nax::detail::BufferRef& b : recorded.kept)
    if (!nax::detail::on_program(b->device)) graph.held.push_back({nullptr, [b](const char*) {}});
  for (const program::Output& out : outputs)
    graph.held.push_back({nullptr, [kept = out.constant](const char*) {}});
  fold_batch_norms(graph);
  return graph;
}

NAX_ENGINE Graph graph_of_call(const char* function, System system, const std::vector<ArrayBase>& arguments,
                               RecordedCall f) {
  bool has_loops = false;
  try {
    return graph_of_recording(function, system, false, arguments, f, has_loops);
  } catch (const ValueError&) {
    if (!has_loops) throw;
  }
  return graph_of_recording(function, system, true, arguments, f, has_loops);
}

}  // namespace io::detail
NAX_END
