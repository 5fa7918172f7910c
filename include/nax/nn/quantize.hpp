#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/nn/modules.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Models whose weights are 8-bit integers.
NAX_BEGIN
namespace nn {

struct QuantizeOptions {
  bool keep_weights = true;  // false: the floats' memory is released
  bool embeddings = false;   // also the tables that Embedding::attend() multiplies by
};

}  // namespace nn

namespace detail {

class Quantizer {
 public:
  explicit Quantizer(const nn::QuantizeOptions& options) : options_(options) {}
  // Gives the modules what was made for them, if anything was.
  bool finish() {
    for (const auto& one : work_) one();
    return found_ || !work_.empty();
  }

  template <class M>
  void visit(M& m) {
    using tree::NodeKind;
    constexpr NodeKind kind = tree::detail::kind_of<M>;
    if constexpr (kind == NodeKind::sequence) {
      for (auto& one : m) visit(one);
    } else if constexpr (kind == NodeKind::map) {
      for (auto& [key, one] : m) visit(one);
    } else if constexpr (kind == NodeKind::optional) {
      if (m) visit(*m);
    } else if constexpr (kind == NodeKind::product) {
      product(m);
    }
  }

 private:
  template <class M>
  void product(M& m) {
    std::apply([&](auto&... child) { (visit(child), ...); }, tree::detail::children(m));
  }
  template <class T>
  void product(nn::Linear<T>& m) {
    pack(m.int8[0], m.w, m.w.ndim() == 2, 1, !options_.keep_weights);
  }
  template <class T>
  void product(nn::MultiHeadParams<T>& m) {
    Array<T>* const weights[] = {&m.query, &m.key, &m.value, &m.out};
    for (int i = 0; i < 4; ++i)
      pack(m.int8[i], *weights[i], weights[i]->ndim() == 3, i < 3 ? 1 : 2, !options_.keep_weights);
  }
  template <class T>
  void product(nn::Embedding<T>& m) {
    if (options_.embeddings) pack(m.int8[0], m.table, m.table.ndim() == 2, 0, false);
  }
  // Their weights are made anew in each call.
  template <class Layer>
  void product(nn::WeightNorm<Layer>&) {}
  template <class Layer>
  void product(nn::SpectralNorm<Layer>&) {}

  // w (k, n), of which `inner` axes are k's; 0: w (n, k).
  template <class T>
  void pack(Int8Ref& to, Array<T>& w, bool fits, int inner, bool release) {
    if constexpr (is_int8_source<T>) {
      check_operand("quantize", w);
      need_host("quantize", w);
      if (is_recorded(w) || is_batched(w))
        throw ValueError("quantize: the weights belong to a transform that is at work");
      if (!fits) return;
      if (to && to->released && to->made_of(w)) {
        found_ = true;
        return;
      }
      std::int64_t k = 1;
      for (int axis = 0; axis < std::max(inner, 1); ++axis) k *= w.shape(axis);
      if (k == 0 || w.size() == 0) return;
      if (inner == 0) k = w.shape(1);
      if (k > loops::most_int8_steps) return;
      if (!layout_of(w).is_contiguous()) w = copy(w);
      const Array<float> floats = as_type<float>(w);
      const Array<float> matrix =
          inner == 0 ? Array<float>(floats.T()) : Array<float>(floats.reshape({k, w.size() / k}));
      const Array<T> nan(static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
      const Array<T> source = release ? Array<T>(broadcast_to(nan, w.shape())) : w;
      work_.push_back([&to, &w, source, made = Int8Packing::make(matrix, source, release, inner == 0)] {
        to = made;
        w = source;
      });
    }
  }

  const nn::QuantizeOptions options_;
  bool found_ = false;  // a module that is quantised already
  std::vector<std::function<void()>> work_;
};

}  // namespace detail

namespace nn {

// Gives the model's linear layers and attention's projections weights (k, n) of 8-bit integers, with a scale
// for each of n outputs; rows of x are rounded to such integers, too, as they are multiplied. Modules keep
// their types; layers that are not of float, half or bfloat16 stay as they are. A layer computes by its
// floats where these are another array than they were here, are differentiated or mapped over. The derivative
// with respect to x is the floats'. Throws ValueError where the model has no such layer or weights are not
// finite, and DeviceError for weights on a GPU; the model then is as it was.
template <class Model>
void quantize(Model& model, const QuantizeOptions& options = {}) {
  nax::detail::where_used_t<nax::detail::Quantizer, Model> quantizer(options);
  quantizer.visit(model);
  if (!quantizer.finish()) throw ValueError("quantize: the model has no linear layer that can be quantised");
}

}  // namespace nn
NAX_END
