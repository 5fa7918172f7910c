#pragma once

#include <limits>

#include "nax/modules/exporting/step_writer.hpp"

NAX_BEGIN
namespace io::detail {

inline DType StepWriter::reduced_as(DType dtype, std::optional<loops::ReduceKind> kind) {
  return kind && (*kind == loops::ReduceKind::any || *kind == loops::ReduceKind::all) ? DType::boolean
                                                                                      : dtype;
}

inline int StepWriter::nan_marks(int x, DType type) {
  return graph_.cast(truth(NodeKind::logical_not, {truth(NodeKind::equal, {x, x})}), type);
}
inline int StepWriter::with_nan(int extrema, int marks) {
  const int nan = number(std::numeric_limits<double>::quiet_NaN(), extrema);
  return make(NodeKind::select, {truth(NodeKind::less, {number(0, marks), marks}), nan, extrema});
}

inline int StepWriter::reduce(loops::ReduceKind kind, int x, const program::Operand& to) {
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
  const NodeKind by = node();
  const bool guards = (by == NodeKind::max || by == NodeKind::min) && !axes.empty() && drops_nan(x);
  const int marks = guards ? graph_.reduce(NodeKind::max, nan_marks(x, DType::int32), axes) : -1;
  x = graph_.reduce(by, x, axes);
  if (guards) return with_nan(x, marks);
  return truths ? make(NodeKind::logical_not, {truth(NodeKind::equal, {x, number(0, x)})}) : x;
}

inline void StepWriter::write(const ops::Copy&) { put(1, read(0)); }
inline void StepWriter::write(const ops::Add&) { put(2, make(NodeKind::add, {read(0), read(1)})); }
inline void StepWriter::write(const ops::Reduce& f) {
  const program::Operand& to = *operand(1);
  const int x = graph_.cast(slots_.read_whole(*operand(0)), reduced_as(to.dtype, f.kind));
  put(1, reduce(f.kind, x, to));
}

inline void StepWriter::write(const ops::Matmul&) {
  const program::Operand& to = *operand(2);
  const int a = slots_.read_whole(*operand(0)), b = slots_.read_whole(*operand(1));
  int c = graph_.add({NodeKind::matmul, {a, b}, dtype(a), to.shape});
  c = reduce(loops::ReduceKind::sum, c, to);
  put(2, c);
}

// ---- lines

template <class Lines>
Dims StepWriter::line_shape(const Lines& lines, std::int64_t n) {
  Dims shape(1, lines.outer);
  shape.push_back(n), shape.push_back(lines.inner);
  return shape;
}

inline void StepWriter::write(const ops::ArgReduce& f) {
  int x = read_as(0, line_shape(f.lines, f.lines.n));
  const bool whole = dtype_kind(dtype(x)) < Kind::floating;
  // Short whole numbers become int32 or int64, which all systems order.
  if (whole && dtype_size(dtype(x)) < 4) x = graph_.cast(x, DType::int32);
  if (dtype(x) == DType::uint32) x = graph_.cast(x, DType::int64);
  if (!f.greatest && whole) {  // the least has no negative
    const std::int64_t ones = -1;
    const int from = dtype(x) == DType::int32 ? number(-1, x) : graph_.own_constant(&ones, dtype(x), {});
    x = make(NodeKind::subtract, {from, x});
  } else if (!f.greatest) {
    x = make(NodeKind::negative, {x});
  }
  Dims shape(1, f.lines.outer);
  shape.push_back(f.lines.inner);
  const auto place = [&](int of) { return graph_.add({NodeKind::argmax, {of}, DType::int32, shape, {1}}); };
  int found = place(x);
  if (drops_nan(x)) {  // the first NaN
    const int marks = nan_marks(x, DType::int32), most = graph_.reduce(NodeKind::max, marks, {1});
    const int some = truth(NodeKind::less, {number(0, most), graph_.reshape(most, shape)});
    found = make(NodeKind::select, {some, place(marks), found});
  }
  put(1, graph_.reshape(found, operand(1)->shape));
}

inline int StepWriter::moved_on(int x, int before, std::int64_t places, bool reverse) {
  const Dims shape = graph_[x].shape, one(shape.size(), 1);
  const auto part = [&](int of, std::int64_t first, std::int64_t end) {
    Dims from(shape.size(), 0), to = shape;
    from[1] = first, to[1] = end;
    return graph_.slice(of, from, to, one);
  };
  const std::int64_t n = shape[1];
  const int kept = reverse ? part(x, places, n) : part(x, 0, n - places),
            edge = reverse ? part(before, n - places, n) : part(before, 0, places);
  std::vector<int> parts = {edge, kept};
  if (reverse) std::swap(parts[0], parts[1]);
  return graph_.add({NodeKind::concatenate, parts, dtype(x), shape, {1}});
}

inline void StepWriter::write(const ops::Scan& f) {
  int x = graph_.cast(read_as(0, line_shape(f.lines, f.lines.n)), operand(1)->dtype);
  if (f.product) {  // of twice as many elements in each turn
    const int ones = graph_.expand(number(1, x), graph_[x].shape);
    for (std::int64_t places = 1; places < f.lines.n; places *= 2)
      x = make(NodeKind::multiply, {x, moved_on(x, ones, places, f.reverse)});
    return put(1, graph_.reshape(x, operand(1)->shape));
  }
  put(1, graph_.reshape(graph_.add({NodeKind::cumsum, {x}, dtype(x), graph_[x].shape, {1, f.reverse}}),
                        operand(1)->shape));
}

// Of values and their places, the better of each and what lies so many places before it, twice as many in
// each turn. The first of equal ones stays, and a NaN.
inline void StepWriter::write(const ops::RunningBest& f) {
  int best = read_as(0, line_shape(f.lines, f.lines.n));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(f.lines.n));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  Dims column(1, f.lines.n);
  column.push_back(1);
  int place = graph_.expand(graph_.own_constant(numbers.data(), DType::int64, column), graph_[best].shape);
  for (std::int64_t places = 1; places < f.lines.n; places *= 2) {
    const int before = moved_on(best, best, places, f.reverse),
              place_before = moved_on(place, place, places, f.reverse);
    int takes = f.greatest ? truth(NodeKind::less_equal, {best, before})
                           : truth(NodeKind::less_equal, {before, best});
    if (dtype_kind(f.dtype) == Kind::floating) {
      const int is_nan = truth(NodeKind::logical_not, {truth(NodeKind::equal, {before, before})});
      takes = truth(NodeKind::logical_or, {takes, is_nan});
    }
    best = make(NodeKind::select, {takes, before, best});
    place = make(NodeKind::select, {takes, place_before, place});
  }
  put(1, graph_.reshape(place, operand(1)->shape));
}

// ONNX leaves open where NaN comes: it is put in the place of infinity, which gets one that floats have not,
// or is told apart by how many there are. Among doubles NaN and infinity are in the order of their places.
template <class Form>
void StepWriter::write_top(const Form& f, NodeKind kind, std::int64_t k, bool greatest) {
  int x = read_as(0, line_shape(f.lines, f.lines.n));
  const DType type = kind == NodeKind::top ? dtype(x) : DType::int64;
  const bool guards = drops_nan(x);
  const int is_nan = guards ? truth(NodeKind::logical_not, {truth(NodeKind::equal, {x, x})}) : -1;
  if (guards && kind == NodeKind::top_indices && dtype(x) == DType::float32) {
    x = graph_.cast(x, DType::float64);
    x = make(NodeKind::select, {truth(NodeKind::equal, {x, number(HUGE_VAL, x)}), number(1e300, x), x});
  }
  if (guards) x = make(NodeKind::select, {is_nan, number(HUGE_VAL, x), x});
  int found = graph_.add({kind, {x}, type, line_shape(f.lines, k), {1, k, greatest}});
  if (guards && kind == NodeKind::top) {
    std::vector<std::int64_t> before(
        static_cast<std::size_t>(k));  // elements that come first if they are NaN
    for (std::int64_t i = 0; i < k; ++i) before[static_cast<std::size_t>(i)] = greatest ? i : k - 1 - i;
    Dims column(1, k);
    column.push_back(1);
    const int count = sum(graph_.cast(is_nan, DType::int64), 1),
              places = graph_.own_constant(before.data(), DType::int64, column);
    found = make(NodeKind::select, {truth(NodeKind::less, {places, count}), number(NAN, found), found});
  }
  put(1, graph_.reshape(found, operand(1)->shape));
}

inline void StepWriter::write(const ops::Argsort& f) {
  write_top(f, NodeKind::top_indices, f.lines.n, f.descending);
}
inline void StepWriter::write(const ops::Sort& f) { write_top(f, NodeKind::top, f.lines.n, f.descending); }
inline void StepWriter::write(const ops::TopK& f) { write_top(f, NodeKind::top_indices, f.k, true); }

}  // namespace io::detail
NAX_END
