#pragma once

#include <algorithm>
#include <vector>

#include "nax/backend/operations.hpp"
#include "nax/program/record/recording.hpp"

// Products of matrices as steps: c = a b or, where the step has an operand `before` between b and c,
// c = before + a b.
NAX_BEGIN
namespace program {

struct ProductForm {
  DType dtype;
  loops::Product product;
  std::vector<loops::BatchAxis> axes;

  double flops() const {
    double all =
        2. * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
    for (const loops::BatchAxis& one : axes) all *= static_cast<double>(one.extent);
    return all;
  }
};

namespace detail {

struct ProductWork final : Work {
  explicit ProductWork(ProductForm f) : form(std::move(f)) {}
  void run(void* const* at) const override { multiply(at, at[2], false); }
  void multiply(void* const* at, void* to, bool accumulate) const {
    backend::host_operations().contract({}, form.dtype, form.product, form.axes.data(),
                                        static_cast<int>(form.axes.size()), static_cast<char*>(at[0]),
                                        static_cast<char*>(at[1]), static_cast<char*>(to), accumulate);
  }
  ProductForm form;
};

inline Step product_step(const ProductForm& form, const Place& a, const Place& b, const Place& c) {
  const auto operand = [&](const Place& place, bool written, std::int64_t loops::BatchAxis::*along,
                           std::int64_t rows, std::int64_t row, std::int64_t columns, std::int64_t column) {
    Operand x{place, written, form.dtype, Dims(), Dims()};
    for (const loops::BatchAxis& one : form.axes)
      x.shape.push_back(one.extent), x.strides.push_back(one.*along);
    x.shape.push_back(rows), x.shape.push_back(columns);
    x.strides.push_back(row), x.strides.push_back(column);
    return x;
  };
  const loops::Product& p = form.product;
  using loops::BatchAxis;
  Step step;
  step.name = "matmul";
  step.operands = {operand(a, false, &BatchAxis::a, p.m, p.a_row, p.k, p.a_column),
                   operand(b, false, &BatchAxis::b, p.k, p.b_row, p.n, p.b_column),
                   operand(c, true, &BatchAxis::c, p.m, p.c_row, p.n, p.c_column)};
  step.work = std::make_shared<const ProductWork>(form);
  step.product = std::make_shared<const ProductForm>(form);
  step.flops = form.flops();
  return step;
}

}  // namespace detail
}  // namespace program
NAX_END
