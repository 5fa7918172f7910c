#pragma once

#include <memory>

#include "nax/tape/recomputed_call.hpp"
#include "nax/transform/call.hpp"

NAX_BEGIN
namespace detail {

template <class F, class Arguments>
class CheckpointNode;
template <class F, class... A>
class CheckpointNode<F, std::tuple<A...>> final : public RecomputedCall {
 public:
  CheckpointNode(std::shared_ptr<const F> function, std::tuple<A...> arguments, Watchers watchers)
      : f_(std::move(function)),
        args_(std::move(arguments)),
        frames_(vmap_stack().frames),
        watched_by_(watchers) {}
  Watchers watchers(const Tape&) const override { return watched_by_; }

 private:
  std::vector<ArrayBase> recompute() const override {
    const VmapScope vmaps(frames_);
    const auto out = materialise_tree(call_with(*f_, args_));
    std::vector<ArrayBase> results;
    for_each_input(out, [&](const ArrayBase& leaf) { results.push_back(leaf); });
    return results;
  }

  std::shared_ptr<const F> f_;
  std::tuple<A...> args_;
  std::vector<VmapFrame> frames_;
  Watchers watched_by_;
};

}  // namespace detail

// f, recomputed in the backward pass to save memory: under a gradient only its arguments are kept.
template <class F>
auto checkpoint(F f) {
  // (Shared with the tape, so that it need not be copied.)
  return detail::transformed<detail::CheckCall, F>(
      [f = std::make_shared<const F>(std::move(f))](const auto&... args) {
        using namespace detail;
        using Inputs = lifted_t<F, std::remove_cvref_t<decltype(args)>...>;
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
      });
}

// Returns the values without their history: no gradient passes.
template <class X>
auto stop_gradient(const X& x) {
  auto out = detail::materialise_tree(x);
  detail::make_constant(out);
  return out;
}

// Where JAX has it.
namespace lax {
using nax::stop_gradient;
}  // namespace lax

NAX_END
