#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "nax/core/rounded.hpp"
#include "nax/loops/threefry.hpp"
#include "nax/rules/quantiles.hpp"
#include "nax/rules/special_math.hpp"

// Draws of single elements by rejection, for all devices. Each element has loops of its own, and numbers of
// its own to spend in them; these are JAX's, and so are the constants and the order of the arithmetic, so
// that the same draws are accepted.
//
// By transformed rejection (Poisson, binomial) an element tries a number in each round, with keys that all
// elements of a draw share. In JAX one loop goes over all elements until each has accepted a number, and who
// accepts another one meanwhile takes that. So an element's draw is what it accepts last, in as many rounds
// as the slowest takes; and elements drawn otherwise take part, with parameters in place of theirs.
//
// (Templates, all of them: a constexpr function that calls <cmath> must be one.)
NAX_BEGIN
namespace loops {

// Key number i of those that `key` is split into.
constexpr std::uint64_t child_key(std::uint64_t key, std::uint64_t i) { return word_pair(threefry(key, i)); }

// Element i of a draw from [0, 1).
template <class T>
constexpr T uniform_at(std::uint64_t key, std::uint64_t i = 0) {
  const Words w = threefry(key, i);
  return nax::detail::unit<T>(w.first, w.second);
}
template <class T>
constexpr T normal_at(std::uint64_t key) {
  const T least = std::numeric_limits<T>::epsilon() / 2 - 1, u = uniform_at<T>(key) * 2 + least;
  return rules::NormalQuantile::value<T>(u < least ? least : u);
}

// Converts a float to an integer: saturates beyond the range, and gives 0 for NaN.
template <class I, class T>
constexpr I drawn_integer(T x) {
  if (x != x) return I(0);
  if (x >= static_cast<T>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  if (x <= static_cast<T>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(x);
}

// The keys that the rounds of a loop over all elements draw from, `count` a round.
template <int count>
struct RoundKeyChain {
  std::uint64_t key, next;  // `next`: which of the keys that a round's key is split into is the next round's

  constexpr void take(std::uint64_t* keys) {
    std::uint64_t i = 0;
    for (int k = 0; k < count; ++k, ++i) keys[k] = child_key(key, i == next ? ++i : i);
    key = child_key(key, next);
  }
};

// log(k!) minus Stirling's formula for it.
template <class T>
constexpr T stirling_tail(T k) {
  constexpr double tail[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                             0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                             0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return static_cast<T>(tail[k > 0 ? static_cast<int>(k) : 0]);
  // JAX's series: at 10 always.
  constexpr T square = T(100);
  return (T(1. / 12) - (T(1. / 360) - T(1. / 1260) / square) / square) / 10;
}

// Marsaglia and Tsang, 2000; or the logarithm of such a draw, which is accurate where that underflows. `own`:
// the element's key.
template <class T>
constexpr T gamma_element(std::uint64_t own, T given, bool logarithm) {
  const bool boosted = !(given >= 1);  // a draw for alpha + 1, times U^(1 / alpha)
  const T alpha = boosted ? given + 1 : given, d = alpha - T(1. / 3), c = T(1. / 3) / std::sqrt(d);
  std::uint64_t rounds = child_key(own, 0);
  T cube = 0, u = 0, x = 0;
  do {
    std::uint64_t tries = child_key(rounds, 1);
    const std::uint64_t accept = child_key(rounds, 2);
    rounds = child_key(rounds, 0);
    T v = 0;
    do {
      x = normal_at<T>(child_key(tries, 1));
      tries = child_key(tries, 0);
      v = 1 + x * c;
    } while (v <= 0);
    x *= x, cube = v * v * v;
    u = uniform_at<T>(accept);
  } while (u >= 1 - nax::detail::rounded(T(0.0331) * (x * x)) &&
           std::log(u) >= x * T(0.5) + d * ((1 - cube) + std::log(cube)));
  if (logarithm) {
    T boost = 0;
    if (boosted) {
      const T down = std::log1p(-uniform_at<T>(child_key(own, 1)));
      boost = down == 0 ? T(0) : down * (1 / given);
    }
    return std::log(d) + std::log(cube) + boost;
  }
  const T boost = boosted ? std::pow(1 - uniform_at<T>(child_key(own, 1)), 1 / given) : T(1);
  return d * cube * boost;
}

// ---- transformed rejection

inline constexpr int most_rounds = 1000;  // each is accepted with a probability above a half

// From here on float has too few digits for the logarithms that decide: attempts are made in double, with the
// same uniform numbers.
inline constexpr double most_in_float = 1e4;
template <class Attempt>
constexpr bool in_double(const Attempt& attempt, const std::uint64_t* keys, std::uint64_t at, float& k) {
  double wide = 0;
  const bool accepted = attempt(keys, at, wide);
  k = static_cast<float>(wide);
  return accepted;
}

// Hoermann, 1993. T is float; U the type of the uniform numbers.
template <class T, class U = T>
struct PoissonAttempt {
  T rate;
  bool idle = false;  // in place of an element that is drawn otherwise
  T log_rate = std::log(rate), b = T(0.931) + T(2.53) * std::sqrt(rate), a = T(-0.059) + T(0.02483) * b,
    inverse_alpha = T(1.1239) + T(1.1328) / (b - T(3.4)), limit = T(0.9277) - T(3.6224) / (b - 2);

  static constexpr T nothing() { return -1; }
  constexpr bool operator()(const std::uint64_t* keys, std::uint64_t at, T& k) const {
    if constexpr (std::is_same_v<T, float>)
      if (rate > T(most_in_float) && !idle)
        return in_double(PoissonAttempt<double, float>{rate}, keys, at, k);
    const T u = uniform_at<U>(keys[0], at) - T(0.5), v = uniform_at<U>(keys[1], at),
            shifted = T(0.5) - std::abs(u);
    k = std::floor(nax::detail::rounded((2 * a / shifted + b) * u) + rate + T(0.43));
    if (shifted >= T(0.07) && v <= limit) return true;
    if (k < 0 || (shifted < T(0.013) && v > shifted)) return false;
    const T s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
    return s <= -rate + k * log_rate - rules::math::lgamma(k + 1);
  }
};
template <class T>
constexpr bool poisson_rejects(T rate) {
  return rate >= 10;
}
// The attempt of an element, which takes part in all rounds of the draw.
template <class T>
constexpr PoissonAttempt<T> poisson_attempt(T rate) {
  return {poisson_rejects(rate) ? rate : T(1e5), !poisson_rejects(rate)};
}

template <class T, class U = T>
struct BinomialAttempt {
  T count, q, deviation = std::sqrt(count * q * (1 - q)), b = T(1.15) + T(2.53) * deviation,
              a = T(-0.0873) + T(0.0248) * b + T(0.01) * q, centre = count * q + T(0.5),
              limit = T(0.92) - T(4.2) / b, odds = q / (1 - q), alpha = (T(2.83) + T(5.1) / b) * deviation,
              mode = std::floor((count + 1) * q);

  static constexpr T nothing() { return -1; }
  constexpr bool operator()(const std::uint64_t* keys, std::uint64_t at, T& k) const {
    if constexpr (std::is_same_v<T, float>)
      if (count > T(most_in_float)) return in_double(BinomialAttempt<double, float>{count, q}, keys, at, k);
    const T u = uniform_at<U>(keys[0], at) - T(0.5), v = uniform_at<U>(keys[1], at),
            shifted = T(0.5) - std::abs(u);
    k = std::floor(nax::detail::rounded((2 * a / shifted + b) * u) + centre);
    if (shifted >= T(0.07) && v <= limit) return true;
    if (k < 0 || k > count) return false;
    const T bound = (mode + T(0.5)) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                    (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                    (k + T(0.5)) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_tail(mode) +
                    stirling_tail(count - mode) - stirling_tail(k) - stirling_tail(count - k);
    return std::log(v * alpha / (a / (shifted * shifted) + b)) <= bound;
  }
};
// The smaller of p and 1 - p, and whether the numbers are drawn by rejection.
template <class T>
struct BinomialCase {
  T q;
  bool valid, rejects;
  constexpr BinomialCase(T count, T p)
      : q(p < T(0.5) ? p : 1 - p), valid(count >= 0 && q >= 0), rejects(false) {
    rejects = count >= 0 && !(count * (q >= 0 ? q : T(0.01)) <= 10);
    if (!(q >= 0)) q = T(0.01);
  }
};
template <class T>
constexpr BinomialAttempt<T> binomial_attempt(T count, T p) {
  const BinomialCase<T> one(count, p);
  return {one.rejects ? std::floor(count) : T(1e4), one.rejects ? one.q : T(0.5)};
}

// Draws of one element, by keys that give those of a round: few(round) for Knuth's loops, last(attempt) for
// the number that an attempt accepts last.

// -1 for a rate below 0 or NaN.
template <class I, class Few, class Last>
constexpr I poisson_element(float rate, std::uint64_t at, Few&& few, const Last& last) {
  if (rate == 0) return I(0);
  if (poisson_rejects(rate)) return drawn_integer<I>(last(PoissonAttempt<float>{rate}));
  I k = 0;  // Knuth: how many uniform numbers until their product is below e^-rate
  float sum = 0;
  for (int round = 0; sum > -rate; ++round, ++k) sum += std::log(uniform_at<float>(few(round), at));
  return static_cast<I>(k - 1);
}

// NaN for a count below 0, or a probability beyond [0, 1].
template <class T, class Few, class Last>
constexpr T binomial_element(T given, T probability, std::uint64_t at, Few&& few, const Last& last) {
  const T count = std::floor(given);
  const BinomialCase<T> one(given, probability);
  if (!one.valid) return std::numeric_limits<T>::quiet_NaN();
  if (count == std::numeric_limits<T>::infinity()) return count;
  T k = 0;
  if (one.rejects) {
    k = last(BinomialAttempt<T>{count, one.q});
  } else {  // how many waiting times go into the count
    const T log_rest = std::log1p(-one.q);
    T sum = 0, waits = 0;
    for (int round = 0; sum <= count; ++round, ++waits)
      sum += std::ceil(std::log(uniform_at<T>(few(round), at)) / log_rest);
    k = waits - 1;
  }
  return probability < T(0.5) ? k : count - k;
}

}  // namespace loops
NAX_END
