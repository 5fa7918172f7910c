#pragma once

#include "nax/backend/cpu/elementwise.hpp"
#include "nax/backend/cpu/elementwise_pull.hpp"
#include "nax/expr/lane.hpp"

// The two kernels of an expression type, as plain functions over contiguous runs (see backend/cpu/tiles.hpp).
namespace nax::detail {

// The rest of a run that fills no packet: leaves are copied into padded packets, so that a value never
// depends on where in the run it lies.
template <class C, int leaves>
struct PaddedTail {
  static constexpr int width = simd::Packet<C>::size;
  alignas(64) C packets[leaves == 0 ? 1 : leaves][width];
  const void* pointers[leaves == 0 ? 1 : leaves];

  PaddedTail(const void* const* from, std::int64_t begin, int n) {
    for (int l = 0; l < leaves; ++l) {
      const C* x = static_cast<const C*>(from[l]) + begin;
      for (int i = 0; i < width; ++i) packets[l][i] = x[i < n ? i : 0];
      pointers[l] = packets[l];
    }
  }
};

template <class E>
void forward_kernel(const void* constants, const void* const* leaves, void* out, std::int64_t n) {
  using Lane = kernel_lane_t<E>;
  using T = typename E::value_type;
  using Stored = typename Lane::template Stored<T>;
  const LeafSource source{constants, leaves};
  if constexpr (Lane::width > 1) {
    constexpr int width = Lane::width;
    std::int64_t i = 0;
    for (; i + width <= n; i += width) Lane::template store<T>(Root<Lane, E>(source, i).value, out, i);
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      const PaddedTail<Stored, Tree<E>::leaves> tail(leaves, i, rest);
      alignas(64) Stored result[width];
      Lane::template store<T>(Root<Lane, E>(LeafSource{constants, tail.pointers}, 0).value, result, 0);
      for (int j = 0; j < rest; ++j) static_cast<Stored*>(out)[i + j] = result[j];
    }
  } else {
    // In place or apart, an element is written after it is read; the loop may be vectorised.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
    for (std::int64_t i = 0; i < n; ++i) Lane::template store<T>(Root<Lane, E>(source, i).value, out, i);
  }
}

template <class Lane>
struct StoreSink {
  void* const* grads;
  std::int64_t i;
  template <class T, int L>
  [[gnu::always_inline]] void deposit(const typename Lane::template Value<T>& g) {
    if (grads[L]) Lane::template store<T>(g, grads[L], i);
  }
};

template <class E>
void pull_kernel(const void* constants, const void* const* leaves, const void* g, void* const* grads,
                 std::int64_t n) {
  using Lane = kernel_lane_t<E>;
  using T = typename E::value_type;
  const LeafSource source{constants, leaves};
  if constexpr (Lane::width > 1) {
    constexpr int width = Lane::width;
    constexpr int count = Tree<E>::leaves;
    using Stored = typename Lane::template Stored<T>;
    std::int64_t i = 0;
    for (; i + width <= n; i += width) {
      StoreSink<Lane> sink{grads, i};
      Root<Lane, E>(source, i).pull(Lane::template load<T>(g, i), sink);
    }
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      const PaddedTail<Stored, count> tail(leaves, i, rest);
      const PaddedTail<Stored, 1> tail_g(&g, i, rest);
      alignas(64) Stored results[count][width];
      void* out[count];
      for (int l = 0; l < count; ++l) out[l] = grads[l] ? results[l] : nullptr;
      StoreSink<Lane> sink{out, 0};
      Root<Lane, E>(LeafSource{constants, tail.pointers}, 0)
          .pull(Lane::template load<T>(tail_g.pointers[0], 0), sink);
      for (int l = 0; l < count; ++l)
        if (grads[l])
          for (int j = 0; j < rest; ++j) static_cast<Stored*>(grads[l])[i + j] = results[l][j];
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      StoreSink<Lane> sink{grads, i};
      Root<Lane, E>(source, i).pull(Lane::template load<T>(g, i), sink);
    }
  }
}

// The leaves of E in order: in which type each is handed to the kernels (of lane Lane), and in which it is
// stored.
template <class Lane, class E>
struct LeafTypes {
  static constexpr int list(DType*, DType*, int l) { return l; }
};
template <class Lane, class T>
struct LeafTypes<Lane, Array<T>> {
  static constexpr int list(DType* lanes, DType* stored, int l) {
    lanes[l] = dtype_of<typename Lane::template Stored<T>>;
    stored[l] = dtype_of<T>;
    return l + 1;
  }
};
template <class Lane, class Rule, class... A>
struct LeafTypes<Lane, Expr<Rule, A...>> {
  static constexpr int list(DType* lanes, DType* stored, int l) {
    ((l = LeafTypes<Lane, A>::list(lanes, stored, l)), ...);
    return l;
  }
};
template <class E>
struct LeafTable {
  DType lanes[Tree<E>::leaves == 0 ? 1 : Tree<E>::leaves] = {};
  DType stored[Tree<E>::leaves == 0 ? 1 : Tree<E>::leaves] = {};
  constexpr LeafTable() { LeafTypes<kernel_lane_t<E>, E>::list(lanes, stored, 0); }
};
template <class E>
inline constexpr LeafTable<E> leaf_table{};
template <class E>
inline constexpr DType result_lane_of =
    dtype_of<typename kernel_lane_t<E>::template Stored<typename E::value_type>>;

}  // namespace nax::detail
