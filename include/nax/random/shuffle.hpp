#pragma once

#include <limits>

#include "nax/loops/threefry.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/random/bits.hpp"

// Permutations: shuffled positions, by which elements are taken.
NAX_BEGIN
namespace random {
namespace detail {

inline void check_count(const char* function, std::int64_t n) {
  if (n < 0 || n > std::numeric_limits<std::int32_t>::max())
    raise<ValueError>({function, ": the number of elements must fit an int32, got ", n});
}

// The first `kept` positions along `axis` of an array of this shape, each vector of them shuffled by sort
// keys drawn for all of the array. dtype: int32 or int64.
NAX_ENGINE ArrayBase shuffled(const char* function, const Key& key, const Shape& shape, int axis,
                              std::int64_t kept, DType dtype);

// The first `count` of the shuffled positions below n.
template <class I>
Array<I> positions(const char* function, const Key& key, std::int64_t n, std::int64_t count) {
  check_count(function, n);
  return nax::detail::typed<I>(shuffled(function, key, Shape{n}, 0, count, dtype_of<I>));
}

}  // namespace detail

struct PermutationOptions {
  int axis = 0;
  bool independent = false;  // a permutation of its own for each vector along the axis
};

// The numbers below n in random order, of shape (n,). Throws ValueError if `n` is negative or does not fit an
// int32, and for more than one key.
template <std::integral I>
Array<std::int32_t> permutation(const Key& key, I n) {
  return detail::positions<std::int32_t>("permutation", key, static_cast<std::int64_t>(n),
                                         static_cast<std::int64_t>(n));
}
// x, shuffled along an axis; of the shape of x. Throws ValueError for a 0-d x, and IndexError if `axis` is
// out of bounds.
template <nax::detail::ArrayLike X>
auto permutation(const Key& key, const X& x_, const PermutationOptions& options = {}) {
  const auto x = nax::detail::materialise(x_);
  if (x.ndim() == 0)
    throw ValueError("permutation: x must have at least one axis; for the numbers below n pass n");
  nax::detail::check_operand("permutation", x);
  const nax::detail::ComputeOn beside_x(x);
  const int axis = nax::detail::normalize_axis("permutation", options.axis, x.ndim());
  const std::int64_t n = x.shape(axis);
  if (options.independent || x.ndim() == 1)
    return nax::take_along_axis(x,
                                nax::detail::typed<std::int64_t>(
                                    detail::shuffled("permutation", key, x.shape(), axis, n, DType::int64)),
                                axis);
  return nax::take(x, detail::positions<std::int64_t>("permutation", key, n, n), {.axis = axis});
}

}  // namespace random
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/random/shuffle-inl.hpp"
#endif
