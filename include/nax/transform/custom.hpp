#pragma once

#include <bit>
#include <memory>

#include "nax/transform/call.hpp"
#include "nax/transform/jvp.hpp"

// Functions with a derivative of the user's own. As in JAX the rule serves the innermost transform that
// watches the arguments. Outer transforms differentiate the rule's computation: their sweeps follow the
// history of its result, which stays on the tape for them.
NAX_BEGIN
namespace detail {

// Whom a rule is for.
class RuleOwner {
 public:
  RuleOwner(Watchers watchers, const Tape& tape)
      : depth_(static_cast<std::size_t>(std::bit_width(watchers)) - 1),
        mark_(tape.scopes.marks[depth_]),
        outer_(watchers != watcher_bit(depth_)) {}

  bool outer_watch() const { return outer_; }
  // The sweep of the owner, of an outer transform (that of an inner one has nothing to do with the call).
  template <class Sweep>
  bool owns(const Sweep& sweep) const {
    return sweep.mark() == mark_;
  }
  template <class Sweep>
  bool within(const Sweep& sweep) const {
    return sweep.mark() < mark_;
  }
  // The scopes for running the rule, which the owner does not watch.
  Tape::Scopes hidden(const Tape& tape) const {
    Tape::Scopes scopes = tape.scopes;
    if (depth_ < scopes.marks.size() && scopes.marks[depth_] == mark_) scopes.hidden |= watcher_bit(depth_);
    return scopes;
  }

 private:
  std::size_t depth_, mark_;
  bool outer_;
};

// The serials under which the outer transforms know a result; afterwards it is a constant for the new node to
// claim.
template <class Out>
std::vector<std::uint64_t> take_serials(Out& out) {
  std::vector<std::uint64_t> serials;
  for_each_input(out,
                 [&](ArrayBase& leaf) { serials.push_back(std::exchange(ArrayAccess::serial(leaf), 0)); });
  return serials;
}

// Shared by both kinds of node: their part in the sweep of an outer transform.
struct CustomNode : CallNode {
  RuleOwner owner;
  std::vector<std::uint64_t> history;  // of the results
  CustomNode(RuleOwner o, std::vector<std::uint64_t> h) : owner(o), history(std::move(h)) {}

  void pull_history(std::vector<ArrayBase>& cotangents, Reverse& sweep) const {
    for (std::size_t i = 0; i < cotangents.size(); ++i)
      if (holds_value(cotangents[i])) sweep.add(history[i], std::move(cotangents[i]));
  }
  std::vector<ArrayBase> push_history(Forward& sweep) const {
    std::vector<ArrayBase> tangents;
    for (std::uint64_t serial : history) {
      const ArrayBase* t = sweep.find(serial);
      tangents.push_back(t ? *t : ArrayBase());
    }
    return tangents;
  }
};

template <class Bwd, class Residuals, class Out, class Arguments>
struct CustomVjpNode;
template <class Bwd, class Residuals, class Out, class... A>
struct CustomVjpNode<Bwd, Residuals, Out, std::tuple<A...>> final : CustomNode {
  std::shared_ptr<const Bwd> bwd;
  std::optional<Residuals> residuals;
  Out out;  // its structure and shapes
  std::tuple<A...> args;
  std::vector<VmapFrame> frames;

  CustomVjpNode(RuleOwner rule_owner, std::vector<std::uint64_t> past, std::shared_ptr<const Bwd> b,
                Residuals r, Out o, std::tuple<A...> a)
      : CustomNode(rule_owner, std::move(past)),
        bwd(std::move(b)),
        residuals(std::move(r)),
        out(std::move(o)),
        args(std::move(a)),
        frames(vmap_stack().frames) {}
  Watchers watchers(const Tape& tape) const override { return watchers_of(args, tape); }

  void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override {
    if (owner.within(sweep)) pull_history(cotangents, sweep);
    if (!owner.owns(sweep)) return;
    auto shares = [&] {
      const VmapScope vmaps(frames);
      const ScopesOf watching(sweep.tape(), owner.hidden(sweep.tape()));
      return (*bwd)(*residuals, cotangent_tree(out, cotangents));
    }();
    static_assert(std::tuple_size_v<decltype(shares)> == sizeof...(A),
                  "custom_vjp: bwd must return a tuple with one cotangent for each argument");
    Levels made;
    for_each_input(out, [&](const ArrayBase& leaf) { made = merge_levels(made, layout_of(leaf).levels); });
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (give(std::get<i>(args), evaluated(std::get<i>(shares)), made, sweep), ...);
    }
    (std::index_sequence_for<A...>{});
  }
  template <class Arg, class Share>
  static void give(const Arg& arg, const Share& share, const Levels& made, Reverse& sweep) {
    tree::for_each(
        [&](const auto& leaf, const auto& g) {
          using Leaf = std::remove_cvref_t<decltype(leaf)>;
          if constexpr (is_array_v<Leaf>) {
            using T = typename Leaf::value_type;
            if constexpr (is_inexact_v<T>) {
              if (!sweep.wants(serial_of(leaf))) return;
              const Array<T> value = as_array_of<T>(g);
              if (!(value.shape() == leaf.shape()))
                raise<ShapeError>({"custom_vjp: bwd returned a cotangent of shape ", value.shape(),
                                   " for an argument of shape ", leaf.shape()});
              sweep.add(serial_of(leaf),
                        sum_levels(seed(value, layout_of(leaf)), made, layout_of(leaf).levels));
            }
          }
        },
        arg, share);
  }
  std::vector<ArrayBase> push_call(Forward& sweep) override {
    if (owner.within(sweep)) return push_history(sweep);
    for_each_input(args, [&](const ArrayBase& leaf) {
      if (sweep.find(serial_of(leaf))) throw NoTangent();
    });
    return {};
  }
};

template <class Rule, class Out, class Arguments>
struct CustomJvpNode;
template <class Rule, class Out, class... A>
struct CustomJvpNode<Rule, Out, std::tuple<A...>> final : CustomNode {
  std::shared_ptr<const Rule> rule;
  Out out;
  std::optional<std::tuple<A...>> args;
  std::vector<VmapFrame> frames;

  CustomJvpNode(RuleOwner rule_owner, std::vector<std::uint64_t> past, std::shared_ptr<const Rule> r, Out o,
                std::tuple<A...> a)
      : CustomNode(rule_owner, std::move(past)),
        rule(std::move(r)),
        out(std::move(o)),
        args(std::move(a)),
        frames(vmap_stack().frames) {}
  Watchers watchers(const Tape& tape) const override { return watchers_of(*args, tape); }

  auto tangent_of_result(const std::tuple<A...>& tangents, Tape& tape) const {
    const VmapScope vmaps(frames);
    const ScopesOf watching(tape, owner.hidden(tape));
    return materialise_tree((*rule)(*args, tangents).second);
  }
  std::vector<ArrayBase> push_call(Forward& sweep) override {
    if (owner.within(sweep)) return push_history(sweep);
    std::tuple<A...> tangents = *args;
    bool any = false;
    for_each_input(*args, [&](const ArrayBase& leaf) { any = any || sweep.find(serial_of(leaf)); });
    if (!any) return {};
    take_tangents(tangents, sweep);
    const auto dout = tangent_of_result(tangents, sweep.tape());
    std::vector<ArrayBase> result;
    for_each_input(dout, [&](const ArrayBase& leaf) { result.push_back(leaf); });
    return result;
  }
  // The rule is linear in the tangents: its transpose, by recording it at zero tangents.
  void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override {
    if (owner.within(sweep)) pull_history(cotangents, sweep);
    if (!owner.owns(sweep)) return;
    std::vector<ArrayBase> shares;
    {
      const TapeScope scope;
      std::tuple<A...> tangents = zeros_like_tree(*args);
      make_inputs(tangents, *scope.tape());
      const std::size_t begin = scope.tape()->size();
      const auto dout = tangent_of_result(tangents, sweep.tape());
      const SweepScope sweeping(scope.outermost());
      Reverse transpose(*scope.tape(), scope.mark(), false);
      seed_tree("custom_jvp", dout, cotangent_tree(out, cotangents), transpose);
      transpose.run(begin);
      for_each_input(tangents, [&](const ArrayBase& leaf) {
        const ArrayBase* g = transpose.find(serial_of(leaf));
        shares.push_back(g ? *g : ArrayBase());
      });
    }
    Levels made;
    for_each_input(out, [&](const ArrayBase& leaf) { made = merge_levels(made, layout_of(leaf).levels); });
    std::size_t i = 0;
    for_each_input(*args, [&](const auto& leaf) {
      const ArrayBase& g = shares[i++];
      using T = typename std::remove_cvref_t<decltype(leaf)>::value_type;
      if (holds_value(g) && sweep.wants(serial_of(leaf)))
        sweep.add(serial_of(leaf), sum_levels(typed<T>(g), made, layout_of(leaf).levels));
    });
  }
};

}  // namespace detail

// f with reverse-mode rules of one's own: fwd(args...) returns {out, residuals}, bwd(residuals, cotangent) a
// tuple with one cotangent for each argument. Undifferentiated, f itself runs. Throws ShapeError for a
// cotangent of another shape than its argument.
template <class F, class Fwd, class Bwd>
auto custom_vjp(F f, Fwd fwd, Bwd bwd) {
  return detail::transformed<detail::CheckMapped, F>(
      [f = std::move(f), fwd = std::move(fwd),
       bwd = std::make_shared<const Bwd>(std::move(bwd))](const auto&... args) {
        using namespace detail;
        using Inputs = lifted_t<F, std::remove_cvref_t<decltype(args)>...>;
        Inputs inputs = lift_for<F>(args...);
        Tape* const tape = recording.tape;
        const Watchers watchers = any_input_recorded(inputs) ? watchers_of(inputs, *tape) : Watchers{};
        if (!watchers) return materialise_tree(call_with(f, std::as_const(inputs)));
        const RuleOwner owner(watchers, *tape);
        auto both = [&] {
          const ScopesOf watching(*tape, owner.hidden(*tape));
          const RecordOn keep(owner.outer_watch() ? tape : nullptr);
          return materialise_tree(call_with(fwd, std::as_const(inputs)));
        }();
        auto out = std::move(both.first);
        auto history = take_serials(out);
        using Residuals = std::remove_cvref_t<decltype(both.second)>;
        using Out = std::remove_cvref_t<decltype(out)>;
        record_call<CustomVjpNode<Bwd, Residuals, Out, Inputs>>(
            out, owner, std::move(history), bwd, std::move(both.second), out, std::move(inputs));
        return out;
      });
}

// f with a forward rule of one's own: rule(primals, tangents), both tuples, returns {out, dout}, dout linear
// in the tangents. Reverse mode transposes it. Under reverse mode throws ShapeError where dout has another
// shape than out.
template <class F, class Rule>
auto custom_jvp(F f, Rule rule) {
  return detail::transformed<detail::CheckMapped, F>(
      [f = std::move(f), rule = std::make_shared<const Rule>(std::move(rule))](const auto&... args) {
        using namespace detail;
        using Inputs = lifted_t<F, std::remove_cvref_t<decltype(args)>...>;
        Inputs inputs = lift_for<F>(args...);
        Tape* const tape = recording.tape;
        const Watchers watchers = any_input_recorded(inputs) ? watchers_of(inputs, *tape) : Watchers{};
        if (!watchers) return materialise_tree(call_with(f, std::as_const(inputs)));
        const RuleOwner owner(watchers, *tape);
        auto out = [&] {
          const ScopesOf watching(*tape, owner.hidden(*tape));
          if (owner.outer_watch()) return materialise_tree((*rule)(inputs, zeros_like_tree(inputs)).first);
          const RecordOn off(nullptr);
          return materialise_tree(call_with(f, std::as_const(inputs)));
        }();
        auto history = take_serials(out);
        using Out = std::remove_cvref_t<decltype(out)>;
        record_call<CustomJvpNode<Rule, Out, Inputs>>(out, owner, std::move(history), rule, out,
                                                      std::move(inputs));
        return out;
      });
}

NAX_END
