#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>

#include "nax/loops/convolution.hpp"
#include "nax/loops/correlation.hpp"
#include "nax/loops/factoring.hpp"
#include "nax/loops/fft_lines.hpp"
#include "nax/loops/lane.hpp"
#include "nax/loops/linear_systems.hpp"
#include "nax/loops/row_functions.hpp"
#include "nax/loops/windows.hpp"
#include "nax/ops/operands.hpp"

// Transforms, convolutions, factorisations, functions of rows.
// Forms are explained in forms.hpp.
NAX_BEGIN
namespace ops {

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
  void fields(const auto& each) const {
    each(lines.kind, lines.inverse, lines.n, lines.scale, lines.middle, lines.conjugate);
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
  void fields(const auto& each) const { each(part, geometry, accumulate); }
  double flops() const {
    return 2. * static_cast<double>(geometry.rows() * geometry.o) *
           static_cast<double>(geometry.taps() * (geometry.c / geometry.groups));
  }
};
// to (batches, length) = the correlations of the last axes of x and w (loops/correlation.hpp), whose strides
// over the batches are given. Operands: x, w, to.
struct Correlate {
  loops::Correlation line;
  Dims batches, x_strides, w_strides;
  DType dtype;

  void describe(Operands& o) const {
    const auto lines = [&](const Dims& strides, std::int64_t n, std::int64_t stride) {
      Operand x{dtype, false, false, batches, strides};
      x.shape.push_back(n), x.strides.push_back(stride);
      o.add(x);
    };
    lines(x_strides, line.n, line.x_stride), lines(w_strides, line.taps, line.w_stride);
    std::int64_t size = line.length;
    for (const std::int64_t extent : batches) size *= extent;
    o.writes(dtype, size);
  }
  void fields(const auto& each) const { each(line.low, line.length); }
  const char* name() const { return "convolve"; }
  double flops() const {
    return 2. * count_of(batches) * static_cast<double>(line.length) * static_cast<double>(line.taps);
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
  void fields(const auto& each) const {
    const loops::Windows& w = windows;
    each(examples, w.in, w.window, w.out, w.strides, w.base, w.dilation, w.low, w.high);
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
  void fields(const auto& each) const {
    each(what.batch, what.m, what.n, what.complete, what.lower, what.diagonal);
  }
  const char* name() const { return loops::name_of(what.kind); }
};
// rows = the order that k swaps (int32) a line make of 0, 1, ... m - 1: row i with row swaps[i]. What is
// wrong with elements: a swap names no row; it is left out.
struct OrderOfSwaps {
  std::int64_t lines, k, m;

  bool may_fail() const { return true; }
  void describe(Operands& o) const { o.reads(DType::int32, lines * k), o.writes(DType::int32, lines * m); }
  void fields(const auto& each) const { each(lines, k); }
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
  void fields(const auto& each) const { each(systems.kind); }
};
// to (rows, length) = how often (int32) each number below `length` occurs in a row of n bins of this integer
// type; with weights (n a row, of dtype `added`) their sums, in the type that such elements add up in.
// Operands: bins, weights (optional), to. What is wrong with elements: a bin is negative; nothing is written.
struct Bincount {
  std::int64_t rows, n, length;
  DType type, added;

  bool may_fail() const { return true; }
  void describe(Operands& o) const {
    o.reads(type, rows * n), o.may_read(added, rows * n);
    o.writes(detail::lane_of(added), rows * length);
  }
  void fields(const auto& each) const { each(rows); }
};
// x of a x + x b = q, batches of row-major matrices: a (m, m), b (n, n), q and x (m, n). Operands: a, b, q,
// x.
struct Sylvester {
  std::int64_t batch, m, n;
  DType dtype;

  void describe(Operands& o) const {
    o.reads(dtype, batch * m * m), o.reads(dtype, batch * n * n);
    o.reads(dtype, batch * m * n), o.writes(dtype, batch * m * n);
  }
  void fields(const auto& each) const { each(batch); }
  const char* name() const { return "solve_sylvester"; }
};
// The function of row-major rows, of dtype float32 or float64, or of 16 bits where a device has it. Operands:
// most_operands and most_results addresses, each optional.
struct Rows {
  loops::Rows what;
  DType dtype;

  void describe(Operands& o) const {
    const DType number = detail::lane_of(dtype);
    for (int i = 0; i < loops::Rows::most_operands; ++i)
      o.may_read(what.is_number(i) ? number : dtype, what.operand_size(i));
    for (int i = 0; i < loops::Rows::most_results; ++i)
      o.may_write(what.gives_number(i) ? number : dtype, what.result_size(i));
  }
  void fields(const auto& each) const { each(what.rows, what.n, what.number); }
  const char* name() const { return loops::name_of(what.function); }
};

}  // namespace ops
NAX_END
