#pragma once

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/packets/packet_base.hpp"

// Binary search in a sorted run, NaN last. Many values go down together, step by step and without a branch
// that depends on them, so that none waits for another's reads. Values that ascend themselves are looked for
// near those before them.
NAX_BEGIN
namespace cpu {
namespace detail {
inline namespace NAX_SIMD_ABI {

inline constexpr int searched_together = 16;

// Does the element come before v, which is no NaN: is it less, or (right) not greater?
template <bool right, class T>
bool stands_before(T element, T v) {
  return right ? element <= v : element < v;
}

// places[j] = the number of the n elements that come before v[j].
template <bool right, class T>
void search_together(const T* a, std::uint32_t n, const T* v, std::uint32_t* places) {
  std::uint32_t at[searched_together] = {}, length = n;
  while (length > 1) {
    const std::uint32_t half = length / 2;
    const T* const middle = a + (half - 1);
    NAX_UNROLL
    for (int j = 0; j < searched_together; ++j)
      at[j] += half & (0u - static_cast<std::uint32_t>(stands_before<right>(middle[at[j]], v[j])));
    length -= half;
  }
  for (int j = 0; j < searched_together; ++j)
    places[j] = n == 0 ? 0 : at[j] + static_cast<std::uint32_t>(stands_before<right>(a[at[j]], v[j]));
}

template <bool right, class T>
void search_run(const T* a, std::int64_t n, const T* v, std::int64_t count, std::int32_t* to) {
  constexpr int w = searched_together;
  T last{};                // of the values before, where they ascended
  std::int64_t known = 0;  // how many elements come before it
  bool follows = false;
  for (std::int64_t i = 0; i < count; i += w) {
    const int here = static_cast<int>(std::min<std::int64_t>(w, count - i));
    T padded[w];
    const T* sought = v + i;
    if (here < w) {
      for (int j = 0; j < w; ++j) padded[j] = sought[j < here ? j : here - 1];
      sought = padded;
    }
    int ascends = 1;
    for (int j = 0; j + 1 < w; ++j) ascends &= static_cast<int>(sought[j] <= sought[j + 1]);
    std::int64_t first = 0, end = n;
    if (ascends) {
      if (follows && last <= sought[0]) first = known;
      std::int64_t step = w;
      for (end = first; end < n && stands_before<right>(a[end], sought[w - 1]); step *= 2) end += step;
      end = std::min(end, n);
    }
    std::uint32_t places[w];
    search_together<right>(a + first, static_cast<std::uint32_t>(end - first), sought, places);
    for (int j = 0; j < here; ++j) {
      std::int64_t place = first + places[j];
      if (sought[j] != sought[j]) [[unlikely]]
        place = right ? n : std::partition_point(a, a + n, [](T x) { return x == x; }) - a;
      to[i + j] = static_cast<std::int32_t>(place);
    }
    follows = ascends;
    last = sought[w - 1];
    known = first + places[w - 1];
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

// to[i] = the number of elements of the sorted run that come before v[i]: less than it, or (right) not
// greater.
template <class T>
void search_sorted(const T* a, std::int64_t n, const T* v, std::int64_t count, bool right, std::int32_t* to) {
  if (right)
    detail::search_run<true>(a, n, v, count, to);
  else
    detail::search_run<false>(a, n, v, count, to);
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
