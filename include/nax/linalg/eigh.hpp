#pragma once

#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/linalg/rules.hpp"
#include "nax/numpy/indexing/indexing.hpp"

// Eigenvalues of symmetric and Hermitian matrices.
NAX_BEGIN
namespace linalg {

template <class T>
struct Eigh {
  Array<real_t<T>> eigenvalues;
  Array<T> eigenvectors;
};

// Which triangle of a Hermitian matrix is read.
class Triangle {
 public:
  Triangle(char which) : lower_(which == 'L' || which == 'l') {
    if (!lower_ && which != 'U' && which != 'u')
      raise<ValueError>({"eigh: UPLO must be 'L' or 'U', got '", std::string(1, which), "'"});
  }
  Triangle(const char* which) : Triangle(which[0] != '\0' && which[1] == '\0' ? which[0] : '?') {}
  bool lower() const { return lower_; }

 private:
  bool lower_;
};

}  // namespace linalg

namespace detail {

template <class T>
linalg::Eigh<T> eigh_values(const Array<T>& a, bool lower, bool vectors) {
  using R = real_t<T>;
  const std::int64_t n = a.shape(-1);
  linalg::Eigh<T> parts{matrices_like<R>(a, {n}), {}};
  if (vectors) parts.eigenvectors = matrices_like<T>(a, {n, n});
  constexpr auto kind = loops::Factorisation::eigh;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  factorise({.kind = kind, .lower = lower}, a, {&parts.eigenvalues, vectors ? &parts.eigenvectors : nullptr});
  return parts;
}

// With dA the Hermitian part of the tangent and M = V^H dA V: dw = diag(M), and V^H dV has M's elements off
// the diagonal over the gaps between eigenvalues (Giles 2008, as in JAX).
template <class T>
linalg::Eigh<T> eigh_of(const Array<T>& a, bool lower) {
  using R = real_t<T>;
  auto parts = std::make_shared<linalg::Eigh<T>>(eigh_values(a, lower, true));
  if (!is_recorded(a)) return *parts;
  const auto inner = [](const Array<T>& t, const Array<T>& v) {
    return la::product(la::adjoint(v), la::hermitian_part(t), v);
  };
  parts->eigenvalues =
      record_tangent(parts->eigenvalues, a, [parts, inner](const Array<T>& t, const Array<R>&) {
        return la::real_part(la::diagonals(inner(t, parts->eigenvectors)));
      });
  parts->eigenvectors =
      record_tangent(parts->eigenvectors, a, [parts, inner](const Array<T>& t, const Array<T>& v) {
        const Array<T> gaps = la::converted<T>(la::inverse_gaps(parts->eigenvalues));
        return la::product(v, la::times(gaps, inner(t, v)));
      });
  return *parts;
}

}  // namespace detail

namespace linalg {

struct EighOptions {
  Triangle UPLO = 'L';
};
// Eigenvalues (..., n), ascending, and orthonormal eigenvectors, the columns of (..., n, n), of symmetric or
// Hermitian matrices, of which one triangle is read. For the derivative a is (a + a^H) / 2, as in JAX. Those
// of the eigenvectors are not finite where two eigenvalues are equal; those of the eigenvalues are. Throws
// ShapeError unless the last two axes are square, and ValueError for an unknown UPLO.
template <detail::ArrayLike A>
auto eigh(const A& a_, const EighOptions& options = {}) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("eigh", a);
  return detail::eigh_of(a, options.UPLO.lower());
}
// The eigenvalues alone, (..., n), ascending. Throws ShapeError unless the last two axes are square, and
// ValueError for an unknown UPLO.
template <detail::ArrayLike A>
auto eigvalsh(const A& a_, const EighOptions& options = {}) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("eigvalsh", a);
  return (detail::is_recorded(a) ? detail::eigh_of(a, options.UPLO.lower())
                                 : detail::eigh_values(a, options.UPLO.lower(), false))
      .eigenvalues;
}

}  // namespace linalg
NAX_END
