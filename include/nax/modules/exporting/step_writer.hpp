#pragma once

#include <optional>

#include "nax/modules/exporting/operands.hpp"
#include "nax/program/record/call_work.hpp"
#include "nax/program/record/ended_body.hpp"

NAX_BEGIN
namespace io::detail {

// Writes steps as nodes, each operation by its form. Definitions lie in write_arrays (arrays and lines),
// write_places (indices and windows) and write_networks.
class StepWriter {
 public:
  StepWriter(const char* function, const program::Recorder& recorder, Graph& graph)
      : function_(function), recorder_(recorder), graph_(graph), slots_(function, recorder, graph) {}

  void write(const program::Step& step);
  void write_result(const program::Output& out) { graph_.results.push_back(slots_.read(out)); }

 private:
  // ---- operands

  // Operand i of the operation; null where the call goes without.
  const program::Operand* operand(std::size_t i) const {
    const int place = call_->place(i);
    return place < 0 ? nullptr : &step_->operands[static_cast<std::size_t>(place)];
  }
  int read(std::size_t i) { return slots_.read(*operand(i)); }
  int read_as(std::size_t i, const Dims& shape) {
    return graph_.reshape(slots_.read_whole(*operand(i)), shape);
  }
  void put(std::size_t i, int node) {
    if (const program::Operand* const to = operand(i)) slots_.write(*to, graph_.cast(node, to->dtype));
  }
  [[noreturn]] void refuse() { slots_.refuse(step_->name); }
  DType dtype(int node) const { return graph_[node].dtype; }
  int make(NodeKind kind, std::vector<int> x) { return graph_.elementwise(kind, std::move(x)); }
  int truth(NodeKind kind, std::vector<int> x) {
    return graph_.elementwise(kind, std::move(x), DType::boolean);
  }
  int number(double x, int beside) { return graph_.number(x, dtype(beside)); }
  int sum(int x, std::int64_t axis) { return graph_.reduce(NodeKind::sum, x, {axis}); }

  // ---- steps without a form

  void write_expression(const program::StepExpression& e);
  void write_bytes();
  static program::Operand in_a_row(program::Operand x, const Dims& shape);
  void write_loop(const program::LoopWork& work);
  void write_loop(const program::WhileWork& work);
  void write_branches(const program::BranchWork& work);

  // ---- operations

  void write(const ops::Copy&);
  void write(const ops::Add&);
  void write(const ops::Reduce&);
  void write(const ops::Matmul&);
  void write(const ops::ArgReduce&);
  void write(const ops::Scan&);
  void write(const ops::RunningBest&);
  void write(const ops::Argsort&);
  void write(const ops::Sort&);
  void write(const ops::TopK&);
  void write(const ops::WrapIndices&);
  void write(const ops::JoinIndices&);
  void write(const ops::IndexOffsets&);
  void write(const ops::BestInWindows&);
  void write(const ops::Gather&);
  void write(const ops::Scatter&);
  void write(const ops::OneHot&);
  void write(const ops::Convolve&);
  void write(const ops::Int8Matmul&);
  void write(const ops::Rows&);
  void write(const ops::Fft&);
  void write(const ops::Factorise&);
  void write(const ops::Solve&);
  // Operations without nodes.
  template <class Form>
  void write(const Form&) {
    refuse();
  }

  // ---- arrays

  static DType reduced_as(DType dtype, std::optional<loops::ReduceKind> kind);
  int reduce(loops::ReduceKind kind, int x, const program::Operand& to);
  // Extrema of ONNX Runtime leave NaN out, or take it by its place. 1 where x is NaN, 0 elsewhere, for
  // extrema of x to be NaN where that of these is 1.
  bool drops_nan(int x) const {
    return graph_.system == System::onnx && dtype_kind(dtype(x)) == Kind::floating;
  }
  int nan_marks(int x, DType type);
  int with_nan(int extrema, int marks);
  // The lower or upper triangles of matrices, their diagonals times `diagonal`, and zeros elsewhere.
  int triangle(int x, bool lower, double diagonal);
  template <class Lines>
  static Dims line_shape(const Lines& lines, std::int64_t n);
  // x moved on along its second axis by so many places, behind as many elements of `before`.
  int moved_on(int x, int before, std::int64_t places, bool reverse);
  template <class Form>
  void write_top(const Form& f, NodeKind kind, std::int64_t k, bool greatest);

  // ---- places that indices name

  // Constants are wrapped here; -1 for others.
  int known_indices(const ops::WrapIndices& f, int index);
  int is_dropped(int index);
  // Of each element of a loop its place in the flat data, without what indices say.
  int places(const Dims& shape, const Dims& strides);
  // The data that indices choose from as it lies, and where in it the loop begins.
  struct Chosen {
    int flat;
    std::int64_t first;
    program::Operand whole;
  };
  Chosen chosen(const program::Operand& data, const loops::SelectLoop& loop);
  // The best elements of windows, which were recorded as their positions.
  bool write_best(const program::Operand& data, const program::Operand& indices);
  int pool(const SlotNodes::Best& best);
  // Is an index known to name a place? Clipped ones are, and constants that do.
  bool in_range(int index) const;
  // Whole rows of a table: the last axes of the loop, along which there is one index. -1 where it is another
  // kind of choice.
  int rows(const ops::Gather& f, const program::Operand& data, int index);

  const char* function_;
  const program::Recorder& recorder_;
  Graph& graph_;
  SlotNodes slots_;
  const program::Step* step_ = nullptr;
  const program::detail::CallWork* call_ = nullptr;
};

}  // namespace io::detail
NAX_END
