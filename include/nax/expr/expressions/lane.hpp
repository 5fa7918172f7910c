#pragma once

#include <cstring>
#include <tuple>
#include <utility>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/backend/cpu/packets/packet_more.hpp"
#include "nax/expr/expressions/expr.hpp"
#include "nax/loops/lane.hpp"

// Evaluating a tree, for any kind of value. A Lane says what a value of element type T is while it is
// computed (a packet, a number, a recorded array), how leaves are loaded and how types convert; a Walk is the
// tree with a value at each node: built from the leaves up, then pulled from the root down.
NAX_BEGIN
namespace detail {

enum LaneKind : unsigned { lane_float = 1, lane_double = 2, lane_bool = 4, lane_other = 8 };

template <class T>
constexpr unsigned lane_kind() {
  using L = lane_t<T>;
  return std::is_same_v<L, float>    ? lane_float
         : std::is_same_v<L, double> ? lane_double
         : std::is_same_v<L, bool>   ? lane_bool
                                     : lane_other;
}

template <class E>
struct LaneKinds {
  static constexpr unsigned value = lane_kind<typename E::value_type>();
};
template <class Rule, class... A>
struct LaneKinds<Expr<Rule, A...>> {
  template <class T>
  static constexpr unsigned operand() {  // masks only where the rule knows them
    return lane_kind<T>() == lane_bool && !Rule::masks ? lane_other : lane_kind<T>();
  }
  template <int... i>
  static constexpr unsigned operands(std::integer_sequence<int, i...>) {
    return (operand<typename Rule::template operand<i, typename A::value_type...>>() | ... | 0u);
  }
  static constexpr unsigned value = (LaneKinds<A>::value | ... |
                                     (lane_kind<typename Expr<Rule, A...>::value_type>() |
                                      operands(std::make_integer_sequence<int, sizeof...(A)>())));
};

// The element type of the packets that can hold the whole expression; void where numbers must do.
template <class E>
using packet_element_t =
    std::conditional_t<(LaneKinds<E>::value & ~lane_bool) == lane_float, float,
                       std::conditional_t<(LaneKinds<E>::value & ~lane_bool) == lane_double, double, void>>;

template <class C>
struct PacketLane {
  using Packet = simd::Packet<C>;
  using Mask = simd::Mask<C>;
  static constexpr int width = Packet::size;
  template <class T>
  using Value = std::conditional_t<std::is_same_v<T, bool>, Mask, Packet>;
  // In tiles everything is C; truth is 0 or 1.
  template <class T>
  using Stored = C;

  template <class T>
  [[gnu::always_inline]] static Value<T> load(const void* leaf, std::int64_t i) {
    const Packet x = Packet::load(static_cast<const C*>(leaf) + i);
    if constexpr (std::is_same_v<T, bool>)
      return x != Packet(C(0));
    else
      return x;
  }
  template <class T>
  [[gnu::always_inline]] static Value<T> constant(const void* slot) {
    T x;
    std::memcpy(&x, slot, sizeof x);
    if constexpr (std::is_same_v<T, bool>)
      return Packet(C(x)) != Packet(C(0));
    else
      return Packet(static_cast<C>(x));
  }
  template <class To, class From>
  [[gnu::always_inline]] static Value<To> cast(const Value<From>& x) {
    if constexpr (std::is_same_v<To, bool> == std::is_same_v<From, bool>)
      return x;
    else if constexpr (std::is_same_v<To, bool>)
      return x != Packet(C(0));
    else
      return select(x, Packet(C(1)), Packet(C(0)));
  }
  template <class Rule, class... V>
  [[gnu::always_inline]] static auto call(const V&... x) {
    return Rule::value(x...);
  }
  template <class T>
  [[gnu::always_inline]] static void store(const Value<T>& x, void* out, std::int64_t i) {
    cast<C, T>(x).store(static_cast<C*>(out) + i);
  }
};

struct ScalarLane {
  static constexpr int width = 1;
  template <class T>
  using Value = lane_t<T>;
  template <class T>
  using Stored = lane_t<T>;

  template <class T>
  [[gnu::always_inline]] static constexpr Value<T> load(const void* leaf, std::int64_t i) {
    return static_cast<const lane_t<T>*>(leaf)[i];
  }
  template <class T>
  [[gnu::always_inline]] static constexpr Value<T> constant(const void* slot) {
    T x;
    std::memcpy(&x, slot, sizeof x);
    return static_cast<lane_t<T>>(x);
  }
  template <class To, class From>
  [[gnu::always_inline]] static constexpr Value<To> cast(const Value<From>& x) {
    if constexpr (std::is_same_v<From, double> && is_floating_v<To> && sizeof(To) == 2)
      return round_to_odd(x);  // rounded once more when it is stored
    else
      return cpu::convert_element<lane_t<From>, lane_t<To>>(x);
  }
  template <class Rule, class... V>
  [[gnu::always_inline]] static constexpr auto call(const V&... x) {
    return Rule::value(x...);
  }
  template <class T>
  [[gnu::always_inline]] static constexpr void store(const Value<T>& x, void* out, std::int64_t i) {
    static_cast<lane_t<T>*>(out)[i] = x;
  }
};

template <class C>
struct LaneFor {
  using type = PacketLane<C>;
};
template <>
struct LaneFor<void> {
  using type = ScalarLane;
};
template <class E>
using kernel_lane_t = typename LaneFor<packet_element_t<E>>::type;

// Does a gradient flow through this tree into some leaf?
template <class E>
struct Carries {
  static constexpr bool value = false;
};
template <class T>
struct Carries<Array<T>> {
  static constexpr bool value = is_inexact_v<T>;
};
template <class Rule, class... A>
struct Carries<Expr<Rule, A...>> {
  // An operand that is converted to integers or truth values stops it.
  template <int j, class Child>
  static constexpr bool through =
      Carries<Child>::value&& is_inexact_v<typename Rule::template operand<j, typename A::value_type...>>;
  template <int... j>
  static constexpr bool any(std::integer_sequence<int, j...>) {
    return (through<j, A> || ...);
  }
  static constexpr bool value = is_inexact_v<typename Expr<Rule, A...>::value_type> && Rule::differentiable &&
                                any(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
};

// Whether the rule's vjp multiplies by a derivative, which may be infinite.
template <class Rule>
inline constexpr bool multiplies = !Rule::linear && !Rule::hands_on;
// Whether the vjp of any rule in the tree below does.
template <class E>
inline constexpr bool multiplies_within = false;
template <class Rule, class... A>
inline constexpr bool multiplies_within<Expr<Rule, A...>> = multiplies<Rule> || (multiplies_within<A> || ...);

// Does a rule that is applied to complex numbers read more than z: conj(z), a part, the modulus?
template <class Rule, class Operand, class Result>
constexpr bool reads_conjugate() {
  if constexpr (!is_complex_v<Operand>)
    return false;
  else if constexpr (requires { Rule::holomorphic; })
    return !Rule::holomorphic;
  else
    return !is_complex_v<Result>;
}
// Does a gradient flow through such a rule?
template <class E>
inline constexpr bool reads_conjugate_within = false;
template <class Rule, class... A>
inline constexpr bool reads_conjugate_within<Expr<Rule, A...>> = [
]<int... j>(std::integer_sequence<int, j...>) {
  using E = Expr<Rule, A...>;
  return Carries<E>::value && ((Carries<E>::template through<j, A> &&
                                (reads_conjugate<Rule, typename A::value_type, typename E::value_type>() ||
                                 reads_conjugate_within<A>)) ||
                               ...);
}
(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
// True where the differential is d dz, with the share of a cotangent t equal to d t: always for real numbers.
// False for a dz + b conj(dz), which one share of t does not give.
template <class E>
inline constexpr bool is_holomorphic = !is_complex_v<typename E::value_type> || !reads_conjugate_within<E>;

// Where a cotangent is zero - at the root, or because where, maximum or relu did not take a branch - nothing
// below contributes, even where a derivative is infinite or NaN. What is pulled through such places may be
// NaN on its way; at the leaves a mask keeps what is alive.
struct AllAlive {
  template <class V>
  [[gnu::always_inline]] constexpr const V& keep(const V& share) const {
    return share;
  }
  template <class M>
  [[gnu::always_inline]] constexpr auto where(const M& live) const;
};
template <class M>
struct AliveWhere {
  M live;
  template <class V>
  [[gnu::always_inline]] constexpr V keep(const V& share) const {
    if constexpr (std::is_same_v<M, bool>)
      return live ? share : V(0);
    else
      return kept(live, share);
  }
  [[gnu::always_inline]] constexpr AliveWhere where(const M& also) const { return {live && also}; }
};
template <class M>
constexpr auto AllAlive::where(const M& live) const {
  return AliveWhere<M>{live};
}

// Is the value of leaf number `leaf` read by some vjp on its way up?
template <class E>
constexpr bool reads_leaf(int leaf, bool below_nonlinear = false) {
  if constexpr (is_array_v<E>) {
    return below_nonlinear && leaf == 0;
  } else if constexpr (Expression<E>) {
    bool read = false;
    [&]<class Rule, class... A>(std::type_identity<Expr<Rule, A...>>) {
      int begin = 0;
      ((read = read || (leaf >= begin && leaf < begin + Tree<A>::leaves &&
                        reads_leaf<A>(leaf - begin, below_nonlinear || !Rule::linear)),
        begin += Tree<A>::leaves),
       ...);
    }(std::type_identity<E>{});
    return read;
  } else {
    return false;
  }
}

// Does a gradient flow into leaf number `leaf`? (Not into the condition of where.)
template <class E>
constexpr bool carries_leaf(int leaf) {
  if constexpr (Expression<E>) {
    return []<class Rule, class... A, int... j>(std::type_identity<Expr<Rule, A...>>,
                                                std::integer_sequence<int, j...>, int at) {
      bool carried = false;
      int begin = 0;
      ((carried =
            carried || (at >= begin && at < begin + Tree<A>::leaves &&
                        Carries<Expr<Rule, A...>>::template through<j, A> && carries_leaf<A>(at - begin)),
        begin += Tree<A>::leaves),
       ...);
      return carried && Carries<Expr<Rule, A...>>::value;
    }(std::type_identity<E>{}, std::make_integer_sequence<int, E::arity>{}, leaf);
  } else {
    return Carries<E>::value;
  }
}

struct LeafSource {
  const void* constants;
  const void* const* leaves;
};

// Tree E with its first leaf numbered L and its first constant K.
template <class Lane, class E, int L, int K>
struct Walk;

template <class Lane, class T, int L, int K>
struct Walk<Lane, Array<T>, L, K> {
  typename Lane::template Value<T> value;
  template <class Source>
  [[gnu::always_inline]] constexpr Walk(const Source& source, std::int64_t i)
      : value(Lane::template load<T>(source.leaves[L], i)) {}
  template <class Alive, class Sink>
  [[gnu::always_inline]] constexpr void pull(const typename Lane::template Value<T>& g, const Alive& alive,
                                             Sink& sink) const {
    sink.template deposit<T, L>(alive.keep(g));
  }
  template <class Source>
  auto push(Source& source) const {
    return source.template tangent<T, L>();
  }
};

template <class Lane, class T, int L, int K>
struct Walk<Lane, Constant<T>, L, K> {
  const unsigned char* slot;
  typename Lane::template Value<T> value;
  template <class Source>
  [[gnu::always_inline]] constexpr Walk(const Source& source, std::int64_t)
      : slot(static_cast<const unsigned char*>(source.constants) + constant_bytes * K),
        value(Lane::template constant<T>(slot)) {}
  [[gnu::always_inline]] constexpr T number() const {
    T x;
    std::memcpy(&x, slot, sizeof x);
    return x;
  }
};

template <class Lane, class T, class S, int L, int K>
struct Walk<Lane, Literal<T, S>, L, K> : Walk<Lane, Constant<T>, L, K> {
  using Walk<Lane, Constant<T>, L, K>::Walk;
};

// Is this x by a number, in packets, and does the rule have a way of its own for that?
template <class Lane, class Rule, class... A>
inline constexpr bool is_by_number = false;
template <class Lane, class Rule, class X, class C>
requires std::is_same_v<typename Lane::Packet, simd::Packet<C>> && requires(simd::Packet<C> x, C c) {
  Rule::value_by(x, c);
}
inline constexpr bool is_by_number<Lane, Rule, X, Constant<C>> = true;

template <int count>
struct Offsets {
  int at[count + 1] = {};
};
template <class... A>
constexpr Offsets<sizeof...(A)> leaf_offsets() {
  Offsets<sizeof...(A)> o;
  int i = 0;
  ((o.at[i + 1] = o.at[i] + Tree<A>::leaves, ++i), ...);
  return o;
}
template <class... A>
constexpr Offsets<sizeof...(A)> constant_offsets() {
  Offsets<sizeof...(A)> o;
  int i = 0;
  ((o.at[i + 1] = o.at[i] + Tree<A>::constants, ++i), ...);
  return o;
}

// The children's walks, each a base of its own: a tuple would cost a dozen functions for each.
template <int j, class W>
struct Child {
  W walk;
};
template <class Lane, class Indices, int L, int K, class... A>
struct Children;
template <class Lane, int... j, int L, int K, class... A>
struct Children<Lane, std::integer_sequence<int, j...>, L, K, A...>
    : Child<j, Walk<Lane, A, L + leaf_offsets<A...>().at[j], K + constant_offsets<A...>().at[j]>>... {
  template <class Source>
  [[gnu::always_inline]] constexpr Children(const Source& source, std::int64_t i)
      : Child<j, Walk<Lane, A, L + leaf_offsets<A...>().at[j], K + constant_offsets<A...>().at[j]>>{
            {source, i}}... {}
};
template <int j, class W>
[[gnu::always_inline]] constexpr const W& child(const Child<j, W>& children) {
  return children.walk;
}

template <class Lane, class Rule, class... A, int L, int K>
struct Walk<Lane, Expr<Rule, A...>, L, K> {
  using Result = typename Expr<Rule, A...>::value_type;
  using Indices = std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>;
  template <int j>
  using operand_t = typename Rule::template operand<j, typename A::value_type...>;

  Children<Lane, Indices, L, K, A...> children;
  typename Lane::template Value<Result> value;

  template <class Source>
  [[gnu::always_inline]] constexpr Walk(const Source& source, std::int64_t i)
      : children(source, i), value(compute(Indices{})) {}

  template <int... j>
  [[gnu::always_inline]] constexpr typename Lane::template Value<Result> compute(
      std::integer_sequence<int, j...>) const {
    if constexpr (is_by_number<Lane, Rule, A...>)
      return Rule::value_by(operand<0>(), child<1>(children).number());
    else
      return Lane::template call<Rule>(operand<j>()...);
  }
  template <int j>
  [[gnu::always_inline]] constexpr auto operand() const {
    using Own = typename std::tuple_element_t<j, std::tuple<A...>>::value_type;
    return Lane::template cast<operand_t<j>, Own>(child<j>(children).value);
  }
  template <class Alive, class Sink>
  [[gnu::always_inline]] constexpr void pull(const typename Lane::template Value<Result>& g,
                                             const Alive& alive, Sink& sink) const {
    if constexpr (Carries<Expr<Rule, A...>>::value) pull_children(g, alive, sink, Indices{});
  }
  template <class Alive, class Sink, int... j>
  [[gnu::always_inline]] constexpr void pull_children(const typename Lane::template Value<Result>& g,
                                                      const Alive& alive, Sink& sink,
                                                      std::integer_sequence<int, j...>) const {
    const auto shares = Rule::vjp(g, operand<j>()..., value);
    (pull_child<j>(std::get<j>(shares), alive, sink), ...);
  }
  template <int j, class Share, class Alive, class Sink>
  [[gnu::always_inline]] constexpr void pull_child(const Share& share, const Alive& alive, Sink& sink) const {
    using Child = std::tuple_element_t<j, std::tuple<A...>>;
    if constexpr (Carries<Expr<Rule, A...>>::template through<j, Child>) {
      const auto own = Lane::template cast<typename Child::value_type, operand_t<j>>(share);
      if constexpr (Rule::hands_on && multiplies_within<Child>)
        child<j>(children).pull(own, alive.where(share != Share(0)), sink);
      else
        child<j>(children).pull(own, alive, sink);
    }
  }
};

// The root of a tree.
template <class Lane, class E>
using Root = Walk<Lane, E, 0, 0>;
// Pulls a cotangent down to the leaves.
template <class Lane, class E, class G, class Sink>
[[gnu::always_inline]] constexpr void pull_from(const Walk<Lane, E, 0, 0>& root, const G& g, Sink& sink) {
  if constexpr (multiplies_within<E>)
    root.pull(g, AllAlive().where(g != G(0)), sink);
  else
    root.pull(g, AllAlive(), sink);
}

}  // namespace detail
NAX_END
