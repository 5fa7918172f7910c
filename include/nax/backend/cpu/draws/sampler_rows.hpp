#pragma once

#include <algorithm>
#include <atomic>

#include "nax/backend/cpu/draws/sampler_kernels.hpp"
#include "nax/core/thread_pool.hpp"

// Draws by rejection from many keys, on several threads.
NAX_BEGIN
namespace cpu {
namespace detail {

inline constexpr std::int64_t sampler_grain = std::int64_t{1} << 8;

// draw(key, first, n, offset): elements first ... first + n - 1 of a key's draw, at this offset.
template <class F>
void for_each_key(const std::uint64_t* keys, std::int64_t rows, std::int64_t n, const F& draw) {
  parallel_for(rows * n, sampler_grain, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t row = begin / n, first = begin - row * n, count = std::min(n - first, end - begin);
      draw(keys[row], static_cast<std::uint64_t>(first), count, begin);
      begin += count;
    }
  });
}

// As for_each_key, with the most rounds that any element of the key's draw takes behind the arguments:
// rounds(key, first, n, offset) of some. 0 where no element is drawn by transformed rejection:
// rejects(offset).
template <class Rejects, class Rounds, class F>
void for_each_key_in_rounds(const std::uint64_t* keys, std::int64_t rows, std::int64_t n,
                            const Rejects& rejects, const Rounds& rounds_of, const F& draw) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::atomic<std::size_t> rounds{0};
    const std::int64_t at = row * n;
    if (rejects(at))
      parallel_for(n, sampler_grain, [&](std::int64_t begin, std::int64_t end) {
        const std::size_t mine =
            rounds_of(keys[row], static_cast<std::uint64_t>(begin), end - begin, at + begin);
        for (std::size_t most = rounds; mine > most && !rounds.compare_exchange_weak(most, mine);) {
        }
      });
    parallel_for(n, sampler_grain, [&](std::int64_t begin, std::int64_t end) {
      draw(keys[row], static_cast<std::uint64_t>(begin), end - begin, at + begin, rounds.load());
    });
  }
}

}  // namespace detail

template <Sampler kind>
template <class T>
void SamplerKernel<kind>::run(const std::uint64_t* keys, std::int64_t rows, std::int64_t n,
                              const void* const* parameters, void* out_) {
  T* const out = static_cast<T*>(out_);
  if constexpr (kind == Sampler::gamma || kind == Sampler::loggamma) {
    const T* const alphas = static_cast<const T*>(parameters[0]);
    detail::for_each_key(keys, rows, n,
                         [=](std::uint64_t key, std::uint64_t first, std::int64_t count, std::int64_t at) {
                           draw_gamma(key, first, count, alphas + at, kind == Sampler::loggamma, out + at);
                         });
  } else if constexpr (kind == Sampler::poisson) {
    const float* const rates = static_cast<const float*>(parameters[0]);
    detail::for_each_key_in_rounds(
        keys, rows, n,
        [=](std::int64_t at) {
          return std::any_of(rates + at, rates + at + n, loops::poisson_rejects<float>);
        },
        [=](std::uint64_t key, std::uint64_t first, std::int64_t count, std::int64_t at) {
          return poisson_rounds(key, first, count, rates + at);
        },
        [=](std::uint64_t key, std::uint64_t first, std::int64_t count, std::int64_t at, std::size_t rounds) {
          draw_poisson(key, first, count, rates + at, rounds, out + at);
        });
  } else {
    const T* const counts = static_cast<const T*>(parameters[0]);
    const T* const chances = static_cast<const T*>(parameters[1]);
    detail::for_each_key_in_rounds(
        keys, rows, n,
        [=](std::int64_t at) {
          for (std::int64_t i = at; i < at + n; ++i) {
            const T p = chances[i], q = p < T(0.5) ? p : 1 - p;
            if (counts[i] * q > 10) return true;
          }
          return false;
        },
        [=](std::uint64_t key, std::uint64_t first, std::int64_t count, std::int64_t at) {
          return binomial_rounds(key, first, count, counts + at, chances + at);
        },
        [=](std::uint64_t key, std::uint64_t first, std::int64_t count, std::int64_t at, std::size_t rounds) {
          draw_binomial(key, first, count, counts + at, chances + at, rounds, out + at);
        });
  }
}

}  // namespace cpu
NAX_END
