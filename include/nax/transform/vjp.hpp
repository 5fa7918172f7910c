#pragma once

#include "nax/numpy/indexing/put.hpp"
#include "nax/transform/grad.hpp"

NAX_BEGIN
namespace detail {

// A cotangent or tangent on the device of its primal: one without axes is brought there. Throws DeviceError
// for one with axes on another device.
inline ArrayBase beside_primal(const char* name, const ArrayBase& value, const ArrayBase& primal) {
  if (share_memory(value.device(), primal.device()) || on_program(value.device()) ||
      on_program(primal.device()))
    return value;
  if (!layout_of(value).shape.empty()) throw_devices(name, value.device(), primal.device());
  return put(value, primal.device());
}

// The cotangents of a result tree go to its leaves; both trees have one structure.
template <class Out, class Cotangent>
void seed_tree(const char* name, const Out& out, const Cotangent& cotangent, Reverse& sweep) {
  tree::for_each(
      [&](const auto& leaf, const auto& g) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          using T = typename Leaf::value_type;
          if constexpr (is_inexact_v<T>) {
            const Array<T> value = as_array_of<T>(g);
            if (!(value.shape() == leaf.shape()))
              raise<ShapeError>(
                  {name, ": the cotangent has shape ", value.shape(), ", the result ", leaf.shape()});
            if (serial_of(leaf))
              sweep.add(serial_of(leaf), seed(typed<T>(beside_primal(name, value, leaf)), layout_of(leaf)));
          }
        }
      },
      out, cotangent);
}

// A function recorded at a point. Keeps the tape, so that sweeps in either direction can pass any number of
// times.
template <class Out, class In>
struct FunctionRecord {
  TapeRef tape;
  std::size_t mark, begin, end;  // the inputs lie from mark to begin, the function's nodes from there to end
  Out out;
  In inputs;  // a tuple
};

// Finds the mistake in differentiating F at a tuple of this type, with regard to all of it.
template <class F, class Arguments>
struct RecordMistake;
template <class F, class... A>
struct RecordMistake<F, std::tuple<A...>> {
  static constexpr auto find() {
    if constexpr ((Scalar<A> && ...))
      return Mistake::number_differentiated;
    else if constexpr (MappedMistake<F, std::tuple<A...>>::find() != Mistake::none)
      return MappedMistake<F, std::tuple<A...>>::find();
    else
      return find_in_result<F, std::tuple<A...>>();
  }
};
struct CheckRecord {
  template <class F, class... X>
  static constexpr auto find() {
    return RecordMistake<F, lifted_t<F, X...>>::find();
  }
};

template <class F, class... X>
auto record_function(const F& f, const X&... primals) {
  const TapeScope scope;
  lifted_t<F, X...> inputs = lift_for<F>(primals...);
  std::apply([&](auto&... x) { (make_inputs(x, *scope.tape()), ...); }, inputs);
  const std::size_t begin = scope.tape()->size();
  auto out = materialise_tree(call_with(f, std::as_const(inputs)));
  using Out = decltype(out);
  return FunctionRecord<Out, lifted_t<F, X...>>{scope.tape(),         scope.mark(),   begin,
                                                scope.tape()->size(), std::move(out), std::move(inputs)};
}

// True if an X can be a cotangent or tangent of a T: a tree of its structure, with numbers allowed for
// arrays.
template <class T, class X>
struct IsLike;
template <class T, class X, class Indices>
struct ChildrenAlike;
template <class T, class X, std::size_t... i>
struct ChildrenAlike<T, X, std::index_sequence<i...>>
    : std::bool_constant<(IsLike<tree::detail::Child<T, i>, tree::detail::Child<X, i>>::value && ...)> {};
template <class T, class X>
constexpr bool leaves_alike() {
  if constexpr (is_array_v<T> && Scalar<X>)
    return is_complex_v<typename T::value_type> || !is_complex_v<X>;
  else if constexpr (is_array_v<T>)
    return is_complex_v<typename T::value_type> || !is_complex_v<typename X::value_type>;
  else
    return true;
}
template <class T, class X>
constexpr bool is_like() {
  constexpr tree::NodeKind kind = tree::detail::node_kind<T>();
  if constexpr (kind != tree::detail::node_kind<X>())
    return false;
  else if constexpr (kind == tree::NodeKind::leaf)
    return leaves_alike<T, X>();
  else if constexpr (kind == tree::NodeKind::sequence || kind == tree::NodeKind::optional)
    return IsLike<typename T::value_type, typename X::value_type>::value;
  else if constexpr (kind == tree::NodeKind::map)
    return std::is_same_v<typename T::key_type, typename X::key_type> &&
           IsLike<typename T::mapped_type, typename X::mapped_type>::value;
  else if constexpr (kind != tree::NodeKind::product)
    return false;
  else if constexpr (tree::detail::child_count_v<T> != tree::detail::child_count_v<X>)
    return false;
  else
    return ChildrenAlike<T, X, std::make_index_sequence<tree::detail::child_count_v<T>>>::value;
}
template <class T, class X>
struct IsLike : std::bool_constant<std::is_same_v<T, X> || is_like<T, X>()> {};

template <class Out, class In>
class Pullback {
 public:
  explicit Pullback(FunctionRecord<Out, In> record) : record_(std::move(record)) {}

  // One cotangent (a tree like the function's result); a tuple with one gradient for each argument.
  template <class Cotangent>
  requires IsLike<Out, Cotangent>::value In operator()(const Cotangent& cotangent) const {
    const Sweeping sweeping;
    Reverse sweep(*record_.tape, record_.mark, false);
    sweep.note_gradients(record_.begin);
    seed_tree("vjp", record_.out, evaluated(cotangent), sweep);
    sweep.run(record_.begin);
    In gradients = record_.inputs;
    take_gradients("vjp", gradients, std::make_index_sequence<std::tuple_size_v<In>>(), sweep);
    return gradients;
  }
  template <class Cotangent, Sentence why = sentence_of<Mistake::other_tree>()>
  requires(!IsLike<Out, Cotangent>::value) Refused operator()(const Cotangent&) const = delete;

 private:
  FunctionRecord<Out, In> record_;
};

}  // namespace detail

// {f(primals...), pullback}: the pullback maps a cotangent of the result to a tuple of cotangents of the
// primals. The pullback throws ShapeError for a cotangent of another shape than the result.
template <class F, class... X>
requires(detail::CheckRecord::find<F, X...>() == detail::Mistake::none) auto vjp(const F& f,
                                                                                 const X&... primals) {
  auto record = detail::record_function(f, primals...);
  auto out = record.out;
  return std::pair{std::move(out), detail::Pullback(std::move(record))};
}
template <class F, class... X, detail::Mistake which = detail::CheckRecord::find<F, X...>(),
          detail::Sentence why = detail::sentence_of<which>()>
requires(which != detail::Mistake::none) detail::RefusedPair vjp(const F&, const X&...)
= delete;

NAX_END
