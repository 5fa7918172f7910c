#pragma once

#include "nax/transform/vjp.hpp"

// Forward mode: the function is recorded, then tangents flow along the tape.
NAX_BEGIN
namespace detail {

// Seeds the inputs of one argument with its tangents.
template <class In, class Tangent>
void seed_tangents(const char* name, const In& inputs, const Tangent& tangents, Forward& sweep) {
  tree::for_each(
      [&](const auto& leaf, const auto& t) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          using T = typename Leaf::value_type;
          if constexpr (is_inexact_v<T>) {
            const Array<T> value = as_array_of<T>(t);
            if (!(value.shape() == leaf.shape()))
              raise<ShapeError>(
                  {name, ": the tangent has shape ", value.shape(), ", the primal ", leaf.shape()});
            sweep.put(sweep.tape().find(serial_of(leaf)),
                      seed(typed<T>(beside_primal(name, value, leaf)), layout_of(leaf)));
          }
        }
      },
      inputs, tangents);
}

// Replaces each leaf of a result by its tangent.
template <class Out>
void take_tangents(Out& out, Forward& sweep) {
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          if constexpr (is_inexact_v<typename Leaf::value_type>) {
            if (const ArrayBase* const tangent = sweep.find(serial_of(leaf))) {
              leaf = typed<typename Leaf::value_type>(*tangent);
              return;
            }
          }
          leaf = zeros_over(leaf);
        }
      },
      out);
}

// Finds the mistake in jvp of F at these.
template <class F, class Primals, class Tangents>
struct JvpMistake {
  static constexpr auto find() { return Mistake::no_tuples; }
};
template <class F, class... X, class... Tangent>
struct JvpMistake<F, std::tuple<X...>, std::tuple<Tangent...>> {
  static constexpr auto find() {
    constexpr Mistake first = CheckRecord::find<F, X...>();
    if constexpr (first != Mistake::none)
      return first;
    else
      return IsLike<lifted_t<F, X...>, std::tuple<Tangent...>>::value ? Mistake::none : Mistake::other_tree;
  }
};

template <class Out, class In>
class Pushforward {
 public:
  explicit Pushforward(FunctionRecord<Out, In> record) : record_(std::move(record)) {}

  // One tangent for each primal; the tangent of the result.
  template <class... Tangent>
  requires IsLike<In, std::tuple<Tangent...>>::value Out operator()(const Tangent&... tangents) const {
    const Sweeping sweeping;
    Forward sweep(*record_.tape, record_.mark);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (seed_tangents("jvp", std::get<i>(record_.inputs), evaluated(tangents), sweep), ...);
    }
    (std::index_sequence_for<Tangent...>{});
    sweep.run(record_.begin, record_.end);
    Out out = record_.out;
    take_tangents(out, sweep);
    return out;
  }
  template <class... Tangent, Sentence why = sentence_of<Mistake::other_tree>()>
  requires(!IsLike<In, std::tuple<Tangent...>>::value) Refused operator()(const Tangent&...) const = delete;

 private:
  FunctionRecord<Out, In> record_;
};

}  // namespace detail

// {f(primals...), pushforward}: the pushforward maps one tangent for each primal to the tangent of the
// result.
template <class F, class... X>
requires(detail::CheckRecord::find<F, X...>() == detail::Mistake::none) auto linearize(const F& f,
                                                                                       const X&... primals) {
  auto record = detail::record_function(f, primals...);
  auto out = record.out;
  return std::pair{std::move(out), detail::Pushforward(std::move(record))};
}
template <class F, class... X, detail::Mistake which = detail::CheckRecord::find<F, X...>(),
          detail::Sentence why = detail::sentence_of<which>()>
requires(which != detail::Mistake::none) detail::RefusedPair linearize(const F&, const X&...)
= delete;

// jvp(f, std::tuple{primals...}, std::tuple{tangents...}): {f(primals...), its derivative along the
// tangents}. Throws ShapeError for a tangent of another shape than its primal.
template <class F, class... X, class... Tangent>
requires(detail::JvpMistake<F, std::tuple<X...>, std::tuple<Tangent...>>::find() ==
         detail::Mistake::none) auto jvp(const F& f, const std::tuple<X...>& primals,
                                         const std::tuple<Tangent...>& tangents) {
  // Outlives the pushforward's sweep, so that an outermost one records nothing.
  const detail::TapeScope scope;
  auto [out, push] = std::apply([&](const auto&... x) { return linearize(f, x...); }, primals);
  const detail::SweepScope sweeping(scope.outermost());
  auto tangent = std::apply(push, tangents);
  return std::pair{std::move(out), std::move(tangent)};
}
template <class F, class X, class Tangent, detail::Mistake which = detail::JvpMistake<F, X, Tangent>::find(),
          detail::Sentence why = detail::sentence_of<which>()>
requires(which != detail::Mistake::none) detail::RefusedPair jvp(const F&, const X&, const Tangent&)
= delete;

NAX_END
