#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "nax/tree/map.hpp"
#include "nax/tree/static.hpp"

// Modules and functions one after another.
NAX_BEGIN
namespace detail {

template <class X>
X layers_in_turn(const X& x) {
  return x;
}
template <class X, class Layer, class... Rest>
auto layers_in_turn(const X& x, const Layer& layer, const Rest&... rest) {
  return layers_in_turn(tree::detail::settle(layer(x)), rest...);
}

// A module as it is; a function as a part of the structure.
template <class F>
using LayerOf = std::conditional_t<tree::detail::node_kind<F>() == tree::NodeKind::none, tree::Static<F>, F>;

}  // namespace detail

namespace nn {

// Calls each layer with the result of the one before. Made by sequential().
template <class... Layers>
struct Sequential {
  std::tuple<Layers...> layers;

  template <class X>
  auto operator()(const X& x) const {
    return std::apply([&](const auto&... layer) { return nax::detail::layers_in_turn(x, layer...); }, layers);
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
