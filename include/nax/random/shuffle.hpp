#pragma once

#include <algorithm>
#include <vector>

#include "nax/numpy/sorting/sort.hpp"
#include "nax/random/bits.hpp"

// Permutations: the positions, sorted by random keys of 32 bits, once or, where equal keys are likely,
// several times.
NAX_BEGIN
namespace random {
namespace detail {

inline int shuffle_rounds(std::int64_t n) {
  return static_cast<int>(
      std::ceil(3 * std::log(static_cast<double>(n < 1 ? 1 : n)) / std::log(4294967295.0)));
}

// For each round, the key that it draws from.
NAX_ENGINE std::vector<std::uint64_t> round_keys(std::uint64_t key, int rounds);

// Orders n positions, not negative and below 2^31, by their sort keys, the ones with equal keys as they were.
// `pairs` is room for the work.
template <class KeyOf, class I>
void sort_positions(std::int64_t n, KeyOf key_of, I* positions, std::vector<std::uint64_t>& pairs) {
  pairs.resize(static_cast<std::size_t>(2 * n));
  std::uint64_t* sorted = pairs.data();
  for (std::int64_t i = 0; i < n; ++i)
    sorted[i] = std::uint64_t{key_of(i)} << 32 | static_cast<std::uint32_t>(positions[i]);
  const auto key = [](std::uint64_t pair) { return static_cast<std::uint32_t>(pair >> 32); };
  if (n < cpu::detail::radix_from)
    std::stable_sort(sorted, sorted + n, [&](std::uint64_t a, std::uint64_t b) { return key(a) < key(b); });
  else
    sorted = cpu::detail::radix_sort(sorted, sorted + n, n, key);
  for (std::int64_t i = 0; i < n; ++i) positions[i] = static_cast<I>(static_cast<std::uint32_t>(sorted[i]));
}

inline void check_count(const char* function, std::int64_t n) {
  if (n < 0 || n > std::numeric_limits<std::int32_t>::max())
    raise<ValueError>({function, ": the number of elements must fit an int32, got ", n});
}

// The places along `axis` of an array of this shape, each vector of them shuffled by sort keys drawn for all
// of the array: on a GPU.
[[gnu::cold]] NAX_ENGINE Array<std::int64_t> shuffled_on_device(const char* function, const Key& key,
                                                                const Shape& shape, int axis);

// The first `count` of the shuffled positions below n.
template <class I>
Array<I> positions(const char* function, const Key& key, std::int64_t n, std::int64_t count) {
  check_count(function, n);
  if (on_accelerator(draw_device(key))) {
    const Array<std::int64_t> all = shuffled_on_device(function, key, Shape{n}, 0);
    return all(slice(0, count)).template astype<I>();
  }
  const auto fill = [n, count](std::uint64_t k, std::int64_t, std::int64_t, I* out) {
    std::vector<I> all(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = static_cast<I>(i);
    std::vector<std::uint32_t> sort_keys(all.size());
    std::vector<std::uint64_t> pairs;
    for (std::uint64_t round : round_keys(k, shuffle_rounds(n))) {
      cpu::random_bits(round, 0, n, sort_keys.data());
      sort_positions(
          n, [&](std::int64_t i) { return sort_keys[static_cast<std::size_t>(i)]; }, all.data(), pairs);
    }
    std::copy(all.begin(), all.begin() + count, out);
  };
  return draw_whole<I>(function, key, Shape{count}, fill);
}

// A permutation of each vector along `axis` of an array of this shape.
NAX_ENGINE Array<std::int64_t> independent_positions(const Key& key, const Shape& shape, int axis);

}  // namespace detail

struct PermutationOptions {
  int axis = 0;
  bool independent = false;  // a permutation of its own for each vector along the axis
};

// The numbers below n in random order.
template <std::integral I>
Array<std::int32_t> permutation(const Key& key, I n) {
  return detail::positions<std::int32_t>("permutation", key, static_cast<std::int64_t>(n),
                                         static_cast<std::int64_t>(n));
}
// x, shuffled along an axis. Throws ValueError for a 0-d x.
template <nax::detail::ArrayLike X>
auto permutation(const Key& key, const X& x_, const PermutationOptions& options = {}) {
  const auto x = nax::detail::materialise(x_);
  if (x.ndim() == 0)
    throw ValueError("permutation: x must have at least one axis; for the numbers below n pass n");
  nax::detail::check_operand("permutation", x);
  const nax::detail::ComputeOn beside_x(x);
  const int axis = nax::detail::normalize_axis("permutation", options.axis, x.ndim());
  if (options.independent || x.ndim() == 1)
    return nax::take_along_axis(x, detail::independent_positions(key, x.shape(), axis), axis);
  const std::int64_t n = x.shape(axis);
  return nax::take(x, detail::positions<std::int64_t>("permutation", key, n, n), {.axis = axis});
}

}  // namespace random
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/random/shuffle-inl.hpp"
#endif
