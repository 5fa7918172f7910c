#pragma once

#include <utility>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/maps/elementwise_pull.hpp"
#include "nax/core/compiler.hpp"
#include "nax/expr/expressions/lane.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/expr/evaluation/formula_kernels.hpp"
#endif

// The two kernels of an expression type, as plain functions over contiguous runs (see
// backend/cpu/maps/tiles.hpp).
NAX_BEGIN
namespace detail {

// The rest of a run that fills no packet is computed in padded copies, by the same loop, so that a value
// never depends on where in the run it lies and each kernel has one body.
template <class C, int arrays>
struct Padded {
  using Packet = simd::Packet<C>;
  alignas(64) C packets[arrays][Packet::size];

  // (One element is a common rest, that of numbers: lanes of a packet need no mask for it.)
  void load(int array, const void* from, std::int64_t begin, std::int64_t n) {
    const C* const first = static_cast<const C*>(from) + begin;
    (n == 1 ? Packet(*first) : Packet::load(first, n)).store(packets[array]);
  }
  void store(int array, void* to, std::int64_t begin, std::int64_t n) const {
    C* const first = static_cast<C*>(to) + begin;
    if (n == 1)
      *first = packets[array][0];
    else
      Packet::load(packets[array]).store(first, n);
  }
};

// Constants where the compiler knows that no store reaches them, so that what depends on them alone leaves
// the loop.
template <int count>
struct OwnConstants {
  ConstantSlots<count> slots;
  explicit OwnConstants(const void* from) {
    if constexpr (count > 0) std::memcpy(&slots, from, sizeof slots);
  }
};

template <class E>
void forward_kernel(const void* constants, const void* const* leaves, void* out, std::int64_t n) {
  using Lane = kernel_lane_t<E>;
  using T = typename E::value_type;
  using Stored = typename Lane::template Stored<T>;
  if constexpr (Lane::width > 1) {
    constexpr int width = Lane::width, count = Tree<E>::leaves;
    const OwnConstants<Tree<E>::constants> own(constants);
    Padded<Stored, count + 1> padded;
    const void* from[count == 0 ? 1 : count];
    for (int l = 0; l < count; ++l) from[l] = leaves[l];
    void* to = out;
    const std::int64_t rest = n & (width - 1);
    for (std::int64_t end = n - rest;; end = width) {
      for (std::int64_t i = 0; i < end; i += width)
        Lane::template store<T>(Root<Lane, E>(LeafSource{&own.slots, from}, i).value, to, i);
      if (to != out) return padded.store(count, out, n - rest, rest);
      if (rest == 0) return;
      for (int l = 0; l < count; ++l) {
        padded.load(l, leaves[l], n - rest, rest);
        from[l] = padded.packets[l];
      }
      to = padded.packets[count];
    }
  } else {
    // In place or apart, an element is written after it is read; the loop may be vectorised.
    // (Clang has no such promise that it does not also warn about.)
    const OwnConstants<Tree<E>::constants> own(constants);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
    for (std::int64_t i = 0; i < n; ++i)
      Lane::template store<T>(Root<Lane, E>(LeafSource{&own.slots, leaves}, i).value, out, i);
  }
}

// Stores the shares of leaves, or adds them to what is there.
template <class Lane>
struct StoreSink {
  void* const* grads;
  unsigned added;
  std::int64_t i;
  template <class T, int L>
  [[gnu::always_inline]] void deposit(const typename Lane::template Value<T>& g) {
    if (!grads[L]) return;
    if (added >> L & 1)
      Lane::template store<T>(Lane::template load<T>(grads[L], i) + g, grads[L], i);
    else
      Lane::template store<T>(g, grads[L], i);
  }
};

// `valued`: with the values of the expression. A kernel of its own, since one that is told at run time is
// slower where there is little to compute.
template <class E, bool valued = false>
void pull_kernel(const void* constants, const void* const* leaves, const void* g, void* const* grads,
                 unsigned added, [[maybe_unused]] void* values, std::int64_t n) {
  using Lane = kernel_lane_t<E>;
  using T = typename E::value_type;
  if constexpr (Lane::width > 1) {
    constexpr int width = Lane::width, count = Tree<E>::leaves;
    using Stored = typename Lane::template Stored<T>;
    const OwnConstants<Tree<E>::constants> own(constants);
    Padded<Stored, 2 * count + 1 + valued> padded;
    const void* from[count];
    void* to[count];
    for (int l = 0; l < count; ++l) from[l] = leaves[l], to[l] = grads[l];
    const void* cotangent = g;
    [[maybe_unused]] void* results = values;
    const std::int64_t rest = n & (width - 1);
    for (std::int64_t end = n - rest;; end = width) {
      for (std::int64_t i = 0; i < end; i += width) {
        StoreSink<Lane> sink{to, added, i};
        const Root<Lane, E> root(LeafSource{&own.slots, from}, i);
        pull_from(root, Lane::template load<T>(cotangent, i), sink);
        if constexpr (valued) Lane::template store<T>(root.value, results, i);
      }
      if (rest == 0) return;
      if (cotangent != g) break;
      for (int l = 0; l < count; ++l) {
        padded.load(l, leaves[l], n - rest, rest);
        from[l] = padded.packets[l];
        if (!grads[l]) continue;
        const int first = cpu::first_of(grads, l);
        if (first == l && added >> l & 1) padded.load(count + 1 + l, grads[l], n - rest, rest);
        to[l] = padded.packets[count + 1 + first];
      }
      padded.load(count, g, n - rest, rest);
      cotangent = padded.packets[count];
      if constexpr (valued) results = padded.packets[2 * count + 1];
    }
    if constexpr (valued) padded.store(2 * count + 1, values, n - rest, rest);
    for (int l = 0; l < count; ++l)
      if (grads[l] && cpu::first_of(grads, l) == l) padded.store(count + 1 + l, grads[l], n - rest, rest);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      StoreSink<Lane> sink{grads, added, i};
      const Root<Lane, E> root(LeafSource{constants, leaves}, i);
      pull_from(root, Lane::template load<T>(g, i), sink);
      if constexpr (valued) Lane::template store<T>(root.value, values, i);
    }
  }
}

// ---- expressions of one array: all leaves are the same

struct OneLeaf {
  const void* leaf;
  [[gnu::always_inline]] const void* operator[](int) const { return leaf; }
};
struct OneLeafSource {
  const void* constants;
  OneLeaf leaves;
};
template <class Packet>
struct SumSink {
  Packet sum{-0.};  // what adds nothing, not even a sign
  template <class T, int L>
  [[gnu::always_inline]] void deposit(const Packet& g) {
    sum = sum + g;
  }
};

// A pull kernel that takes one leaf and one gradient for all. The compiler knows that they are one, and so
// computes what they share once, and that the cotangent is the same everywhere: `g` points to one element.
// Where `summed`, `values` points to one element, too: their sum.
template <class E, bool summed>
void pull_one_kernel(const void* constants, const void* const* leaves, const void* g, void* const* grads,
                     unsigned, void* values, std::int64_t n) {
  using Lane = kernel_lane_t<E>;
  using T = typename E::value_type;
  using Packet = simd::Packet<T>;
  constexpr int width = Lane::width;
  constexpr std::int64_t ahead = 2048 / sizeof(T);  // the processor's own prefetching stops at each page
  const OwnConstants<Tree<E>::constants> own(constants);
  Padded<T, 3> padded;
  [[maybe_unused]] Packet sum(T(0)), sum_before_rest(T(0));
  const void* from = leaves[0];
  void* to = grads[0];
  [[maybe_unused]] void* results = values;
  const std::int64_t rest = n % width;
  for (std::int64_t end = n - rest;; end = width) {
    for (std::int64_t i = 0; i < end; i += width) {
      NAX_PREFETCH(static_cast<const T*>(from) + i + ahead);
      NAX_PREFETCH(static_cast<const T*>(to) + i + ahead, 1);
      SumSink<Packet> sink;
      const Root<Lane, E> root(OneLeafSource{&own.slots, {from}}, i);
      root.pull(Packet(T(1)), AllAlive(), sink);
      Lane::template store<T>(sink.sum, to, i);
      if constexpr (summed)
        sum = sum + root.value;
      else
        Lane::template store<T>(root.value, results, i);
    }
    if (rest == 0 || to != grads[0]) break;
    padded.load(0, from, n - rest, rest);
    from = padded.packets[0];
    to = padded.packets[1];
    results = padded.packets[2];
    if constexpr (summed) sum_before_rest = std::exchange(sum, Packet(T(0)));
  }
  if (rest != 0) padded.store(1, grads[0], n - rest, rest);
  // Usually it is 1; where it is not, the run still lies in the first-level cache.
  if (const T seed = *static_cast<const T*>(g); seed != T(1))
    simd::scale_run(seed, static_cast<T*>(grads[0]), n);
  if constexpr (summed) {
    if (rest != 0) {
      sum.store(padded.packets[2]);
      sum = sum_before_rest + Packet::load(padded.packets[2], rest);
    }
    *static_cast<T*>(values) = simd::reduce_add(sum);
  } else if (rest != 0) {
    padded.store(2, values, n - rest, rest);
  }
}

// Whether E has that kernel: where it pays, and all leaves are of the type that comes out.
template <class E>
struct Functions {  // how many of its operations take longer than arithmetic
  static constexpr int value = 0;
};
template <class Rule, class... A>
struct Functions<Expr<Rule, A...>> {
  static constexpr int value =
      (Functions<A>::value + ... + (std::is_base_of_v<rules::Inexact, Rule> ? 1 : 0));
};
template <class T, class E>
struct AllLeaves {
  static constexpr bool are = true;
};
template <class T, class U>
struct AllLeaves<T, Array<U>> {
  static constexpr bool are = std::is_same_v<T, U>;
};
template <class T, class Rule, class... A>
struct AllLeaves<T, Expr<Rule, A...>> {
  static constexpr bool are = (AllLeaves<T, A>::are && ...);
};

template <class E, bool summed>
constexpr cpu::PullKernel pull_one_kernel_if() {
  if constexpr (!(kernel_lane_t<E>::width > 1 && Tree<E>::leaves > 1 && Functions<E>::value > 0 &&
                  AllLeaves<typename E::value_type, E>::are))
    return nullptr;
#if defined(NAX_RUNS_FORMULAS)
  else if constexpr (runs_formula<E>)
    return FormulaKernels<E>::template pull_one<summed>;
#endif
  else
    return pull_one_kernel<E, summed>;
}

// The kernels by which E is computed: of its formula, or compiled of its type.
template <class E>
constexpr cpu::ForwardKernel forward_kernel_of() {
#if defined(NAX_RUNS_FORMULAS)
  if constexpr (runs_formula<E>)
    return FormulaKernels<E>::forward;
  else
#endif
    return forward_kernel<E>;
}
template <class E, bool valued = false>
constexpr cpu::PullKernel pull_kernel_of() {
#if defined(NAX_RUNS_FORMULAS)
  if constexpr (runs_formula<E>)
    return FormulaKernels<E>::pull;
  else
#endif
    return pull_kernel<E, valued>;
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
  constexpr unsigned inexact() const {
    unsigned leaves = 0;
    for (int l = 0; l < Tree<E>::leaves; ++l)
      leaves |= static_cast<unsigned>(dtype_kind(stored[l]) >= Kind::floating) << l;
    return leaves;
  }
  constexpr bool plain() const {
    for (int l = 0; l < Tree<E>::leaves; ++l)
      if (lanes[l] != stored[l]) return false;
    return true;
  }
};
template <class E>
inline constexpr LeafTable<E> leaf_table{};
template <class E>
inline constexpr DType result_lane_of =
    dtype_of<typename kernel_lane_t<E>::template Stored<typename E::value_type>>;

}  // namespace detail
NAX_END
