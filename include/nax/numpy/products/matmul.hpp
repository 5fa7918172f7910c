#pragma once

#include <algorithm>
#include <memory>

#include "nax/expr/wrt_operand.hpp"
#include "nax/numpy/products/matrix_product.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/transpose.hpp"

// matmul: one primitive, `contract`, that is its own derivative.
//
// contract(a, b, target) multiplies the last two axes of a and b and broadcasts those before them, hidden and
// visible; then it sums over every leading axis that `target` has not (a hidden one it lacks, a visible one
// of extent 1). The derivative of a is contract(g, b^T, the axes of a), and likewise for b; so the gradient
// of a weight that was shared by a batch is one product, never a gradient for each example and then a sum.
//
// Leading axes disappear into the product where strides allow: into its rows where b is the same for all,
// into its columns where a is, into the summed index where target has them not. What is left is a batch of
// products.
NAX_BEGIN
namespace detail {

// A leading axis: its extent and the strides of a, b and the result along it (0 in the result: summed).
struct BatchAxis {
  std::int64_t extent, a, b, c;
  bool summed;
};

struct Product {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column, c_row, c_column;
};

// Lets the product swallow the axis; false where strides forbid it.
NAX_ENGINE bool fold_axis(Product& p, const BatchAxis& x);

// The products over the axes left, the last kept one in one batched call.
template <class T>
void run_batch(const Product& p, const BatchAxis* axes, int count, const T* a, const T* b, T* c,
               bool accumulate) {
  if (count == 0) {
    cpu::gemm<T>(p.m, p.n, p.k, a, p.a_row, p.a_column, b, p.b_row, p.b_column, c, p.c_row, p.c_column,
                 accumulate);
    return;
  }
  const BatchAxis& x = axes[0];
  if (count == 1 && !x.summed) {
    cpu::gemm_batched<T>(x.extent, p.m, p.n, p.k, a, x.a, p.a_row, p.a_column, b, x.b, p.b_row, p.b_column, c,
                         x.c, p.c_row, p.c_column, accumulate);
    return;
  }
  for (std::int64_t i = 0; i < x.extent; ++i)
    run_batch(p, axes + 1, count - 1, a + i * x.a, b + i * x.b, c + i * x.c,
              accumulate || (x.summed && i > 0));
}

// Runs a batch whose axes before `summed` are summed, the others not, and so many products are added up that
// they are joined in wide sums. `size`: elements of the result, which lie side by side.
template <class T>
[[gnu::noinline]] void run_long_batch(const Product& p, const BatchAxis* axes, int count, int summed,
                                      const T* a, const T* b, T* c, std::int64_t size) {
  constexpr std::int64_t block = sizeof(T) == 2 ? 1 : 32;
  using Wide = cpu::wide_t<T>;
  const cpu::Scratch<Wide> totals(size);
  for (std::int64_t i = 0; i < size; ++i) totals[i] = Wide(0);
  std::int64_t terms = 1;
  for (int axis = 0; axis < summed; ++axis) terms *= axes[axis].extent;
  for (std::int64_t term = 0; term < terms; ++term) {
    std::int64_t rest = term, from_a = 0, from_b = 0;
    for (int axis = summed; axis-- > 0; rest /= axes[axis].extent) {
      from_a += rest % axes[axis].extent * axes[axis].a;
      from_b += rest % axes[axis].extent * axes[axis].b;
    }
    run_batch(p, axes + summed, count - summed, a + from_a, b + from_b, c, term % block != 0);
    if (term % block + 1 == block || term + 1 == terms)
      for (std::int64_t i = 0; i < size; ++i) totals[i] += static_cast<Wide>(c[i]);
  }
  for (std::int64_t i = 0; i < size; ++i) c[i] = static_cast<T>(totals[i]);
}

// Whether so many products are added up that it takes that; the summed axes then come first.
template <class T>
int summed_first(SmallVector<BatchAxis, 4>& axes) {
  constexpr std::int64_t many = sizeof(T) == 2 ? 1 : 64;
  if constexpr (std::is_same_v<T, cpu::wide_t<T>>) return 0;
  std::int64_t terms = 1;
  for (const BatchAxis& x : axes)
    if (x.summed) terms *= x.extent;
  if (terms <= many) return 0;
  return static_cast<int>(
      std::stable_partition(axes.begin(), axes.end(), [](const BatchAxis& x) { return x.summed; }) -
      axes.begin());
}

// Runs a batch on a GPU; addresses in bytes.
[[gnu::cold]] NAX_ENGINE void run_batch_on_device(Device device, DType dtype, const Product& p,
                                                  const BatchAxis* axes, int count, char* a, char* b, char* c,
                                                  bool accumulate);

// The axes of the last two dimensions gone.
NAX_ENGINE Frame leading_axes(const Frame& x);
// The frame of the leading axes broadcast, followed by (m, n).
NAX_ENGINE Frame product_frame(const char* function, const Frame& a, const Frame& b);

// bool is multiplied as int: true where any pair of elements is.
template <class T>
using product_t = std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>;

template <class To>
ArrayBase converted(const ArrayBase& x, cpu::ConvertFn convert) {
  const ArrayBase flat = contiguous(x, transforms_handled);
  if (on_accelerator(flat)) return as_dtype(flat, dtype_of<To>);
  ArrayBase result = allocate(dtype_of<To>, layout_of(x));
  convert(raw_data(flat), 1, raw_data(result), 1, layout_of(x).size());
  return result;
}

template <class T>
ArrayBase scaled_result(const ArrayBase& x, double by) {
  return evaluate(make_expr<rules::multiply>(
      typed<T>(x), Array<T>(static_cast<lane_t<T>>(static_cast<real_t<lane_t<T>>>(by)))));
}

// The usual case: one product on the host, nothing before its axes.
inline bool is_one_product(const Layout& a, const Layout& b, const Frame& target) {
  return a.shape.size() == 2 && b.shape.size() == 2 && target.shape.size() == 2 && a.shape[1] > 0 &&
         !accelerators_present;
}

template <class T>
Array<T> contract_value(const Array<T>& a_, const Array<T>& b_, const Frame& target) {
  using Lane = product_t<T>;
  if constexpr (!std::is_same_v<Lane, T>) {
    const Array<Lane> a = typed<Lane>(converted<Lane>(a_, cpu::convert_run<T, Lane>));
    const Array<Lane> b = typed<Lane>(converted<Lane>(b_, cpu::convert_run<T, Lane>));
    return typed<T>(converted<T>(contract_value<Lane>(a, b, target), cpu::convert_run<Lane, T>));
  } else {
    const Layout &la = layout_of(a_), &lb = layout_of(b_);
    const std::int64_t k = la.shape.back();
    if (is_one_product(la, lb, target)) {
      Array<T> result{Unset()};
      allocate_in(result, dtype_of<T>, target, current_device);
      const std::int64_t m = target.shape[0], n = target.shape[1];
      if (m > 0 && n > 0)
        cpu::gemm<T>(m, n, k, reinterpret_cast<const T*>(raw_data(a_)), la.strides[0], la.strides[1],
                     reinterpret_cast<const T*>(raw_data(b_)), lb.strides[0], lb.strides[1],
                     reinterpret_cast<T*>(raw_data(result)), n, 1, false);
      return result;
    }
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
    Layout result_layout;
    static_cast<Frame&>(result_layout) = target;
    result_layout.strides = Dims(target.shape.size(), 0);
    std::int64_t size = 1;
    double repeats = 1;
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
        sc[axis] = result_layout.strides[t] = size;
        size *= all.shape[axis];
      }
      --t;
    }
    Frame memory;
    memory.shape.push_back(size);
    ArrayBase result = allocate(dtype_of<T>, memory, device_for("matmul", a_, b_));

    Product p{all.shape[rank - 2], all.shape[rank - 1], k,           sa[rank - 2], sa[rank - 1], sb[rank - 2],
              sb[rank - 1],        sc[rank - 2],        sc[rank - 1]};
    SmallVector<BatchAxis, 4> rest;
    bool empty = p.m == 0 || p.n == 0 || p.k == 0;
    for (int axis = leading - 1; axis >= 0; --axis) {
      const BatchAxis x{all.shape[axis], sa[axis], sb[axis], sc[axis], static_cast<bool>(summed[axis])};
      if (x.extent == 0) empty = true;
      if (x.extent == 1) continue;
      if (x.a == 0 && x.b == 0) {
        if (x.summed) repeats *= static_cast<double>(x.extent);
        continue;
      }
      if (!rest.empty() || !fold_axis(p, x)) rest.insert(0, x);
    }
    if (on_accelerator(result)) {
      const Device device = result.device();
      if (empty)
        accelerator_of(device).clear(device, device_data(result), static_cast<std::size_t>(size) * sizeof(T));
      else
        run_batch_on_device(device, dtype_of<T>, p, rest.data(), static_cast<int>(rest.size()),
                            device_data(a_), device_data(b_), device_data(result), false);
      if (repeats != 1) result = scaled_result<T>(result, repeats);
      return typed<T>(view(std::move(result), std::move(result_layout)));
    }
    T* const c = reinterpret_cast<T*>(raw_data(result));
    if (empty) {
      for (std::int64_t i = 0; i < size; ++i) c[i] = T(0);
    } else {
      if (const int first = summed_first<T>(rest))
        run_long_batch<T>(p, rest.data(), static_cast<int>(rest.size()), first,
                          reinterpret_cast<const T*>(raw_data(a_)), reinterpret_cast<const T*>(raw_data(b_)),
                          c, size);
      else
        run_batch<T>(p, rest.data(), static_cast<int>(rest.size()), reinterpret_cast<const T*>(raw_data(a_)),
                     reinterpret_cast<const T*>(raw_data(b_)), c, false);
      if (repeats != 1)
        for (std::int64_t i = 0; i < size; ++i)
          c[i] = c[i] * static_cast<T>(static_cast<real_t<lane_t<T>>>(repeats));
    }
    return typed<T>(view(std::move(result), std::move(result_layout)));
  }
}

// The axes that a share of x's has, when the other side brought some that the primal result had not.
NAX_ENGINE Frame with_new_levels(const Frame& value, const Frame& primal, const Frame& other);

template <class T>
Array<T> contract(const Array<T>& a, const Array<T>& b, const Frame& target);

// Contracts now, or returns an array that waits for its elements where that pays.
template <class T>
Array<T> contract_later(const Array<T>& a, const Array<T>& b, const Frame& target) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const Layout &la = layout_of(a), &lb = layout_of(b);
    if (is_one_product(la, lb, target) && MatrixProduct<T>::pays(la.shape[0], lb.shape[1], la.shape[1]))
      return deferred_product(a, b);
  }
  return contract(a, b, target);
}

template <class T>
struct Contraction {
  Array<T> a, b;
  Frame target;
};
// From the result's cotangent to an operand's.
template <class T>
struct LeftShare {
  std::shared_ptr<const Contraction<T>> of;

  Frame target(const Array<T>& g) const {
    return with_new_levels(layout_of(of->a), of->target, layout_of(g));
  }
  Array<T> operator()(const Array<T>& g) const { return contract(g, matrix_transpose(of->b), target(g)); }
  Array<T> later(const Array<T>& g) const { return contract_later(g, matrix_transpose(of->b), target(g)); }
};
template <class T>
struct RightShare {
  std::shared_ptr<const Contraction<T>> of;

  Frame target(const Array<T>& g) const {
    return with_new_levels(layout_of(of->b), of->target, layout_of(g));
  }
  Array<T> operator()(const Array<T>& g) const { return contract(matrix_transpose(of->a), g, target(g)); }
  Array<T> later(const Array<T>& g) const { return contract_later(matrix_transpose(of->a), g, target(g)); }
};

template <class T>
Array<T> contract(const Array<T>& a, const Array<T>& b, const Frame& target) {
  Array<T> result = contract_value(a, b, target);
  check_result("matmul", result, {&a, &b},
               2. * static_cast<double>(layout_of(result).size()) * static_cast<double>(a.shape(-1)));
  if constexpr (is_inexact_v<T>) {
    if (!may_be_recorded(a) && !may_be_recorded(b)) return result;
    const auto kept = std::make_shared<const Contraction<T>>(Contraction<T>{a, b, target});
    return record(
        std::move(result),
        wrt(a, LeftShare<T>{kept},
            [kept](const Array<T>& t) {
              return contract(t, kept->b, with_new_levels(kept->target, layout_of(kept->a), layout_of(t)));
            }),
        wrt(b, RightShare<T>{kept}, [kept](const Array<T>& t) {
          return contract(kept->a, t, with_new_levels(kept->target, layout_of(kept->b), layout_of(t)));
        }));
  } else {
    return result;
  }
}

// x with `leading` axes of extent 1 before its visible ones and perhaps one behind.
template <class T>
Array<T> with_unit_axes(const Array<T>& x, int leading, bool behind) {
  if (leading == 0 && !behind) return x;
  Dims visible(static_cast<std::size_t>(leading), 1);
  const Shape shape = x.shape();
  visible.append(shape.begin(), shape.end());
  if (behind) visible.push_back(1);
  return restride(x, with_visible(layout_of(x), visible));
}

[[noreturn, gnu::cold]] inline void throw_inner(const char* function, const Shape& a, const Shape& b) {
  raise<ShapeError>({function, ": inner dimensions differ: ", a, " x ", b});
}

template <class T>
Array<T> matmul_arrays(const char* function, const Array<T>& a, const Array<T>& b) {
  check_operand(function, a);
  check_operand(function, b);
  const int na = a.ndim(), nb = b.ndim();
  if (na == 0 || nb == 0)
    raise<ShapeError>({function, ": operands must be at least 1-d, shapes ", a.shape(), " ", b.shape()});
  if (a.shape(-1) != b.shape(nb == 1 ? 0 : -2)) throw_inner(function, a.shape(), b.shape());
  if (na == 2 && nb == 2) return contract(a, b, product_frame(function, layout_of(a), layout_of(b)));
  // Both get as many axes; a vector is one row, or one column.
  const int rank = std::max({na, nb, 2});
  const Array<T> x = with_unit_axes(a, rank - na, false);
  const Array<T> y = with_unit_axes(b, rank - std::max(nb, 2), nb == 1);
  const Frame target = product_frame(function, layout_of(x), layout_of(y));
  const Array<T> product = contract(x, y, target);
  if (na > 1 && nb > 1) return product;
  Dims visible(target.shape.begin() + target.hidden(), target.shape.end());
  if (nb == 1) visible.pop_back();
  if (na == 1) visible.erase(visible.size() - (nb == 1 ? 1 : 2));
  return restride(product, with_visible(target, visible));
}

}  // namespace detail

// The matrix product with NumPy's rules: 1-d operands become a row or a column that is dropped again; axes
// before the last two broadcast. Throws ShapeError where the inner dimensions differ and for 0-d operands.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto matmul(const X& x, const Y& y) {
  using R = promote_t<typename X::value_type, typename Y::value_type>;
  return detail::matmul_arrays<R>("matmul", detail::as_type<R>(x), detail::as_type<R>(y));
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/products/matmul-inl.hpp"
#endif
