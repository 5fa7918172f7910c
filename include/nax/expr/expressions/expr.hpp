#pragma once

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/expr/expressions/debug_nans.hpp"
#include "nax/rules/signature.hpp"
#include "nax/tape/levels.hpp"

// Expression trees. A tree is a type: Expr<rule, children...>, whose leaves are arrays (by value: they own
// their storage, so that a kept expression never dangles) and C++ scalars, already converted to the element
// type that weak promotion gives them. Shapes are checked and broadcast when a node is built.
NAX_BEGIN
// A base of expressions, so that unqualified calls find nax's functions and operators even for one of numbers
// alone.
template <class E>
struct ExpressionBase : ArrayMethods<E> {};
NAX_END

NAX_BEGIN
namespace detail {

template <class T>
struct Constant {
  using value_type = T;
  T value;
};
// A number of the C++ type S that no array stands beside: a T where it is computed, and what S is worth
// beside an array that its expression meets later.
template <class T, class S>
struct Literal : Constant<T> {
  S exact;
  constexpr explicit Literal(S x) : Constant<T>{}, exact(x) {}
};
// Is X a literal, or an expression whose type comes from literals alone?
template <class X>
inline constexpr bool is_weak_v = false;
// The type of a weak X beside an array of T.
template <class T, class X>
using weak_beside_t = type_of_t<weak_promote(dtype_of<T>, dtype_kind(dtype_of<typename X::value_type>))>;

// The operands of an expression, each a base of its own: a tuple would cost a dozen functions for each type.
template <int i, class A>
struct IndexedOperand {
  A value;
};
template <class Indices, class... A>
struct OperandsOf;
template <int... i, class... A>
struct OperandsOf<std::integer_sequence<int, i...>, A...> : IndexedOperand<i, A>... {};

// The axes of an expression where they are not those of its first array.
using JoinedFrame = std::optional<Frame>;
struct NoFrame {};  // of one array at most

template <class Rule, class... A>
struct NAX_RESULT("an operation changes no array: its result is a new one") Expr
    : ExpressionBase<Expr<Rule, A...>> {
  using expression_tag = void;
  using rule = Rule;
  using value_type = typename Rule::template result<typename A::value_type...>;

  static constexpr int arity = static_cast<int>(sizeof...(A));
  OperandsOf<std::make_integer_sequence<int, arity>, A...> operands;
  static constexpr int arrays = ((is_array_v<A> || Expression<A> ? 1 : 0) + ... + 0);
  [[no_unique_address]] std::conditional_t<(arrays > 1), JoinedFrame, NoFrame> joined;

  // (Not an aggregate: g++ fills one that has bases with zeros first.)
  template <class... X>
  explicit Expr(decltype(joined)&& axes, X&&... x)
      : operands{{std::forward<X>(x)}...}, joined(std::move(axes)) {}
  Expr(const Expr&) = default;
  Expr(Expr&&) = default;
  Expr& operator=(const Expr&) & = default;
  Expr& operator=(Expr&&) & = default;
  template <class X>
  Expr& operator=(const X&) & {
    static_assert(sizeof(X) == 0,
                  "a variable declared auto holds one formula and takes no other: declare it as an Array");
    return *this;
  }
  template <class X>
  Expr& operator=(const X&) && {
    refuse_assignment<X>();
    return *this;
  }

  static constexpr int first_array() {
    constexpr bool has_axes[] = {(is_array_v<A> || Expression<A>)...};
    int i = 0;
    while (!has_axes[i]) ++i;
    return i;
  }
  const Frame& frame() const;
  Shape shape() const { return frame().visible_shape(); }
  std::int64_t shape(std::int64_t axis) const {
    return frame().visible(normalize_axis("shape", axis, ndim()));
  }
  int ndim() const { return frame().ndim(); }
  std::int64_t size() const { return frame().visible_shape().count(); }
  Array<value_type> eval() const { return evaluate(*this); }
  operator Array<value_type>() const { return evaluate(*this); }
  template <PlainNumber N>
  operator N() const = delete;  // an array is no number: write (x + y).item()
  value_type item() const { return evaluate(*this).item(); }
  std::vector<value_type> to_vector() const { return evaluate(*this).to_vector(); }
  explicit operator bool() const { return static_cast<bool>(evaluate(*this)); }
  template <class... Index>
  auto operator()(const Index&... index) const {
    return evaluate(*this)(index...);
  }
  template <class Index>
  auto operator[](const Index& index) const {
    return evaluate(*this)[index];
  }
#if defined(__cpp_multidimensional_subscript)
  template <class... Index>
  requires(sizeof...(Index) != 1) auto operator[](const Index&... index) const {
    return evaluate(*this)(index...);
  }
#endif
  Array<value_type> T() const { return evaluate(*this).T(); }
  Array<value_type> reshape(const Shape& to) const { return evaluate(*this).reshape(to); }
  template <class To>
  auto astype() const {
    if constexpr (becomes<To>())
      return evaluate_as<To>(*this);
    else
      return evaluate(*this).template astype<To>();
  }
  // Do its numbers, beside nothing but each other, make elements of type To?
  template <class To>
  static constexpr bool becomes() {
    if constexpr (is_weak_v<Expr>)
      return std::is_same_v<weak_beside_t<To, Expr>, To>;
    else
      return false;
  }
};

template <class T, class S>
inline constexpr bool is_weak_v<Literal<T, S>> = !std::is_same_v<T, bool>;
// Whether a rule gives elements of the type that its operands have: then a wider type of literals is one of
// the result.
template <class Rule, class T, class U, class... A>
consteval bool keeps_type() {
  if constexpr (std::is_base_of_v<rules::Selection, Rule>)
    return true;
  else
    return std::is_same_v<typename Rule::template result<std::enable_if_t<sizeof(A) != 0, T>...>, T> &&
           std::is_same_v<typename Rule::template result<std::enable_if_t<sizeof(A) != 0, U>...>, U>;
}
template <class Rule, class... A>
consteval bool is_weak_expression() {
  if constexpr ((!is_weak_v<A> && ...)) {
    return false;
  } else {
    constexpr Kind kind = dtype_kind(dtype_of<typename Rule::template result<typename A::value_type...>>);
    int strong = (0 + ... + !is_weak_v<A>);
    if constexpr (std::is_base_of_v<rules::Selection, Rule>)  // the condition takes no part
      strong -= !is_weak_v<std::tuple_element_t<0, std::tuple<A...>>>;
    if (strong != 0) return false;
    if constexpr (kind == Kind::floating)
      return keeps_type<Rule, float, double, A...>();
    else if constexpr (kind == Kind::complex)
      return keeps_type<Rule, std::complex<float>, std::complex<double>, A...>();
    else  // (Rules of integers may have no form for others.)
      return kind == Kind::integer && std::is_base_of_v<rules::Selection, Rule>;
  }
}
template <class Rule, class... A>
inline constexpr bool is_weak_v<Expr<Rule, A...>> = is_weak_expression<Rule, A...>();

// ---- what a tree is made of, counted at compile time

template <class E>
struct Tree;
template <class T>
struct Tree<Array<T>> {
  static constexpr int leaves = 1, constants = 0, parts = 1;
};
template <class T>
struct Tree<Constant<T>> {
  static constexpr int leaves = 0, constants = 1, parts = 1;
};
template <class T, class S>
struct Tree<Literal<T, S>> : Tree<Constant<T>> {};
template <class Rule, class... A>
struct Tree<Expr<Rule, A...>> {
  static constexpr int leaves = (Tree<A>::leaves + ... + 0);
  static constexpr int constants = (Tree<A>::constants + ... + 0);
  static constexpr int parts = (Tree<A>::parts + ... + 1);
};

// The parts of a formula in the order of its tree, for messages.
template <class T>
constexpr void list_expression(FormulaPart*& to, const Array<T>*) {
  *to++ = {nullptr, 0, dtype_of<T>};
}
template <class T>
constexpr void list_expression(FormulaPart*& to, const Constant<T>*) {
  *to++ = {nullptr, -1, dtype_of<T>};
}
template <class Rule, class... A>
constexpr void list_expression(FormulaPart*& to, const Expr<Rule, A...>*) {
  *to++ = {Rule::name, static_cast<int>(sizeof...(A)), dtype_of<typename Expr<Rule, A...>::value_type>};
  (list_expression(to, static_cast<const A*>(nullptr)), ...);
}
template <class E>
struct ExpressionParts {
  FormulaPart parts[Tree<E>::parts];
  constexpr ExpressionParts() : parts{} {
    FormulaPart* to = parts;
    list_expression(to, static_cast<const E*>(nullptr));
  }
};
template <class E>
inline constexpr ExpressionParts<E> expression_parts{};

// C++ scalars travel to the kernels in slots, in the order of the tree.
inline constexpr std::size_t constant_bytes = formula_slot;
template <int n>
struct ConstantSlots {
  struct alignas(constant_bytes) Slot {
    unsigned char bytes[constant_bytes];
  };
  Slot slots[n == 0 ? 1 : n];
};

// Where the parts of a tree go, in its order.
struct PartsCursor {
  const ArrayBase** leaf;
  unsigned char* constant;
};
inline void list_parts(const ArrayBase& leaf, PartsCursor& to) { *to.leaf++ = &leaf; }
template <class T>
void list_parts(const Constant<T>& constant, PartsCursor& to) {
  std::memcpy(to.constant, &constant.value, sizeof constant.value);
  to.constant += constant_bytes;
}
template <class T, class S>
void list_parts(const Literal<T, S>& literal, PartsCursor& to) {
  list_parts(Constant<T>{element_from<T>("array", literal.exact)}, to);
}
template <class Rule, class... A>
void list_parts(const Expr<Rule, A...>& e, PartsCursor& to);
template <int... i, class... A>
void list_parts(const OperandsOf<std::integer_sequence<int, i...>, A...>& operands, PartsCursor& to) {
  (list_parts(static_cast<const IndexedOperand<i, A>&>(operands).value, to), ...);
}
template <class Rule, class... A>
void list_parts(const Expr<Rule, A...>& e, PartsCursor& to) {
  list_parts(e.operands, to);
}

// In a file that is compiled as CUDA: makes the expression's kernels for a GPU (see device_kernels.hpp).
template <class E>
void provide_device_kernels();

// The leaves and the constants of an expression, which must outlive this.
template <class E>
struct Parts {
  const ArrayBase* leaves[Tree<E>::leaves == 0 ? 1 : Tree<E>::leaves] = {};
  ConstantSlots<Tree<E>::constants> constants{};

  explicit Parts(const E& e) {
    provide_device_kernels<E>();
    PartsCursor to{leaves, constants.slots[0].bytes};
    list_parts(e, to);
  }
};

// ---- building

template <class T>
const Frame& frame_of(const Array<T>& a) {
  return layout_of(a);
}
template <class Rule, class... A>
const Frame& frame_of(const Expr<Rule, A...>& e) {
  return e.frame();
}

// Made when it is asked for: a program whose processor lacks this file's instructions may start with it.
inline const Frame& no_axes() {
  static const Frame frame{};
  return frame;
}
template <int i, class A>
const A& operand_at(const IndexedOperand<i, A>& operand) {
  return operand.value;
}
template <class Rule, class... A>
const Frame& Expr<Rule, A...>::frame() const {
  if constexpr (arrays > 1)
    if (joined) return *joined;
  if constexpr (arrays > 0)
    return frame_of(operand_at<first_array()>(operands));
  else
    return no_axes();
}

// Where the axes of an operand are told, one that is an array having been looked at.
inline void list_frame(const char* name, const Frame**& to, const ArrayBase& a) {
  check_operand(name, a);
  *to++ = &layout_of(a);
}
template <Expression E>
void list_frame(const char*, const Frame**& to, const E& e) {
  *to++ = &e.frame();
}
template <Scalar S>
void list_frame(const char*, const Frame**&, const S&) {}

// The frames before number i equal the first.
NAX_COMPILED_ONCE JoinedFrame join_others(const char* name, const Frame* const* frames, int i, int count) {
  const Frame& first = *frames[0];
  JoinedFrame joined;
  for (; i < count; ++i) {
    const Frame& so_far = joined ? *joined : first;
    if (!(*frames[i] == so_far)) joined = broadcast(name, so_far, *frames[i]);
  }
  if (joined && *joined == first) joined.reset();
  return joined;
}
NAX_COMPILED_ONCE JoinedFrame join_frames(const char* name, const Frame* const* frames, int count) {
  for (int i = 1; i < count; ++i)
    if (frames[i] != frames[0] && !(*frames[i] == *frames[0])) return join_others(name, frames, i, count);
  return std::nullopt;
}
// The axes of the operands together, where they are not those of one array.
template <class E, class... A>
decltype(E::joined) join_operands(const char* name, const A&... a) {
  const Frame* frames[sizeof...(A)];
  const Frame** to = frames;
  (list_frame(name, to, a), ...);
  if constexpr (E::arrays > 1)
    return join_frames(name, frames, E::arrays);
  else
    return {};
}

template <class X>
concept ArrayLike = is_array_v<X> || Expression<std::remove_cvref_t<X>>;
template <class X>
concept Operand = ArrayLike<X> || Scalar<std::remove_cvref_t<X>>;

// The element type that an operand contributes: its own, or, for a C++ scalar among arrays, what weak
// promotion makes.
template <class... X>
struct Strong {  // the promotion of the arrays alone; void when there is none
  using type = void;
};
template <class X, class... Rest>
struct Strong<X, Rest...> {
  using rest = typename Strong<Rest...>::type;
  static auto pick() {
    if constexpr (!ArrayLike<X> || is_weak_v<X>) {
      return std::type_identity<rest>{};
    } else if constexpr (std::is_void_v<rest>) {
      return std::type_identity<typename X::value_type>{};
    } else {
      return std::type_identity<promote_t<typename X::value_type, rest>>{};
    }
  }
  using type = typename decltype(pick())::type;
};

template <class S>
using default_type_t = type_of_t<weak_promote(DType::boolean, scalar_kind<S>())>;

template <class StrongType, class S>
struct Weak {
  using type = weak_promote_t<StrongType, S>;
};
template <class S>
struct Weak<void, S> {
  using type = default_type_t<S>;
};
template <class StrongType, class S>
using weak_t = typename Weak<StrongType, S>::type;

// The most arrays that one kernel takes. An expression of more (one that is named twice counts twice) is
// computed in parts: the operands with the most become arrays before it is built.
inline constexpr int max_leaves = 12;

template <class X>
constexpr int leaves_of() {
  if constexpr (ArrayLike<X>)
    return Tree<X>::leaves;
  else
    return 0;
}
template <int count>
struct Marked {
  bool at[count] = {};
};
template <class... X>
constexpr auto computed_first() {
  constexpr int count = static_cast<int>(sizeof...(X));
  Marked<count> first;
  int leaves[] = {leaves_of<X>()...};
  for (;;) {
    int all = 0, largest = 0;
    for (int i = 0; i < count; ++i) {
      all += leaves[i];
      if (leaves[i] > leaves[largest]) largest = i;
    }
    if (all <= max_leaves) return first;
    first.at[largest] = true;
    leaves[largest] = 1;
  }
}

// A weak operand with numbers of type T.
template <class T, class X>
const X& as_strong(const X& x) {
  return x;
}
template <class T, class D, class S>
auto as_strong(const Literal<D, S>& literal) {
  using To = weak_promote_t<T, S>;
  return Constant<To>{element_from<To>("array", literal.exact)};
}
template <class T, class Rule, class... A>
requires is_weak_v<Expr<Rule, A...>>
auto as_strong(const Expr<Rule, A...>& e);
template <class T, class X>
decltype(auto) as_strong_beside(const X& x) {
  if constexpr (is_weak_v<X>)
    return as_strong<weak_beside_t<T, X>>(x);
  else
    return as_strong<T>(x);
}
template <class T, class Rule, class... A>
requires is_weak_v<Expr<Rule, A...>>
auto as_strong(const Expr<Rule, A...>& e) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    using E = Expr<Rule, std::remove_cvref_t<decltype(as_strong_beside<T>(operand_at<i>(e.operands)))>...>;
    auto joined = e.joined;
    return E(std::move(joined), as_strong_beside<T>(operand_at<i>(e.operands))...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
}

// (An array is never moved into an expression, even where it may be: of `exp(std::move(z)) * z` no code can
// say that z is not named again, and the copy is a handle.)
template <class Rule, class StrongType, bool computed, class X>
decltype(auto) as_child(X&& x) {
  using Plain = std::remove_cvref_t<X>;
  if constexpr (is_weak_v<Plain> && !std::is_void_v<StrongType>) {
    auto strong = as_strong_beside<StrongType>(x);
    if constexpr (computed)
      return evaluate(strong);
    else
      return strong;
  } else if constexpr (computed) {
    return evaluate(x);
  } else if constexpr (is_array_v<Plain>) {
    return std::as_const(x);
  } else if constexpr (ArrayLike<Plain>) {
    return std::forward<X>(x);
  } else if constexpr (std::is_void_v<StrongType>) {
    return Literal<default_type_t<Plain>, Plain>(x);
  } else {
    using T = weak_t<StrongType, Plain>;
    return Constant<T>{element_from<T>(Rule::name, x)};
  }
}

// Converts numbers among the operands as next to an array of StrongType; the first operand, to FirstType.
template <class Rule, class StrongType, class FirstType, class... X, std::size_t... i>
auto make_node(std::index_sequence<i...>, X&&... x) {
  constexpr auto computed = computed_first<std::remove_cvref_t<X>...>();
  using E =
      Expr<Rule,
           std::remove_cvref_t<decltype(as_child<Rule, std::conditional_t<i == 0, FirstType, StrongType>,
                                                 computed.at[i]>(std::forward<X>(x)))>...>;
  auto joined = join_operands<E>(Rule::name, x...);  // before the operands are moved
  return E(std::move(joined),
           as_child<Rule, std::conditional_t<i == 0, FirstType, StrongType>, computed.at[i]>(
               std::forward<X>(x))...);
}

template <class X>
inline constexpr Kind weak_kind = dtype_kind(dtype_of<typename X::value_type>);
template <Scalar S>
inline constexpr Kind weak_kind<S> = scalar_kind<S>();
// A conversion to a type that a number can have is where its expression meets that type.
template <class Rule, class... X>
struct StrongFor : Strong<X...> {};
template <class Rule, class X>
requires requires {
  typename Rule::identity;
} &&(!is_array_v<X>)&&(!ArrayLike<X> || is_weak_v<X>)struct StrongFor<Rule, X> {
  using To = typename Rule::template result<float>;
  using type = std::conditional_t<weak_promote(dtype_of<To>, weak_kind<X>) == dtype_of<To>, To, void>;
};

// An expression node over operands of any kind. Throws ShapeError where shapes do not broadcast.
template <class Rule, Operand... X>
auto make_expr(X&&... x) {
  using StrongType = typename StrongFor<Rule, std::remove_cvref_t<X>...>::type;
  return make_node<Rule, StrongType, StrongType>(std::index_sequence_for<X...>(), std::forward<X>(x)...);
}

// `where(mask, x, y)`: the condition takes no part in promotion.
template <class Rule, Operand C, Operand... X>
auto make_selection(C&& condition, X&&... x) {
  using StrongType = typename Strong<std::remove_cvref_t<X>...>::type;
  return make_node<Rule, StrongType, bool>(std::index_sequence_for<C, X...>(), std::forward<C>(condition),
                                           std::forward<X>(x)...);
}

}  // namespace detail
NAX_END
