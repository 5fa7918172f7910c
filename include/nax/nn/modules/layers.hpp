#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "nax/core/where_used.hpp"
#include "nax/nn/activations.hpp"
#include "nax/nn/conv.hpp"
#include "nax/nn/embedding.hpp"
#include "nax/nn/initializers.hpp"
#include "nax/nn/int8_linear.hpp"
#include "nax/nn/layers.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/tree/static.hpp"

// Modules: parameters and the function that they belong to, as plain structs. A struct of modules is a
// module.
//
// A module is a tree whose leaves are its parameters, so grad, vmap, tree::map, optimisers and io::save take
// it as it is. Options that shapes depend on are tree::Static fields, which no transform touches. make()
// draws first values; operator() computes.
NAX_BEGIN
namespace nn {

struct LinearOptions {
  std::int64_t in = 0, out = 0;
  bool bias = true;
};
// x w + b: x (..., in) to (..., out). The weights are drawn by lecun_normal, biases are 0.
template <class T = float>
struct Linear {
  Array<T> w;                           // (in, out)
  std::optional<Array<T>> b = {};       // (out,)
  nax::detail::Int8Field<1> int8 = {};  // by quantize()

  static Linear make(const random::Key& key, const LinearOptions& options) {
    Linear made{initializers::lecun_normal<T>(key, {options.in, options.out})};
    if (options.bias) made.b = zeros<T>({options.out});
    return made;
  }
  // The activation of x w + b.
  Array<T> operator()(const Array<T>& x, Activation activation = Activation::identity) const {
    if (int8[0])
      if (auto y = nax::detail::int8_linear(int8[0], x, w, b, activation)) return *std::move(y);
    if (b) return linear(x, w, *b, activation);
    if (activation == Activation::identity) return matmul(x, w);
    return linear(x, w, zeros<T>({w.shape(1)}), activation);
  }
  // y plus the layer of x: on a GPU the product adds y.
  Array<T> add_to(const Array<T>& y, const Array<T>& x) const {
    if (b && !int8[0]) return add_linear(y, x, w, *b);
    return Array<T>(y + (*this)(x));
  }
};

struct ConvModuleOptions {
  std::int64_t in = 0, out = 0;
  Shape kernel = {};  // one extent for each spatial axis
  bool bias = true;
  ConvOptions conv = {};  // strides, padding, dilation, groups
};
// The convolution of x (N, spatial..., in), channels last, plus a bias for each channel.
template <class T = float>
struct Conv {
  Array<T> w;                      // (kernel..., in / groups, out)
  std::optional<Array<T>> b = {};  // (out,)
  tree::Static<nax::detail::where_used_t<ConvOptions, T>> options = {};

  static Conv make(const random::Key& key, const ConvModuleOptions& options) {
    const std::int64_t groups = options.conv.feature_group_count;
    if (groups < 1 || options.in % groups != 0 || options.out % groups != 0)
      raise<ValueError>(
          {"Conv: ", groups, " groups must divide ", options.in, " and ", options.out, " channels"});
    Shape shape = options.kernel;
    shape.push_back(options.in / groups), shape.push_back(options.out);
    Conv made{initializers::lecun_normal<T>(key, shape), {}, options.conv};
    if (options.bias) made.b = zeros<T>({options.out});
    return made;
  }
  Array<T> operator()(const Array<T>& x) const {
    const Array<T> y = conv(x, w, *options);
    return b ? Array<T>(y + *b) : y;
  }
};

struct ConvTransposeModuleOptions {
  std::int64_t in = 0, out = 0;
  Shape kernel = {};  // one extent for each spatial axis
  bool bias = true;
  ConvTransposeOptions conv = {};  // strides, padding, dilation
};
// The transposed convolution of x (N, spatial..., in), channels last, plus a bias for each channel. PyTorch's
// padding and output_padding: `.conv = {.strides = s, .padding = transposed_padding(kernel, padding)}`.
template <class T = float>
struct ConvTranspose {
  Array<T> w;                      // (kernel..., in, out)
  std::optional<Array<T>> b = {};  // (out,)
  tree::Static<nax::detail::where_used_t<ConvTransposeOptions, T>> options = {};

  static ConvTranspose make(const random::Key& key, const ConvTransposeModuleOptions& options) {
    Shape shape = options.kernel;
    shape.push_back(options.in), shape.push_back(options.out);
    ConvTranspose made{initializers::lecun_normal<T>(key, shape), {}, options.conv};
    if (options.bias) made.b = zeros<T>({options.out});
    return made;
  }
  Array<T> operator()(const Array<T>& x) const {
    const Array<T> y = conv_transpose(x, w, *options);
    return b ? Array<T>(y + *b) : y;
  }
};

struct PReLUOptions {
  std::int64_t features = 1;  // slopes: one for all channels, or one for each
  double slope = 0.25;
};
// prelu of x (..., features), or of any x where there is one slope.
template <class T = float>
struct PReLU {
  Array<T> slope;  // (features,)

  static PReLU make(const PReLUOptions& options = {}) {
    return {full<T>({options.features}, static_cast<T>(options.slope))};
  }
  Array<T> operator()(const Array<T>& x) const { return prelu(x, slope); }
};

struct EmbeddingOptions {
  std::int64_t count = 0, features = 0;
  std::optional<std::int64_t> padding_idx = {};  // a row of zeros that is not trained
};
// Rows of a table by their numbers: (...) to (..., features). Draws have the variance 1 / features.
template <class T = float>
struct Embedding {
  Array<T> table;  // (count, features)
  tree::Static<nax::detail::where_used_t<std::optional<std::int64_t>, T>> padding_idx = {};
  nax::detail::Int8Field<1> int8 = {};  // by quantize(), for attend()

  static Embedding make(const random::Key& key, const EmbeddingOptions& options) {
    const double deviation = 1 / std::sqrt(static_cast<double>(options.features));
    Embedding made{initializers::normal<T>(key, {options.count, options.features}, {.stddev = deviation}),
                   options.padding_idx};
    if (options.padding_idx) made.table = made.table.at(*options.padding_idx).set(T(0));
    return made;
  }
  template <nax::detail::ArrayLike I>
  Array<T> operator()(const I& indices) const {
    return embedding(table, indices, {.padding_idx = *padding_idx});
  }
  // The logits of a model whose output shares the table: x (..., features) to (..., count).
  Array<T> attend(const Array<T>& x) const {
    if (int8[0])
      if (auto y = nax::detail::int8_linear(int8[0], x, table, {})) return *std::move(y);
    return matmul(x, table.T());
  }
};

struct BagOptions {
  std::int64_t count = 0, features = 0;
  std::string mode = "mean";                     // or "sum", "max"
  std::optional<std::int64_t> padding_idx = {};  // numbers that are left out
};
// The mean, sum or largest elements of a table's rows by the numbers of bags: (..., L) to (..., features).
template <class T = float>
struct EmbeddingBag {
  Array<T> table;  // (count, features)
  tree::Static<nax::detail::where_used_t<std::string, T>> mode = "mean";
  tree::Static<nax::detail::where_used_t<std::optional<std::int64_t>, T>> padding_idx = {};

  static EmbeddingBag make(const random::Key& key, const BagOptions& options) {
    const auto made = Embedding<T>::make(key, {options.count, options.features, options.padding_idx});
    return {made.table, options.mode, options.padding_idx};
  }
  template <nax::detail::ArrayLike I>
  Array<T> operator()(const I& bags, const std::optional<Array<T>>& weights = {}) const {
    return embedding_bag(table, bags, {*mode, *padding_idx, weights});
  }
};

// Sets each element to zero with the probability `rate`, by dropout(). Without a key, as in use, x stays.
struct Dropout {
  tree::Static<double> rate = 0.5;

  template <nax::detail::ArrayLike X>
  Array<typename X::value_type> operator()(const random::Key& key, const X& x) const {
    return dropout(key, *rate, x);
  }
  template <nax::detail::ArrayLike X>
  Array<typename X::value_type> operator()(const X& x) const {
    return x;
  }
};

}  // namespace nn
NAX_END
