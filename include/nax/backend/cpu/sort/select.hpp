#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/packets/holds_nan.hpp"
#include "nax/backend/cpu/packets/packet_compress.hpp"
#include "nax/backend/cpu/packets/true_places.hpp"
#include "nax/backend/cpu/sort/sort.hpp"

// Selecting from a contiguous run what a sort would put at given places, without sorting it. NaN comes last,
// as in sort.hpp.
//
// A sample of the run says between which two of its elements the one that is sought most probably lies. One
// pass keeps what lies between them and counts what comes before; what is kept is a small part of the run,
// and the same goes on with it. Where the sample has misled, or most elements are equal, the standard
// library selects. The sample's places are always the same, and no result depends on them.
NAX_BEGIN
namespace cpu {
namespace detail {
inline namespace NAX_SIMD_ABI {

// How many elements are no NaN.
template <class T>
std::int64_t count_numbers(const T* x, std::int64_t n) {
  if constexpr (!std::is_floating_point_v<T>) {
    return n;
  } else {
    if (!holds_nan(x, n)) return n;
    return std::count_if(x, x + n, [](T v) { return v == v; });
  }
}

// Copies the elements with a <= x <= b, in order, to `to` (which may be x itself) and moves it to their end;
// returns how many are less than a. There must be room for a packet more.
template <class T>
std::int64_t keep_between(const T* x, std::int64_t n, T a, T b, T*& to_) {
  T* to = to_;
  std::int64_t below = 0, i = 0;
  if constexpr (simd::has_packet<T>) {
    using P = simd::Packet<T>;
    const P low(a), high(b), zero(T(0)), one(T(1));
    while (i + P::size <= n) {
      P counts = zero;  // ones, few enough to be exact
      const std::int64_t end = std::min(n, i + (std::int64_t{1} << 20));
      for (; i + P::size <= end; i += P::size) {
        const P v = P::load(x + i);
        counts = counts + kept(v < low, one);
        to = simd::store_chosen(to, (v >= low) & (v <= high), v);
      }
      T lanes[P::size];
      counts.store(lanes);
      for (const T lane : lanes) below += static_cast<std::int64_t>(lane);
    }
  }
  for (; i < n; ++i) {
    const T v = x[i];
    below += v < a;
    *to = v;
    to += static_cast<int>(v >= a) & static_cast<int>(v <= b);
  }
  to_ = to;
  return below;
}

template <class T>
struct Selected {
  T low, high;
};

// `x`: numbers, which are moved.
template <class T>
Selected<T> select_with_next(T* x, std::int64_t n, std::int64_t rank) {
  std::nth_element(x, x + rank, x + n);
  return {x[rank], rank + 1 < n ? *std::min_element(x + rank + 1, x + n) : x[rank]};
}

inline constexpr std::int64_t select_few = 256;

// The element that a sort would put at `rank` and the next one (or the same where there is none), of so many
// numbers in a run; what else is in it is NaN.
template <class T>
Selected<T> select_number(const T* x, std::int64_t n, std::int64_t numbers, std::int64_t rank) {
  const auto copy_numbers = [=](T* to) {
    if (numbers == n)
      std::copy(x, x + n, to);
    else
      std::copy_if(x, x + n, to, [](T v) { return v == v; });
  };
  if (n <= select_few) {
    T few[select_few];
    copy_numbers(few);
    return select_with_next(few, numbers, rank);
  }
  const Scratch<T> scratch(n + 64);
  T* const nearby = scratch.data();
  const T* from = x;
  std::int64_t length = n, count = numbers, place = rank;
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  while (count > select_few) {
    constexpr int most = 1024;
    T sample[most];
    const int wanted = static_cast<int>(std::clamp<std::int64_t>(count / 16, 32, most));
    int taken = 0;
    for (int i = 0; i < wanted; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const T v = from[static_cast<std::int64_t>((state >> 33) * static_cast<std::uint64_t>(length) >> 31)];
      if (v == v) sample[taken++] = v;
    }
    if (taken < 16) break;
    std::sort(sample, sample + taken);
    // Three standard deviations to each side, at the most.
    const double middle = (static_cast<double>(place) + 0.5) / static_cast<double>(count) * taken;
    const double spread = 1.5 * std::sqrt(taken) + 1;
    const double first = middle - spread, last = middle + spread;
    using Limits = std::numeric_limits<T>;
    const T least = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    const T greatest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T a = first >= 0 ? sample[static_cast<int>(first)] : least;
    const T b = last < taken - 1 ? sample[static_cast<int>(last) + 1] : greatest;
    T* end = nearby;
    const std::int64_t below = keep_between(from, length, a, b, end), kept = end - nearby;
    const std::int64_t next = place + (rank + 1 < numbers ? 1 : 0);
    from = nullptr;  // what was there may be overwritten
    if (place < below || next >= below + kept) break;
    if (a == b) return {a, a};
    place -= below;
    if (2 * kept > count) return select_with_next(nearby, kept, place);
    from = nearby;
    length = count = kept;
  }
  if (from != nearby) {
    copy_numbers(nearby);
    count = numbers;
    place = rank;
  }
  return select_with_next(nearby, count, place);
}

// Where the element v stands that a stable sort would put at `rank`: of equal ones the one of this rank.
template <class T>
std::int32_t place_of_rank(const T* x, std::int64_t n, T v, std::int64_t rank) {
  for (std::int64_t i = 0; i < n; ++i) rank -= static_cast<std::int64_t>(x[i] < v);
  for (std::int64_t i = 0;; ++i)
    if (x[i] == v && rank-- == 0) return static_cast<std::int32_t>(i);
}

// A run falls into what is less than v, what equals it, and the rest with NaN; where v is NaN, into numbers
// and NaNs. (V: an element, or a packet of them.)
enum class Side { less, equal, rest };
template <Side side, class V>
auto stands_on(V x, V v, bool nan) {
  if constexpr (side == Side::less)
    return nan ? x == x : x < v;
  else if constexpr (side == Side::equal)
    return x == v;
  else
    return nan ? x != x : !(x <= v);
}

// The elements on one side of v go to `to`, in order; returns their end.
template <Side side, class T>
T* copy_side(const T* x, std::int64_t n, T v, T* to, const T* end) {
  const bool nan = v != v;
  std::int64_t i = 0;
  if constexpr (simd::has_packet<T>) {
    using P = simd::Packet<T>;
    const P by(v);
    for (; i + P::size <= n && end - to >= P::size; i += P::size) {
      const P values = P::load(x + i);
      to = simd::store_chosen(to, stands_on<side>(values, by, nan), values);
    }
  }
  for (; i < n && to != end; ++i) {
    *to = x[i];
    to += static_cast<int>(stands_on<side>(x[i], v, nan));
  }
  return to;
}
// Their places.
template <Side side, class T>
std::int32_t* places_on_side(const T* x, std::int64_t n, T v, std::int32_t* to, const std::int32_t* end) {
  constexpr std::int64_t block = 256;
  const bool nan = v != v;
  unsigned char on[block];  // the compiler vectorises no loop over bool
  const auto* const truth = reinterpret_cast<const bool*>(on);
  std::int64_t i = 0;
  for (; i + block <= n; i += block) {
    for (std::int64_t j = 0; j < block; ++j)
      on[j] = static_cast<unsigned char>(stands_on<side>(x[i + j], v, nan));
    to = write_true_places(truth, block, static_cast<std::int32_t>(i), to, end);
  }
  for (std::int64_t j = i; j < n; ++j) on[j - i] = static_cast<unsigned char>(stands_on<side>(x[j], v, nan));
  return write_true_places(truth, n - i, static_cast<std::int32_t>(i), to, end);
}

// The element that a sort would put at `rank`.
template <class T>
T select_element(const T* x, std::int64_t n, std::int64_t rank) {
  const std::int64_t numbers = count_numbers(x, n);
  if constexpr (std::is_floating_point_v<T>)
    if (rank >= numbers) return std::numeric_limits<T>::quiet_NaN();
  return select_number(x, n, numbers, rank).low;
}

inline constexpr std::int64_t partition_sorts = 64;  // runs up to this length
inline constexpr std::int64_t quantile_sorts = 1024;

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

// The elements of a run with that which a sort would put at `rank` there, none larger before it and none
// smaller behind; otherwise in their order. `from` and `to` do not overlap.
template <class T>
void partition_line(const T* from, std::int64_t n, std::int64_t rank, T* to) {
  if (n <= detail::partition_sorts) return sort_run(from, to, n, false);
  using detail::Side;
  const T v = detail::select_element(from, n, rank);
  const T* const end = to + n;
  to = detail::copy_side<Side::less>(from, n, v, to, end);
  to = detail::copy_side<Side::equal>(from, n, v, to, end);
  detail::copy_side<Side::rest>(from, n, v, to, end);
}
// Where they come from.
template <class T>
void argpartition_line(const T* x, std::int64_t n, std::int64_t rank, std::int32_t* to) {
  if (n <= detail::partition_sorts) return argsort_line(x, 1, n, false, to, 1);
  using detail::Side;
  const T v = detail::select_element(x, n, rank);
  const std::int32_t* const end = to + n;
  to = detail::places_on_side<Side::less>(x, n, v, to, end);
  to = detail::places_on_side<Side::equal>(x, n, v, to, end);
  detail::places_on_side<Side::rest>(x, n, v, to, end);
}

// out[0], out[1]: the elements that a sort would put at `rank` and behind it (where there is none, the same);
// out[2] a number. All are NaN where there is a NaN.
template <class T>
void quantile_line(const T* x, std::int64_t n, std::int64_t rank, T* out) {
  const bool nan = holds_nan(x, n);
  if (n <= detail::quantile_sorts && !nan) {
    T line[detail::quantile_sorts];
    sort_run(x, line, n, false);
    out[0] = out[2] = line[rank];
    out[1] = line[rank + 1 < n ? rank + 1 : rank];
    return;
  }
  const detail::Selected<T> found =
      nan ? detail::Selected<T>{std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::quiet_NaN()}
          : detail::select_number(x, n, n, rank);
  out[0] = out[2] = found.low;
  out[1] = found.high;
}
// Where they stand: of equal elements those that a stable sort would take, of NaNs the last.
template <class T>
void argquantile_line(const T* x, std::int64_t n, std::int64_t rank, std::int32_t* out) {
  T found[3];
  quantile_line(x, n, rank, found);
  if (found[0] != found[0]) {
    std::int64_t last = n - 1;
    while (x[last] == x[last]) --last;
    out[0] = out[1] = out[2] = static_cast<std::int32_t>(last);
    return;
  }
  out[0] = out[2] = detail::place_of_rank(x, n, found[0], rank);
  out[1] = rank + 1 < n ? detail::place_of_rank(x, n, found[1], rank + 1) : out[0];
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
