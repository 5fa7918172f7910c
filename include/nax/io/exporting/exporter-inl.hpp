#pragma once

#include <algorithm>
#include <numeric>

#include "nax/io/exporting/exporter.hpp"
#include "nax/io/exporting/expressions.hpp"
#include "nax/io/exporting/operands.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/record/call_work.hpp"
#include "nax/program/record/device.hpp"

NAX_BEGIN
namespace io::detail {

class StepWriter {
 public:
  StepWriter(const char* function, RowNodes rows, const program::Recorded& recorded, Graph& graph)
      : graph_(graph), slots_(function, recorded, graph), rows_(rows) {}

  void write(const program::Step& step) {
    step_ = &step;
    call_ = dynamic_cast<const program::detail::CallWork*>(step.work.get());
    const program::StepExpression e = step.work->expression();
    if (step.checks) return;  // of what is written here anyway
    if (e.parts) return write_expression(e);
    if (!call_) return write_bytes();
    switch (call_->op()) {
#define NAX_CASE(name, Form) \
  case ops::Op::name:        \
    return write(*static_cast<const ops::Form*>(call_->form()));
      NAX_OPERATIONS(NAX_CASE)
#undef NAX_CASE
    }
  }
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

  void write_expression(const program::StepExpression& e) {
    std::vector<int> arrays;
    for (std::size_t i = 0; i + 1 < step_->operands.size(); ++i)
      arrays.push_back(slots_.read(step_->operands[i]));
    const program::Operand& to = step_->operands.back();
    const auto refuse = [&](const std::string& what) { slots_.refuse(what); };
    const int value = expression_nodes(graph_, e, arrays, reduced_as(to.dtype, e.reduced), refuse);
    slots_.write(to, e.reduced ? reduce(*e.reduced, graph_.expand(value, to.shape), to) : value);
  }
  void write_bytes() {
    const std::vector<program::Operand>& x = step_->operands;
    if (step_->name == "zeros")
      slots_.clear(x[0]);
    else if (step_->name == "constant" || step_->name == "copy")
      slots_.copy_bytes(x[0], x[1]);
    else
      refuse();
  }

  // ---- arrays

  static DType reduced_as(DType dtype, std::optional<loops::ReduceKind> kind) {
    return kind && (*kind == loops::ReduceKind::any || *kind == loops::ReduceKind::all) ? DType::boolean
                                                                                        : dtype;
  }
  int reduce(loops::ReduceKind kind, int x, const program::Operand& to) {
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < to.shape.size(); ++i)
      if (to.strides[i] == 0 && to.shape[i] != 1) axes.push_back(static_cast<std::int64_t>(i));
    const bool truths = dtype(x) == DType::boolean;
    if (truths) x = graph_.cast(x, DType::int32);
    const auto node = [&] {
      switch (kind) {
        case loops::ReduceKind::sum:
          return NodeKind::sum;
        case loops::ReduceKind::product:
          return NodeKind::product;
        case loops::ReduceKind::max:
        case loops::ReduceKind::any:
          return NodeKind::max;
        case loops::ReduceKind::min:
        case loops::ReduceKind::all:
          return NodeKind::min;
      }
      return NodeKind::sum;
    };
    x = graph_.reduce(node(), x, axes);
    return truths ? make(NodeKind::logical_not, {truth(NodeKind::equal, {x, number(0, x)})}) : x;
  }
  void write(const ops::Copy&) { put(1, read(0)); }
  void write(const ops::Add&) { put(2, make(NodeKind::add, {read(0), read(1)})); }
  void write(const ops::Reduce& f) {
    const program::Operand& to = *operand(1);
    const int x = graph_.cast(slots_.read_whole(*operand(0)), reduced_as(to.dtype, f.kind));
    put(1, reduce(f.kind, x, to));
  }
  void write(const ops::Matmul&) {
    const program::Operand& to = *operand(2);
    const int a = slots_.read_whole(*operand(0)), b = slots_.read_whole(*operand(1));
    int c = graph_.add({NodeKind::matmul, {a, b}, dtype(a), to.shape});
    c = reduce(loops::ReduceKind::sum, c, to);
    put(2, c);
  }

  // ---- lines

  template <class Lines>
  static Dims line_shape(const Lines& lines, std::int64_t n) {
    Dims shape(1, lines.outer);
    shape.push_back(n), shape.push_back(lines.inner);
    return shape;
  }
  void write(const ops::ArgReduce& f) {
    int x = read_as(0, line_shape(f.lines, f.lines.n));
    if (!f.greatest) x = make(NodeKind::negative, {x});
    Dims shape(1, f.lines.outer);
    shape.push_back(f.lines.inner);
    put(1, graph_.reshape(graph_.add({NodeKind::argmax, {x}, DType::int32, shape, {1}}), operand(1)->shape));
  }
  void write(const ops::Scan& f) {
    if (f.product) refuse();
    const int x = graph_.cast(read_as(0, line_shape(f.lines, f.lines.n)), operand(1)->dtype);
    put(1, graph_.reshape(graph_.add({NodeKind::cumsum, {x}, dtype(x), graph_[x].shape, {1, f.reverse}}),
                          operand(1)->shape));
  }
  template <class Form>
  void write_top(const Form& f, NodeKind kind, std::int64_t k, bool greatest) {
    const int x = read_as(0, line_shape(f.lines, f.lines.n));
    const DType type = kind == NodeKind::top ? dtype(x) : DType::int64;
    const int found = graph_.add({kind, {x}, type, line_shape(f.lines, k), {1, k, greatest}});
    put(1, graph_.reshape(found, operand(1)->shape));
  }
  void write(const ops::Argsort& f) { write_top(f, NodeKind::top_indices, f.lines.n, f.descending); }
  void write(const ops::Sort& f) { write_top(f, NodeKind::top, f.lines.n, f.descending); }
  void write(const ops::TopK& f) { write_top(f, NodeKind::top_indices, f.k, true); }

  // ---- places that indices name

  template <class T>
  static std::int64_t index_at(const void* data, std::int64_t i) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(static_cast<const T*>(data)[i]);
    else
      return 0;
  }
  // Constants are wrapped here; -1 for others.
  int known_indices(const ops::WrapIndices& f, int index) {
    const Node& node = graph_[index];
    if (node.kind != NodeKind::constant) return -1;
    const auto at = [&](std::int64_t i) -> std::int64_t {
      switch (node.dtype) {
#define NAX_READ(name, type, kind, text) \
  case DType::name:                      \
    return index_at<type>(node.data, i);
        NAX_FOR_EACH_DTYPE(NAX_READ)
#undef NAX_READ
      }
      return 0;
    };
    std::vector<std::int64_t> wrapped;
    const std::int64_t n = f.extent;
    for (std::int64_t i = 0; i < elements_of(node.shape); ++i) {
      const std::int64_t x = at(i);
      switch (f.mode) {
        case loops::IndexMode::drop:
          wrapped.push_back(x < -n || x >= n ? -1 : x < 0 ? x + n : x);
          break;
        case loops::IndexMode::wrap:
          wrapped.push_back((x % n + n) % n);
          break;
        case loops::IndexMode::clip:
          wrapped.push_back(std::clamp<std::int64_t>(x, 0, n - 1));
          break;
      }
    }
    return graph_.own_constant(wrapped.data(), DType::int64, Dims(node.shape));
  }
  int is_dropped(int index) { return truth(NodeKind::less, {index, number(0, index)}); }
  void write(const ops::WrapIndices& f) {
    const program::Operand& from = *operand(0);
    if (from.place.slot >= 0 && slots_.best(from.place.slot)) {  // these are in range
      slots_.best(operand(1)->place.slot) = slots_.best(from.place.slot);
      return;
    }
    if (const int known = known_indices(f, slots_.read(from)); known >= 0) return put(1, known);
    const int x = graph_.cast(slots_.read(from), DType::int64),
              n = graph_.number(static_cast<double>(f.extent), DType::int64), zero = number(0, n),
              last = make(NodeKind::subtract, {n, number(1, n)});
    const int from_front =
        make(NodeKind::select, {truth(NodeKind::less, {x, zero}), make(NodeKind::add, {x, n}), x});
    switch (f.mode) {
      case loops::IndexMode::drop: {
        const int outside = truth(NodeKind::logical_or, {truth(NodeKind::less, {from_front, zero}),
                                                         truth(NodeKind::less, {last, from_front})});
        return put(1, make(NodeKind::select, {outside, graph_.number(-1, DType::int64), from_front}));
      }
      case loops::IndexMode::wrap:
        refuse();
      case loops::IndexMode::clip:
        return put(1, make(NodeKind::maximum, {zero, make(NodeKind::minimum, {x, last})}));
    }
  }
  void write(const ops::JoinIndices& f) {
    const int a = read(0), b = read(1), dropped = truth(NodeKind::logical_or, {is_dropped(a), is_dropped(b)});
    const int joined =
        make(NodeKind::add, {make(NodeKind::multiply, {a, number(static_cast<double>(f.extent), a)}), b});
    put(2, make(NodeKind::select, {dropped, number(-1, a), joined}));
  }
  // Of each element of a loop its place in the flat data, without what indices say.
  int places(const Dims& shape, const Dims& strides) {
    int sum = graph_.number(0, DType::int64);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (strides[axis] == 0 || shape[axis] == 1) continue;
      std::vector<std::int64_t> along;
      for (std::int64_t i = 0; i < shape[axis]; ++i) along.push_back(i * strides[axis]);
      Dims own(shape.size() - axis, 1);
      own[0] = shape[axis];
      sum = make(NodeKind::add, {sum, graph_.own_constant(along.data(), DType::int64, own)});
    }
    return sum;
  }
  // The data that indices choose from as it lies, and where in it the loop begins.
  struct Chosen {
    int flat;
    std::int64_t first;
    program::Operand whole;
  };
  Chosen chosen(const program::Operand& data, const loops::SelectLoop& loop) {
    std::int64_t low = 0, high = 0;  // of what may be named
    const auto spread = [&](const Dims& shape, const Dims& strides) {
      for (std::size_t i = 0; i < shape.size(); ++i)
        (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
    };
    spread(loop.extents, loop.strides);
    spread(loop.shape, loop.operands[1].strides);
    Chosen made{-1, -low, data};
    made.whole.indexed = 0;
    made.whole.place.offset += low * static_cast<std::int64_t>(dtype_size(data.dtype));
    made.whole.shape = Dims(1, high - low + 1);
    made.whole.strides = Dims(1, 1);
    made.flat = slots_.read_whole(made.whole);
    return made;
  }
  // The best elements of windows, which were recorded as their positions.
  bool write_best(const program::Operand& data, const program::Operand& indices) {
    if (indices.place.slot < 0 || !slots_.best(indices.place.slot)) return false;
    const SlotNodes::Best best = *slots_.best(indices.place.slot);
    program::Operand all = data;
    all.shape = Dims(1, elements_of(graph_[best.node].shape)), all.strides = Dims(1, 1);
    const int flat = slots_.read(all);
    if (graph_.reshape(flat, graph_[best.node].shape) != best.node) return false;
    put(0, graph_.reshape(pool(best), operand(0)->shape));
    return true;
  }
  int pool(const SlotNodes::Best& best) {
    const loops::Windows& w = best.windows;
    const std::size_t rank = w.in.size();
    if (rank < 3 || w.window[0] != 1 || w.window[rank - 1] != 1 || w.strides[0] != 1 ||
        w.strides[rank - 1] != 1 || w.out[0] != w.in[0] || w.out[rank - 1] != w.in[rank - 1])
      slots_.refuse("windows over a batch or channels");
    std::vector<std::int64_t> numbers(1, 1);
    for (std::size_t i = 1; i + 1 < rank; ++i) {
      if (w.base[i] != 1) slots_.refuse("windows over a dilated array");
      numbers.insert(numbers.end(), {w.strides[i], w.low[i], w.high[i], 1, w.dilation[i]});
    }
    for (std::size_t i = 1; i + 1 < rank; ++i) numbers.push_back(w.window[i]);
    const int x = best.greatest ? best.node : make(NodeKind::negative, {best.node});
    const int y = graph_.add({NodeKind::max_pool, {x}, dtype(x), w.out, std::move(numbers)});
    return best.greatest ? y : make(NodeKind::negative, {y});
  }
  void write(const ops::BestInWindows& f) {
    const loops::Windows& w = f.windows;
    Dims in = w.in;
    if (f.examples != 1) refuse();
    const int x = read_as(0, in);
    slots_.best(operand(1)->place.slot) = SlotNodes::Best{w, f.greatest, x};
  }
  void write(const ops::Gather& f) {
    const loops::SelectLoop& loop = f.loop;
    const program::Operand& data = *operand(1);
    const program::Operand* const indices = operand(2);
    if (!indices) {  // a slice
      program::Operand part = data;
      part.shape = loop.shape, part.strides = loop.operands[1].strides, part.indexed = 0;
      return put(0, slots_.read(part));
    }
    if (write_best(data, *indices)) return;
    const int index = slots_.read(*indices), dropped = is_dropped(index),
              safe = make(NodeKind::maximum, {index, number(0, index)});
    int found = rows(f, data, safe);
    if (found < 0) {
      const Chosen from = chosen(data, loop);
      int at = make(NodeKind::add,
                    {places(loop.shape, loop.operands[1].strides),
                     make(NodeKind::multiply, {safe, number(static_cast<double>(loop.scale), safe)})});
      if (from.first != 0) at = make(NodeKind::add, {at, number(static_cast<double>(from.first), at)});
      found = graph_.add({NodeKind::take, {from.flat, at}, data.dtype, graph_[at].shape});
    }
    if (!in_range(index)) found = make(NodeKind::select, {dropped, number(0, found), found});
    put(0, found);
  }
  // Is an index known to name a place? Clipped ones are, and constants that do.
  bool in_range(int index) const {
    const Node* at = &graph_[index];
    while (at->kind == NodeKind::reshape || at->kind == NodeKind::expand) at = &graph_[at->inputs[0]];
    if (at->kind == NodeKind::constant && at->dtype == DType::int64) {
      const std::int64_t* const known = static_cast<const std::int64_t*>(at->data);
      return std::all_of(known, known + elements_of(at->shape), [](std::int64_t i) { return i >= 0; });
    }
    return at->kind == NodeKind::maximum;
  }
  // Whole rows of a table: the last axes of the loop, along which there is one index. -1 where it is another
  // kind of choice.
  int rows(const ops::Gather& f, const program::Operand& data, int index) {
    const loops::SelectLoop& loop = f.loop;
    const Dims &of_data = loop.operands[1].strides, &of_index = loop.operands[2].strides;
    std::size_t first = loop.shape.size();
    std::int64_t row = 1;
    while (first > 0 && (of_index[first - 1] == 0 || loop.shape[first - 1] == 1) &&
           (of_data[first - 1] == row || loop.shape[first - 1] == 1) && row < loop.scale)
      row *= loop.shape[--first];
    if (row != loop.scale || loop.extents.size() != 1 || loop.strides[0] != row) return -1;
    for (std::size_t axis = 0; axis < first; ++axis)
      if (of_data[axis] != 0 && loop.shape[axis] != 1) return -1;
    program::Operand table = data;
    table.indexed = 0;
    table.shape = Dims(1, loop.extents[0]), table.strides = Dims(1, row);
    Dims before, shape;
    for (std::size_t axis = 0; axis < loop.shape.size(); ++axis) {
      shape.push_back(axis < first && of_index[axis] == 0 ? 1 : loop.shape[axis]);
      if (axis < first) before.push_back(shape.back());
    }
    if (row > 1) table.shape.push_back(row), table.strides.push_back(1);
    const int from = slots_.read_whole(table);
    Dims made = before;
    if (row > 1) made.push_back(row);
    const int found = graph_.add({NodeKind::take, {from, graph_.reshape(index, before)}, data.dtype, made});
    return graph_.reshape(found, shape);
  }
  void write(const ops::Scatter& f) {
    const loops::SelectLoop& loop = f.loop;
    const program::Operand &data = *operand(1), *const indices = operand(2);
    const Chosen to = chosen(data, loop);
    const std::int64_t n = elements_of(graph_[to.flat].shape);
    int at = places(loop.shape, loop.operands[1].strides);
    const int index = indices ? slots_.read(*indices) : -1;
    if (indices)
      at = make(NodeKind::add,
                {at, make(NodeKind::multiply, {index, number(static_cast<double>(loop.scale), index)})});
    if (to.first != 0) at = make(NodeKind::add, {at, number(static_cast<double>(to.first), at)});
    // Places that are dropped lie behind the end.
    const bool drops = indices && !in_range(index);
    int from = to.flat;
    if (drops) {
      at = make(NodeKind::select, {is_dropped(index), number(static_cast<double>(n), at), at});
      const int none = graph_.reshape(number(0, from), Dims(1, 1));
      from = graph_.add({NodeKind::concatenate, {from, none}, data.dtype, Dims(1, n + 1), {0}});
    }
    const Dims flat(1, elements_of(loop.shape));
    at = graph_.reshape(graph_.expand(at, loop.shape), flat);
    const int values = graph_.reshape(slots_.read_whole(*operand(0)), flat);
    const NodeKind kind = f.add ? NodeKind::scatter_add : NodeKind::scatter;
    int made = graph_.add({kind, {from, at, values}, data.dtype, graph_[from].shape});
    if (drops) made = graph_.slice(made, Dims(1, 0), Dims(1, n), Dims(1, 1));
    slots_.write(to.whole, made);
  }
  void write(const ops::OneHot& f) {
    std::vector<std::int64_t> classes(static_cast<std::size_t>(f.lines.n));
    std::iota(classes.begin(), classes.end(), 0);
    Dims own(1, f.lines.n);
    own.push_back(1);
    const int labels = graph_.cast(read_as(0, line_shape(f.lines, 1)), DType::int64);
    const int hot = truth(NodeKind::equal, {labels, graph_.own_constant(classes.data(), DType::int64, own)});
    put(1, graph_.reshape(graph_.cast(hot, f.dtype), operand(1)->shape));
  }

  // ---- networks

  void write(const ops::Convolve& f) {
    const loops::ConvGeometry& g = f.geometry;
    if (f.part != loops::ConvPart::forward || f.accumulate) slots_.refuse("the gradient of a convolution");
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < 3; ++i)
      if (g.in[i] != 1 || g.kernel[i] != 1 || g.out[i] != 1) axes.push_back(i);
    if (axes.empty()) axes.push_back(0);
    Dims x(1, g.n), w, y(1, g.n);
    std::vector<std::int64_t> numbers(1, g.groups);
    for (const std::size_t i : axes) {
      x.push_back(g.in[i]), w.push_back(g.kernel[i]), y.push_back(g.out[i]);
      const std::int64_t wide = (g.in[i] - 1) * g.lhs[i] + 1, reach = (g.kernel[i] - 1) * g.rhs[i] + 1;
      const std::int64_t high = (g.out[i] - 1) * g.stride[i] + reach - g.low[i] - wide;
      numbers.insert(numbers.end(), {g.stride[i], g.low[i], high, g.lhs[i], g.rhs[i]});
    }
    x.push_back(g.c), w.push_back(g.c / g.groups), w.push_back(g.o), y.push_back(g.o);
    const int from = read_as(0, x), by = read_as(1, w);
    put(2, graph_.reshape(graph_.add({NodeKind::convolve, {from, by}, f.dtype, y, std::move(numbers)}),
                          operand(2)->shape));
  }
  void write(const ops::Rows& f) {
    using enum loops::RowFunction;
    const loops::Rows& what = f.what;
    const std::size_t results = loops::Rows::most_operands;
    Dims shape(1, what.rows);
    shape.push_back(what.n);
    if (what.function != softmax && what.function != log_softmax && what.function != logsumexp &&
        what.function != variance && what.function != standardize && what.function != rms_norm)
      refuse();
    const int x = read_as(0, shape);
    const double n = static_cast<double>(what.n);
    const auto give = [&](std::size_t result, int node) {
      if (const program::Operand* const to = operand(results + result))
        put(results + result, graph_.reshape(node, to->shape));
    };
    const auto mean = [&](int of) { return make(NodeKind::multiply, {sum(of, 1), number(1 / n, of)}); };
    const auto square = [&](int of) { return make(NodeKind::multiply, {of, of}); };
    const auto inverse_root = [&](int of) {
      const int root = make(NodeKind::sqrt, {make(NodeKind::add, {of, number(what.number, of)})});
      return make(NodeKind::divide, {number(1, of), root});
    };
    const auto centred = [&] { return make(NodeKind::subtract, {x, mean(x)}); };
    const auto below_most = [&] {
      return make(NodeKind::subtract, {x, graph_.reduce(NodeKind::max, x, {1})});
    };
    if (what.function == softmax || what.function == log_softmax) {
      const bool logs = what.function == log_softmax;
      if (rows_ == RowNodes::whole)
        return give(0, graph_.add({logs ? NodeKind::log_softmax : NodeKind::softmax, {x}, f.dtype, shape}));
      const int y = below_most(), exps = make(NodeKind::exp, {y}), all = sum(exps, 1);
      give(0, logs ? make(NodeKind::subtract, {y, make(NodeKind::log, {all})})
                   : make(NodeKind::divide, {exps, all}));
    } else if (what.function == logsumexp) {
      const int all = sum(make(NodeKind::exp, {below_most()}), 1);
      give(0, make(NodeKind::add, {make(NodeKind::log, {all}), graph_.reduce(NodeKind::max, x, {1})}));
    } else if (what.function == variance) {
      give(0, make(NodeKind::divide, {sum(square(centred()), 1), number(what.number, x)}));
    } else if (what.function == rms_norm) {
      const int inverse = inverse_root(mean(square(x)));
      give(0,
           make(NodeKind::multiply, {make(NodeKind::multiply, {x, inverse}), read_as(1, Dims(1, what.n))}));
      give(1, inverse);
    } else {
      const auto inverse = [&] { return inverse_root(mean(square(centred()))); };
      const int scale = operand(1) ? read_as(1, Dims(1, what.n)) : -1,
                bias = operand(2) ? read_as(2, Dims(1, what.n)) : -1;
      if (rows_ == RowNodes::whole && scale >= 0 && bias >= 0) {
        Node norm{NodeKind::layer_norm, {x, scale, bias}, f.dtype, shape};
        norm.number = what.number;
        give(0, graph_.add(std::move(norm)));
      } else {
        int y = make(NodeKind::multiply, {centred(), inverse()});
        if (scale >= 0) y = make(NodeKind::multiply, {y, scale});
        give(0, bias >= 0 ? make(NodeKind::add, {y, bias}) : y);
      }
      if (operand(results + 1)) give(1, mean(x));
      if (operand(results + 2)) give(2, inverse());
    }
  }

  // Operations without nodes.
  template <class Form>
  void write(const Form&) {
    refuse();
  }

  Graph& graph_;
  SlotNodes slots_;
  RowNodes rows_;
  const program::Step* step_ = nullptr;
  const program::detail::CallWork* call_ = nullptr;
};

NAX_ENGINE Graph graph_of_call(const char* function, RowNodes rows, const std::vector<ArrayBase>& arguments,
                               RecordedCall f) {
  program::Recording recording(true);
  std::vector<ArrayBase> own;
  for (const ArrayBase& a : arguments) own.push_back(recording.argument(a));
  std::vector<ArrayBase> made = f(own);
  const std::vector<program::Output> outputs = recording.outputs(made);
  program::Recorded& recorded = recording.recorder();
  std::vector<int> results;
  for (const program::Output& out : outputs) results.push_back(out.slot);
  program::detail::drop_dead_steps(recorded.slots, recorded.steps, results);
  program::detail::find_constants(recorded.slots, recorded.steps, results, recorded.constants);
  Graph graph;
  StepWriter writer(function, rows, recorded, graph);
  for (const program::Step& step : recorded.steps) writer.write(step);
  for (const program::Output& out : outputs) writer.write_result(out);
  // Bytes that are not the function's own live as long as the graph.
  for (const auto& one : recorded.constants) graph.held.push_back(one);
  for (const nax::detail::BufferRef& b : recorded.kept)
    if (!nax::detail::on_program(b->device)) graph.held.push_back({nullptr, [b](const char*) {}});
  for (const program::Output& out : outputs)
    graph.held.push_back({nullptr, [kept = out.constant](const char*) {}});
  return graph;
}

}  // namespace io::detail
NAX_END
