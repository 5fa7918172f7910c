#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>

#include "nax/loops/convolution.hpp"
#include "nax/loops/factoring.hpp"
#include "nax/loops/fft_lines.hpp"
#include "nax/loops/index_mode.hpp"
#include "nax/loops/lane.hpp"
#include "nax/loops/linear_systems.hpp"
#include "nax/loops/lines.hpp"
#include "nax/loops/product.hpp"
#include "nax/loops/reduce_kind.hpp"
#include "nax/loops/row_functions.hpp"
#include "nax/loops/select_loop.hpp"
#include "nax/loops/windows.hpp"
#include "nax/ops/operands.hpp"
#include "nax/rules/draw.hpp"
#include "nax/rules/sampler.hpp"

// The operations of a device besides expressions. Each has a form: an aggregate of what tells its calls apart
// but for the addresses of operands. A form says
//   describe(Operands&)  which operands it has, in order: dtype, shape, strides; read, written, or optional
//   fields()             what else tells two calls apart
// and, where that is not the default,
//   name()               its name in programs and profiles (the operation's)
//   flops()              (0)
//   may_fail             whether a call can find its elements wrong (false)
// Recordings, verifiers and profiles read no more than that (table.hpp). Lines are of row-major data.
NAX_BEGIN
namespace ops {

// to = from, converting where the stored types differ.
struct Copy {
  Dims shape;
  loops::Operand from, to;

  void describe(Operands& o) const { o.reads(from, shape), o.writes(to, shape); }
  auto fields() const { return std::tuple(from.lane, to.lane); }
};

// to = a + b, of one type.
struct Add {
  Dims shape;
  loops::Operand a, b, to;

  void describe(Operands& o) const { o.reads(a, shape), o.reads(b, shape), o.writes(to, shape); }
  auto fields() const { return std::tuple(a.lane, b.lane, to.lane); }
  double flops() const { return count_of(shape); }
};

// to, row-major, = the reduction of `from` over the axes that `reduced` marks, where `to` has stride 0,
// divided by `divisor` (of floating sums on GPUs; else it is 1). The accumulators' type is that in which `to`
// is stored; no elements give the identity.
struct Reduce {
  loops::ReduceKind kind;
  Dims shape, reduced;
  loops::Operand from, to;
  double divisor = 1;

  void describe(Operands& o) const { o.reads(from, shape), o.writes(to, shape); }
  auto fields() const { return std::tuple(kind, reduced, from.lane, to.lane, divisor); }
  const char* name() const { return loops::name_of(kind); }
  double flops() const { return count_of(shape); }
};

// c = the products of matrices over the axes before them, added up over those that are summed, and added to
// what is there with `accumulate`. The elements of c lie side by side.
struct Matmul {
  DType dtype;
  loops::Product product;
  SmallVector<loops::BatchAxis, 4> axes;
  bool accumulate = false;

  void describe(Operands& o) const {
    using loops::BatchAxis;
    const loops::Product& p = product;
    const auto matrix = [&](bool written, std::int64_t BatchAxis::*along, std::int64_t rows, std::int64_t row,
                            std::int64_t columns, std::int64_t column) {
      Operand x{dtype, written, false, Dims(), Dims()};
      for (const BatchAxis& one : axes) x.shape.push_back(one.extent), x.strides.push_back(one.*along);
      x.shape.push_back(rows), x.shape.push_back(columns);
      x.strides.push_back(row), x.strides.push_back(column);
      o.add(x);
    };
    matrix(false, &BatchAxis::a, p.m, p.a_row, p.k, p.a_column);
    matrix(false, &BatchAxis::b, p.k, p.b_row, p.n, p.b_column);
    matrix(true, &BatchAxis::c, p.m, p.c_row, p.n, p.c_column);
  }
  auto fields() const { return std::tuple(accumulate); }
  double flops() const {
    double all =
        2. * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
    for (const loops::BatchAxis& one : axes) all *= static_cast<double>(one.extent);
    return all;
  }
};

// ---- places that indices name; index arrays are int64 on the device, row-major where given by address

// The values of the loop = its data at the indices, and the other way, where of several values for a place
// the last stays, or all are added in order. Operands: values, data, indices (a loop without has none).
struct Gather {
  loops::SelectLoop loop;

  void describe(Operands& o) const { o.selects(loop, false); }
  auto fields() const { return std::tuple(loop.scale, loop.extents, loop.strides); }
};
struct Scatter {
  loops::SelectLoop loop;
  bool add;

  void describe(Operands& o) const { o.selects(loop, true); }
  auto fields() const { return std::tuple(loop.scale, loop.extents, loop.strides); }
  const char* name() const { return add ? "scatter_add" : "scatter"; }
  double flops() const { return add ? count_of(loop.shape) : 0; }
};

// to = from, of any integer type, counted from the front of an axis; `to` is row-major. What is wrong with
// elements: an index was dropped.
struct WrapIndices {
  loops::IndexMode mode;
  std::int64_t extent;
  Dims shape;
  loops::Operand from, to;

  static constexpr bool may_fail = true;
  void describe(Operands& o) const { o.reads(from, shape), o.writes(to, shape); }
  auto fields() const { return std::tuple(mode, extent); }
};
// to = a * extent + b.
struct JoinIndices {
  std::int64_t extent;
  Dims shape;
  loops::Operand a, b, to;

  void describe(Operands& o) const { o.reads(a, shape), o.reads(b, shape), o.writes(to, shape); }
  auto fields() const { return std::tuple(extent); }
};
// to = offsets with these strides, of row-major positions over these extents.
struct IndexOffsets {
  std::int64_t n;
  Dims extents, strides;

  void describe(Operands& o) const { o.reads(DType::int64, n), o.writes(DType::int64, n); }
  auto fields() const { return std::tuple(extents, strides); }
};
// ranks = how many indices of its line equal each one and come before (or after) it.
struct IndexRanks {
  std::int64_t lines, n;
  bool after;

  void describe(Operands& o) const { o.reads(DType::int64, lines * n), o.writes(DType::int64, lines * n); }
  auto fields() const { return std::tuple(lines, after); }
};
// to = from where the rank is this one, dropped elsewhere. Operands: ranks, from, to.
struct KeepRanked {
  std::int64_t n, rank;

  void describe(Operands& o) const {
    o.reads(DType::int64, n), o.reads(DType::int64, n), o.writes(DType::int64, n);
  }
  auto fields() const { return std::tuple(rank); }
};
// Writes the places where the mask holds, ascending, to what `room` returns for their number.
struct TruePositions {
  std::int64_t n;
  const loops::Room* room;

  void describe(Operands& o) const { o.reads(DType::boolean, n); }
  auto fields() const { return std::tuple(); }
};
// to = 1 at the place in its line that the label of the line names, 0 elsewhere; labels of any integer type.
struct OneHot {
  loops::Lines lines;
  DType label, dtype;

  void describe(Operands& o) const { o.reads(label, lines.count()), o.writes(dtype, lines.size()); }
  auto fields() const { return std::tuple(lines); }
};

// ---- lines of row-major arrays

// to = the place (int32) in its line of the first greatest (least) element: the first NaN where there is one.
struct ArgReduce {
  bool greatest;
  loops::Lines lines;
  DType dtype;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.count()); }
  auto fields() const { return std::tuple(lines); }
  const char* name() const { return greatest ? "argmax" : "argmin"; }
};
// Running sums or products, in the type of the result.
struct Scan {
  bool product;
  loops::Lines lines;
  bool reverse;
  DType from, to;

  void describe(Operands& o) const { o.reads(from, lines.size()), o.writes(to, lines.size()); }
  auto fields() const { return std::tuple(lines, reverse); }
  const char* name() const { return product ? "cumprod" : "cumsum"; }
  double flops() const { return static_cast<double>(lines.size()); }
};
// to = the place (int64) in its line of the greatest (least) element so far: the first of equal ones as the
// scan goes; a NaN stays.
struct RunningBest {
  bool greatest;
  loops::Lines lines;
  bool reverse;
  DType dtype;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int64, lines.size()); }
  auto fields() const { return std::tuple(lines, reverse); }
  const char* name() const { return greatest ? "cummax" : "cummin"; }
};
// to[i] = factor[i] to[i - 1] + term[i]. Operands: factor, term, to.
struct LinearScan {
  loops::Lines lines;
  bool reverse;
  DType dtype;

  void describe(Operands& o) const {
    o.reads(dtype, lines.size()), o.reads(dtype, lines.size()), o.writes(dtype, lines.size());
  }
  auto fields() const { return std::tuple(lines, reverse); }
  double flops() const { return 2. * static_cast<double>(lines.size()); }
};
// order = the places (int32) in its line from which each element of the sorted line comes; NaN is last.
// Stable.
struct Argsort {
  loops::Lines lines;
  DType dtype;
  bool descending;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.size()); }
  auto fields() const { return std::tuple(lines, descending); }
};
// to = the sorted lines; dtype has an order.
struct Sort {
  loops::Lines lines;
  DType dtype;
  bool descending;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(dtype, lines.size()); }
  auto fields() const { return std::tuple(lines, descending); }
};
// order = the places (int32) of the k greatest elements of each line, in descending order; lines.inner is 1.
struct TopK {
  loops::Lines lines;
  DType dtype;
  std::int64_t k;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.outer * k); }
  auto fields() const { return std::tuple(lines, k); }
};
// The element at `rank` is where a sort would put it, none larger before it, none smaller behind.
struct Partition {
  loops::Lines lines;
  DType dtype;
  std::int64_t rank;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(dtype, lines.size()); }
  auto fields() const { return std::tuple(lines, rank); }
};
// Places (int32) of such elements.
struct Argpartition {
  loops::Lines lines;
  DType dtype;
  std::int64_t rank;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.size()); }
  auto fields() const { return std::tuple(lines, rank); }
};
// to = how many (int32) of the n sorted elements come before each of `count` ones (or, right, do not come
// after). Operands: sorted, sought, to.
struct Search {
  DType dtype;
  bool right;
  std::int64_t n, count;

  void describe(Operands& o) const {
    o.reads(dtype, n), o.reads(dtype, count), o.writes(DType::int32, count);
  }
  auto fields() const { return std::tuple(right); }
};

// ---- random numbers

// to = `size` elements, n from each key: those of the first operand or, where that is not given, `key`.
struct Draw {
  detail::Draw draw;
  std::uint64_t key;
  std::int64_t n, size;
  DType dtype;

  void describe(Operands& o) const { o.may_read(DType::uint64, size / n), o.writes(dtype, size); }
  auto fields() const {
    return std::tuple(draw.kind, draw.low, draw.high, draw.least, draw.most, draw.offset, draw.span,
                      draw.multiplier, key, n);
  }
};
// to = the keys that these make of those numbers. Operands: keys, numbers (uint32), to.
struct FoldIn {
  std::int64_t n;

  void describe(Operands& o) const {
    o.reads(DType::uint64, n), o.reads(DType::uint32, n), o.writes(DType::uint64, n);
  }
  auto fields() const { return std::tuple(); }
};
// to = for each of `rows` keys the first `kept` of the shuffled positions of each line, int32 or int64.
struct Shuffle {
  loops::Lines lines;
  std::int64_t kept, rows;
  DType dtype;

  void describe(Operands& o) const {
    o.reads(DType::uint64, rows), o.writes(dtype, rows * lines.count() * kept);
  }
  auto fields() const { return std::tuple(lines, kept); }
};
// to = n elements from each of `rows` keys, by rejection. Operands: keys, one or two row-major parameters
// with one element for each result (a second is optional), to.
struct Sample {
  detail::Sampler kind;
  std::int64_t rows, n;
  DType dtype;

  void describe(Operands& o) const {
    const DType from = kind == detail::Sampler::poisson ? DType::float32 : dtype;
    o.reads(DType::uint64, rows), o.reads(from, rows * n), o.may_read(from, rows * n);
    o.writes(dtype, rows * n);
  }
  auto fields() const { return std::tuple(n); }
  const char* name() const { return name_of(kind); }
};

// ---- transforms, convolutions, matrices, rows

// The transforms of lines of real numbers of dtype `real`, or of complex ones with such parts.
struct Fft {
  loops::FftLines lines;
  DType real;

  void describe(Operands& o) const {
    const DType complex = real == DType::float64 ? DType::complex128 : DType::complex64;
    const bool of_real = lines.kind == loops::FftKind::to_complex,
               to_real = lines.kind == loops::FftKind::to_real;
    const auto half = [&](bool is) { return is ? lines.n / 2 + 1 : lines.n; };
    Operand from{of_real ? real : complex, false, false, lines.others, lines.from},
        to{to_real ? real : complex, true, false, lines.others, lines.to};
    from.shape.push_back(half(to_real)), from.strides.push_back(lines.from_axis);
    to.shape.push_back(half(of_real)), to.strides.push_back(lines.to_axis);
    o.add(from), o.add(to);
  }
  auto fields() const {
    return std::tuple(lines.kind, lines.inverse, lines.n, lines.scale, lines.middle, lines.conjugate);
  }
  double flops() const {
    const double n = static_cast<double>(lines.n);
    return (lines.kind == loops::FftKind::complex ? 5. : 2.5) * n * std::log2(n) * count_of(lines.others);
  }
};
// to = the part of a convolution of a and b; the weights' is added to what is there when `accumulate`.
struct Convolve {
  loops::ConvPart part;
  loops::ConvGeometry geometry;
  DType dtype;
  bool accumulate;

  void describe(Operands& o) const {
    using enum loops::ConvPart;
    const loops::ConvGeometry& g = geometry;
    const std::int64_t x = g.n * g.in[0] * g.in[1] * g.in[2] * g.c, y = g.rows() * g.o,
                       w = g.taps() * (g.c / g.groups) * g.o;
    o.reads(dtype, part == input ? y : x), o.reads(dtype, part == weights ? y : w);
    o.writes(dtype, part == forward ? y : part == input ? x : w);
  }
  auto fields() const { return std::tuple(part, geometry, accumulate); }
  double flops() const {
    return 2. * static_cast<double>(geometry.rows() * geometry.o) *
           static_cast<double>(geometry.taps() * (geometry.c / geometry.groups));
  }
};
// to = the place (int64) of the first greatest (least) element of each window of row-major arrays, NaN before
// all others; -1 where a window holds none.
struct BestInWindows {
  loops::Windows windows;
  bool greatest;
  std::int64_t examples;
  DType dtype;

  void describe(Operands& o) const {
    std::int64_t elements = examples, count = examples;
    for (const std::int64_t n : windows.in) elements *= n;
    for (const std::int64_t n : windows.out) count *= n;
    o.reads(dtype, elements), o.writes(DType::int64, count);
  }
  auto fields() const {
    const loops::Windows& w = windows;
    return std::tuple(examples, w.in, w.window, w.out, w.strides, w.base, w.dilation, w.low, w.high);
  }
  const char* name() const { return greatest ? "greatest_in_windows" : "least_in_windows"; }
};
// The factors of matrices. Operands: from, and its results (loops/factoring.hpp), each of which is optional.
struct Factorise {
  loops::Factoring what;
  DType dtype;

  void describe(Operands& o) const {
    o.reads(dtype, what.batch * what.m * what.n);
    for (int i = 0; i < loops::result_count(what.kind); ++i)
      o.may_write(loops::result_dtype(what, i, dtype), what.batch * loops::result_size(what, i));
  }
  auto fields() const {
    return std::tuple(what.batch, what.m, what.n, what.complete, what.lower, what.diagonal);
  }
  const char* name() const { return loops::name_of(what.kind); }
};
// rows = the order that k swaps (int32) a line make of 0, 1, ... m - 1: row i with row swaps[i]. What is
// wrong with elements: a swap names no row; it is left out.
struct OrderOfSwaps {
  std::int64_t lines, k, m;

  static constexpr bool may_fail = true;
  void describe(Operands& o) const { o.reads(DType::int32, lines * k), o.writes(DType::int32, lines * m); }
  auto fields() const { return std::tuple(lines, k); }
};
// x = a^-1 b for the matrices of a batch; a^-1 where b is not given, of general matrices. Operands: a, b, x.
struct Solve {
  loops::LinearSystems systems;
  DType dtype;

  void describe(Operands& o) const {
    const auto given = [&](const loops::StridedMatrices& by, std::int64_t columns, bool optional) {
      Operand x{dtype, false, optional, systems.batches, by.batch};
      x.shape.push_back(systems.n), x.shape.push_back(columns);
      x.strides.push_back(by.row), x.strides.push_back(by.column);
      o.add(x);
    };
    given(systems.a, systems.n, false), given(systems.b, systems.m, true);
    o.writes(dtype, systems.count() * systems.n * systems.m);
  }
  auto fields() const { return std::tuple(systems.kind); }
};
// to (rows, length) = how often (int32) each number below `length` occurs in a row of n bins of this integer
// type; with weights (n a row, of dtype `added`) their sums, in the type that such elements add up in.
// Operands: bins, weights (optional), to. What is wrong with elements: a bin is negative; nothing is written.
struct Bincount {
  std::int64_t rows, n, length;
  DType type, added;

  static constexpr bool may_fail = true;
  void describe(Operands& o) const {
    o.reads(type, rows * n), o.may_read(added, rows * n);
    o.writes(detail::lane_of(added), rows * length);
  }
  auto fields() const { return std::tuple(rows); }
};
// The function of row-major rows, of dtype float32 or float64. Operands: most_operands and most_results
// addresses, each optional.
struct Rows {
  loops::Rows what;
  DType dtype;

  void describe(Operands& o) const {
    for (int i = 0; i < loops::Rows::most_operands; ++i) o.may_read(dtype, what.operand_size(i));
    for (int i = 0; i < loops::Rows::most_results; ++i) o.may_write(dtype, what.result_size(i));
  }
  auto fields() const { return std::tuple(what.rows, what.n, what.number); }
  const char* name() const { return loops::name_of(what.function); }
};

// All of them: X(operation, form).
#define NAX_OPERATIONS(X)           \
  X(copy, Copy)                     \
  X(add, Add)                       \
  X(reduce, Reduce)                 \
  X(matmul, Matmul)                 \
  X(gather, Gather)                 \
  X(scatter, Scatter)               \
  X(wrap_indices, WrapIndices)      \
  X(join_indices, JoinIndices)      \
  X(index_offsets, IndexOffsets)    \
  X(index_ranks, IndexRanks)        \
  X(keep_ranked, KeepRanked)        \
  X(true_positions, TruePositions)  \
  X(one_hot, OneHot)                \
  X(arg_reduce, ArgReduce)          \
  X(scan, Scan)                     \
  X(running_best, RunningBest)      \
  X(linear_scan, LinearScan)        \
  X(argsort, Argsort)               \
  X(sort, Sort)                     \
  X(top_k, TopK)                    \
  X(partition, Partition)           \
  X(argpartition, Argpartition)     \
  X(search, Search)                 \
  X(draw, Draw)                     \
  X(fold_in, FoldIn)                \
  X(shuffle, Shuffle)               \
  X(sample, Sample)                 \
  X(fft, Fft)                       \
  X(convolve, Convolve)             \
  X(best_in_windows, BestInWindows) \
  X(factorise, Factorise)           \
  X(order_of_swaps, OrderOfSwaps)   \
  X(solve, Solve)                   \
  X(bincount, Bincount)             \
  X(rows, Rows)

#define NAX_NAME(name, Form) name,
enum class Op : std::uint8_t { NAX_OPERATIONS(NAX_NAME) };
#undef NAX_NAME

template <class Form>
struct OpOf;
#define NAX_OP_OF(operation, Form)                  \
  template <>                                       \
  struct OpOf<Form> {                               \
    static constexpr Op value = Op::operation;      \
    static constexpr const char* name = #operation; \
  };
NAX_OPERATIONS(NAX_OP_OF)
#undef NAX_OP_OF

}  // namespace ops
NAX_END
