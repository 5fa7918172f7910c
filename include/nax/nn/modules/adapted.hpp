#pragma once

#include <utility>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/nn/experts.hpp"
#include "nax/nn/modules/layers.hpp"
#include "nax/nn/weight_norms.hpp"
#include "nax/random/continuous.hpp"

// Modules around modules: weights by norms, low-rank changes, mixtures.
NAX_BEGIN
namespace nn {

// A layer whose weights `w` are weight_norm(layer.w, length): `WeightNorm<Linear<float>>`.
template <class Layer>
struct WeightNorm {
  Layer layer;
  decltype(Layer::w) length;  // (out,)

  // The layer as it is, its weights by direction and length.
  static WeightNorm make(const Layer& layer) {
    using T = typename decltype(Layer::w)::value_type;
    const auto length = []<class L>(const Array<L>& rows) {
      return Array<L>(sqrt(Array<L>(sum(square(rows), {.axis = 0}))));
    };
    return {layer, nax::detail::in_lanes<T>(length, layer.w.reshape({-1, layer.w.shape(-1)}))};
  }
  // The layer that computes.
  Layer plain() const {
    Layer made = layer;
    made.w = weight_norm(layer.w, length);
    return made;
  }
  template <class... X>
  auto operator()(const X&... x) const {
    return plain()(x...);
  }
};

// A layer whose weights `w` are divided by their largest singular value. The estimate is no parameter: it
// goes in and comes out, as the statistics of BatchNorm do.
//
//   auto u = norm.stats(key);
//   auto [y, next] = norm(x, u);
template <class Layer>
struct SpectralNorm {
  Layer layer;
  tree::Static<nax::detail::where_used_t<SpectralNormOptions, Layer>> options = {};

  using Weights = decltype(Layer::w);
  // The estimate before the first step.
  Weights stats(const random::Key& key) const {
    using T = typename Weights::value_type;
    return random::normal<T>(key, {layer.w.shape(-1)});
  }
  // The layer that computes, and the next estimate.
  std::pair<Layer, Weights> plain(const Weights& u) const {
    auto [w, next] = spectral_norm(layer.w, u, *options);
    Layer made = layer;
    made.w = std::move(w);
    return {std::move(made), std::move(next)};
  }
  template <class X>
  auto operator()(const X& x, const Weights& u) const {
    auto [made, next] = plain(u);
    return std::pair{made(x), std::move(next)};
  }
};

struct LoRAOptions {
  std::int64_t rank = 8;
  double alpha = 8;  // the change is alpha / rank times a b
};
// A linear layer that stays, plus a change of low rank that is trained (Hu and others 2021): base(x) + alpha
// / rank (x a) b. The base gets no gradient; b begins at 0.
template <class T = float>
struct LoRA {
  Linear<T> base;
  Array<T> a, b;  // (in, rank), (rank, out)
  tree::Static<double> alpha = 8;

  static LoRA make(const random::Key& key, const Linear<T>& base, const LoRAOptions& options = {}) {
    const std::int64_t in = base.w.shape(0), out = base.w.shape(1);
    if (options.rank < 1) raise<ValueError>({"LoRA: the rank must be at least 1, got ", options.rank});
    return {base, initializers::lecun_normal<T>(key, {in, options.rank}), zeros<T>({options.rank, out}),
            options.alpha};
  }
  Array<T> operator()(const Array<T>& x) const {
    return stop_gradient(base)(x) + matmul(matmul(x, a), b) * scale();
  }
  // One linear layer that computes the same. Throws ValueError where quantize released the floats.
  Linear<T> merged() const {
    if (const auto& packing = base.int8[0]; packing && packing->released && packing->made_of(base.w))
      throw ValueError("merged: the float weights were released by quantize");
    return {Array<T>(base.w + matmul(a, b) * scale()), base.b};
  }

 private:
  T scale() const { return static_cast<T>(*alpha / static_cast<double>(a.shape(1))); }
};

// A mixture of experts, modules that take x (..., in): each element's result is the sum of those of the k
// experts with the largest logits of the gate, by the softmax of these. All experts compute all elements.
// Add load_balance_loss(gate(x), k) to the loss to use them alike.
template <class Expert, class T = float>
struct MoE {
  Linear<T> gate;  // to as many logits as there are experts
  std::vector<Expert> experts = {};
  tree::Static<std::int64_t> k = 2;

  Array<T> operator()(const Array<T>& x) const {
    const Array<T> shares = top_k_gates(gate(x), *k);
    if (shares.shape(-1) != static_cast<std::int64_t>(experts.size()))
      raise<ShapeError>({"MoE: the gate has ", shares.shape(-1), " logits for ", experts.size(), " experts"});
    std::optional<Array<T>> y;
    for (std::size_t i = 0; i < experts.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i);
      const Array<T> part = shares(ellipsis, slice(at, at + 1)) * experts[i](x);
      y = y ? Array<T>(*y + part) : part;
    }
    return *y;
  }
};

}  // namespace nn
NAX_END
