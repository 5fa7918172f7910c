#pragma once

#include <string_view>

#include "nax/backend/cpu/factor/cholesky_kernel.hpp"
#include "nax/linalg/rules.hpp"
#include "nax/linalg/solve.hpp"

NAX_BEGIN
namespace detail {

// t^-1 b for triangular t (the other triangle is not read); leading axes broadcast.
template <class T>
Array<T> solve_triangles(const Array<T>& t, const Array<T>& b, bool lower, bool unit) {
  provide_systems<T>();
  return typed<T>(solve_systems(triangular(lower, unit), handle_of(t), handle_of(b)));
}

template <class T>
Array<T> conjugate_transpose(const Array<T>& x) {
  if constexpr (is_complex_v<T>)
    return evaluate(make_expr<rules::conjugate>(matrix_transpose(x)));
  else
    return matrix_transpose(x);
}

// Of what the derivative is one: of (a + a^H) / 2, or of all elements of a, each for itself.
enum class CholeskyDerivative { hermitian_part, elements };

template <class T>
Array<T> cholesky_of(const Array<T>& a, CholeskyDerivative of = CholeskyDerivative::hermitian_part) {
  using R = real_t<T>;
  const Frame frame = layout_of(a);
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame, device_for("cholesky", a)));
  constexpr auto kind = loops::Factorisation::cholesky;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  factorise({.kind = kind}, a, {&result});
  const auto symmetric = [of](const Array<T>& x) {
    if (of == CholeskyDerivative::elements) return x;
    const Array<T> sum = evaluate(make_expr<rules::add>(x, conjugate_transpose(x)));
    return Array<T>(evaluate(make_expr<rules::multiply>(sum, typed<T>(host_number(T(R(0.5)))))));
  };
  const auto conjugated = [](const Array<T>& x) { return conjugate_transpose(matrix_transpose(x)); };
  // (Murray 2016.) With P the lower triangle, its diagonal halved, of L^H g: the Hermitian part of
  // L^-H P L^-1, for cotangents that are conjugated on the way in and out.
  const auto pull = [=](const Array<T>& g, const Array<T>& l) {
    const Array<T> upper = conjugate_transpose(l);
    const Array<T> p = triangle(matmul_arrays("cholesky", upper, conjugated(g)), true, T(R(0.5)));
    const Array<T> left = solve_triangles(upper, p, false, false);
    return conjugated(
        symmetric(conjugate_transpose(solve_triangles(upper, conjugate_transpose(left), false, false))));
  };
  // dL = L times the lower triangle, its diagonal halved, of L^-1 da L^-H.
  const auto push = [=](const Array<T>& t, const Array<T>& l) {
    const Array<T> left = solve_triangles(l, symmetric(t), true, false);
    const Array<T> both = conjugate_transpose(solve_triangles(l, conjugate_transpose(left), true, false));
    return matmul_arrays("cholesky", l, triangle(both, true, T(R(0.5))));
  };
  check_result("cholesky", result, {&a});
  return record_with_result(std::move(result), wrt(a, pull, push));
}

}  // namespace detail

namespace linalg {

struct CholeskyOptions {
  bool upper = false;
};
// The lower triangular L with L L^H = a, for symmetric or Hermitian positive definite matrices, of which the
// lower triangle is read; `upper`: the U with U^H U = a, from the upper triangle. NaN for other matrices. The
// result has the shape of a, (..., n, n). Throws ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto cholesky(const A& a_, const CholeskyOptions& options = {}) {
  using R = detail::linalg_t<A>;
  const Array<R> a = detail::as_type<R>(a_);
  detail::check_square("cholesky", a);
  if (!options.upper) return detail::cholesky_of(a);
  return detail::conjugate_transpose(detail::cholesky_of(detail::conjugate_transpose(a)));
}

// The value of `trans`: 0 or "N", 1 or "T", 2 or "C".
class Transposition {
 public:
  template <std::integral I>
  Transposition(I which) : which_(static_cast<int>(which)) {
    if (which_ < 0 || which_ > 2) raise<ValueError>({"linalg: trans must be 0, 1 or 2, got ", which});
  }
  Transposition(const char* which) {
    const std::string_view name = which;
    which_ = name == "N" ? 0 : name == "T" ? 1 : name == "C" ? 2 : -1;
    if (which_ < 0) raise<ValueError>({"linalg: trans must be 'N', 'T' or 'C', got '", which, "'"});
  }
  bool transposes() const { return which_ != 0; }
  template <class T>
  Array<T> of(const Array<T>& x) const {
    return which_ == 0 ? x : which_ == 1 ? matrix_transpose(x) : detail::conjugate_transpose(x);
  }

 private:
  int which_ = 0;
};

struct SolveTriangularOptions {
  Transposition trans = 0;
  bool lower = false;
  bool unit_diagonal = false;
};
// x with a x = b, a triangular: the other triangle is not read. `trans`: a^T x = b (1 or "T"), or a^H x = b
// (2 or "C"); `lower` speaks of a as it is given. The result has the shape of b, (..., n, k) or (n,). Throws
// ShapeError unless `a` is square and `b` has as many rows.
template <detail::ArrayLike A, detail::ArrayLike B>
auto solve_triangular(const A& a_, const B& b_, const SolveTriangularOptions& options = {}) {
  using R = promote_t<detail::linalg_t<A>, detail::linalg_t<B>>;
  const Array<R> a = detail::as_type<R>(a_), b = detail::as_type<R>(b_);
  detail::provide_systems<R>();
  const detail::SystemKind kind =
      detail::triangular(options.lower != options.trans.transposes(), options.unit_diagonal);
  const Array<R> left = a.ndim() < 2 ? a : options.trans.of(a);
  return nax::detail::typed<R>(detail::solve_operands("solve_triangular", kind, left, b));
}

}  // namespace linalg
NAX_END
