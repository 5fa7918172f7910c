#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "nax/backend/cpu/samplers.hpp"
#include "nax/backend/cpu/threefry.hpp"
#include "nax/rules/quantiles.hpp"
#include "nax/rules/special_math.hpp"

// Draws by rejection. Each element has loops of its own, and numbers of its own to spend in them; these are
// JAX's, and so are the constants and the order of the arithmetic, so that the same draws are accepted.
NAX_BEGIN
namespace cpu {
namespace detail {

// Key number i of those that `key` is split into.
inline std::uint64_t child(std::uint64_t key, std::uint64_t i) { return word_pair(threefry(key, i)); }

// Element i of a draw from [0, 1).
template <class T>
T uniform_at(std::uint64_t key, std::uint64_t i = 0) {
  const Words w = threefry(key, i);
  return nax::detail::unit<T>(w.first, w.second);
}
template <class T>
T normal_at(std::uint64_t key) {
  const T least = std::numeric_limits<T>::epsilon() / 2 - 1, u = uniform_at<T>(key) * 2 + least;
  return rules::NormalQuantile::value<T>(u < least ? least : u);
}

// Converts a float to an integer: saturates beyond the range, and gives 0 for NaN.
template <class I, class T>
I integer_of(T x) {
  if (x != x) return I(0);
  if (x >= static_cast<T>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  if (x <= static_cast<T>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(x);
}

// The keys that the rounds of a loop over all elements draw from, made as far as any element comes.
template <int count>
class RoundKeys {
 public:
  // `next`: which of the keys that a round's key is split into is the next round's.
  RoundKeys(std::uint64_t key, std::uint64_t next) : key_(key), next_(next) {}
  const std::uint64_t* operator[](std::size_t round) {
    while (keys_.size() <= round * count) {
      std::uint64_t i = 0;
      for (int k = 0; k < count; ++k, ++i) keys_.push_back(child(key_, i == next_ ? ++i : i));
      key_ = child(key_, next_);
    }
    return keys_.data() + round * count;
  }

 private:
  std::uint64_t key_, next_;
  std::vector<std::uint64_t> keys_;
};

// log(k!) - what Stirling's formula gives for it.
template <class T>
T stirling_tail(T k) {
  constexpr double tail[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                             0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                             0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return static_cast<T>(tail[k > 0 ? static_cast<int>(k) : 0]);
  // JAX's series: at 10 always.
  constexpr T square = T(100);
  return (T(1. / 12) - (T(1. / 360) - T(1. / 1260) / square) / square) / 10;
}

}  // namespace detail

// Marsaglia and Tsang, 2000; or the logarithms of such draws, which are accurate where those underflow.
template <class T>
void draw_gamma(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* alphas, bool logarithm,
                T* out) {
  using detail::child;
  for (std::int64_t i = 0; i < n; ++i) {
    const T given = alphas[i];
    const bool boosted = !(given >= 1);  // a draw for alpha + 1, times U^(1 / alpha)
    const T alpha = boosted ? given + 1 : given, d = alpha - T(1. / 3), c = T(1. / 3) / std::sqrt(d);
    const std::uint64_t own = child(key, first + static_cast<std::uint64_t>(i));
    std::uint64_t rounds = child(own, 0);
    T cube, u, x;
    do {
      std::uint64_t tries = child(rounds, 1);
      const std::uint64_t accept = child(rounds, 2);
      rounds = child(rounds, 0);
      T v;
      do {
        x = detail::normal_at<T>(child(tries, 1));
        tries = child(tries, 0);
        v = 1 + x * c;
      } while (v <= 0);
      x *= x, cube = v * v * v;
      u = detail::uniform_at<T>(accept);
    } while (u >= 1 - T(0.0331) * (x * x) && std::log(u) >= x * T(0.5) + d * ((1 - cube) + std::log(cube)));
    if (logarithm) {
      T boost = 0;
      if (boosted) {
        const T down = std::log1p(-detail::uniform_at<T>(child(own, 1)));
        boost = down == 0 ? T(0) : down * (1 / given);
      }
      out[i] = std::log(d) + std::log(cube) + boost;
    } else {
      const T boost = boosted ? std::pow(1 - detail::uniform_at<T>(child(own, 1)), 1 / given) : T(1);
      out[i] = d * cube * boost;
    }
  }
}

// ---- transformed rejection
//
// In JAX one loop goes over all elements until each has accepted a number, and who accepts another one
// meanwhile takes that. So an element's draw is what it accepts last, in as many rounds as the slowest takes;
// and elements drawn otherwise take part, with parameters in place of theirs.

namespace detail {

inline constexpr std::size_t most_rounds = 1000;  // each is accepted with a probability above a half

// The round in which an attempt is first accepted, counted from 1.
template <class Attempt>
std::size_t first_accepted(const Attempt& attempt, RoundKeys<2>& keys, std::uint64_t at) {
  decltype(attempt.nothing()) value;
  for (std::size_t round = 0; round < most_rounds; ++round)
    if (attempt(keys[round], at, value)) return round + 1;
  return most_rounds;
}
// Repeats an attempt and returns the value that was accepted last.
template <class Attempt>
auto last_accepted(const Attempt& attempt, RoundKeys<2>& keys, std::uint64_t at, std::size_t rounds) {
  auto value = attempt.nothing();
  while (rounds-- > 0)
    if (attempt(keys[rounds], at, value)) return value;
  return attempt.nothing();
}

// Hoermann, 1993.
struct PoissonAttempt {
  float rate, log_rate = std::log(rate), b = 0.931f + 2.53f * std::sqrt(rate), a = -0.059f + 0.02483f * b,
              inverse_alpha = 1.1239f + 1.1328f / (b - 3.4f), limit = 0.9277f - 3.6224f / (b - 2);

  static float nothing() { return -1; }
  bool operator()(const std::uint64_t* keys, std::uint64_t at, float& k) const {
    const float u = uniform_at<float>(keys[0], at) - 0.5f, v = uniform_at<float>(keys[1], at),
                shifted = 0.5f - std::abs(u);
    k = std::floor((2 * a / shifted + b) * u + rate + 0.43f);
    if (shifted >= 0.07f && v <= limit) return true;
    if (k < 0 || (shifted < 0.013f && v > shifted)) return false;
    const float s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
    return s <= -rate + k * log_rate - rules::math::lgamma(k + 1);
  }
};
inline bool poisson_rejects(float rate) { return rate >= 10; }

template <class T>
struct BinomialAttempt {
  T count, q, deviation = std::sqrt(count * q * (1 - q)), b = T(1.15) + T(2.53) * deviation,
              a = T(-0.0873) + T(0.0248) * b + T(0.01) * q, centre = count * q + T(0.5),
              limit = T(0.92) - T(4.2) / b, odds = q / (1 - q), alpha = (T(2.83) + T(5.1) / b) * deviation,
              mode = std::floor((count + 1) * q);

  static T nothing() { return -1; }
  bool operator()(const std::uint64_t* keys, std::uint64_t at, T& k) const {
    const T u = uniform_at<T>(keys[0], at) - T(0.5), v = uniform_at<T>(keys[1], at),
            shifted = T(0.5) - std::abs(u);
    k = std::floor((2 * a / shifted + b) * u + centre);
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
  BinomialCase(T count, T p) : q(p < T(0.5) ? p : 1 - p), valid(count >= 0 && q >= 0), rejects(false) {
    rejects = count >= 0 && !(count * (q >= 0 ? q : T(0.01)) <= 10);
    if (!(q >= 0)) q = T(0.01);
  }
};

}  // namespace detail

inline std::size_t poisson_rounds(std::uint64_t key, std::uint64_t first, std::int64_t n,
                                  const float* rates) {
  detail::RoundKeys<2> keys(key, 0);
  std::size_t rounds = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const detail::PoissonAttempt attempt{detail::poisson_rejects(rates[i]) ? rates[i] : 1e5f};
    rounds = std::max(rounds, detail::first_accepted(attempt, keys, first + static_cast<std::uint64_t>(i)));
  }
  return rounds;
}

// -1 for a rate below 0 or NaN. `rounds`: what poisson_rounds gives at most for the elements of the whole
// draw; 0 where no rate is 10 or more.
template <class I>
void draw_poisson(std::uint64_t key, std::uint64_t first, std::int64_t n, const float* rates,
                  std::size_t rounds, I* out) {
  detail::RoundKeys<1> few(key, 0);  // Knuth: how many uniform numbers until their product is below e^-rate
  detail::RoundKeys<2> many(key, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const float rate = rates[i];
    const std::uint64_t at = first + static_cast<std::uint64_t>(i);
    if (rate == 0) {
      out[i] = 0;
    } else if (detail::poisson_rejects(rate)) {
      out[i] = detail::integer_of<I>(detail::last_accepted(detail::PoissonAttempt{rate}, many, at, rounds));
    } else {
      I k = 0;
      float sum = 0;
      for (std::size_t round = 0; sum > -rate; ++round, ++k)
        sum += std::log(detail::uniform_at<float>(few[round][0], at));
      out[i] = static_cast<I>(k - 1);
    }
  }
}

template <class T>
std::size_t binomial_rounds(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* counts,
                            const T* probabilities) {
  detail::RoundKeys<2> keys(key, 0);
  std::size_t rounds = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const detail::BinomialCase<T> one(counts[i], probabilities[i]);
    const detail::BinomialAttempt<T> attempt{one.rejects ? std::floor(counts[i]) : T(1e4),
                                             one.rejects ? one.q : T(0.5)};
    rounds = std::max(rounds, detail::first_accepted(attempt, keys, first + static_cast<std::uint64_t>(i)));
  }
  return rounds;
}

// NaN for a count below 0, or a probability beyond [0, 1].
template <class T>
void draw_binomial(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* counts,
                   const T* probabilities, std::size_t rounds, T* out) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  detail::RoundKeys<1> few(key, 1);
  detail::RoundKeys<2> many(key, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const T count = std::floor(counts[i]);
    const detail::BinomialCase<T> one(counts[i], probabilities[i]);
    const std::uint64_t at = first + static_cast<std::uint64_t>(i);
    T k = 0;
    if (!one.valid) {
      out[i] = nan;
      continue;
    }
    if (count == infinity) {
      out[i] = infinity;
      continue;
    }
    if (one.rejects) {
      k = detail::last_accepted(detail::BinomialAttempt<T>{count, one.q}, many, at, rounds);
    } else {  // how many waiting times go into the count
      const T log_rest = std::log1p(-one.q);
      T sum = 0, waits = 0;
      for (std::size_t round = 0; sum <= count; ++round, ++waits)
        sum += std::ceil(std::log(detail::uniform_at<T>(few[round][0], at)) / log_rest);
      k = waits - 1;
    }
    out[i] = probabilities[i] < T(0.5) ? k : count - k;
  }
}

}  // namespace cpu
NAX_END
