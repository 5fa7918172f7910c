#pragma once

#include "nax/rules/scalar/declarations.hpp"

// The functions of rules/scalar for what rules meet: numbers and packets, lane by lane in double. (Recorded
// values have theirs in special/recorded.hpp.)
NAX_BEGIN
namespace rules {

// The families' signature for these functions: real types.
struct RealInexact : Inexact {
  template <int, class... T>
  using operand = inexact_t<promote_all_t<T...>>;
  template <class... T>
  struct Result {
    using type = inexact_t<promote_all_t<T...>>;
    static_assert(!is_complex_v<type>, "special: this function takes real numbers");
  };
  template <class... T>
  using result = typename Result<T...>::type;
};

template <class F, class V, class... W>
constexpr V in_double(F f, V x, W... more) {
  if constexpr (Dtype<V>) {
    return static_cast<V>(f(static_cast<double>(x), static_cast<double>(more)...));
  } else if constexpr (!requires { V::size; }) {  // a symbol, which has a way of its own
    return in_double(f, x, more...);
  } else {
    using T = typename V::value_type;
    constexpr int count = 1 + static_cast<int>(sizeof...(W));
    alignas(64) T lanes[count][V::size];
    int k = 0;
    x.store(lanes[k++]);
    (more.store(lanes[k++]), ...);
    for (int i = 0; i < V::size; ++i) {
      const auto at = [&](int j) { return static_cast<double>(lanes[j][i]); };
      if constexpr (count == 1)
        lanes[0][i] = static_cast<T>(f(at(0)));
      else if constexpr (count == 2)
        lanes[0][i] = static_cast<T>(f(at(0), at(1)));
      else if constexpr (count == 3)
        lanes[0][i] = static_cast<T>(f(at(0), at(1), at(2)));
      else
        lanes[0][i] = static_cast<T>(f(at(0), at(1), at(2), at(3)));
    }
    return V::load(lanes[0]);
  }
}

namespace math {

// name_at(x, ...): scalar::name in the type of x.
#define NAX_SCALAR_1(name)                                                 \
  template <class V>                                                       \
  constexpr V name##_at(V x) {                                             \
    return in_double([](double a) { return scalar::name<double>(a); }, x); \
  }
#define NAX_SCALAR_2(name)                                                                 \
  template <class V>                                                                       \
  constexpr V name##_at(V x, V y) {                                                        \
    return in_double([](double a, double b) { return scalar::name<double>(a, b); }, x, y); \
  }
#define NAX_SCALAR_3(name)                                                                                 \
  template <class V>                                                                                       \
  constexpr V name##_at(V x, V y, V z) {                                                                   \
    return in_double([](double a, double b, double c) { return scalar::name<double>(a, b, c); }, x, y, z); \
  }
NAX_SCALAR_3(gammainc)
NAX_SCALAR_3(gammaincc)
NAX_SCALAR_3(gamma_density)
NAX_SCALAR_1(gammasgn)
NAX_SCALAR_2(poch)
NAX_SCALAR_2(betaln)
NAX_SCALAR_2(beta)
NAX_SCALAR_3(betainc)
NAX_SCALAR_3(beta_density)
NAX_SCALAR_2(comb)
NAX_SCALAR_1(erfcx)
NAX_SCALAR_1(dawsn)
NAX_SCALAR_1(log_ndtr)
NAX_SCALAR_1(ndtri)
NAX_SCALAR_2(owens_t)
NAX_SCALAR_1(i0)
NAX_SCALAR_1(i0e)
NAX_SCALAR_1(i1)
NAX_SCALAR_1(i1e)
NAX_SCALAR_2(bessel_j)
NAX_SCALAR_2(expn)
NAX_SCALAR_1(expi)
NAX_SCALAR_1(sine_integral)
NAX_SCALAR_1(cosine_integral)
NAX_SCALAR_1(spence)
NAX_SCALAR_2(exponential_moment)
NAX_SCALAR_1(fresnel_sine)
NAX_SCALAR_1(fresnel_cosine)
NAX_SCALAR_2(fresnel_wave)
NAX_SCALAR_3(spherical_legendre)
NAX_SCALAR_3(zeta)
NAX_SCALAR_3(hyp1f1)
template <class V>
constexpr V hyp2f1_at(V x, V y, V z, V w) {
  return in_double([](double a, double b, double c, double d) { return scalar::hyp2f1<double>(a, b, c, d); },
                   x, y, z, w);
}
template <class V>
constexpr V wofz_at(V z) {
  const numbers::Complex<double> w =
      scalar::wofz<double>(static_cast<double>(z.real()), static_cast<double>(z.imag()));
  return V(static_cast<decltype(z.real())>(w.real()), static_cast<decltype(z.real())>(w.imag()));
}
#undef NAX_SCALAR_1
#undef NAX_SCALAR_2
#undef NAX_SCALAR_3

}  // namespace math
}  // namespace rules
NAX_END

#if !defined(NAX_CALLS_LIBRARY) || defined(__CUDACC__)
#include "nax/rules/scalar/algorithms.hpp"
#endif
