#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/backend/cpu/sort/quick_sort.hpp"
#include "nax/core/dtype.hpp"

// Sorting a contiguous run: NaN last. Numbers of 32 and 64 bits are sorted in registers where the machine has
// AVX-512 (quick_sort.hpp); otherwise elements become integer keys of the same order, and long runs are
// sorted by digits of the key, short ones by comparison. Places (argsort) are stable; among sorted values
// only zeros of either sign could show an order, and it is not specified.
NAX_BEGIN
namespace cpu {
namespace detail {

template <class T>
using sort_key_t =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// The bits of a number, ordered as numbers are: all NaNs alike and above everything. -0 is equal to 0, or,
// with `apart`, just below it, so that the key tells them apart.
template <bool apart = false, class T>
sort_key_t<T> sort_key(T x) {
  using Key = sort_key_t<T>;
  constexpr Key sign = Key(Key(1) << (8 * sizeof(T) - 1));
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return static_cast<Key>(-1);
    if constexpr (!apart) x += T(0);  // -0 becomes 0
    Key bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & sign ? Key(~bits) : Key(bits | sign);
  } else if constexpr (std::is_signed_v<T>) {
    return Key(static_cast<Key>(x) ^ sign);
  } else {
    return static_cast<Key>(x);
  }
}

// The number that a key made with `apart` stands for.
template <class T>
T from_sort_key(sort_key_t<T> key) {
  using Key = sort_key_t<T>;
  constexpr Key sign = Key(Key(1) << (8 * sizeof(T) - 1));
  if constexpr (std::is_floating_point_v<T>) {
    if (key == static_cast<Key>(-1)) return std::numeric_limits<T>::quiet_NaN();
    key = key & sign ? Key(key ^ sign) : Key(~key);
    T x;
    std::memcpy(&x, &key, sizeof x);
    return x;
  } else {
    return static_cast<T>(std::is_signed_v<T> ? Key(key ^ sign) : key);
  }
}

template <class Key>
struct KeyIndex {
  Key key;
  std::int32_t index;
};

// Stable, least significant digit first; digits that are the same everywhere are skipped. `spare`: n more
// elements. Returns where the sorted run lies: `x` or `spare`.
template <class Element, class GetKey>
Element* radix_sort(Element* x, Element* spare, std::int64_t n, const GetKey& key_of) {
  using Key = decltype(key_of(*x));
  constexpr int bits = sizeof(Key) <= 2 ? 8 : 11,
                digits = (8 * static_cast<int>(sizeof(Key)) + bits - 1) / bits;
  constexpr std::size_t values = std::size_t{1} << bits;
  const std::unique_ptr<std::int64_t[]> counts(new std::int64_t[digits * values]());
  for (std::int64_t i = 0; i < n; ++i) {
    const Key key = key_of(x[i]);
    for (int d = 0; d < digits; ++d)
      ++counts[static_cast<std::size_t>(d) * values + ((key >> (d * bits)) & (values - 1))];
  }
  for (int d = 0; d < digits; ++d) {
    std::int64_t* const count = counts.get() + static_cast<std::size_t>(d) * values;
    std::int64_t start = 0;
    bool one_value = false;
    for (std::size_t v = 0; v < values; ++v) {
      one_value = one_value || count[v] == n;
      const std::int64_t c = count[v];
      count[v] = start;
      start += c;
    }
    if (one_value) continue;
    for (std::int64_t i = 0; i < n; ++i) spare[count[(key_of(x[i]) >> (d * bits)) & (values - 1)]++] = x[i];
    std::swap(x, spare);
  }
  return x;
}

inline constexpr std::int64_t radix_from = 512;

#ifdef NAX_AVX512
// Copies a run, NaN to its end; how many numbers stand before them.
template <class T>
std::int64_t copy_numbers_first(const T* from, T* to, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    using P = simd::Packet<T>;
    simd::Mask<T> nan(false);
    std::int64_t i = 0;
    for (; i + P::size <= n; i += P::size) {
      const P v = P::load(from + i);
      nan = nan | (v != v);
      v.store(to + i);
    }
    bool all = !simd::any(nan);
    for (; i < n; ++i) {
      to[i] = from[i];
      all = all && from[i] == from[i];
    }
    if (all) return n;
    return std::stable_partition(to, to + n, [](T x) { return x == x; }) - to;
  } else {
    if (from != to) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return n;
  }
}

// Keys of 32 bits above the places they come from, as one number: equal keys keep their order.
template <class T>
void argsort_in_registers(const T* x, std::int64_t stride, std::int64_t n, bool descending,
                          std::int32_t* order, std::int64_t order_stride) {
  const Scratch<std::uint64_t> pairs(n);
  const std::uint32_t flip = descending ? ~std::uint32_t{0} : 0;
  for (std::int64_t i = 0; i < n; ++i)
    pairs[i] = std::uint64_t{sort_key(x[i * stride]) ^ flip} << 32 | static_cast<std::uint64_t>(i);
  sort_numbers(pairs.data(), n);
  for (std::int64_t i = 0; i < n; ++i) order[i * order_stride] = static_cast<std::int32_t>(pairs[i]);
}
#endif

}  // namespace detail

inline namespace NAX_SIMD_ABI {

// order[i] = the place in x (strided) of the i-th smallest, or i-th largest, element. Equal ones keep their
// order.
template <class T>
void argsort_line(const T* x, std::int64_t stride, std::int64_t n, bool descending, std::int32_t* order,
                  std::int64_t order_stride) {
  using Key = detail::sort_key_t<T>;
  using Pair = detail::KeyIndex<Key>;
#ifdef NAX_AVX512
  if constexpr (sizeof(T) == 4)
    return detail::argsort_in_registers(x, stride, n, descending, order, order_stride);
#endif
  const std::unique_ptr<Pair[]> pairs(new Pair[static_cast<std::size_t>(2 * n)]);
  for (std::int64_t i = 0; i < n; ++i) {
    const Key key = detail::sort_key(x[i * stride]);
    pairs[static_cast<std::size_t>(i)] = {descending ? static_cast<Key>(~key) : key,
                                          static_cast<std::int32_t>(i)};
  }
  const Pair* sorted = pairs.get();
  if (n < detail::radix_from)
    std::stable_sort(pairs.get(), pairs.get() + n,
                     [](const Pair& a, const Pair& b) { return a.key < b.key; });
  else
    sorted = detail::radix_sort(pairs.get(), pairs.get() + n, n, [](const Pair& p) { return p.key; });
  for (std::int64_t i = 0; i < n; ++i) order[i * order_stride] = sorted[i].index;
}

// to = the elements of a contiguous run in order. `from` may be `to`.
template <class T>
void sort_run(const T* from, T* x, std::int64_t n, bool descending) {
#ifdef NAX_AVX512
  if constexpr (sizeof(T) >= 4) {
    if (from == x || !detail::sort_numbers(from, x, n))
      detail::sort_numbers(x, detail::copy_numbers_first(from, x, n));
    if (descending) std::reverse(x, x + n);
    return;
  }
#endif
  if (from != x && n > 0) std::memcpy(x, from, static_cast<std::size_t>(n) * sizeof(T));
  if (n < detail::radix_from) {
    std::stable_sort(x, x + n, [](T a, T b) { return detail::sort_key(a) < detail::sort_key(b); });
  } else {
    using Key = detail::sort_key_t<T>;
    const std::unique_ptr<Key[]> keys(new Key[static_cast<std::size_t>(2 * n)]);
    for (std::int64_t i = 0; i < n; ++i) keys[static_cast<std::size_t>(i)] = detail::sort_key<true>(x[i]);
    const Key* sorted = detail::radix_sort(keys.get(), keys.get() + n, n, [](Key k) { return k; });
    for (std::int64_t i = 0; i < n; ++i) x[i] = detail::from_sort_key<T>(sorted[i]);
  }
  if (descending) std::reverse(x, x + n);
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
