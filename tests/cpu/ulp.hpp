#pragma once

// How far packet functions are from the exact value, in units of the last place of the result.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "nax/backend/cpu/packets/packet.hpp"

namespace nax::test {

// double judges float; long double judges double.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
double ulps_between(T got, Wide<T> exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) == std::isnan(got) ? 0 : 1e30;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    const T largest =
        std::numeric_limits<T>::max();  // one step from infinity is one ulp, not infinitely many
    return std::signbit(rounded) == std::signbit(got) &&
                   (std::abs(rounded) == largest || std::abs(got) == largest)
               ? 1
               : 1e30;
  }
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : 1e30;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent;
  const auto ulp = std::ldexp(Wide<T>(1), std::max(exponent, lowest) - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<Wide<T>>(got) - exact) / ulp);
}

template <class T>
std::vector<T> special_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {T(0),
                           T(0.5),
                           T(1),
                           T(1.5),
                           T(2),
                           T(2.5),
                           T(3),
                           T(10),
                           T(0.1),
                           T(100),
                           L::min(),
                           L::min() / 2,
                           L::max(),
                           L::denorm_min(),
                           L::epsilon(),
                           L::infinity(),
                           T(1) - L::epsilon() / 2,
                           T(1e-6),
                           T(0.7071067811865476)};
  const auto count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  values.push_back(L::quiet_NaN());
  return values;
}

struct Random {
  std::uint64_t state = 88172645463325252ull;
  std::uint64_t bits() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
};

// Special values, every exponent (random bits), and a linear range of common arguments.
template <class T>
std::vector<T> samples(double low, double high, std::size_t count = 40000) {
  auto values = special_values<T>();
  Random random;
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    if (i % 2 == 0) {
      const std::uint64_t bits = random.bits();
      if constexpr (sizeof(T) == 4) {
        const auto half = static_cast<std::uint32_t>(bits);
        std::memcpy(&value, &half, 4);
      } else {
        std::memcpy(&value, &bits, 8);
      }
    } else {
      value = static_cast<T>(low + (high - low) * random.uniform());
    }
    values.push_back(value);
  }
  while (values.size() % static_cast<std::size_t>(simd::Packet<T>::size)) values.push_back(T(1));
  return values;
}

struct Worst {
  double ulps = 0, x = 0, y = 0;
};

template <class T, class F, class G>
Worst worst(F packet_function, G exact, double low, double high, std::size_t count = 40000) {
  using P = simd::Packet<T>;
  const auto xs = samples<T>(low, high, count);
  Worst result;
  T got[P::size];
  for (std::size_t i = 0; i < xs.size(); i += P::size) {
    packet_function(P::load(&xs[i])).store(got);
    for (std::size_t lane = 0; lane < P::size; ++lane) {
      const double ulps = ulps_between<T>(got[lane], exact(static_cast<Wide<T>>(xs[i + lane])));
      if (ulps > result.ulps) result = {ulps, static_cast<double>(xs[i + lane]), 0};
    }
  }
  return result;
}

// All pairs of special values, and random pairs.
template <class T, class F, class G>
Worst worst_of_pairs(F packet_function, G exact, double low, double high, std::size_t count = 40000) {
  using P = simd::Packet<T>;
  auto xs = samples<T>(low, high, count), ys = xs;
  std::rotate(ys.begin(), ys.begin() + 12345 % static_cast<std::ptrdiff_t>(ys.size()), ys.end());
  for (T a : special_values<T>())
    for (T b : special_values<T>()) xs.push_back(a), ys.push_back(b);
  while (xs.size() % static_cast<std::size_t>(P::size)) xs.push_back(T(1)), ys.push_back(T(1));
  Worst result;
  T got[P::size];
  for (std::size_t i = 0; i < xs.size(); i += P::size) {
    packet_function(P::load(&xs[i]), P::load(&ys[i])).store(got);
    for (std::size_t lane = 0; lane < P::size; ++lane) {
      const T x = xs[i + lane], y = ys[i + lane];
      const double ulps = ulps_between<T>(got[lane], exact(static_cast<Wide<T>>(x), static_cast<Wide<T>>(y)));
      if (ulps > result.ulps) result = {ulps, static_cast<double>(x), static_cast<double>(y)};
    }
  }
  return result;
}

}  // namespace nax::test
