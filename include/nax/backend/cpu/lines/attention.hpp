#pragma once

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/kernel_slots.hpp"

// Attention on the host: its operands and its kernels, which attention_kernels.hpp defines.
NAX_BEGIN
namespace cpu {

struct AttentionSizes {
  std::int64_t batch, heads, groups, queries, keys, width;  // heads / groups share the keys of one group

  std::int64_t group_of(std::int64_t head) const { return head / (heads / groups); }
};

// (batch, rows, heads, width), the last axis contiguous; `batches` holds the offset of each example.
template <class T>
struct AttentionRows {
  T* data;
  const std::int64_t* batches;
  std::int64_t row, head;

  T* at(std::int64_t batch, std::int64_t h, std::int64_t i) const {
    return data + batches[batch] + h * head + i * row;
  }
};

// (batch, heads, queries, keys) with strides of zero where it broadcasts; no data: there is none.
template <class T>
struct AttentionPlane {
  const T* data = nullptr;
  const std::int64_t* batches = nullptr;
  std::int64_t head = 0, row = 0, column = 0;

  const T* at(std::int64_t batch, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return data + batches[batch] + h * head + i * row + j * column;
  }
};

// Which keys a query sees, and what is added to its logits.
template <class T>
struct AttentionView {
  AttentionPlane<bool> mask;
  AttentionPlane<T> bias;
  const std::int64_t *query_lengths = nullptr, *key_lengths = nullptr;  // one an example; null: all
  bool causal = false, window = false;
  std::int64_t left = 0, right = 0;

  struct Range {
    std::int64_t begin, end;
  };
  // The keys among which those are that query t sees.
  Range keys_of(std::int64_t batch, std::int64_t t, std::int64_t keys) const {
    Range r{0, keys};
    if (key_lengths) r.end = std::clamp<std::int64_t>(key_lengths[batch], 0, r.end);
    if (causal) r.end = std::min(r.end, t + 1);
    if (window) r = {std::max(r.begin, t - left), std::min(r.end, t + right + 1)};
    if (query_lengths && t >= query_lengths[batch]) r.end = r.begin;
    return r;
  }
  bool is_padding(std::int64_t batch, std::int64_t t) const {
    return query_lengths && t >= query_lengths[batch];
  }
};

// Operands of attention. `logarithms`: (batch, heads, queries, 2), or null where no derivative will
// be asked for: of each row the greatest logit, and log(sum(exp(logits - greatest))).
template <class T>
struct AttentionCall {
  const AttentionSizes& sizes;
  const AttentionView<T>& view;
  T scale;
  AttentionRows<const T> q, k, v;
  AttentionRows<T> out;
  T* logarithms;
};
// Operands of its derivatives. The keys' and the values' begin as zeros; `dq` is overwritten.
template <class T>
struct AttentionGradients {
  const AttentionSizes& sizes;
  const AttentionView<T>& view;
  T scale;
  AttentionRows<const T> q, k, v, out, g;
  const T* logarithms;  // at `logarithm_batches`, then (heads, queries, 2)
  const std::int64_t* logarithm_batches;
  AttentionRows<T> dq, dk, dv;
};

template <class T>
void attend(const AttentionCall<T>& call);
template <class T>
void attention_gradient(const AttentionGradients<T>& call);

// They take the address of their operands.
struct AttentionKernel {
  static constexpr const char* name = "dot_product_attention";
  using Function = void(const void*);
  template <class T>
  static void run(const void* call) {
    attend(*static_cast<const AttentionCall<T>*>(call));
  }
};
struct AttentionGradientKernel {
  static constexpr const char* name = "dot_product_attention";
  using Function = void(const void*);
  template <class T>
  static void run(const void* call) {
    attention_gradient(*static_cast<const AttentionGradients<T>*>(call));
  }
};

}  // namespace cpu
NAX_END
