#pragma once

#include "nax/backend/cpu/factor/companion.hpp"
#include "nax/core/compute_on.hpp"
#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/polynomials/polynomial.hpp"

NAX_BEGIN

struct RootsOptions {
  // Leading zeros are no coefficients, and trailing ones are roots at 0. How many there are depends on the
  // values: under vmap it must be false.
  bool strip_zeros = true;
};

namespace detail {

// Not recorded.
template <class C>
Array<C> roots_on_host(const Array<C>& p) {
  const std::int64_t n = p.shape(-1) - 1;
  const ArrayBase rows = contiguous(p, transforms_handled);
  Frame frame = layout_of(rows);
  frame.shape.back() = n;
  Array<C> result = typed<C>(allocate(dtype_of<C>, frame));
  const C* from = elements<const C>(rows, transforms_handled);
  C* to = elements<C>(result);
  where_used_t<std::vector<std::complex<double>>, C> in(static_cast<std::size_t>(n + 1)),
      out(static_cast<std::size_t>(n));
  for (std::int64_t row = 0, count = layout_of(rows).size() / (n + 1); row < count; ++row) {
    for (std::int64_t i = 0; i <= n; ++i) in[static_cast<std::size_t>(i)] = from[row * (n + 1) + i];
    cpu::polynomial_roots(in.data(), n, out.data());
    for (std::int64_t i = 0; i < n; ++i) to[row * n + i] = C(out[static_cast<std::size_t>(i)]);
  }
  return result;
}

// Eigenvalues of the companion matrix, by the factorisation of the device on which p lies. Not recorded.
template <class C>
Array<C> roots_on_device(const Array<C>& p) {
  using W = where_used_t<std::complex<double>, C>;
  const std::int64_t n = p.shape(-1) - 1;
  const ComputeOn beside_p(p);
  const Array<W> q = typed<C>(constant(p)).template astype<W>();
  const Array<W> first = -(q(slice(1, none)) / q(slice(0, 1)));
  const ArrayBase matrix = contiguous(
      concatenate_on("roots", std::vector<Array<W>>{expand_dims(first, 0), eye<W>(n - 1, {.M = n})}, 0),
      transforms_handled);
  Frame frame = layout_of(matrix);
  frame.shape.pop_back();
  const Array<W> result = typed<W>(allocate(dtype_of<W>, frame, p.device()));
  const loops::Factoring what{.kind = loops::Factorisation::eig, .batch = frame.size() / n, .m = n, .n = n};
  backend::run(p.device(), ops::Factorise{what, dtype_of<W>},
               {device_data(matrix), device_data(result), nullptr, nullptr});
  return result.template astype<C>();
}

// The roots of p, of one fewer than its elements. For a simple root r and a change t of p it moves by
// -t(r) / p'(r), which is linear in t: the derivative. Where roots coincide it is infinite or NaN.
template <class C>
Array<C> roots_of(const Array<C>& p) {
  const std::int64_t n = p.shape(-1) - 1;
  const auto slopes = [=](const Array<C>& r) { return polyval(polyder(p), r); };
  const auto powers = [=](const Array<C>& r) { return vander(r, {.N = n + 1}); };
  Array<C> result = is_readable(p) ? roots_on_host(p) : roots_on_device(p);
  return record_with_result(std::move(result), wrt(
                                                   p,
                                                   [=](const Array<C>& g, const Array<C>& r) -> Array<C> {
                                                     return -matmul(Array<C>(g / slopes(r)), powers(r));
                                                   },
                                                   [=](const Array<C>& t, const Array<C>& r) -> Array<C> {
                                                     return -matmul(powers(r), t) / slopes(r);
                                                   }));
}

}  // namespace detail

// The roots of the polynomial p[0] x^n + ... + p[n], complex, in no particular order: eigenvalues of its
// companion matrix, computed in double. Differentiable where roots are simple. n + 1 coefficients give shape
// (n,). Throws ValueError where p is not 1-d.
template <detail::ArrayLike P>
auto roots(const P& p_, const RootsOptions& options = {}) {
  using T = inexact_t<typename P::value_type>;
  using C = std::complex<std::conditional_t<std::is_same_v<real_t<T>, double>, double, float>>;
  Array<C> p = detail::coefficients<C>("roots", p_);
  detail::check_recordable("roots", p);
  std::int64_t at_zero = 0;
  if (options.strip_zeros) {
    if (detail::is_batched(p))
      detail::throw_batched("roots",
                            "the number of zeros that p begins with differs between examples: give "
                            ".strip_zeros = false");
    if (!detail::is_readable(p)) detail::check_recordable("roots");  // how many there are depends on values
    const std::vector<C> values = detail::typed<C>(detail::constant(p)).to_vector();
    std::int64_t begin = 0, end = p.size();
    while (begin < end && values[static_cast<std::size_t>(begin)] == C(0)) ++begin;
    while (end > begin && values[static_cast<std::size_t>(end - 1)] == C(0)) --end;
    at_zero = end > begin ? p.size() - end : 0;
    p = detail::stretch_of_axis<C>(p, 0, begin, end - begin);
  }
  const Array<C> made = detail::filled_on_host<C>("roots", Shape{at_zero}, C(0));
  const Array<C> zeros_at = detail::typed<C>(detail::beside(p, made));
  if (p.size() < 2) return zeros_at;
  const Array<C> others = detail::roots_of(p);
  return at_zero > 0 ? detail::concatenate_on("roots", std::vector{others, zeros_at}, 0) : others;
}

NAX_END
