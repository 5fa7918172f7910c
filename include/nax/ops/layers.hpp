#pragma once

#include <cstdint>

#include "nax/loops/leaf_steps.hpp"
#include "nax/loops/linear.hpp"
#include "nax/ops/arrays.hpp"

// Linear layers, their gradients and steps of their parameters, each as one call.
// Forms are explained in forms.hpp.
NAX_BEGIN
namespace ops {

// c = the activation of a b plus a row of biases, plus `added`, which like `before`, to which what the
// activation is applied to is written, is laid out as c. Operands: a, b, c, bias, added (optional), before
// (optional).
struct Linear {
  DType dtype;
  loops::Product product;
  loops::Activation activation;

  void describe(Operands& o) const {
    Matmul{dtype, product, {}}.describe(o);
    Operand beside = o.begin()[2];
    o.reads(dtype, product.n);
    beside.optional = true;
    beside.written = false, o.add(beside);
    beside.written = true, o.add(beside);
  }
  void fields(const auto& each) const { each(activation); }
  double flops() const { return Matmul{dtype, product, {}}.flops(); }
};
// c = a b, and sums[j] = the sum of column j of b. Operands: a, b, c, sums.
struct ProductAndSums {
  DType dtype;
  loops::Product product;

  void describe(Operands& o) const { Matmul{dtype, product, {}}.describe(o), o.writes(dtype, product.n); }
  void fields(const auto& each) const { each(); }
  double flops() const { return Matmul{dtype, product, {}}.flops(); }
};
// A step of an optimiser for `count` leaves of a floating dtype, none of them empty. Their addresses are in
// the form: devices that write calls down have no such operation.
struct StepLeaves {
  DType dtype;
  loops::StepNumbers numbers;
  const loops::LeafStep* leaves;
  int count;

  void describe(Operands&) const {}
  void fields(const auto& each) const { each(leaves, count); }
  const char* name() const { return "optim::step"; }
};
// y (m, n) = the activation of x w + bias, all of float32, by weights of 8-bit integers. Operands: x (m, k),
// the packing's codes, scales and offsets, bias (n,) (optional), the floats that were packed (optional), y.
// Of the floats the address alone counts: something is wrong with a call where it is not `source`.
struct Int8Matmul {
  std::int64_t m;
  loops::Int8Weights weights;  // without addresses
  loops::Activation activation;
  DType source_dtype;
  const void* source;

  bool may_fail() const { return source != nullptr; }
  void describe(Operands& o) const {
    const loops::Int8Weights& w = weights;
    o.reads(DType::float32, m * w.k), o.reads(DType::int8, w.columns() * w.steps());
    o.reads(DType::float32, w.columns()), o.reads(DType::int32, w.columns());
    o.may_read(DType::float32, w.n), o.may_read(source_dtype, 1);
    o.writes(DType::float32, m * w.n);
  }
  void fields(const auto& each) const { each(weights.k, weights.n, activation, source); }
  const char* name() const { return "int8_linear"; }
  double flops() const {
    return 2. * static_cast<double>(m) * static_cast<double>(weights.k) * static_cast<double>(weights.n);
  }
};

}  // namespace ops
NAX_END
