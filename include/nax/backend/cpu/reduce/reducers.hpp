#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/backend/cpu/packets/truth.hpp"
#include "nax/backend/cpu/reduce/short_runs.hpp"
#include "nax/backend/cpu/reduce/wide.hpp"
#include "nax/core/compiler.hpp"
#include "nax/loops/reduce_kind.hpp"

// Kernels that reduce runs of elements; reduce.hpp drives them over arrays of any shape.
//
// An operation names its accumulator, the identity and how two values join; the kernels below are made from
// it. Several accumulators run side by side, in an order that depends on the lengths only, so that results
// repeat exactly.
//
// Sums that round have a second reducer, for results of many terms: its accumulators are wide (see wide.hpp),
// its kernels add up block by block. It costs a pass over the results, which then are few.
NAX_BEGIN
namespace cpu {

// `combine`: to[i * stride] joins from[i]; a stride of 0 joins the whole run into one.
// `rows`: to[i] joins from[r * row_stride + i] for each r < rows.
// `merge`: to[i] joins from[i], both accumulators.
struct Reducer {
  void (*combine)(const void* from, void* to, std::int64_t stride, std::int64_t n);
  void (*rows)(const void* from, std::int64_t row_stride, std::int64_t rows, void* to, std::int64_t n);
  void (*merge)(const void* from, void* to, std::int64_t n);
  void (*fill)(void* to, std::int64_t n);
  DType from, to;
  loops::ReduceKind kind;
  // For long sums; null where there is no need. `widen` is the wide one's `combine` for elements of type
  // `to`, such as the sums of blocks; `narrow`: to[i] joins from[i], a wide accumulator.
  const Reducer* wide;
  void (*widen)(const void* from, void* to, std::int64_t stride, std::int64_t n);
  void (*narrow)(const void* from, void* to, std::int64_t n);
  // to[r * to_stride] joins from[r * run_stride + i] for each i < n, which is most_of_short_run at the most;
  // null in a wide one.
  void (*short_runs)(const void* from, std::int64_t run_stride, std::int64_t runs, std::int64_t n, void* to,
                     std::int64_t to_stride);
};

namespace reduce_op {

// Integer sums and products wrap around, as NumPy's do.
template <class A>
using wrapping_t =
    typename std::conditional_t<is_integer_v<A>, std::make_unsigned<A>, std::type_identity<A>>::type;

template <class A>
struct Sum {
  using Acc = A;
  static constexpr auto kind = loops::ReduceKind::sum;
  static constexpr Acc identity() { return Acc(0); }
  template <class V>
  static V join(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(static_cast<wrapping_t<V>>(a) + static_cast<wrapping_t<V>>(b));
    else
      return a + b;
  }
  template <class T>
  static T lanes(simd::Packet<T> a) {
    return simd::reduce_add(a);
  }
};
template <class A>
struct Product {
  using Acc = A;
  static constexpr auto kind = loops::ReduceKind::product;
  static constexpr Acc identity() { return Acc(1); }
  template <class V>
  static V join(V a, V b) {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(1u * static_cast<wrapping_t<V>>(a) * static_cast<wrapping_t<V>>(b));
    else
      return a * b;
  }
  template <class T>
  static T lanes(simd::Packet<T> a) {
    return simd::reduce_mul(a);
  }
};
// NaN wins.
template <class A>
struct Max {
  using Acc = A;
  static constexpr auto kind = loops::ReduceKind::max;
  static constexpr Acc identity() {
    if constexpr (std::is_floating_point_v<A>)
      return -std::numeric_limits<A>::infinity();
    else
      return std::numeric_limits<A>::lowest();
  }
  template <class V>
  static V join(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>)
      return a > b || a != a ? a : b;
    else
      return simd::max(a, b);
  }
  template <class T>
  static T lanes(simd::Packet<T> a) {
    return simd::reduce_max(a);
  }
};
template <class A>
struct Min {
  using Acc = A;
  static constexpr auto kind = loops::ReduceKind::min;
  static constexpr Acc identity() {
    if constexpr (std::is_floating_point_v<A>)
      return std::numeric_limits<A>::infinity();
    else
      return std::numeric_limits<A>::max();
  }
  template <class V>
  static V join(V a, V b) {
    if constexpr (std::is_arithmetic_v<V>)
      return a < b || a != a ? a : b;
    else
      return simd::min(a, b);
  }
  template <class T>
  static T lanes(simd::Packet<T> a) {
    return simd::reduce_min(a);
  }
};
// The ones below take elements by their truth alone. `fold`: of a run.
struct Any {
  using Acc = bool;
  static constexpr auto kind = loops::ReduceKind::any;
  static constexpr bool identity() { return false; }
  static bool join(bool a, bool b) { return a | b; }
  template <class T>
  static bool fold(const T* x, std::int64_t n) {
    return detail::finds_truth<true>(x, n);
  }
};
struct All {
  using Acc = bool;
  static constexpr auto kind = loops::ReduceKind::all;
  static constexpr bool identity() { return true; }
  static bool join(bool a, bool b) { return a & b; }
  template <class T>
  static bool fold(const T* x, std::int64_t n) {
    return !detail::finds_truth<false>(x, n);
  }
};
// How many are true; of truth values the sum.
template <class A>
struct Count : Sum<A> {
  using Merging = Sum<A>;  // counts are no truth values
  template <class T>
  static A fold(const T* x, std::int64_t n) {
    return static_cast<A>(detail::count_nonzero(x, n));
  }
};

}  // namespace reduce_op

namespace detail {

// Does the operation round, and are its blocks joined in a wider type?
template <class Op>
struct Blocks {
  static constexpr bool rounds = false;
  using Wide = typename Op::Acc;
};
template <class A>
struct Blocks<reduce_op::Sum<A>> {
  static constexpr bool rounds = !std::is_same_v<A, wide_t<A>>;
  using Wide = wide_t<A>;
};
template <class Op>
using joined_t = typename Blocks<Op>::Wide;

// Whether the operation runs on packets: elements and accumulator are one type that has them.
template <class Op, class From>
inline constexpr bool reduces_packets = std::is_same_v<typename Op::Acc, From>&& simd::has_packet<From>;

// Prefetches about a page ahead. The processor's own prefetching stops at each page.
inline constexpr std::int64_t ahead_bytes = 2048;
inline void fetch_ahead(const void* x) { NAX_PREFETCH(static_cast<const char*>(x) + ahead_bytes); }

template <class Op, class From>
typename Op::Acc fold_packets(const From* x, std::int64_t n) {
  using P = simd::Packet<From>;
  constexpr int w = P::size;
  P a(Op::identity()), b = a, c = a, d = a;
  std::int64_t i = 0;
  const auto step = [&] {
    a = Op::join(a, P::load(x + i));
    b = Op::join(b, P::load(x + i + w));
    c = Op::join(c, P::load(x + i + 2 * w));
    d = Op::join(d, P::load(x + i + 3 * w));
  };
  if (n >= 512) {  // a short run is near, or soon over
    for (; i + 4 * w <= n; i += 4 * w) {
      for (int line = 0; line < 4 * w * static_cast<int>(sizeof(From)); line += 64)
        fetch_ahead(reinterpret_cast<const char*>(x + i) + line);
      step();
    }
  } else {
    for (; i + 4 * w <= n; i += 4 * w) step();
  }
  for (; i + w <= n; i += w) a = Op::join(a, P::load(x + i));
  From total = Op::lanes(Op::join(Op::join(a, b), Op::join(c, d)));
  for (; i < n; ++i) total = Op::join(total, x[i]);
  return total;
}

// A run far larger than the caches, as four that are read side by side: memory serves several streams faster
// than one.
template <class Op, class From>
joined_t<Op> fold_streams(const From* x, std::int64_t quarter) {
  using P = simd::Packet<From>;
  constexpr std::int64_t block = 1024;
  joined_t<Op> total = Op::identity();
  for (std::int64_t begin = 0; begin < quarter; begin += block) {
    P sums[4] = {P(Op::identity()), P(Op::identity()), P(Op::identity()), P(Op::identity())};
    for (std::int64_t i = begin; i < begin + block; i += P::size) {
      NAX_UNROLL
      for (int k = 0; k < 4; ++k) {
        fetch_ahead(x + k * quarter + i);
        sums[k] = Op::join(sums[k], P::load(x + k * quarter + i));
      }
    }
    total = Op::join(total, static_cast<joined_t<Op>>(
                                Op::lanes(Op::join(Op::join(sums[0], sums[1]), Op::join(sums[2], sums[3])))));
  }
  return total;
}

template <class Op, class From>
joined_t<Op> fold_run(const From* x, std::int64_t n) {
  using Acc = typename Op::Acc;
  using Wide = joined_t<Op>;
  // Blocks bound the length of any chain of additions, and so the rounding error.
  if constexpr (TakesTruth<Op, From>) {
    return Op::fold(x, n);
  } else if constexpr (reduces_packets<Op, From>) {
    constexpr std::int64_t block = 4096, many = std::int64_t{1} << 18;
    if (n <= block) return fold_packets<Op>(x, n);
    const std::int64_t quarter = n < many ? 0 : n / (4 * 1024) * 1024;
    Wide total = quarter ? fold_streams<Op>(x, quarter) : Wide(Op::identity());
    for (std::int64_t i = 4 * quarter; i < n; i += block)
      total = Op::join(total, static_cast<Wide>(fold_packets<Op>(x + i, n - i < block ? n - i : block)));
    return total;
  } else {
    constexpr int width = 16;
    const std::int64_t block = std::is_integral_v<Acc> ? n : 16 * width;
    Wide total = Op::identity();
    for (std::int64_t i = 0, end; i < n;) {
      end = n - i < block ? n : i + block;
      Acc partial[width];
      for (Acc& p : partial) p = Op::identity();
      for (; i + width <= end; i += width)
        for (int j = 0; j < width; ++j)
          partial[j] = Op::join(partial[j], convert_element<From, Acc>(x[i + j]));
      for (int j = 0; i < end; ++i, ++j) partial[j] = Op::join(partial[j], convert_element<From, Acc>(x[i]));
      for (int half = width / 2; half > 0; half /= 2)
        for (int j = 0; j < half; ++j) partial[j] = Op::join(partial[j], partial[j + half]);
      total = Op::join(total, static_cast<Wide>(partial[0]));
    }
    return total;
  }
}

template <class Op, class From>
[[gnu::noinline]] void fold_into(const From* from, typename Op::Acc& to, std::int64_t n) {
  if constexpr (std::is_same_v<typename Op::Acc, bool>)
    if (to != Op::identity()) return;  // nothing changes it any more
  to = static_cast<typename Op::Acc>(Op::join(static_cast<joined_t<Op>>(to), fold_run<Op, From>(from, n)));
}

template <class Op, class From>
void combine_run(const void* from_, void* to_, std::int64_t stride, std::int64_t n) {
  using Acc = typename Op::Acc;
  const From* from = static_cast<const From*>(from_);
  Acc* to = static_cast<Acc*>(to_);
  if (stride == 0) return fold_into<Op, From>(from, *to, n);
  std::int64_t i = 0;
  if constexpr (reduces_packets<Op, From>) {
    using P = simd::Packet<From>;
    if (stride == 1)
      for (; i + P::size <= n; i += P::size) Op::join(P::load(to + i), P::load(from + i)).store(to + i);
  } else if constexpr (TakesTruth<Op, From> && std::is_same_v<Acc, bool>) {
    // As bytes: the compiler vectorises no loop over bool.
    constexpr int block = 64;
    if (stride == 1)
      for (; i + block <= n; i += block) {
        unsigned char truth[block], so_far[block];
        std::memcpy(so_far, to + i, block);
        for (int j = 0; j < block; ++j) truth[j] = static_cast<unsigned char>(from[i + j] != From(0));
        for (int j = 0; j < block; ++j)
          so_far[j] =
              static_cast<unsigned char>(Op::identity() ? so_far[j] & truth[j] : so_far[j] | truth[j]);
        std::memcpy(to + i, so_far, block);
      }
  } else if constexpr (TakesTruth<Op, From>) {
    if (stride == 1)
      for (; i < n; ++i) to[i] = Op::join(to[i], element_of<Op>(from[i]));
  }
  for (; i < n; ++i) to[i * stride] = Op::join(to[i * stride], element_of<Op>(from[i]));
}

// Eight rows at a time: the accumulators are read and written once for eight rows, and the rows are eight
// streams.
template <class Op, class From>
void combine_rows(const void* from_, std::int64_t row_stride, std::int64_t rows, void* to_, std::int64_t n) {
  const From* from = static_cast<const From*>(from_);
  typename Op::Acc* to = static_cast<typename Op::Acc*>(to_);
  constexpr std::int64_t block = 4096;  // columns whose accumulators stay in the first cache
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = begin + block < n ? begin + block : n;
    std::int64_t r = 0;
    if constexpr (reduces_packets<Op, From>) {
      using P = simd::Packet<From>;
      for (; r + 8 <= rows; r += 8) {
        const From* x = from + r * row_stride;
        std::int64_t i = begin;
        const auto join = [&](const auto& at) {
          const P low = Op::join(Op::join(at(0), at(1)), Op::join(at(2), at(3)));
          const P high = Op::join(Op::join(at(4), at(5)), Op::join(at(6), at(7)));
          return Op::join(low, high);
        };
        for (; i + P::size <= end; i += P::size) {
          const P all = join([&](int row) { return P::load(x + row * row_stride + i); });
          Op::join(P::load(to + i), all).store(to + i);
        }
        if (const std::int64_t rest = end - i; rest > 0) {
          const P all = join([&](int row) { return P::load(x + row * row_stride + i, rest); });
          Op::join(P::load(to + i, rest), all).store(to + i, rest);
        }
      }
    }
    for (; r < rows; ++r) combine_run<Op, From>(from + r * row_stride + begin, to + begin, 1, end - begin);
  }
}

template <class Op>
void merge_run(const void* from, void* to, std::int64_t n) {
  if constexpr (requires { typename Op::Merging; })
    combine_run<typename Op::Merging, typename Op::Acc>(from, to, 1, n);
  else
    combine_run<Op, typename Op::Acc>(from, to, 1, n);
}

template <class Op>
void fill_identity(void* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<typename Op::Acc*>(to)[i] = Op::identity();
}

// The kernels of a sum of A with wide accumulators.
template <class A, class From>
void combine_wide(const void* from_, void* to_, std::int64_t stride, std::int64_t n) {
  using Wide = wide_t<A>;
  const From* from = static_cast<const From*>(from_);
  Wide* to = static_cast<Wide*>(to_);
  if (stride == 0)
    *to += fold_run<reduce_op::Sum<A>, From>(from, n);
  else if (stride == 1)
    for (std::int64_t i = 0; i < n; ++i) to[i] += static_cast<Wide>(convert_element<From, A>(from[i]));
  else
    for (std::int64_t i = 0; i < n; ++i)
      to[i * stride] += static_cast<Wide>(convert_element<From, A>(from[i]));
}
// Rows that add up as they are. Packets go by eights.
template <class A, class From>
inline constexpr std::int64_t rows_of_block = reduces_packets<reduce_op::Sum<A>, From> ? 512 : 64;
template <class A, class From>
void combine_rows_wide(const void* from_, std::int64_t row_stride, std::int64_t rows, void* to,
                       std::int64_t n) {
  const From* from = static_cast<const From*>(from_);
  constexpr std::int64_t columns = 16384 / sizeof(A), block = rows_of_block<A, From>;
  alignas(64) A nearby[columns];
  for (std::int64_t begin = 0; begin < n; begin += columns) {
    const std::int64_t count = n - begin < columns ? n - begin : columns;
    for (std::int64_t r = 0; r < rows; r += block) {
      for (std::int64_t i = 0; i < count; ++i) nearby[i] = A(0);
      combine_rows<reduce_op::Sum<A>, From>(from + r * row_stride + begin, row_stride,
                                            rows - r < block ? rows - r : block, nearby, count);
      combine_wide<A, A>(nearby, static_cast<wide_t<A>*>(to) + begin, 1, count);
    }
  }
}
template <class W>
void merge_wide(const void* from, void* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<W*>(to)[i] += static_cast<const W*>(from)[i];
}
template <class W>
void fill_zeros(void* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<W*>(to)[i] = W(0);
}
template <class A>
void narrow_run(const void* from, void* to_, std::int64_t n) {
  A* to = static_cast<A*>(to_);
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = static_cast<A>(static_cast<wide_t<A>>(to[i]) + static_cast<const wide_t<A>*>(from)[i]);
}

template <class A, class From>
inline constexpr Reducer wide_reducer = {combine_wide<A, From>,
                                         combine_rows_wide<A, From>,
                                         merge_wide<wide_t<A>>,
                                         fill_zeros<wide_t<A>>,
                                         dtype_of<From>,
                                         dtype_of<wide_t<A>>,
                                         reduce_op::Sum<A>::kind,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr};

template <class Op, class From>
constexpr Reducer make_reducer() {
  using Acc = typename Op::Acc;
  Reducer r = {combine_run<Op, From>,
               combine_rows<Op, From>,
               merge_run<Op>,
               fill_identity<Op>,
               dtype_of<From>,
               dtype_of<Acc>,
               Op::kind,
               nullptr,
               nullptr,
               nullptr,
               combine_short_runs<Op, From>};
  if constexpr (Blocks<Op>::rounds) {
    r.wide = &wide_reducer<Acc, From>;
    r.widen = combine_wide<Acc, Acc>;
    r.narrow = narrow_run<Acc>;
  }
  return r;
}

}  // namespace detail

// The kernels of an operation over elements of type From.
template <class Op, class From>
inline constexpr Reducer reducer = detail::make_reducer<Op, From>();

}  // namespace cpu
NAX_END
