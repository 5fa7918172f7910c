#pragma once

#include <optional>

#include "nax/nn/attention_call.hpp"
#include "nax/nn/int8_linear.hpp"
#include "nax/nn/layers.hpp"
#include "nax/numpy/products/dot.hpp"

// Attention, with the shapes and arguments of jax.nn.
NAX_BEGIN
namespace detail {

[[noreturn, gnu::cold]] inline void throw_attention(const ArrayBase& q, const ArrayBase& k,
                                                    const ArrayBase& v) {
  raise<ShapeError>(
      {"dot_product_attention: query (B, T, N, H) and key, value (B, S, K, H) do not fit, N a multiple "
       "of K: shapes ",
       q.shape(), ", ", k.shape(), ", ", v.shape()});
}

}  // namespace detail

namespace nn {

// softmax(query key^T scale + bias) value: query (B, T, N, H), key and value (B, S, K, H), or all without B;
// where K < N each of the K heads serves N / K of the query's. The result has query's shape. Masks, causality
// and windows combine: a pair that any of them rules out has a logit of -0.7 times the greatest number, as in
// JAX, and so no weight but in rows whose seen logits all lie below it, or that see none; kernels of GPUs
// keep seen logits above it. On the host, memory grows with T + S and not with T S, for the gradient too;
// those of a differentiated bias and second derivatives store all pairs. On a GPU values and gradients store
// none, for heads of up to 128 elements of float, half or bfloat16; other derivatives store them while one is
// computed. Half types are computed in float, but a GPU rounds weights to them. Throws ShapeError if query,
// key, value, bias, mask or sequence lengths do not fit.
template <nax::detail::ArrayLike Q, nax::detail::ArrayLike K, nax::detail::ArrayLike V>
auto dot_product_attention(const Q& query_, const K& key_, const V& value_,
                           const AttentionOptions<typename Q::value_type>& options = {}) {
  using namespace nax::detail;
  using T = inexact_t<typename Q::value_type>;
  using Lane = typename AttentionTerms<T>::Lane;
  Array<T> query = as_type<T>(query_), key = as_type<T>(key_), value = as_type<T>(value_);
  for (const Array<T>* x : {&query, &key, &value}) check_operand("dot_product_attention", *x);
  const bool single = query.ndim() == 3;
  if (single && key.ndim() == 3 && value.ndim() == 3)
    for (Array<T>* x : {&query, &key, &value}) {
      Dims shape = x->shape();
      shape.insert(0, 1);
      *x = reshape_to("dot_product_attention", *x, Shape(shape));
    }
  const Shape q = query.shape(), k = key.shape();
  if (q.size() != 4 || k.size() != 4 || !(value.shape() == k) || q[0] != k[0] || q[3] != k[3] || k[2] == 0 ||
      q[2] % k[2] != 0)
    throw_attention(query, key, value);
  const auto terms_in = [&]<class L>(std::type_identity<L>) {
    const auto cast = [](const auto& x) -> Array<L> { return x.template astype<L>(); };
    AttentionTerms<L> terms{cast(query),
                            cast(key),
                            cast(value),
                            {.mask = options.mask,
                             .scale = options.scale,
                             .is_causal = options.is_causal,
                             .query_seq_lengths = options.query_seq_lengths,
                             .key_value_seq_lengths = options.key_value_seq_lengths,
                             .local_window_size = options.local_window_size}};
    if (options.bias) terms.options.bias = cast(*options.bias);
    terms.check();
    return terms;
  };
  const AttentionTerms<T> terms = terms_in(std::type_identity<T>());
  Array<T> result = attend_by_operation(terms);
  if constexpr (!std::is_same_v<T, Lane>)
    if (!holds_value(result))
      if (const Array<Lane> wide = attend_by_operation(terms_in(std::type_identity<Lane>()));
          holds_value(wide))
        result = wide.template astype<T>();
  if (!holds_value(result)) result = terms.result();
  if (single) result = result.reshape({q[1], q[2], q[3]});
  return result;
}

// Multi-head attention: projections to N heads of H, attention, and a projection back.
template <class T>
struct MultiHeadParams {
  Array<T> query, key, value;  // (E, N, H); key and value may have fewer heads
  Array<T> out;                // (N, H, E)
  std::optional<Array<T>> query_bias = {}, key_bias = {}, value_bias = {};  // (N, H)
  std::optional<Array<T>> out_bias = {};                                    // (E,)
  nax::detail::Int8Field<4> int8 = {};  // by quantize(): query, key, value, out
};

}  // namespace nn

namespace detail {

// Whether the device multiplies by a matrix and adds a bias in one launch.
template <class T>
bool has_linear(const Array<T>& x) {
  return backend::has<ops::Linear>(x.device(), dtype_of<T>);
}

// x (..., n) times w (n, m), plus bias, plus `added` where it is given, in one launch; an array without a
// buffer where no GPU has a kernel.
template <class T>
Array<T> project_on_device(const Array<T>& x, const Array<T>& w, const Array<T>& bias,
                           const Array<T>* added = nullptr) {
  return linear_in_one(x, w, Array<T>(bias.reshape({-1})), loops::Activation::identity, added);
}

// x (..., E) as a matrix of rows, for several products of it on a GPU; else x.
template <class T>
Array<T> rows_on_device(const Array<T>& x) {
  const Layout& layout = layout_of(x);
  const bool joins = has_linear(x) && x.ndim() > 2 && layout.is_contiguous() && layout.size() > 0;
  return joins ? Array<T>(x.reshape({-1, x.shape(-1)})) : x;
}
// x (..., E) times w (E, N, H), plus bias; `rows` are those of x.
template <class T>
Array<T> project_heads(const Array<T>& x, const Array<T>& rows, const Array<T>& w,
                       const std::optional<Array<T>>& bias, const Int8Ref& int8 = {}) {
  const auto by_heads = [&](const Array<T>& y) {
    Shape shape = x.shape();
    shape.back() = w.shape(1), shape.push_back(w.shape(2));
    return y.reshape(shape);
  };
  if (int8)
    if (const auto y = int8_linear(int8, x, w, bias)) return by_heads(*y);
  if (bias && has_linear(x))
    if (const Array<T> y = project_on_device(rows, Array<T>(w.reshape({w.shape(0), -1})), *bias);
        holds_value(y))
      return by_heads(y);
  const Array<T> y = tensordot(x, w, {.axes = 1});
  return bias ? Array<T>(y + *bias) : y;
}
// The heads x (..., N, H) times w (N, H, E), plus bias, plus `added` where it is given.
template <class T>
Array<T> join_heads(const Array<T>& x, const nn::MultiHeadParams<T>& params,
                    const Array<T>* added = nullptr) {
  const auto with_added = [&](const auto& y) { return added ? Array<T>(*added + y) : Array<T>(y); };
  const bool on_device = params.out_bias && has_linear(x);
  if ((params.int8[3] || on_device) && x.ndim() > 1) {
    Shape shape = x.shape();
    shape.pop_back();
    shape.back() = x.shape(-2) * x.shape(-1);
    const Array<T> joined = x.reshape(shape);
    if (params.int8[3])
      if (auto y = int8_linear(params.int8[3], joined, params.out, params.out_bias)) return with_added(*y);
    if (on_device)
      if (Array<T> y = project_on_device(joined, Array<T>(params.out.reshape({-1, params.out.shape(-1)})),
                                         *params.out_bias, added);
          holds_value(y))
        return y;
  }
  const Array<T> y = tensordot(x, params.out, {.axes = 2});
  return params.out_bias ? with_added(y + *params.out_bias) : with_added(y);
}

// The attention of x to `memory` after its projections, plus `added` where it is given.
template <class T>
Array<T> attend_heads(const nn::MultiHeadParams<T>& params, const Array<T>& x, const Array<T>& memory,
                      const nn::AttentionOptions<T>& options, const Array<T>* added) {
  const auto& int8 = params.int8;
  const Array<T> rows = rows_on_device(x), of_memory = &memory == &x ? rows : rows_on_device(memory);
  const Array<T> heads = nn::dot_product_attention(
      project_heads(x, rows, params.query, params.query_bias, int8[0]),
      project_heads(memory, of_memory, params.key, params.key_bias, int8[1]),
      project_heads(memory, of_memory, params.value, params.value_bias, int8[2]), options);
  return join_heads(heads, params, added);
}

}  // namespace detail

namespace nn {

// x (..., T, E) attends to `memory` (..., S, E): the same x for self-attention. Options as
// dot_product_attention's. The result has the shape of x.
template <class T>
Array<T> multi_head_attention(const MultiHeadParams<T>& params, const Array<T>& x, const Array<T>& memory,
                              const AttentionOptions<T>& options = {}) {
  return nax::detail::attend_heads<T>(params, x, memory, options, nullptr);
}
template <class T>
Array<T> multi_head_attention(const MultiHeadParams<T>& params, const Array<T>& x,
                              const AttentionOptions<T>& options = {}) {
  return multi_head_attention(params, x, x, options);
}

}  // namespace nn
NAX_END
