#pragma once

#include <string_view>

#include "nax/backend/cpu/cholesky_kernel.hpp"
#include "nax/linalg/rules.hpp"
#include "nax/linalg/solve.hpp"

NAX_BEGIN
namespace detail {

// The lower or upper triangle, the diagonal times `diagonal`; zeros elsewhere. Linear.
template <class T>
Array<T> triangle(const Array<T>& x, bool lower, T diagonal) {
  Array<T> result = typed<T>(copy_over(x, layout_of(x)));
  const std::int64_t n = x.shape(-1), m = x.shape(-2);
  T* out = elements<T>(result);
  for (std::int64_t b = 0, size = layout_of(x).size(); b < size; b += n * m)
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = lower ? i + 1 : 0; j < (lower ? n : std::min(i, n)); ++j)
        out[b + i * n + j] = T(0);
      if (i < n) out[b + i * n + i] *= diagonal;
    }
  const auto same = [=](const Array<T>& g) { return triangle(g, lower, diagonal); };
  return record(std::move(result), wrt(x, same, same));
}

// t^-1 b for triangular t (the other triangle is not read); leading axes broadcast.
template <class T>
Array<T> solve_triangles(const Array<T>& t, const Array<T>& b, bool lower, bool unit) {
  const Layout &lt = layout_of(t), &lb = layout_of(b);
  const std::int64_t n = lt.shape.back(), m = lb.shape.back();
  const Frame leading = broadcast("solve_triangular", leading_axes(lt), leading_axes(lb));
  Frame frame = leading;
  frame.shape.push_back(n);
  frame.shape.push_back(m);
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame));
  const BatchWalk walk_t(lt, leading, 2), walk_b(lb, leading, 2);
  const std::size_t rt = lt.shape.size(), rb = lb.shape.size();
  if (frame.size() > 0)
    for_each_batch(leading.size(), n, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        T* x = elements<T>(result) + i * n * m;
        gather_matrix(elements<const T>(b, transforms_handled) + walk_b.at(i), lb.strides[rb - 2],
                      lb.strides[rb - 1], n, m, x);
        cpu::solve_triangle(elements<const T>(t, transforms_handled) + walk_t.at(i), lt.strides[rt - 2],
                            lt.strides[rt - 1], n, lower, unit, x, m);
      }
    });
  check_result("solve_triangular", result, {&t, &b});
  const Frame ft = lt, fb = lb;
  return record_with_result(
      std::move(result),
      wrt(
          t,
          [=](const Array<T>& g, const Array<T>& x) {
            const Array<T> w = negated(solve_triangles(matrix_transpose(t), g, !lower, unit));
            const Array<T> share = contract(w, matrix_transpose(x), with_new_levels(ft, frame, layout_of(g)));
            return triangle(share, lower, T(unit ? 0 : 1));
          },
          [=](const Array<T>& dt, const Array<T>& x) {
            const Array<T> right = matmul_arrays("solve_triangular", triangle(dt, lower, T(unit ? 0 : 1)), x);
            return negated(solve_triangles(t, right, lower, unit));
          }),
      wrt(
          b,
          [=](const Array<T>& g, const Array<T>&) {
            return sum_to(solve_triangles(matrix_transpose(t), g, !lower, unit), fb, frame);
          },
          [=](const Array<T>& db, const Array<T>&) { return solve_triangles(t, db, lower, unit); }));
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
// lower triangle is read; `upper`: the U with U^H U = a, from the upper triangle. NaN for other matrices.
// Throws ShapeError unless the last two axes are square.
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
// (2 or "C"); `lower` speaks of a as it is given. Throws ShapeError unless `a` is square and `b` has as many
// rows.
template <detail::ArrayLike A, detail::ArrayLike B>
auto solve_triangular(const A& a_, const B& b_, const SolveTriangularOptions& options = {}) {
  using R = promote_t<detail::linalg_t<A>, detail::linalg_t<B>>;
  const Array<R> a = detail::as_type<R>(a_), b = detail::as_type<R>(b_);
  detail::check_square("solve_triangular", a);
  detail::check_operand("solve_triangular", b);
  detail::need_host("solve_triangular", b);
  if (b.ndim() == 0 || b.shape(b.ndim() == 1 ? 0 : -2) != a.shape(-1))
    detail::throw_inner("solve_triangular", a.shape(), b.shape());
  const int rank = std::max(a.ndim(), b.ndim());
  const Array<R> left = options.trans.of(detail::with_unit_axes(a, rank - a.ndim(), false));
  const Array<R> right = detail::with_unit_axes(b, rank - std::max(b.ndim(), 2), b.ndim() == 1);
  const bool lower = options.lower != options.trans.transposes();
  const Array<R> x = detail::solve_triangles(left, right, lower, options.unit_diagonal);
  if (b.ndim() > 1) return x;
  Dims visible = x.shape();
  visible.pop_back();
  return detail::restride(x, detail::with_visible(detail::layout_of(x), visible));
}

}  // namespace linalg
NAX_END
