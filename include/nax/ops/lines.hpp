#pragma once

#include <cstdint>

#include "nax/loops/lines.hpp"
#include "nax/ops/operands.hpp"

// Operations on lines of row-major arrays.
// Forms are explained in forms.hpp.
NAX_BEGIN
namespace ops {

// to = the place (int32) in its line of the first greatest (least) element: the first NaN where there is one.
struct ArgReduce {
  bool greatest;
  loops::Lines lines;
  DType dtype;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.count()); }
  void fields(const auto& each) const { each(lines); }
  const char* name() const { return greatest ? "argmax" : "argmin"; }
};
// Running sums or products, in the type of the result.
struct Scan {
  bool product;
  loops::Lines lines;
  bool reverse;
  DType from, to;

  void describe(Operands& o) const { o.reads(from, lines.size()), o.writes(to, lines.size()); }
  void fields(const auto& each) const { each(lines, reverse); }
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
  void fields(const auto& each) const { each(lines, reverse); }
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
  void fields(const auto& each) const { each(lines, reverse); }
  double flops() const { return 2. * static_cast<double>(lines.size()); }
};
// order = the places (int32) in its line from which each element of the sorted line comes; NaN is last.
// Stable.
struct Argsort {
  loops::Lines lines;
  DType dtype;
  bool descending;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.size()); }
  void fields(const auto& each) const { each(lines, descending); }
};
// to = the sorted lines; dtype has an order.
struct Sort {
  loops::Lines lines;
  DType dtype;
  bool descending;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(dtype, lines.size()); }
  void fields(const auto& each) const { each(lines, descending); }
};
// order = the places (int32) of the k greatest elements of each line, in descending order; lines.inner is 1.
struct TopK {
  loops::Lines lines;
  DType dtype;
  std::int64_t k;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.outer * k); }
  void fields(const auto& each) const { each(lines, k); }
};
// The element at `rank` is where a sort would put it, none larger before it, none smaller behind.
struct Partition {
  loops::Lines lines;
  DType dtype;
  std::int64_t rank;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(dtype, lines.size()); }
  void fields(const auto& each) const { each(lines, rank); }
};
// Places (int32) of such elements.
struct Argpartition {
  loops::Lines lines;
  DType dtype;
  std::int64_t rank;

  void describe(Operands& o) const { o.reads(dtype, lines.size()), o.writes(DType::int32, lines.size()); }
  void fields(const auto& each) const { each(lines, rank); }
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
  void fields(const auto& each) const { each(right); }
};

// Of each line (inner 1) of floating elements three: those that a sort would put at `rank` and behind it, and
// one that is NaN where one of the line is, which the first two are then as well. `places`: where they stand
// (int32), NaN too.
struct Quantile {
  loops::Lines lines;
  DType dtype;
  std::int64_t rank;
  bool places;

  void describe(Operands& o) const {
    o.reads(dtype, lines.size()), o.writes(places ? DType::int32 : dtype, lines.outer * 3);
  }
  void fields(const auto& each) const { each(lines.outer, lines.n, rank, places); }
};

}  // namespace ops
NAX_END
