#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "nax/nn/softmax.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"

// Attention, with the shapes and arguments of jax.nn.
NAX_BEGIN
namespace nn {

// How far a query sees to its left and right: one number for both; everything when not given.
class AttentionWindow {
 public:
  AttentionWindow() = default;
  template <std::integral I>
  AttentionWindow(I both) : given(true), left(static_cast<std::int64_t>(both)), right(left) {}
  template <std::integral I, std::integral J>
  AttentionWindow(I l, J r)
      : given(true), left(static_cast<std::int64_t>(l)), right(static_cast<std::int64_t>(r)) {}
  bool given = false;
  std::int64_t left = 0, right = 0;
};

template <class T>
struct AttentionOptions {
  std::optional<Array<T>> bias = {};     // added to the logits; broadcasts to (B, N, T, S)
  std::optional<Array<bool>> mask = {};  // where it is false a query does not see the key; the same
  std::optional<double> scale = {};      // of the logits, 1 / sqrt(H) when not given
  bool is_causal = false;                // query t sees keys up to t
  std::optional<Array<int>> query_seq_lengths = {};      // (B,): queries behind give zeros
  std::optional<Array<int>> key_value_seq_lengths = {};  // (B,): keys behind are not seen
  AttentionWindow local_window_size = {};
};

}  // namespace nn

namespace detail {

[[noreturn, gnu::cold]] inline void throw_attention(const ArrayBase& q, const ArrayBase& k,
                                                    const ArrayBase& v) {
  raise<ShapeError>(
      {"dot_product_attention: query (B, T, N, H) and key, value (B, S, K, H) do not fit, N a multiple "
       "of K: shapes ",
       q.shape(), ", ", k.shape(), ", ", v.shape()});
}

// A mask or bias over (B, N, T, S), its heads split into the groups of keys.
template <class T>
Array<T> over_groups(const char* what, const Array<T>& x, const Dims& full, std::int64_t keys) {
  check_operand("dot_product_attention", x);
  Dims shape = x.shape();
  bool fits = shape.size() == 4;
  for (std::size_t axis = 0; fits && axis < 4; ++axis) fits = shape[axis] == 1 || shape[axis] == full[axis];
  if (!fits)
    raise<ShapeError>(
        {"dot_product_attention: ", what, " must broadcast to (B, N, T, S) ", full, ", shape ", x.shape()});
  const bool one = shape[1] == 1;
  const Shape split{shape[0], one ? 1 : keys, one ? 1 : full[1] / keys, shape[2], shape[3]};
  return reshape_to("dot_product_attention", x, split);
}

}  // namespace detail

namespace nn {

// softmax(query key^T scale + bias) value: query (B, T, N, H), key and value (B, S, K, H), or all without B;
// where K < N each of the K heads serves N / K of the query's. The result has query's shape. Masks, causality
// and windows combine: a pair that any of them rules out gets no weight. Half types take their softmax in
// float.
template <nax::detail::ArrayLike Q, nax::detail::ArrayLike K, nax::detail::ArrayLike V>
auto dot_product_attention(const Q& query_, const K& key_, const V& value_,
                           const AttentionOptions<typename Q::value_type>& options = {}) {
  using namespace nax::detail;
  using T = inexact_t<typename Q::value_type>;
  using Lane = std::conditional_t<std::is_same_v<T, double>, double, float>;
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
  const std::int64_t batch = q[0], queries = q[1], heads = q[2], width = q[3], keys = k[1], groups = k[2];
  const Shape full{batch, heads, queries, keys};
  // (B, K, N / K, T, H) with (B, K, 1, H, S)
  const Array<T> of_queries =
      query.reshape({batch, queries, groups, heads / groups, width}).transpose({0, 2, 3, 1, 4});
  const Array<T> of_keys = key.reshape({batch, keys, groups, 1, width}).transpose({0, 2, 3, 4, 1});
  const Array<T> of_values = value.reshape({batch, keys, groups, 1, width}).transpose({0, 2, 3, 1, 4});
  const double scale =
      options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(width, 1)));
  Array<Lane> logits = matmul(of_queries, of_keys).template astype<Lane>() * static_cast<Lane>(scale);
  if (options.bias)
    logits = logits + over_groups("bias", *options.bias, full, groups).template astype<Lane>();
  std::optional<Array<bool>> seen;
  const auto rule_out = [&](const Array<bool>& m) { seen = seen ? Array<bool>(logical_and(*seen, m)) : m; };
  if (options.mask) rule_out(over_groups("mask", *options.mask, full, groups));
  const ComputeOn beside_query(query);
  const auto rows = arange<std::int64_t>(queries).reshape({queries, 1}),
             columns = arange<std::int64_t>(keys).reshape({1, keys});
  if (options.is_causal) rule_out(columns <= rows);
  if (options.local_window_size.given) {
    rule_out(rows <= columns + options.local_window_size.left);
    rule_out(rows >= columns - options.local_window_size.right);
  }
  const auto lengths = [&](const Array<int>& n) {
    if (n.ndim() != 1 || n.shape(0) != batch)
      raise<ShapeError>({"dot_product_attention: sequence lengths must have shape (B,), not ", n.shape()});
    return n.reshape({batch, 1, 1, 1, 1});
  };
  if (options.key_value_seq_lengths) rule_out(columns < lengths(*options.key_value_seq_lengths));
  if (options.query_seq_lengths) rule_out(rows < lengths(*options.query_seq_lengths));
  constexpr Lane least = static_cast<Lane>(-0.7) * std::numeric_limits<Lane>::max();
  if (seen) logits = where(*seen, logits, least);
  Array<T> result = matmul(softmax(logits).template astype<T>(), of_values)
                        .transpose({0, 3, 1, 2, 4})
                        .reshape({batch, queries, heads, width});
  if (options.query_seq_lengths)
    result = where(
        rows.reshape({1, queries, 1, 1}) < lengths(*options.query_seq_lengths).reshape({batch, 1, 1, 1}),
        result, T(0));
  if (single) result = result.reshape({queries, heads, width});
  return result;
}

// Multi-head attention: projections to N heads of H, attention, and a projection back.
template <class T>
struct MultiHeadParams {
  Array<T> query, key, value;  // (E, N, H); key and value may have fewer heads
  Array<T> out;                // (N, H, E)
  std::optional<Array<T>> query_bias = {}, key_bias = {}, value_bias = {};  // (N, H)
  std::optional<Array<T>> out_bias = {};                                    // (E,)
};

}  // namespace nn

namespace detail {

// x (..., E) times w (E, N, H), plus bias.
template <class T>
Array<T> project_heads(const Array<T>& x, const Array<T>& w, const std::optional<Array<T>>& bias) {
  const Array<T> y = tensordot(x, w, {.axes = 1});
  return bias ? Array<T>(y + *bias) : y;
}

}  // namespace detail

namespace nn {

// x (..., T, E) attends to `memory` (..., S, E): the same x for self-attention. Options as
// dot_product_attention's.
template <class T>
Array<T> multi_head_attention(const MultiHeadParams<T>& params, const Array<T>& x, const Array<T>& memory,
                              const AttentionOptions<T>& options = {}) {
  using nax::detail::project_heads;
  const Array<T> heads = dot_product_attention(
      project_heads(x, params.query, params.query_bias), project_heads(memory, params.key, params.key_bias),
      project_heads(memory, params.value, params.value_bias), options);
  const Array<T> y = tensordot(heads, params.out, {.axes = 2});
  return params.out_bias ? Array<T>(y + *params.out_bias) : y;
}
template <class T>
Array<T> multi_head_attention(const MultiHeadParams<T>& params, const Array<T>& x,
                              const AttentionOptions<T>& options = {}) {
  return multi_head_attention(params, x, x, options);
}

}  // namespace nn
NAX_END
