#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nax/backend/cpu/factor/determinant_kernels.hpp"
#include "nax/linalg/rules.hpp"
#include "nax/linalg/solve.hpp"
#include "nax/numpy/reductions/max_min.hpp"

// Determinants, which are polynomials of the elements: their derivatives exist at singular matrices, too.
NAX_BEGIN
namespace detail {

// Signs (complex: phases) and logarithms of the absolute values of the determinants.
template <class T>
struct LogDeterminants {
  Array<T> sign;
  Array<real_t<T>> logabs;
};
template <class T>
LogDeterminants<T> log_determinants(const Array<T>& a) {
  constexpr auto kind = loops::Factorisation::slogdet;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  const Frame leading = leading_axes(layout_of(a));
  const Device device = device_for("slogdet", a);
  LogDeterminants<T> result{typed<T>(allocate(dtype_of<T>, leading, device)),
                            typed<real_t<T>>(allocate(dtype_of<real_t<T>>, leading, device))};
  factorise({.kind = kind}, a, {&result.sign, &result.logabs});
  return result;
}

template <class T>
Array<T> adjugate(const Array<T>& a);

template <class T>
Array<T> determinant(const Array<T>& a) {
  constexpr auto kind = loops::Factorisation::det;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  Array<T> result = typed<T>(allocate(dtype_of<T>, leading_axes(layout_of(a)), device_for("det", a)));
  factorise({.kind = kind}, a, {&result});
  check_result("det", result, {&a});
  const auto pull = [=](const Array<T>& g) { return times_matrix(g, matrix_transpose(adjugate(a))); };
  const auto push = [=](const Array<T>& t) { return matrix_inner(matrix_transpose(adjugate(a)), t); };
  return record(std::move(result), wrt(a, pull, push));
}

// The tangent of the adjugate along t, by the polynomial that it is (Faddeev and LeVerrier): it needs no
// inverse. With M_1 = 1, c_k = -tr(a M_k) / k and M_k+1 = a M_k + c_k, the adjugate is M_n, up to its sign.
template <class T>
Array<T> adjugate_tangent(const Array<T>& a, const Array<T>& t) {
  const std::int64_t n = a.shape(-1);
  const Array<T> one = la::eye_beside<T>(a, n);
  const auto scaled = [](const Array<T>& x, double by) -> Array<T> {
    return evaluate(
        make_expr<rules::multiply>(x, typed<T>(host_number(static_cast<T>(static_cast<real_t<T>>(by))))));
  };
  // x - tr(x) / k
  const auto next = [&](const Array<T>& x, std::int64_t k) {
    const Array<T> trace = matrix_inner(x, one);
    return la::plus(x, times_matrix(scaled(trace, -1 / static_cast<double>(k)), one));
  };
  Array<T> m = one, dm = scaled(t, 0);
  for (std::int64_t k = 1; k < n; ++k) {
    dm = next(la::plus(la::product(t, m), la::product(a, dm)), k);
    m = next(la::product(a, m), k);
  }
  return n % 2 == 0 ? negated(dm) : dm;
}

// Which matrices are so far from singular that their inverses serve, from their adjugates and determinants.
template <class T>
Array<bool> has_good_inverse(const Array<T>& a, const Array<T>& adjugates, const Array<T>& dets) {
  using R = real_t<T>;
  const auto largest = [](const Array<T>& x) {
    return max(make_expr<rules::absolute>(typed<T>(constant(x))), {.axis = {-2, -1}});
  };
  const Array<R> sizes = la::times(largest(a), largest(adjugates));
  const Array<R> least =
      la::times(sizes, typed<R>(host_number(std::sqrt(std::numeric_limits<R>::epsilon()))));
  const Array<R> size = evaluate(make_expr<rules::absolute>(typed<T>(constant(dets))));
  return evaluate(make_expr<rules::greater>(size, least));
}

// Which of these hold in all batches. What lies on another device is not read: may be none and all.
struct Truths {
  bool none, all;
};
inline Truths truths_of(const Array<bool>& x) {
  if (!is_readable(x)) return {false, false};
  const Array<bool> plain = typed<bool>(contiguous(x, transforms_handled));
  const std::int64_t size = layout_of(x).size();
  const bool* const from = size > 0 ? elements<const bool>(plain, transforms_handled) : nullptr;
  const std::int64_t count = std::count(from, from + size, true);
  return {count == 0, count == size};
}

// The adjugates of square matrices, the transposes of their cofactors: det(a) a^-1 where there is an inverse.
template <class T>
Array<T> adjugate(const Array<T>& a) {
  const std::int64_t n = a.shape(-1);
  const Array<T> plain = typed<T>(constant(a)), dets = determinant(plain);
  if (layout_of(a).size() == 0) return plain;
  Array<T> result = times_matrix(dets, inverse(plain));
  const Array<bool> good = has_good_inverse(plain, result, dets);
  const Truths inverted = truths_of(good);
  if (!inverted.all) {
    constexpr auto kind = loops::Factorisation::adjugate;
    cpu::provide<cpu::FactorKernel<kind>, T>();
    result = matrices_like<T>(a, {n, n});
    factorise({.kind = kind}, plain, {&result});
  }
  return record_tangent(std::move(result), a, [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
    if (inverted.none) return adjugate_tangent(a, t);
    // Of det(a) a^-1: (tr(y t) y - y t y) / det(a).
    const Array<T> turned =
        la::minus(times_matrix(matrix_inner(matrix_transpose(y), t), y), la::product(y, t, y));
    const Array<T> regular = times_matrix(evaluate(make_expr<rules::reciprocal>(determinant(a))), turned);
    if (inverted.all) return regular;
    Dims visible = good.shape();
    visible.push_back(1);
    visible.push_back(1);
    return evaluate(make_selection<rules::where>(restride(good, with_visible(layout_of(good), visible)),
                                                 regular, adjugate_tangent(a, t)));
  });
}

}  // namespace detail

namespace linalg {

// The determinants of the matrices in the last two axes. Differentiable at every matrix, to any order. (...,
// n, n) gives (...). Throws ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto det(const A& a_) {
  using R = detail::linalg_t<A>;
  const Array<R> a = detail::as_type<R>(a_);
  detail::check_square("det", a);
  return detail::determinant(a);
}

template <class T>
struct Slogdet {
  Array<T> sign;
  Array<real_t<T>> logabsdet;
};
// The sign of the determinant (of complex matrices the number of size 1 that it is a multiple of) and the
// logarithm of its absolute value: no overflow. A singular matrix has 0 and -inf. (..., n, n) gives both of
// shape (...). Throws ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto slogdet(const A& a_) {
  using T = detail::linalg_t<A>;
  using R = real_t<T>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("slogdet", a);
  auto parts = detail::log_determinants(nax::detail::typed<T>(detail::constant(a)));
  detail::check_result("slogdet", parts.logabs, {&a});
  // The differential of log det is the trace of a^-1 da.
  const auto pull = [=](const Array<T>& g) {
    return detail::times_matrix(g, matrix_transpose(detail::inverse(a)));
  };
  const auto push = [=](const Array<T>& t) {
    return detail::matrix_inner(matrix_transpose(detail::inverse(a)), t);
  };
  if constexpr (is_complex_v<T>) {
    if (!detail::is_recorded(a)) return Slogdet<T>{parts.sign, parts.logabs};
    // The derivative of the logarithm of the determinant, a complex number, carried by a value of 0.
    // Its real part is that of logabsdet, and the sign turns with its imaginary part.
    const Array<T> moves = detail::record(
        nax::detail::typed<T>(detail::copy_over(Array<T>(T(0)), detail::layout_of(parts.sign))),
        detail::wrt(a, pull, push));
    const Array<R> grows = detail::evaluate(detail::make_expr<rules::real>(moves));
    const Array<T> turns = detail::evaluate(detail::make_expr<rules::subtract>(
        moves, detail::evaluate(detail::make_expr<rules::cast<T>>(grows))));
    return Slogdet<T>{detail::evaluate(detail::make_expr<rules::multiply>(
                          parts.sign, detail::evaluate(detail::make_expr<rules::exp>(turns)))),
                      detail::evaluate(detail::make_expr<rules::add>(parts.logabs, grows))};
  } else {
    return Slogdet<T>{parts.sign, detail::record(std::move(parts.logabs), detail::wrt(a, pull, push))};
  }
}

}  // namespace linalg
NAX_END
