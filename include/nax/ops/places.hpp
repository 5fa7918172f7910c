#pragma once

#include <cstdint>

#include "nax/loops/index_mode.hpp"
#include "nax/loops/lines.hpp"
#include "nax/loops/select_loop.hpp"
#include "nax/ops/operands.hpp"

// Places that indices name. Index arrays are int64 on the device, row-major where given by address.
// Forms are explained in forms.hpp.
NAX_BEGIN
namespace ops {

// The values of the loop = its data at the indices, and the other way, where of several values for a place
// the last stays, or all are added in order. Operands: values, data, indices (a loop without has none).
struct Gather {
  loops::SelectLoop loop;

  void describe(Operands& o) const { o.selects(loop, false); }
  void fields(const auto& each) const { each(loop.scale, loop.extents, loop.strides); }
};
struct Scatter {
  loops::SelectLoop loop;
  bool add;

  void describe(Operands& o) const { o.selects(loop, true); }
  void fields(const auto& each) const { each(loop.scale, loop.extents, loop.strides); }
  const char* name() const { return add ? "scatter_add" : "scatter"; }
  double flops() const { return add ? count_of(loop.shape) : 0; }
};

// to = from, of any integer type, counted from the front of an axis; `to` is row-major. What is wrong with
// elements: an index was dropped. With a function's name and an axis a device may say so later, when the host
// waits for it.
struct WrapIndices {
  loops::IndexMode mode;
  std::int64_t extent;
  Dims shape;
  loops::Operand from, to;
  std::int64_t window = 1;         // of `slide`
  const char* function = nullptr;  // a literal
  int axis = 0;

  bool may_fail() const { return mode == loops::IndexMode::drop; }
  void describe(Operands& o) const { o.reads(from, shape), o.writes(to, shape); }
  void fields(const auto& each) const { each(mode, extent, window); }
};
// to = a * extent + b.
struct JoinIndices {
  std::int64_t extent;
  Dims shape;
  loops::Operand a, b, to;

  void describe(Operands& o) const { o.reads(a, shape), o.reads(b, shape), o.writes(to, shape); }
  void fields(const auto& each) const { each(extent); }
};
// to = offsets with these strides, of row-major positions over these extents.
struct IndexOffsets {
  std::int64_t n;
  Dims extents, strides;

  void describe(Operands& o) const { o.reads(DType::int64, n), o.writes(DType::int64, n); }
  void fields(const auto& each) const { each(extents, strides); }
};
// ranks = how many indices of its line equal each one and come before (or after) it.
struct IndexRanks {
  std::int64_t lines, n;
  bool after;

  void describe(Operands& o) const { o.reads(DType::int64, lines * n), o.writes(DType::int64, lines * n); }
  void fields(const auto& each) const { each(lines, after); }
};
// to = from where the rank is this one, dropped elsewhere. Operands: ranks, from, to.
struct KeepRanked {
  std::int64_t n, rank;

  void describe(Operands& o) const {
    o.reads(DType::int64, n), o.reads(DType::int64, n), o.writes(DType::int64, n);
  }
  void fields(const auto& each) const { each(rank); }
};
// Writes the places where the mask holds, ascending, to what `room` returns for their number.
struct TruePositions {
  std::int64_t n;
  const loops::Room* room;

  void describe(Operands& o) const { o.reads(DType::boolean, n); }
  void fields(const auto& each) const { each(); }
};
// to = 1 at the place in its line that the label of the line names, 0 elsewhere; labels of any integer type.
struct OneHot {
  loops::Lines lines;
  DType label, dtype;

  void describe(Operands& o) const { o.reads(label, lines.count()), o.writes(dtype, lines.size()); }
  void fields(const auto& each) const { each(lines); }
};

}  // namespace ops
NAX_END
