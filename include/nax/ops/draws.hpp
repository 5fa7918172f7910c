#pragma once

#include <cstdint>

#include "nax/loops/lines.hpp"
#include "nax/ops/operands.hpp"
#include "nax/rules/draw.hpp"
#include "nax/rules/sampler.hpp"

// Random numbers.
// Forms are explained in forms.hpp.
NAX_BEGIN
namespace ops {

// to = `size` elements, n from each key: those of the first operand or, where that is not given, `key`.
struct Draw {
  detail::Draw draw;
  std::uint64_t key;
  std::int64_t n, size;
  DType dtype;

  void describe(Operands& o) const { o.may_read(DType::uint64, size / n), o.writes(dtype, size); }
  void fields(const auto& each) const {
    each(draw.kind, draw.low, draw.high, draw.least, draw.most, draw.offset, draw.span, draw.multiplier, key,
         n);
  }
};
// to = the keys that these make of those numbers. Operands: keys, numbers (uint32), to.
struct FoldIn {
  std::int64_t n;

  void describe(Operands& o) const {
    o.reads(DType::uint64, n), o.reads(DType::uint32, n), o.writes(DType::uint64, n);
  }
  void fields(const auto& each) const { each(); }
};
// to = for each of `rows` keys the first `kept` of the shuffled positions of each line, int32 or int64.
struct Shuffle {
  loops::Lines lines;
  std::int64_t kept, rows;
  DType dtype;

  void describe(Operands& o) const {
    o.reads(DType::uint64, rows), o.writes(dtype, rows * lines.count() * kept);
  }
  void fields(const auto& each) const { each(lines, kept); }
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
  void fields(const auto& each) const { each(n); }
  const char* name() const { return name_of(kind); }
};

}  // namespace ops
NAX_END
