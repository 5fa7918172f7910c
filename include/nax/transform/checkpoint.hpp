#pragma once

#include <memory>

#include "nax/transform/call.hpp"

namespace nax::inline NAX_ABI {
namespace detail {

// A call whose insides are not kept: a sweep that comes by computes it anew, at the tape's end, sweeps that
// part, and pops it. Arrays that the function captured get their gradients too, since the new nodes refer to
// them.
template <class F, class Arguments>
struct CheckpointNode;
template <class F, class... A>
struct CheckpointNode<F, std::tuple<A...>> final : CallNode {
  std::shared_ptr<const F> f;
  std::optional<std::tuple<A...>> args;
  std::vector<VmapFrame> frames;
  Tape::Scopes scopes;
  Watchers watched_by;

  CheckpointNode(std::shared_ptr<const F> function, std::tuple<A...> arguments, Watchers watchers)
      : f(std::move(function)),
        args(std::move(arguments)),
        frames(vmap_stack().frames),
        scopes(recording.tape->scopes),
        watched_by(watchers) {}
  Watchers watchers(const Tape&) const override { return watched_by; }

  // As it was computed then: within the same vmaps, watched by the same transforms.
  auto recompute(Tape& tape) const {
    const RecordOn on(&tape);
    const VmapScope vmaps(frames);
    const ScopesOf watching(tape, scopes);
    return materialise_tree(call_with(*f, *args));
  }
  void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override {
    Tape& tape = sweep.tape();
    const std::size_t mark = tape.size();
    {
      const auto out = recompute(tape);
      std::size_t slot = 0;
      for_each_input(out, [&](const ArrayBase& leaf) {
        const ArrayBase& g = cotangents[slot++];
        if (holds_value(g)) sweep.add(serial_of(leaf), ArrayBase(g));
      });
    }
    sweep.run_nested(mark);
    if (!recording.tape) tape.pop(mark);
  }
  std::vector<ArrayBase> push_call(Forward& sweep) override {
    Tape& tape = sweep.tape();
    const std::size_t mark = tape.size();
    const auto out = recompute(tape);
    const std::size_t end = tape.size();
    sweep.run(mark, end);
    std::vector<ArrayBase> tangents;
    for_each_input(out, [&](const ArrayBase& leaf) {
      const ArrayBase* t = sweep.find(serial_of(leaf));
      tangents.push_back(t ? *t : ArrayBase());
    });
    sweep.forget(mark, end);
    if (!recording.tape) tape.pop(mark);
    return tangents;
  }
};

}  // namespace detail

// f, with the memory of its insides traded for time: under a gradient only its arguments are kept, and it is
// computed once more when the sweep comes by.
template <class F>
auto checkpoint(F f) {
  // (Shared with the tape, so that it need not be copied.)
  return detail::transformed<F>([f = std::make_shared<const F>(std::move(f))](const auto&... args) {
    using namespace detail;
    using Inputs = lifted_t<F, std::remove_cvref_t<decltype(args)>...>;
    constexpr auto mistake = CallMistake<F, Inputs>::find();
    if constexpr (mistake != Mistake::none) {
      return refuse<mistake, Array<float>, F>(std::type_identity<Inputs>());
    } else {
      Inputs inputs = lift_for<F>(args...);
      if (!recording.tape) return materialise_tree(call_with(*f, std::as_const(inputs)));
      Tape& tape = *recording.tape;
      const std::size_t mark = tape.size();
      auto out = materialise_tree(call_with(*f, std::as_const(inputs)));
      bool made = false;
      for_each_input(out, [&](const ArrayBase& leaf) {
        const std::size_t i = tape.find(serial_of(leaf));
        made = made || (serial_of(leaf) && i != Tape::npos && i >= mark);
      });
      if (!made) return out;
      const Watchers watchers = watchers_of(out, tape);
      make_constant(out);
      tape.pop(mark);
      record_call<CheckpointNode<F, Inputs>>(out, f, std::move(inputs), watchers);
      return out;
    }
  });
}

// The same values, without their history: no gradient passes.
template <class X>
auto stop_gradient(const X& x) {
  auto out = detail::materialise_tree(x);
  detail::make_constant(out);
  return out;
}

}  // namespace nax::inline NAX_ABI
