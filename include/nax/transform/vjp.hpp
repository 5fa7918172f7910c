#pragma once

#include "nax/transform/grad.hpp"

namespace nax {
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
            const Array<T> value = as_array<T>(g);
            if (!(value.shape() == leaf.shape()))
              throw ShapeError(std::string(name) + ": the cotangent has shape " + to_string(value.shape()) +
                               ", the result " + to_string(leaf.shape()));
            if (serial_of(leaf)) sweep.add(serial_of(leaf), seed(value, layout_of(leaf)));
          }
        }
      },
      out, cotangent);
}

// The pullback of a function at a point: keeps the tape, and can be called any number of times.
template <class Out, class... In>
class Pullback {
 public:
  Pullback(TapeRef tape, std::size_t mark, std::size_t count, Out out, std::tuple<In...> inputs)
      : tape_(std::move(tape)),
        mark_(mark),
        count_(count),
        out_(std::move(out)),
        inputs_(std::move(inputs)) {}

  // One cotangent (a tree like the function's result); a tuple with one gradient for each argument.
  template <class Cotangent>
  std::tuple<In...> operator()(const Cotangent& cotangent) const {
    const Sweeping sweeping;
    Reverse sweep(*tape_, mark_, false);
    seed_tree("vjp", out_, lift(cotangent), sweep);
    sweep.run(mark_ + count_);
    std::tuple<In...> gradients = inputs_;
    std::apply([&](auto&... g) { (take_gradients(g, sweep), ...); }, gradients);
    return gradients;
  }

 private:
  TapeRef tape_;
  std::size_t mark_, count_;
  Out out_;
  std::tuple<In...> inputs_;
};

}  // namespace detail

// {f(primals...), pullback}: the pullback maps a cotangent of the result to a tuple of cotangents of the
// primals.
template <class F, class... X>
auto vjp(const F& f, const X&... primals) {
  const detail::TapeScope scope;
  std::tuple<detail::lifted_t<X>...> inputs(detail::lift(primals)...);
  std::vector<std::uint64_t> serials;
  std::apply([&](auto&... x) { (detail::make_inputs(x, *scope.tape(), serials), ...); }, inputs);
  auto out = detail::materialise_tree(std::apply(f, std::as_const(inputs)));
  using Out = decltype(out);
  detail::Pullback<Out, detail::lifted_t<X>...> pullback(scope.tape(), scope.mark(), serials.size(), out,
                                                         std::move(inputs));
  return std::pair{std::move(out), std::move(pullback)};
}

}  // namespace nax
