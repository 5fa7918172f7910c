#pragma once

#include "nax/transform/call.hpp"
#include "nax/transform/jvp.hpp"

// Functions with a derivative of the user's own.
namespace nax {
namespace detail {

template <class Bwd, class Residuals, class Out, class... A>
struct CustomVjpNode final : CallNode {
  Bwd bwd;
  std::optional<Residuals> residuals;
  Out out;  // its structure and shapes
  std::tuple<A...> args;

  CustomVjpNode(const Bwd& b, Residuals r, Out o, std::tuple<A...> a)
      : bwd(b), residuals(std::move(r)), out(std::move(o)), args(std::move(a)) {}

  void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override {
    auto shares = bwd(*residuals, cotangent_tree(out, cotangents));
    static_assert(std::tuple_size_v<decltype(shares)> == sizeof...(A),
                  "custom_vjp: bwd must return a tuple with one cotangent for each argument");
    Levels made;
    for_each_input(out, [&](const ArrayBase& leaf) { made = merge_levels(made, layout_of(leaf).levels); });
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (give(std::get<i>(args), materialise_tree(std::get<i>(shares)), made, sweep), ...);
    }(std::index_sequence_for<A...>{});
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
              const Array<T> value(lift(g));
              if (!(value.shape() == leaf.shape()))
                throw ShapeError("custom_vjp: bwd returned a cotangent of shape " + to_string(value.shape()) +
                                 " for an argument of shape " + to_string(leaf.shape()));
              sweep.add(serial_of(leaf), sum_levels(seed(value, layout_of(leaf)), made, layout_of(leaf).levels));
            }
          }
        },
        arg, share);
  }
  std::vector<ArrayBase> push_call(Forward& sweep) override {
    this->refuses_tangents = false;
    for_each_input(args, [&](const ArrayBase& leaf) {
      if (sweep.find(serial_of(leaf))) this->refuses_tangents = true;
    });
    return {};
  }
  void drop() noexcept override { residuals.reset(); }
};

template <class Rule, class Out, class... A>
struct CustomJvpNode final : CallNode {
  Rule rule;
  Out out;
  std::optional<std::tuple<A...>> args;
  std::vector<VmapFrame> frames;

  CustomJvpNode(const Rule& r, Out o, std::tuple<A...> a)
      : rule(r), out(std::move(o)), args(std::move(a)), frames(vmap_stack().frames) {}

  auto tangent_of_result(const std::tuple<A...>& tangents) const {
    const VmapScope vmaps(frames);
    return materialise_tree(rule(*args, tangents).second);
  }
  std::vector<ArrayBase> push_call(Forward& sweep) override {
    std::tuple<A...> tangents = *args;
    bool any = false;
    for_each_input(*args, [&](const ArrayBase& leaf) { any = any || sweep.find(serial_of(leaf)); });
    if (!any) return {};
    take_tangents(tangents, sweep);
    const auto dout = tangent_of_result(tangents);
    std::vector<ArrayBase> result;
    for_each_input(dout, [&](const ArrayBase& leaf) { result.push_back(leaf); });
    return result;
  }
  // The rule is linear in the tangents: its transpose, by recording it at zero tangents.
  void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override {
    std::vector<ArrayBase> shares;
    {
      const TapeScope scope;
      std::tuple<A...> tangents = *args;
      for_each_input(tangents, [](auto& leaf) {
        using T = typename std::remove_cvref_t<decltype(leaf)>::value_type;
        leaf = zeros_over<T>(layout_of(leaf));
      });
      std::vector<std::uint64_t> serials;
      make_inputs(tangents, *scope.tape(), serials);
      const auto dout = tangent_of_result(tangents);
      const SweepScope sweeping(scope.outermost());
      Reverse transpose(*scope.tape(), scope.mark(), false);
      seed_tree("custom_jvp", dout, cotangent_tree(out, cotangents), transpose);
      transpose.run(scope.mark() + serials.size());
      for (std::uint64_t serial : serials) {
        const ArrayBase* g = transpose.find(serial);
        shares.push_back(g ? *g : ArrayBase());
      }
    }
    Levels made;
    for_each_input(out, [&](const ArrayBase& leaf) { made = merge_levels(made, layout_of(leaf).levels); });
    std::size_t i = 0;
    for_each_input(*args, [&](const auto& leaf) {
      const ArrayBase& g = shares[i++];
      using T = typename std::remove_cvref_t<decltype(leaf)>::value_type;
      if (holds_value(g) && sweep.wants(serial_of(leaf)))
        sweep.add(serial_of(leaf), sum_levels(Array<T>(g), made, layout_of(leaf).levels));
    });
  }
  void drop() noexcept override { args.reset(); }
};

}  // namespace detail

// f with reverse-mode rules of one's own: fwd(args...) returns {out, residuals}, bwd(residuals, cotangent) a tuple with
// one cotangent for each argument. Undifferentiated, f itself runs.
template <class F, class Fwd, class Bwd>
auto custom_vjp(F f, Fwd fwd, Bwd bwd) {
  return [f = std::move(f), fwd = std::move(fwd), bwd = std::move(bwd)](const auto&... args) {
    using namespace detail;
    std::tuple<lifted_t<std::remove_cvref_t<decltype(args)>>...> inputs(lift(args)...);
    if (!any_input_recorded(inputs)) return materialise_tree(std::apply(f, std::as_const(inputs)));
    // With one transform at work nothing reads fwd's own history; with several, the outer ones do.
    auto both = [&] {
      const RecordOn keep(recording.tape->depth > 1 ? recording.tape : nullptr);
      return materialise_tree(std::apply(fwd, std::as_const(inputs)));
    }();
    auto out = std::move(both.first);
    make_constant(out);
    using Residuals = std::remove_cvref_t<decltype(both.second)>;
    using Out = std::remove_cvref_t<decltype(out)>;
    record_call<CustomVjpNode<Bwd, Residuals, Out, lifted_t<std::remove_cvref_t<decltype(args)>>...>>(
        out, bwd, std::move(both.second), out, std::move(inputs));
    return out;
  };
}

// f with a forward rule of one's own: rule(primals, tangents), both tuples, returns {out, dout}, dout linear in the
// tangents. Reverse mode transposes it.
template <class F, class Rule>
auto custom_jvp(F f, Rule rule) {
  return [f = std::move(f), rule = std::move(rule)](const auto&... args) {
    using namespace detail;
    std::tuple<lifted_t<std::remove_cvref_t<decltype(args)>>...> inputs(lift(args)...);
    if (!any_input_recorded(inputs)) return materialise_tree(std::apply(f, std::as_const(inputs)));
    auto out = [&] {
      const RecordOn off(nullptr);
      return materialise_tree(std::apply(f, std::as_const(inputs)));
    }();
    using Out = std::remove_cvref_t<decltype(out)>;
    record_call<CustomJvpNode<Rule, Out, lifted_t<std::remove_cvref_t<decltype(args)>>...>>(out, rule, out,
                                                                                            std::move(inputs));
    return out;
  };
}

}  // namespace nax
