#pragma once

#include <cstdint>
#include <vector>

#include "nax/core/error.hpp"
#include "nax/loops/operand.hpp"
#include "nax/loops/select_loop.hpp"

NAX_BEGIN
namespace ops {

// Describes an operand of a call, without its address.
struct Operand {
  DType dtype{};
  bool written = false;
  bool optional = false;  // may a call do without?
  Dims shape, strides;    // strides in elements
  // The first axes along which indices choose. Those that follow are the operation's own loop.
  int indexed = 0;
};

inline constexpr std::size_t most_operands = 16;  // of a form

// The operands of a form, as it describes them. Throws Error where they are more.
class Operands {
 public:
  void add(const Operand& x) { next() = x; }
  // Row-major elements.
  void reads(DType dtype, std::int64_t n) { add_row(dtype, false, false, n); }
  void may_read(DType dtype, std::int64_t n) { add_row(dtype, false, true, n); }
  void writes(DType dtype, std::int64_t n) { add_row(dtype, true, false, n); }
  void may_write(DType dtype, std::int64_t n) { add_row(dtype, true, true, n); }
  // Elements of a loop over this shape.
  void reads(const loops::Operand& x, const Dims& shape) { add({x.stored, false, false, shape, x.strides}); }
  void writes(const loops::Operand& x, const Dims& shape) { add({x.stored, true, false, shape, x.strides}); }
  // Values, data and, optional, indices.
  void selects(const loops::SelectLoop& loop, bool scatters) {
    const loops::Operand &values = loop.operands[0], &data = loop.operands[1], &indices = loop.operands[2];
    Operand at{data.stored,  scatters,     false,
               loop.extents, loop.strides, static_cast<int>(loop.extents.size())};
    at.shape.append(loop.shape.begin(), loop.shape.end());
    at.strides.append(data.strides.begin(), data.strides.end());
    add({values.stored, !scatters, false, loop.shape, values.strides});
    add(at);
    add({indices.stored, false, true, loop.shape, indices.strides});
  }

  int size() const { return static_cast<int>(list_.size()); }
  const Operand* begin() const { return list_.data(); }
  const Operand* end() const { return list_.data() + list_.size(); }

 private:
  // (In place: g++ warns of what a copy of short Dims reads in code that nvcc wrote.)
  void add_row(DType dtype, bool written, bool optional, std::int64_t n) {
    Operand& x = next();
    x.dtype = dtype, x.written = written, x.optional = optional;
    x.shape.push_back(n), x.strides.push_back(1);
  }

  Operand& next();

  std::vector<Operand> list_;
};

inline double count_of(const Dims& shape) {
  double n = 1;
  for (const std::int64_t extent : shape) n *= static_cast<double>(extent);
  return n;
}

}  // namespace ops
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace ops {

NAX_ENGINE Operand& Operands::next() {
  if (list_.size() == most_operands)
    raise<Error>({"an operation has more than ", most_operands, " operands"});
  return list_.emplace_back();
}

}  // namespace ops
NAX_END
#endif
