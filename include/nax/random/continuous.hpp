#pragma once

#include "nax/backend/cpu/packet.hpp"
#include "nax/random/uniform.hpp"
#include "nax/rules/quantiles.hpp"

// Distributions that are a function of one uniform draw.
NAX_BEGIN
namespace random {
namespace detail {

// A draw from [low, high), then Quantile::value of each number, in packets.
template <class T, class Quantile>
struct FillQuantile {
  FillUniform<T> uniform;
  Quantile quantile = {};

  Draw device_form() const {
    Draw form{.kind = Quantile::kind, .low = uniform.low, .high = uniform.high};
    if constexpr (requires { quantile.low; }) form.least = quantile.low, form.most = quantile.high;
    return form;
  }
  void operator()(std::uint64_t key, std::uint64_t first, std::int64_t n, T* out) const {
    using C = compute_t<T>;
    using P = simd::Packet<C>;
    constexpr std::int64_t block = 256;
    alignas(64) C u[block];
    for (std::int64_t done = 0; done < n; done += block) {
      const std::int64_t count = n - done < block ? n - done : block;
      uniform(key, first + static_cast<std::uint64_t>(done), count, u);
      for (std::int64_t i = count; i % P::size != 0; ++i) u[i] = C(0.5);
      for (std::int64_t i = 0; i < count; i += P::size)
        quantile.template value<T>(P::load(u + i)).store(u + i);
      for (std::int64_t i = 0; i < count; ++i) out[done + i] = static_cast<T>(u[i]);
    }
  }
};

template <class T>
inline constexpr compute_t<T> smallest_normal =
    static_cast<compute_t<T>>(std::numeric_limits<compute_t<T>>::min());
template <>
inline constexpr float smallest_normal<half> = 0x1p-14f;

// -1 and 1 without their ends: the largest number below 1 has a mantissa of ones.
template <class T>
inline constexpr compute_t<T> spacing_below_one = std::numeric_limits<compute_t<T>>::epsilon() / 2;
template <>
inline constexpr float spacing_below_one<half> = 0x1p-11f;
template <>
inline constexpr float spacing_below_one<bfloat16> = 0x1p-8f;

template <class T, class Quantile>
Array<T> draw_quantile(const char* function, const Key& key, const Shape& shape, compute_t<T> low,
                       compute_t<T> high, Quantile quantile = {}) {
  return draw<T>(function, key, shape, FillQuantile<T, Quantile>{{low, high}, quantile});
}

}  // namespace detail

// Mean 0, standard deviation 1.
template <class T = float>
requires is_floating_v<T> Array<T> normal(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<T>("normal", key, shape, detail::spacing_below_one<T> - 1, 1,
                                  rules::NormalQuantile{});
}

// -log(-log u).
template <class T = float>
requires is_floating_v<T> Array<T> gumbel(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<T>("gumbel", key, shape, detail::smallest_normal<T>, 1,
                                  rules::GumbelQuantile{});
}

// Rate 1.
template <class T = float>
requires is_floating_v<T> Array<T> exponential(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<T>("exponential", key, shape, 0, 1, rules::ExponentialQuantile{});
}

// Location 0, scale 1.
template <class T = float>
requires is_floating_v<T> Array<T> laplace(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<T>("laplace", key, shape, detail::spacing_below_one<T> - 1, 1,
                                  rules::LaplaceQuantile{});
}
// Draws of the standard logistic distribution.
template <class T = float>
requires is_floating_v<T> Array<T> logistic(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<T>("logistic", key, shape, detail::smallest_normal<T>, 1,
                                  rules::LogisticQuantile{});
}
// Draws of the standard Cauchy distribution.
template <class T = float>
requires is_floating_v<T> Array<T> cauchy(const Key& key, const Shape& shape = {}) {
  return detail::draw_quantile<T>("cauchy", key, shape, 2 * detail::spacing_below_one<T>, 1,
                                  rules::CauchyQuantile{});
}

// Normal, of the numbers strictly between lower and upper. For float and double.
template <class T = float>
requires(std::is_same_v<T, float> ||
         std::is_same_v<T, double>) Array<T> truncated_normal(const Key& key, double lower, double upper,
                                                              const Shape& shape = {}) {
  const T low = static_cast<T>(lower), high = static_cast<T>(upper), sqrt2 = T(1.41421356237309504880);
  if (!(low < high))
    raise<ValueError>({"truncated_normal: lower must be below upper, got ", lower, " and ", upper});
  constexpr T infinity = std::numeric_limits<T>::infinity();
  return detail::draw_quantile<T>(
      "truncated_normal", key, shape, std::erf(low / sqrt2), std::erf(high / sqrt2),
      rules::ClippedNormalQuantile<T>{std::nextafter(low, infinity), std::nextafter(high, -infinity)});
}

}  // namespace random
NAX_END
