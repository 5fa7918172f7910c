#pragma once

#include "nax/transform/differentiate.hpp"

// Reverse mode: grad and value_and_grad, as JAX names them.
NAX_BEGIN
namespace detail {

template <class X>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};

// The loss in what a differentiated function returned: all of it, or the first of a pair {loss, aux}.
template <class Out>
const auto& loss_of(const Out& out) {
  if constexpr (IsPair<Out>::value)
    return out.first;
  else
    return out;
}

// The result of F for a tuple of arguments, before and after its expressions are computed.
template <class F, class Arguments>
using raw_result_t =
    std::remove_cvref_t<decltype(call_with(std::declval<const F&>(), std::declval<const Arguments&>()))>;
template <class F, class Arguments>
using result_of_t =
    decltype(materialise_tree(call_with(std::declval<const F&>(), std::declval<const Arguments&>())));

// Whether a result holds numbers and nothing else: they carry no derivative.
template <class Result>
struct OnlyNumbers : std::bool_constant<Scalar<Result>> {};
template <class A, class B>
struct OnlyNumbers<std::pair<A, B>> : std::bool_constant<OnlyNumbers<A>::value && OnlyNumbers<B>::value> {};
template <class... A>
struct OnlyNumbers<std::tuple<A...>>
    : std::bool_constant<(sizeof...(A) > 0) && (OnlyNumbers<A>::value && ...)> {};
template <class F, class Arguments>
constexpr auto find_in_result() {
  return OnlyNumbers<raw_result_t<F, Arguments>>::value ? Mistake::returns_number : Mistake::none;
}

template <int argnum, class... A>
inline constexpr std::size_t argument_at =
    static_cast<std::size_t>((argnum + static_cast<int>(sizeof...(A))) % static_cast<int>(sizeof...(A)));
template <int argnum, class... A>
using argument_t = std::tuple_element_t<argument_at<argnum, A...>, std::tuple<A...>>;

// Finds the mistake in differentiating F at a tuple of this type, with regard to number `argnums`.
template <class F, class Arguments, int... argnums>
struct DerivativeMistake;
template <class F, class... A, int... argnums>
struct DerivativeMistake<F, std::tuple<A...>, argnums...> {
  static constexpr auto find() {
    constexpr int n = static_cast<int>(sizeof...(A));
    if constexpr (!((argnums < n && argnums >= -n) && ...))
      return Mistake::argnums_out_of_range;
    else if constexpr ((Scalar<argument_t<argnums, A...>> || ...))
      return Mistake::number_differentiated;
    else if constexpr (find_in_trees<argument_t<argnums, A...>...>() != Mistake::none)
      return find_in_trees<argument_t<argnums, A...>...>();
    else if constexpr (CallMistake<F, std::tuple<A...>>::find() != Mistake::none)
      return CallMistake<F, std::tuple<A...>>::find();
    else
      return find_in_result<F, std::tuple<A...>>();
  }
};
template <class F, class... A>
struct DerivativeMistake<F, std::tuple<A...>> : DerivativeMistake<F, std::tuple<A...>, 0> {};

template <int... argnums>
struct CheckDerivative {
  template <class F, class... X>
  static constexpr auto find() {
    return DerivativeMistake<F, lifted_t<F, X...>, argnums...>::find();
  }
};
// Finds the mistake where F is a loss.
template <int... argnums>
struct CheckGradient {
  template <class F, class... X>
  static constexpr auto find() {
    using Inputs = lifted_t<F, X...>;
    constexpr Mistake first = DerivativeMistake<F, Inputs, argnums...>::find();
    if constexpr (first != Mistake::none) {
      return first;
    } else {
      using Given = std::remove_cvref_t<decltype(loss_of(std::declval<raw_result_t<F, Inputs>>()))>;
      using Loss = std::remove_cvref_t<decltype(loss_of(std::declval<result_of_t<F, Inputs>>()))>;
      if constexpr (Scalar<Given>)
        return Mistake::returns_number;
      else if constexpr (!is_array_v<Loss>)
        return Mistake::no_loss;
      else
        return is_inexact_v<typename Loss::value_type> ? Mistake::none : Mistake::loss_not_floating;
    }
  }
};

template <class Loss>
void check_loss_shape(const char* function, const Loss& loss) {
  check_operand(function, loss);
  if (loss.ndim() != 0)
    raise<ShapeError>({function, ": the function must return a scalar, got shape ", loss.shape()});
}

[[noreturn, gnu::cold]] inline void throw_nothing_to_differentiate(const char* function) {
  raise<TypeError>({function, ": the arguments chosen by argnums hold no array of a floating type"});
}

// One argument's gradient, or the tuple of several.
template <class Tuple>
auto&& unwrap_single(Tuple&& t) {
  if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 1)
    return std::get<0>(std::forward<Tuple>(t));
  else
    return std::forward<Tuple>(t);
}

// Begins the sweep with the derivative of the loss by itself, on the loss's device.
template <class T>
void seed_loss(const Array<T>& loss, Reverse& sweep) {
  const T one(1);
  const Device device = loss.device();
  if (Number::holds(dtype_of<T>) && !recording.tape && layout_of(loss).shape.empty() && !on_program(device))
    sweep.begin_with(serial_of(loss), {&one, dtype_of<T>}, device);
  else
    sweep.add(serial_of(loss),
              seed(typed<T>(placed_on(device, array_of_number(dtype_of<T>, &one))), layout_of(loss)));
}

template <int... argnums, class F, class... A>
auto value_and_gradients(const char* name, const F& f, const A&... args) {
  const TapeScope scope;
  auto inputs = lift_for<F>(args...);
  (make_inputs(std::get<argument_at<argnums, A...>>(inputs), *scope.tape()), ...);
  const std::size_t begin = scope.tape()->size();
  if (begin == scope.mark()) throw_nothing_to_differentiate(name);
  auto out = materialise_tree(call_with(f, std::as_const(inputs)));
  const auto& loss = loss_of(out);
  check_loss_shape(name, loss);

  // (Not std::tuple{...}: of one pair that makes a tuple of two.)
  auto gradients = std::make_tuple(std::get<argument_at<argnums, A...>>(inputs)...);
  const SweepScope sweeping(scope.outermost());
  const ComputeOn beside(loss);
  Reverse sweep(*scope.tape(), scope.mark(), scope.outermost() && scope.sole_owner());
  seed_loss(loss, sweep);
  sweep.note_gradients(begin);
  sweep.run(begin);
  take_gradients(name, gradients, std::index_sequence<argument_at<argnums, A...>...>(), sweep);
  return std::pair{std::move(out), unwrap_single(std::move(gradients))};
}

}  // namespace detail

// value_and_grad<argnums...>(f)(args...): the pair {f(args...), gradient}. f returns a 0-d array of a
// floating type, or std::pair{loss, aux}; the gradient has the structure, shapes and types of the argument
// (zeros where a leaf is not floating), or is a tuple of such when several argnums are given. Throws
// ShapeError for a result that is not 0-d, and TypeError where the arguments hold no floating array.
template <int... argnums, class F>
[[nodiscard]] auto value_and_grad(F f) {
  return detail::transformed<detail::CheckGradient<argnums...>, F>([f = std::move(f)](const auto&... args) {
    if constexpr (sizeof...(argnums) == 0)
      return detail::value_and_gradients<0>("value_and_grad", f, args...);
    else
      return detail::value_and_gradients<argnums...>("value_and_grad", f, args...);
  });
}

// grad<argnums...>(f)(args...): the gradient; where f returns {loss, aux}, the pair {gradient, aux}. Throws
// ShapeError for a result that is not 0-d, and TypeError where the arguments hold no floating array.
template <int... argnums, class F>
[[nodiscard]] auto grad(F f) {
  return detail::transformed<detail::CheckGradient<argnums...>, F>([f = std::move(f)](const auto&... args) {
    auto both = [&] {
      if constexpr (sizeof...(argnums) == 0)
        return detail::value_and_gradients<0>("grad", f, args...);
      else
        return detail::value_and_gradients<argnums...>("grad", f, args...);
    }();
    if constexpr (detail::IsPair<std::remove_cvref_t<decltype(both.first)>>::value)
      return std::pair{std::move(both.second), std::move(both.first.second)};
    else
      return std::move(both.second);
  });
}

NAX_END
