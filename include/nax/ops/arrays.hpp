#pragma once

#include <cstdint>

#include "nax/loops/product.hpp"
#include "nax/loops/reduce_kind.hpp"
#include "nax/ops/operands.hpp"

// Copies, sums, reductions and products of arrays.
// Forms are explained in forms.hpp.
NAX_BEGIN
namespace ops {

// to = from, converting where the stored types differ.
struct Copy {
  Dims shape;
  loops::Operand from, to;

  void describe(Operands& o) const { o.reads(from, shape), o.writes(to, shape); }
  void fields(const auto& each) const { each(from.lane, to.lane); }
};

// to = a + b, of one type.
struct Add {
  Dims shape;
  loops::Operand a, b, to;

  void describe(Operands& o) const { o.reads(a, shape), o.reads(b, shape), o.writes(to, shape); }
  void fields(const auto& each) const { each(a.lane, b.lane, to.lane); }
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
  void fields(const auto& each) const { each(kind, reduced, from.lane, to.lane, divisor); }
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
  void fields(const auto& each) const { each(accumulate); }
  double flops() const {
    double all =
        2. * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
    for (const loops::BatchAxis& one : axes) all *= static_cast<double>(one.extent);
    return all;
  }
};

}  // namespace ops
NAX_END
