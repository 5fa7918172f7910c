#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "nax/backend/cpu/draws/samplers.hpp"
#include "nax/backend/cpu/draws/threefry.hpp"
#include "nax/loops/rejection.hpp"

// Draws by rejection (loops/rejection.hpp), elements one after another. The keys of rounds are kept, so that
// the numbers of late rounds are tried first.
NAX_BEGIN
namespace cpu {
namespace detail {

// The keys of rounds, made as far as any element comes.
template <int count>
class RoundKeys {
 public:
  RoundKeys(std::uint64_t key, std::uint64_t next) : chain_{key, next} {}
  const std::uint64_t* operator[](std::size_t round) {
    while (keys_.size() <= round * count) {
      keys_.resize(keys_.size() + count);
      chain_.take(keys_.data() + keys_.size() - count);
    }
    return keys_.data() + round * count;
  }

 private:
  loops::RoundKeyChain<count> chain_;
  std::vector<std::uint64_t> keys_;
};

// The round in which an attempt is first accepted, counted from 1.
template <class Attempt>
std::size_t first_accepted(const Attempt& attempt, RoundKeys<2>& keys, std::uint64_t at) {
  decltype(attempt.nothing()) value;
  for (std::size_t round = 0; round < loops::most_rounds; ++round)
    if (attempt(keys[round], at, value)) return round + 1;
  return loops::most_rounds;
}
// Repeats an attempt and returns the value that was accepted last.
template <class Attempt>
auto last_accepted(const Attempt& attempt, RoundKeys<2>& keys, std::uint64_t at, std::size_t rounds) {
  auto value = attempt.nothing();
  while (rounds-- > 0)
    if (attempt(keys[rounds], at, value)) return value;
  return attempt.nothing();
}

}  // namespace detail

template <class T>
void draw_gamma(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* alphas, bool logarithm,
                T* out) {
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = loops::gamma_element<T>(loops::child_key(key, first + static_cast<std::uint64_t>(i)), alphas[i],
                                     logarithm);
}

inline std::size_t poisson_rounds(std::uint64_t key, std::uint64_t first, std::int64_t n,
                                  const float* rates) {
  detail::RoundKeys<2> keys(key, 0);
  std::size_t rounds = 0;
  for (std::int64_t i = 0; i < n; ++i)
    rounds = std::max(rounds, detail::first_accepted(loops::poisson_attempt(rates[i]), keys,
                                                     first + static_cast<std::uint64_t>(i)));
  return rounds;
}

// `rounds`: the most that poisson_rounds gives for the elements of the whole draw; 0 where no rate is 10 or
// more.
template <class I>
void draw_poisson(std::uint64_t key, std::uint64_t first, std::int64_t n, const float* rates,
                  std::size_t rounds, I* out) {
  detail::RoundKeys<1> few(key, 0);
  detail::RoundKeys<2> many(key, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(i);
    out[i] = loops::poisson_element<I>(
        rates[i], at, [&](int round) { return few[static_cast<std::size_t>(round)][0]; },
        [&](const auto& attempt) { return detail::last_accepted(attempt, many, at, rounds); });
  }
}

template <class T>
std::size_t binomial_rounds(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* counts,
                            const T* probabilities) {
  detail::RoundKeys<2> keys(key, 0);
  std::size_t rounds = 0;
  for (std::int64_t i = 0; i < n; ++i)
    rounds = std::max(rounds, detail::first_accepted(loops::binomial_attempt(counts[i], probabilities[i]),
                                                     keys, first + static_cast<std::uint64_t>(i)));
  return rounds;
}

template <class T>
void draw_binomial(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* counts,
                   const T* probabilities, std::size_t rounds, T* out) {
  detail::RoundKeys<1> few(key, 1);
  detail::RoundKeys<2> many(key, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(i);
    out[i] = loops::binomial_element<T>(
        counts[i], probabilities[i], at, [&](int round) { return few[static_cast<std::size_t>(round)][0]; },
        [&](const auto& attempt) { return detail::last_accepted(attempt, many, at, rounds); });
  }
}

}  // namespace cpu
NAX_END
