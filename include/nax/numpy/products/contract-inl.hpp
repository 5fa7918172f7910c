#pragma once

#include <algorithm>
#include <cmath>

#include "nax/core/profile.hpp"
#include "nax/numpy/products/contract.hpp"
#include "nax/numpy/products/contraction_plan.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool fold_axis(Product& p, const BatchAxis& x) {
  if (x.summed) {
    if (p.k != 1 && (x.a != p.k * p.a_column || x.b != p.k * p.b_row)) return false;
    if (p.k == 1) p.a_column = x.a, p.b_row = x.b;
    p.k *= x.extent;
    return true;
  }
  if (x.b == 0 && (p.m == 1 || (x.a == p.m * p.a_row && x.c == p.m * p.c_row))) {
    if (p.m == 1) p.a_row = x.a, p.c_row = x.c;
    p.m *= x.extent;
    return true;
  }
  if (x.a == 0 && (p.n == 1 || (x.b == p.n * p.b_column && x.c == p.n * p.c_column))) {
    if (p.n == 1) p.b_column = x.b, p.c_column = x.c;
    p.n *= x.extent;
    return true;
  }
  return false;
}

NAX_ENGINE Frame leading_axes(const Frame& x) {
  Frame f = x;
  f.shape.pop_back();
  f.shape.pop_back();
  return f;
}

NAX_ENGINE Frame product_frame(const char* function, const Frame& a, const Frame& b) {
  Frame all;
  if (a.shape.size() == 2 && b.shape.size() == 2) {  // no axes before those of the matrices
    all.shape.push_back(a.shape[0]);
    all.shape.push_back(b.shape[1]);
    count_elements(function, all.shape);
    return all;
  }
  try {
    all = broadcast(function, leading_axes(a), leading_axes(b));
  } catch (const ShapeError&) {
    throw_broadcast(function, a, b);  // with all axes
  }
  all.shape.push_back(a.visible(a.ndim() - 2));
  all.shape.push_back(b.visible(b.ndim() - 1));
  count_elements(function, all.shape);
  return all;
}

NAX_ENGINE Frame with_new_levels(const Frame& value, const Frame& primal, const Frame& other) {
  Frame frame = value;
  for (int h = 0; h < other.hidden(); ++h) {
    const Level level = other.levels[h];
    if (contains(primal.levels, level) || contains(frame.levels, level)) continue;
    std::size_t at = 0;
    while (at < frame.levels.size() && frame.levels[at] < level) ++at;
    frame.levels.insert(at, level);
    frame.shape.insert(at, other.shape[h]);
  }
  return frame;
}

NAX_ENGINE ContractionPlan contraction_plan(const Layout& la, const Layout& lb, const Frame& target) {
  ContractionPlan plan;
  const std::int64_t k = la.shape.back();
  Frame all =
      broadcast("matmul", broadcast("matmul", leading_axes(la), leading_axes(lb)), leading_axes(target));
  const int leading = static_cast<int>(all.shape.size()), rank = leading + 2;
  all.shape.push_back(la.visible(la.ndim() - 2));
  all.shape.push_back(k);
  const Dims sa = strides_over(la, all);
  all.shape[leading] = k;
  all.shape[leading + 1] = lb.shape.back();
  const Dims sb = strides_over(lb, all);
  all.shape[leading] = la.visible(la.ndim() - 2);

  // The memory of the result: no axis that is the same for all (stride 0 on both sides) and none that is
  // summed.
  static_cast<Frame&>(plan.result) = target;
  plan.result.strides = Dims(target.shape.size(), 0);
  Dims sc(all.shape.size(), 0);
  SmallVector<bool, 8> summed(all.shape.size(), false);
  int t = static_cast<int>(target.shape.size()) - 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const bool missing = axis < all.hidden() && target.find(all.levels[axis]) < 0;
    if (missing) {
      summed[axis] = true;
      continue;
    }
    summed[axis] = target.shape[t] != all.shape[axis];
    if (!summed[axis] && (axis >= leading || sa[axis] != 0 || sb[axis] != 0 || all.shape[axis] == 1)) {
      sc[axis] = plan.result.strides[t] = plan.size;
      plan.size *= all.shape[axis];
    }
    --t;
  }

  Product& p = plan.product;
  p = {all.shape[rank - 2], all.shape[rank - 1], k,           sa[rank - 2], sa[rank - 1], sb[rank - 2],
       sb[rank - 1],        sc[rank - 2],        sc[rank - 1]};
  plan.empty = p.m == 0 || p.n == 0 || p.k == 0;
  for (int axis = leading - 1; axis >= 0; --axis) {
    const BatchAxis x{all.shape[axis], sa[axis], sb[axis], sc[axis], static_cast<bool>(summed[axis])};
    if (x.extent == 0) plan.empty = true;
    if (x.extent == 1) continue;
    if (x.a == 0 && x.b == 0) {
      if (x.summed) plan.repeats *= static_cast<double>(x.extent);
      continue;
    }
    if (!plan.batch.empty() || !fold_axis(p, x)) plan.batch.insert(0, x);
  }
  return plan;
}

// The usual case: one product on the host, nothing before its axes.
inline bool is_one_product(const Layout& a, const Layout& b, const Frame& target) {
  return a.shape.size() == 2 && b.shape.size() == 2 && target.shape.size() == 2 && a.shape[1] > 0 &&
         !accelerators_present;
}

// A product of a few numbers, in the order of the kernels: packing would take longer.
template <class T>
void multiply_few(const Product& p, const ArrayBase& a_, const ArrayBase& b_, const ArrayBase& c_) {
  const profile::Span span(profile::Kind::operation, "matmul");
  const T *a = reinterpret_cast<const T*>(raw_data(a_)), *b = reinterpret_cast<const T*>(raw_data(b_));
  T* const c = reinterpret_cast<T*>(raw_data(c_));
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      T sum = a[i * p.a_row] * b[j * p.b_column];
      for (std::int64_t k = 1; k < p.k; ++k)
        sum = std::fma(a[i * p.a_row + k * p.a_column], b[k * p.b_row + j * p.b_column], sum);
      c[i * p.n + j] = sum;
    }
}

NAX_ENGINE ArrayBase contract_value(const ArrayBase& a, const ArrayBase& b, const Frame& target) {
  const DType dtype = a.dtype();
  if (dtype == DType::boolean) {
    const auto as = [](const ArrayBase& x, DType to) {
      return as_dtype(contiguous(x, transforms_handled), to);
    };
    return as(contract_value(as(a, DType::int32), as(b, DType::int32), target), dtype);
  }
  const Layout &la = layout_of(a), &lb = layout_of(b);
  // Directly: what small networks do most.
  if (is_one_product(la, lb, target)) {
    ArrayBase result = allocate(dtype, target);
    const Product p{target.shape[0], target.shape[1], la.shape[1],
                    la.strides[0],   la.strides[1],   lb.strides[0],
                    lb.strides[1],   target.shape[1], 1};
    constexpr std::int64_t few = 64;  // products of numbers
    const bool is_few = p.m <= few && p.n <= few && p.k <= few && p.m * p.n * p.k <= few;
    if (is_few && dtype == DType::float32)
      multiply_few<float>(p, a, b, result);
    else if (is_few && dtype == DType::float64)
      multiply_few<double>(p, a, b, result);
    else
      cpu::multiply_matrices(dtype, p, nullptr, 0, raw_data(a), raw_data(b), raw_data(result), false);
    return result;
  }
  ContractionPlan plan = contraction_plan(la, lb, target);
  Frame memory;
  memory.shape.push_back(plan.size);
  ArrayBase result = allocate(dtype, memory, device_for("matmul", a, b));
  if (plan.empty)
    clear_elements(result);
  else
    backend::run(result.device(), ops::Matmul{dtype, plan.product, plan.batch},
                 {device_data(a), device_data(b), device_data(result)});
  if (plan.repeats != 1) result = scaled(result, plan.repeats);
  return view(std::move(result), std::move(plan.result));
}

NAX_ENGINE bool contract_into(ArrayBase& sum, const ArrayBase& a, const ArrayBase& b, const Frame& target) {
  if (!takes_in_place(sum, a.device(), a.dtype(), target) || b.device() != a.device() ||
      a.dtype() == DType::boolean)
    return false;
  const ContractionPlan plan = contraction_plan(layout_of(a), layout_of(b), target);
  if (!is_dense(plan, target)) return false;
  backend::run(sum.device(), ops::Matmul{sum.dtype(), plan.product, plan.batch, true},
               {device_data(a), device_data(b), device_data(sum)});
  check_result("matmul", sum, {&a, &b},
               2. * static_cast<double>(target.size()) * static_cast<double>(layout_of(a).shape.back()));
  return true;
}

struct Contraction {
  ArrayBase a, b;
  Frame target;
};
// From the result's cotangent to an operand's.
struct LeftShare {
  std::shared_ptr<const Contraction> of;

  Frame target(const ArrayBase& g) const {
    return with_new_levels(layout_of(of->a), of->target, layout_of(g));
  }
  ArrayBase operator()(const ArrayBase& g) const { return contract(g, transpose_matrices(of->b), target(g)); }
  bool add_share(const ArrayBase& g, ArrayBase& sum) const {
    return contract_into(sum, g, transpose_matrices(of->b), target(g));
  }
};
struct RightShare {
  std::shared_ptr<const Contraction> of;

  Frame target(const ArrayBase& g) const {
    return with_new_levels(layout_of(of->b), of->target, layout_of(g));
  }
  ArrayBase operator()(const ArrayBase& g) const { return contract(transpose_matrices(of->a), g, target(g)); }
  bool add_share(const ArrayBase& g, ArrayBase& sum) const {
    return contract_into(sum, transpose_matrices(of->a), g, target(g));
  }
};

NAX_ENGINE ArrayBase contract(const ArrayBase& a, const ArrayBase& b, const Frame& target) {
  ArrayBase result = contract_value(a, b, target);
  check_result(
      "matmul", result, {&a, &b},
      2. * static_cast<double>(layout_of(result).size()) * static_cast<double>(layout_of(a).shape.back()));
  if (may_be_recorded(a) || may_be_recorded(b)) {  // (one return, so that the result is made in its place)
    const auto kept = std::make_shared<const Contraction>(Contraction{a, b, target});
    result = record(
        std::move(result),
        wrt(a, LeftShare{kept},
            [kept](const ArrayBase& t) {
              return contract(t, kept->b, with_new_levels(kept->target, layout_of(kept->a), layout_of(t)));
            }),
        wrt(b, RightShare{kept}, [kept](const ArrayBase& t) {
          return contract(kept->a, t, with_new_levels(kept->target, layout_of(kept->b), layout_of(t)));
        }));
  }
  return result;
}

NAX_ENGINE ArrayBase with_unit_axes(const ArrayBase& x, int leading, bool behind) {
  if (leading == 0 && !behind) return x;
  Dims visible(static_cast<std::size_t>(leading), 1);
  const Shape shape = x.shape();
  visible.append(shape.begin(), shape.end());
  if (behind) visible.push_back(1);
  return restride(x, with_visible(layout_of(x), visible));
}

NAX_ENGINE ArrayBase matmul_arrays(const char* function, const ArrayBase& a, const ArrayBase& b) {
  check_operand(function, a);
  check_operand(function, b);
  const int na = a.ndim(), nb = b.ndim();
  if (na == 0 || nb == 0)
    raise<ShapeError>({function, ": operands must be at least 1-d, shapes ", a.shape(), " ", b.shape()});
  if (a.shape(-1) != b.shape(nb == 1 ? 0 : -2)) throw_inner(function, a.shape(), b.shape());
  if (na == 2 && nb == 2) return contract(a, b, product_frame(function, layout_of(a), layout_of(b)));
  // Both get as many axes; a vector is one row, or one column.
  const int rank = std::max({na, nb, 2});
  const ArrayBase x = with_unit_axes(a, rank - na, false);
  const ArrayBase y = with_unit_axes(b, rank - std::max(nb, 2), nb == 1);
  const Frame target = product_frame(function, layout_of(x), layout_of(y));
  ArrayBase product = contract(x, y, target);
  if (na > 1 && nb > 1) return product;
  Dims visible(target.shape.begin() + target.hidden(), target.shape.end());
  if (nb == 1) visible.pop_back();
  if (na == 1) visible.erase(visible.size() - (nb == 1 ? 1 : 2));
  return restride(product, with_visible(target, visible));
}

}  // namespace detail
NAX_END
