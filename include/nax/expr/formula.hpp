#pragma once

#include "nax/expr/lane.hpp"
#include "nax/formula/symbol.hpp"

// The formula of an expression: its tree is walked as kernels walk it, with symbols in place of packets.
NAX_BEGIN
namespace detail {

// Values of expressions that fit packets of C, as symbols.
template <class C>
struct SymbolLane {
  using Packet = formula::Symbol<C>;
  using Mask = formula::Truth<C>;
  static constexpr int width = 1;
  template <class T>
  using Value = std::conditional_t<std::is_same_v<T, bool>, Mask, Packet>;

  // Leaves are numbered; numbers of the expression are constants.
  template <class T>
  static Value<T> load(const void* leaf, std::int64_t) {
    const Packet x = Packet::input(static_cast<int>(reinterpret_cast<std::intptr_t>(leaf)) - 1);
    if constexpr (std::is_same_v<T, bool>)
      return x != Packet(0);
    else
      return x;
  }
  template <class T>
  static Value<T> constant(const void* slot) {
    T x;
    std::memcpy(&x, slot, sizeof x);
    if constexpr (std::is_same_v<T, bool>)
      return Mask(x);
    else
      return Packet(static_cast<C>(x));
  }
  template <class To, class From>
  static Value<To> cast(const Value<From>& x) {
    if constexpr (std::is_same_v<To, bool> == std::is_same_v<From, bool>)
      return x;
    else if constexpr (std::is_same_v<To, bool>)
      return x != Packet(0);
    else
      return select(x, Packet(1), Packet(0));
  }
  template <class Rule, class... V>
  static auto call(const V&... x) {
    return Rule::value(x...);
  }
};

// In the place of leaf number l, l + 1; of one that is the same array as an earlier, that one's.
class NumberedLeaves {
 public:
  NumberedLeaves(const ArrayBase* const* leaves, int count) {
    for (int l = 0; l < count; ++l) {
      number_[l] = l + 1;
      for (int k = 0; k < l && number_[l] == l + 1; ++k)
        if (raw_data(*leaves[k]) == raw_data(*leaves[l]) && leaves[k]->dtype() == leaves[l]->dtype() &&
            layout_of(*leaves[k]) == layout_of(*leaves[l]) &&
            layout_of(*leaves[k]).strides == layout_of(*leaves[l]).strides)
          number_[l] = number_[k];
    }
  }
  const void* operator[](int l) const { return reinterpret_cast<const void*>(number_[l]); }

 private:
  std::intptr_t number_[max_leaves];
};
struct NumberedSource {
  const void* constants;
  NumberedLeaves leaves;
};
template <class C, int count>
struct ShareSink {
  int shares[count == 0 ? 1 : count];
  template <class T, int L>
  void deposit(const typename SymbolLane<C>::template Value<T>& share) {
    shares[L] = share.at;
  }
};

template <class E>
requires(!std::is_void_v<packet_element_t<E>>) formula::Formula value_formula_of(const E& e) {
  using C = packet_element_t<E>;
  const Parts<E> parts(e);
  formula::Recorder recorder(dtype_of<C>);
  const Root<SymbolLane<C>, E> root(
      NumberedSource{parts.constants.slots[0].bytes, {parts.leaves, Tree<E>::leaves}}, 0);
  formula::Formula f = recorder.finish({root.value.at});
  f.inputs = Tree<E>::leaves;
  return f;
}

// The shares of the leaves to which a gradient flows, in their order, of a cotangent that is the last input;
// `valued`: then the value.
template <class E>
requires(!std::is_void_v<packet_element_t<E>> && Carries<E>::value) formula::Formula
    pull_formula_of(const E& e, bool valued = false) {
  using C = packet_element_t<E>;
  constexpr int leaves = Tree<E>::leaves;
  const Parts<E> parts(e);
  formula::Recorder recorder(dtype_of<C>);
  const Root<SymbolLane<C>, E> root(
      NumberedSource{parts.constants.slots[0].bytes, {parts.leaves, Tree<E>::leaves}}, 0);
  ShareSink<C, leaves> sink;
  for (int& share : sink.shares) share = -1;
  pull_from(root, formula::Symbol<C>::input(leaves), sink);
  std::vector<int> results;
  for (int share : sink.shares)
    if (share >= 0) results.push_back(share);
  if (valued) results.push_back(root.value.at);
  formula::Formula f = recorder.finish(results);
  f.inputs = leaves + 1;
  return f;
}

}  // namespace detail
NAX_END
