#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nax/nn/batch_norm.hpp"
#include "nax/random/key.hpp"
#include "nax/tree/map.hpp"
#include "nax/tree/static.hpp"

// Modules and functions one after another.
NAX_BEGIN
namespace detail {

// A module as it is; a function as a part of the structure.
template <class F>
using LayerOf = std::conditional_t<tree::detail::node_kind<F>() == tree::NodeKind::none, tree::Static<F>, F>;

// Layers with statistics that go in and come out, as those of batch_norm do.
template <class Layer>
concept HasStats = requires(const Layer& layer) {
  layer.stats();
};

struct NoStats {};
template <class Layer>
auto stats_of(const Layer& layer) {
  if constexpr (HasStats<Layer>)
    return layer.stats();
  else
    return NoStats();
}

// layer(x), with a key before it where there is one and the layer takes it.
template <class Layer, class X, class... Rest>
auto call_layer(const random::Key* key, const Layer& layer, const X& x, const Rest&... rest) {
  if constexpr (std::is_invocable_v<const Layer&, const random::Key&, const X&, const Rest&...>) {
    if constexpr (std::is_invocable_v<const Layer&, const X&, const Rest&...>) {
      if (!key) return tree::detail::settle(layer(x, rest...));
    } else if (!key) {
      throw ValueError("Sequential: a layer needs a key");
    }
    return tree::detail::settle(layer(*key, x, rest...));
  } else {
    return tree::detail::settle(layer(x, rest...));
  }
}

}  // namespace detail

namespace nn {

// Calls each layer with the result of the one before. Made by sequential().
//
// A layer may have statistics, as BatchNorm has: `stats()` are those of all layers, and go in and come out. A
// layer may take a key before x, as Dropout does: each gets a key of its own, where one is given. So a
// Sequential is a layer of another one.
//
//   auto stats = model.stats();
//   auto [y, next] = model(key, x, stats);                                   // training
//   Array<float> z = model(x, stats, {.use_running_average = true}).first;
template <class... Layers>
struct Sequential {
  std::tuple<Layers...> layers;

  template <class X>
  auto operator()(const X& x) const {
    return run<0>(nullptr, x);
  }
  template <class X>
  auto operator()(const random::Key& key, const X& x) const {
    return run<0>(&key, x);
  }
  // The statistics before the first step: a tuple with a place for each layer.
  auto stats() const requires(... || nax::detail::HasStats<Layers>) {
    return std::apply([](const auto&... layer) { return std::make_tuple(nax::detail::stats_of(layer)...); },
                      layers);
  }
  template <class X, class... S>
  auto operator()(const X& x, const std::tuple<S...>& stats, const BatchNormOptions& options = {}) const {
    return run_with<0>(nullptr, x, stats, options);
  }
  template <class X, class... S>
  auto operator()(const random::Key& key, const X& x, const std::tuple<S...>& stats,
                  const BatchNormOptions& options = {}) const {
    return run_with<0>(&key, x, stats, options);
  }

 private:
  template <std::size_t i, class X>
  auto run(const random::Key* key, const X& x) const {
    if constexpr (i == sizeof...(Layers)) {
      return x;
    } else {
      const auto own = key_of<i>(key);
      return run<i + 1>(key, nax::detail::call_layer(own ? &*own : nullptr, std::get<i>(layers), x));
    }
  }
  // {result, next statistics}
  template <std::size_t i, class X, class S, class... Done>
  auto run_with(const random::Key* key, const X& x, const S& stats, const BatchNormOptions& options,
                const Done&... done) const {
    static_assert(std::tuple_size_v<S> == sizeof...(Layers),
                  "Sequential: the statistics belong to other layers");
    if constexpr (i == sizeof...(Layers)) {
      return std::pair{x, std::make_tuple(done...)};
    } else {
      const auto& layer = std::get<i>(layers);
      const auto own = key_of<i>(key);
      const random::Key* const at = own ? &*own : nullptr;
      if constexpr (nax::detail::HasStats<std::remove_cvref_t<decltype(layer)>>) {
        const auto [y, next] = nax::detail::call_layer(at, layer, x, std::get<i>(stats), options);
        return run_with<i + 1>(key, y, stats, options, done..., next);
      } else {
        return run_with<i + 1>(key, nax::detail::call_layer(at, layer, x), stats, options, done...,
                               nax::detail::NoStats());
      }
    }
  }
  template <std::size_t i, class Key>
  static std::optional<Key> key_of(const Key* key) {
    if (!key) return {};
    return random::fold_in(*key, static_cast<std::int64_t>(i));
  }
};

// A Sequential of modules and functions: `sequential(Linear<float>::make(...), [](const auto& x) { return
// relu(x); }, ...)`.
template <class... F>
auto sequential(F... layers) {
  return Sequential<nax::detail::LayerOf<F>...>{{nax::detail::LayerOf<F>(std::move(layers))...}};
}

}  // namespace nn
NAX_END
