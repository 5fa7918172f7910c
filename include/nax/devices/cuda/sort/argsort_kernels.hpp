#pragma once

#include "nax/devices/cuda/scan/line_order.hpp"
#include "nax/devices/cuda/sort/sort_kernels.hpp"

// The order of lines of any real dtype.
NAX_BEGIN
namespace cuda {

// A number's bits, ordered as numbers are: all NaNs alike and above everything, -0 equal to 0.
template <class A>
using ordered_key_t = std::conditional_t<sizeof(A) == 4, std::uint32_t, std::uint64_t>;
template <class A>
constexpr ordered_key_t<A> ordered_key(A x) {
  using Key = ordered_key_t<A>;
  constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<A>) {
    if (x != x) return ~Key(0);
    const Key bits = std::bit_cast<Key>(x + A(0));
    return bits & sign ? ~bits : bits | sign;
  } else if constexpr (std::is_signed_v<A>) {
    return static_cast<Key>(x) ^ sign;
  } else {
    return static_cast<Key>(x);
  }
}

// The keys of the lines, one line after another.
template <class A>
struct OrderedKeys {
  LineOrder order;
  DType dtype;
  bool descending;
  const char* from;
  std::int64_t bytes;
  ordered_key_t<A>* keys;

  constexpr void operator()(std::int64_t i) const {
    const ordered_key_t<A> key = ordered_key(load_as<A>(dtype, from + order.at(i) * bytes));
    keys[i] = descending ? ~key : key;
  }
};
// The places of the sorted keys, where the lines lie.
struct SpreadPlaces {
  LineOrder order;
  const std::int32_t* places;
  std::int32_t* to;
  constexpr void operator()(std::int64_t i) const { to[order.at(i)] = places[i]; }
};

// Where elements would be inserted into sorted ones: one thread a value.
template <class A>
struct SearchSorted {
  DType dtype;
  bool right;
  std::int64_t n, bytes;
  const char *sorted, *sought;
  std::int32_t* to;

  constexpr void operator()(std::int64_t i) const {
    const auto key = ordered_key(load_as<A>(dtype, sought + i * bytes));
    std::int64_t first = 0, length = n;
    while (length > 0) {
      const std::int64_t half = length / 2;
      const auto middle = ordered_key(load_as<A>(dtype, sorted + (first + half) * bytes));
      if (right ? middle <= key : middle < key)
        first += half + 1, length -= half + 1;
      else
        length = half;
    }
    to[i] = static_cast<std::int32_t>(first);
  }
};
inline void launch_search(Device device, DType dtype, bool right, std::int64_t n, const char* sorted,
                          std::int64_t count, const char* sought, std::int32_t* to) {
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  with_wide(dtype, [&]<class A>(std::type_identity<A>) {
    launch(device, count, SearchSorted<A>{dtype, right, n, bytes, sorted, sought, to});
  });
}

inline void launch_argsort(Device device, const loops::Lines& lines, DType dtype, bool descending,
                           const char* from, std::int32_t* to) {
  const std::int64_t size = lines.count() * lines.n;
  if (size == 0) return;
  check_line_length(lines.n);
  with_wide(dtype, [&]<class A>(std::type_identity<A>) {
    using Key = ordered_key_t<A>;
    const Scratch room(device, static_cast<std::size_t>(size) * sizeof(Key));
    Key* const keys = reinterpret_cast<Key*>(room.data());
    const LineOrder order = order_of(lines, false);
    launch(
        device, size,
        OrderedKeys<A>{order, dtype, descending, from, static_cast<std::int64_t>(dtype_size(dtype)), keys});
    const SortedLines<Key> sorted(device, lines.count(), lines.n, keys);
    launch(device, size, SpreadPlaces{order, sorted.run().places, to});
  });
}

}  // namespace cuda
NAX_END
