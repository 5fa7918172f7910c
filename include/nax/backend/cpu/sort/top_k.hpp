#pragma once

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/packets/packet_base.hpp"
#include "nax/backend/cpu/sort/sort.hpp"

NAX_BEGIN
namespace cpu {
namespace detail {
inline namespace NAX_SIMD_ABI {

// An element by its rank from the top: equal ones by their places.
template <class T>
struct Candidate {
  sort_key_t<T> key;  // the complement of the element's own
  std::int32_t index;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.key < b.key || (a.key == b.key && a.index < b.index);
  }
};

// Calls f(i) for the elements from `begin` on that come before t in descending order (NaN does, unless t is
// one). f may raise t.
template <class T, class F>
void for_each_above(const T* x, std::int64_t begin, std::int64_t n, const T& t, const F& f) {
  const auto above = [](T v, T least) { return !(v <= least); };
  std::int64_t i = begin;
  if constexpr (simd::has_packet<T>) {
    using P = simd::Packet<T>;
    constexpr std::int64_t block = 4 * P::size;
    for (; i + block <= n; i += block) {
      if (t != t) return;
      const P least(t);
      simd::Mask<T> not_above[4] = {P::load(x + i) <= least, P::load(x + i + P::size) <= least,
                                    P::load(x + i + 2 * P::size) <= least,
                                    P::load(x + i + 3 * P::size) <= least};
      if (all((not_above[0] & not_above[1]) & (not_above[2] & not_above[3]))) continue;
      for (std::int64_t j = i; j < i + block; ++j)
        if (above(x[j], t)) f(j);
    }
  } else {
    constexpr std::int64_t block = 32;
    for (; i + block <= n; i += block) {
      const T least = t;
      int found = 0;
      for (std::int64_t j = 0; j < block; ++j) found |= static_cast<int>(x[i + j] > least);
      if (!found) continue;
      for (std::int64_t j = i; j < i + block; ++j)
        if (above(x[j], t)) f(j);
    }
  }
  for (; i < n && t == t; ++i)
    if (above(x[i], t)) f(i);
}

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

// Where the k largest elements of a contiguous run are, in descending order; equal ones keep their order, and
// NaN comes first. Of those read so far a few times k are kept, and what is less than the k-th of them is
// passed over.
template <class T>
void top_k_line(const T* x, std::int64_t n, std::int64_t k, std::int32_t* order) {
  using Candidate = detail::Candidate<T>;
  if (k == 0) return;
  if (8 * k >= n && n > 256) {
    const Scratch<std::int32_t> all(n);
    argsort_line(x, 1, n, true, all.data(), 1);
    std::copy(all.data(), all.data() + k, order);
    return;
  }
  const std::int64_t room = std::min(n, 4 * k + 256);
  const Scratch<Candidate> scratch(room);
  Candidate* const best = scratch.data();
  const auto candidate = [x](std::int64_t i) {
    using Key = detail::sort_key_t<T>;
    return Candidate{static_cast<Key>(~detail::sort_key(x[i])), static_cast<std::int32_t>(i)};
  };
  std::int64_t count = 0;
  for (; count < room; ++count) best[count] = candidate(count);
  if (room < n) {
    T least{};
    const auto reduce = [&] {
      std::nth_element(best, best + (k - 1), best + count);
      count = k;
      least = x[best[k - 1].index];
    };
    reduce();
    detail::for_each_above(x, room, n, least, [&](std::int64_t i) {
      best[count++] = candidate(i);
      if (count == room) reduce();
    });
    reduce();
  }
  std::partial_sort(best, best + k, best + count);
  for (std::int64_t i = 0; i < k; ++i) order[i] = best[i].index;
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
