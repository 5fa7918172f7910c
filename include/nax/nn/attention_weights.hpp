#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "nax/nn/softmax.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"

// Attention's options, and attention by its formula: the weights of all pairs of queries and keys, stored.
NAX_BEGIN
namespace nn {

// How far a query sees to its left and right: one number for both; everything when not given.
class AttentionWindow {
 public:
  AttentionWindow() = default;
  template <std::integral I>
  AttentionWindow(I both) : given(true), left(bounded(both)), right(left) {}
  template <std::integral I, std::integral J>
  AttentionWindow(I l, J r) : given(true), left(bounded(l)), right(bounded(r)) {}
  bool given = false;
  std::int64_t left = 0, right = 0;

 private:
  // No sequence is as long as 2^40; sums with positions stay in range.
  template <std::integral I>
  static constexpr std::int64_t bounded(I count) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if constexpr (sizeof(I) < 8)
      return static_cast<std::int64_t>(count);
    else if (std::cmp_greater(count, most))
      return most;
    else if (std::cmp_less(count, -most))
      return -most;
    else
      return static_cast<std::int64_t>(count);
  }
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

// A mask or bias over (B, N, T, S), its heads split into the groups of keys.
template <class T>
Array<T> over_groups(const char* what, const Array<T>& x, const Dims& full, std::int64_t keys) {
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

// x (B, T, N, H) as (B, groups, N / groups, T, H).
template <class T>
Array<T> by_groups(const Array<T>& x, std::int64_t groups) {
  const Shape s = x.shape();
  return x.reshape({s[0], s[1], groups, s[2] / groups, s[3]}).transpose({0, 2, 3, 1, 4});
}
template <class T>
Array<T> from_groups(const Array<T>& x) {
  const Shape s = x.shape();
  return x.transpose({0, 3, 1, 2, 4}).reshape({s[0], s[3], s[1] * s[2], s[4]});
}

// The operands of dot_product_attention, checked: query (B, T, N, H), key and value (B, S, K, H).
template <class T>
struct AttentionTerms {
  using Lane = std::conditional_t<std::is_same_v<T, double>, double, float>;
  Array<T> query, key, value;
  nn::AttentionOptions<T> options;

  std::int64_t groups() const { return key.shape(2); }
  Lane scale() const {
    const double width = static_cast<double>(std::max<std::int64_t>(query.shape(3), 1));
    return static_cast<Lane>(options.scale ? *options.scale : 1 / std::sqrt(width));
  }
  bool is_recorded() const {
    return detail::is_recorded(query) || detail::is_recorded(key) || detail::is_recorded(value);
  }
  Shape full() const { return {query.shape(0), query.shape(2), query.shape(1), key.shape(1)}; }

  void check() const {
    const std::int64_t batch = query.shape(0);
    if (options.bias) check_operand("dot_product_attention", *options.bias);
    if (options.mask) check_operand("dot_product_attention", *options.mask);
    if (options.bias) static_cast<void>(over_groups("bias", *options.bias, full(), groups()));
    if (options.mask) static_cast<void>(over_groups("mask", *options.mask, full(), groups()));
    for (const auto* n : {&options.query_seq_lengths, &options.key_value_seq_lengths})
      if (*n && ((*n)->ndim() != 1 || (*n)->shape(0) != batch))
        raise<ShapeError>(
            {"dot_product_attention: sequence lengths must have shape (B,), not ", (*n)->shape()});
  }

  Array<int> lengths(const Array<int>& n) const { return n.reshape({n.shape(0), 1, 1, 1, 1}); }
  Array<std::int64_t> rows() const {
    return arange<std::int64_t>(query.shape(1)).reshape({query.shape(1), 1});
  }
  // The pairs that are not ruled out; none where all are seen.
  std::optional<Array<bool>> seen() const {
    std::optional<Array<bool>> all;
    const auto rule_out = [&](const Array<bool>& m) { all = all ? Array<bool>(logical_and(*all, m)) : m; };
    if (options.mask) rule_out(over_groups("mask", *options.mask, full(), groups()));
    const ComputeOn beside_query(query);
    const auto queries = rows(), columns = arange<std::int64_t>(key.shape(1)).reshape({1, key.shape(1)});
    if (options.is_causal) rule_out(columns <= queries);
    if (options.local_window_size.given) {
      rule_out(queries <= columns + options.local_window_size.left);
      rule_out(queries >= columns - options.local_window_size.right);
    }
    if (options.key_value_seq_lengths) rule_out(columns < lengths(*options.key_value_seq_lengths));
    if (options.query_seq_lengths) rule_out(queries < lengths(*options.query_seq_lengths));
    return all;
  }

  // (B, K, N / K, T, S)
  Array<Lane> weights() const {
    const Array<T> to_keys = by_groups(key, groups()).transpose({0, 1, 2, 4, 3});
    Array<Lane> logits = matmul(by_groups(query, groups()), to_keys).template astype<Lane>() * scale();
    if (options.bias)
      logits = logits + over_groups("bias", *options.bias, full(), groups()).template astype<Lane>();
    constexpr Lane least = static_cast<Lane>(-0.7) * std::numeric_limits<Lane>::max();
    if (const auto some = seen()) logits = where(*some, logits, least);
    return nn::softmax(logits);
  }
  // x (B, K, N / K, T, H), zero for queries behind the end.
  Array<T> padded(const Array<T>& x) const {
    if (!options.query_seq_lengths) return x;
    const ComputeOn beside_query(query);
    return where(rows() < lengths(*options.query_seq_lengths), x, T(0));
  }
  Array<T> result() const {
    const Array<T> heads = matmul(weights().template astype<T>(), by_groups(value, groups()));
    return from_groups<T>(padded(heads));
  }

  // p (x - sum(p x)), zero for what is ruled out: the derivative of the weights p by the logits, which is
  // symmetric.
  Array<T> along_logits(const Array<T>& p, const Array<T>& x) const {
    const Array<T> slopes = p * (x - sum(p * x, {.axis = -1, .keepdims = true}));
    const auto some = seen();
    return some ? Array<T>(where(*some, slopes, T(0))) : slopes;
  }
  // The cotangents of query, key and value for that of the result. Not recorded.
  std::array<Array<T>, 3> gradients(const Array<T>& g) const {
    const auto turned = [](const Array<T>& x) { return x.transpose({0, 1, 2, 4, 3}); };
    const auto of_group = [](const Array<T>& x) {
      return from_groups<T>(sum(x, {.axis = 2, .keepdims = true}));
    };
    const Array<T> along = padded(by_groups(g, groups()));
    const Array<Lane> p = weights();
    const Array<Lane> x = matmul(along, turned(by_groups(value, groups()))).template astype<Lane>();
    const Array<Lane> mean = sum(p * x, {.axis = -1, .keepdims = true});
    const auto some = seen();
    const Array<T> slopes =
        some ? Array<T>(where(*some, p * (x - mean) * scale(), Lane(0)).template astype<T>())
             : Array<T>((p * (x - mean) * scale()).template astype<T>());
    return {from_groups<T>(matmul(slopes, by_groups(key, groups()))),
            of_group(matmul(turned(slopes), by_groups(query, groups()))),
            of_group(matmul(turned(p.template astype<T>()), along))};
  }
  // The cotangent of operand `which` for that of the result.
  Array<T> gradient(const Array<T>& g, std::size_t which) const {
    const auto turned = [](const Array<T>& x) { return x.transpose({0, 1, 2, 4, 3}); };
    const auto of_group = [](const Array<T>& x) {
      return from_groups<T>(sum(x, {.axis = 2, .keepdims = true}));
    };
    const Array<T> p = weights().template astype<T>(), along = padded(by_groups(g, groups()));
    if (which == 2) return of_group(matmul(turned(p), along));
    const Array<T> slopes =
        along_logits(p, matmul(along, turned(by_groups(value, groups())))) * static_cast<T>(scale());
    if (which == 0) return from_groups<T>(matmul(slopes, by_groups(key, groups())));
    return of_group(matmul(turned(slopes), by_groups(query, groups())));
  }
  // The tangent of the result for that of operand `which`.
  Array<T> tangent(const Array<T>& t, std::size_t which) const {
    const Array<T> p = weights().template astype<T>(), moved = by_groups(t, groups());
    if (which == 2) return from_groups<T>(padded(matmul(p, moved)));
    const Array<T> left = which == 0 ? moved : by_groups(query, groups()),
                   right = which == 1 ? moved : by_groups(key, groups());
    const Array<T> logits = matmul(left, right.transpose({0, 1, 2, 4, 3})) * static_cast<T>(scale());
    return from_groups<T>(padded(matmul(along_logits(p, logits), by_groups(value, groups()))));
  }
};

}  // namespace detail
NAX_END
