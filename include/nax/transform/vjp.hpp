#pragma once

#include "nax/transform/grad.hpp"

namespace nax::inline NAX_ABI {
namespace detail {

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
            if (serial_of(leaf)) sweep.add(serial_of(leaf), seed(value, layout_of(leaf)));
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

// What is wrong with differentiating F at a tuple of this type, with regard to all of it.
template <class F, class Arguments>
struct RecordMistake;
template <class F, class... A>
struct RecordMistake<F, std::tuple<A...>> {
  static constexpr auto find() {
    if constexpr ((Scalar<A> && ...))
      return Mistake::number_differentiated;
    else
      return MappedMistake<F, std::tuple<A...>>::find();
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

template <class Out, class In>
class Pullback {
 public:
  explicit Pullback(FunctionRecord<Out, In> record) : record_(std::move(record)) {}

  // One cotangent (a tree like the function's result); a tuple with one gradient for each argument.
  template <class Cotangent>
  In operator()(const Cotangent& cotangent) const {
    const Sweeping sweeping;
    Reverse sweep(*record_.tape, record_.mark, false);
    seed_tree("vjp", record_.out, evaluated(cotangent), sweep);
    sweep.run(record_.begin);
    In gradients = record_.inputs;
    std::apply([&](auto&... g) { (take_gradients(g, sweep), ...); }, gradients);
    return gradients;
  }

 private:
  FunctionRecord<Out, In> record_;
};

}  // namespace detail

// {f(primals...), pullback}: the pullback maps a cotangent of the result to a tuple of cotangents of the
// primals.
template <class F, class... X>
auto vjp(const F& f, const X&... primals) {
  using Inputs = detail::lifted_t<F, X...>;
  constexpr auto mistake = detail::RecordMistake<F, Inputs>::find();
  if constexpr (mistake != detail::Mistake::none) {
    return detail::refuse<mistake, std::pair<Array<float>, detail::RefusedFunction>, F>(
        std::type_identity<Inputs>());
  } else {
    auto record = detail::record_function(f, primals...);
    auto out = record.out;
    return std::pair{std::move(out), detail::Pullback(std::move(record))};
  }
}

}  // namespace nax::inline NAX_ABI
