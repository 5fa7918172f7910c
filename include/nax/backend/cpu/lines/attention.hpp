#pragma once

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/loops/attention.hpp"

// Attention on the host: its operands and its kernels, which attention_kernels.hpp defines.
NAX_BEGIN
namespace cpu {

struct AttentionSizes {
  std::int64_t batch, heads, groups, queries, keys, width;  // heads / groups share the keys of one group

  std::int64_t group_of(std::int64_t head) const { return head / (heads / groups); }
  // Where the two numbers of a row of logits are; those of the next query are 2 heads behind.
  std::int64_t row_number(std::int64_t example, std::int64_t query, std::int64_t head) const {
    return 2 * ((example * queries + query) * heads + head);
  }
};

// (batch, rows, heads, width), the last axis contiguous.
template <class T>
struct AttentionRows {
  T* data;
  std::int64_t batch, row, head;

  explicit AttentionRows(const loops::AttentionRows& x)
      : data(reinterpret_cast<T*>(x.data)), batch(x.batch), row(x.row), head(x.head) {}
  T* at(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return data + b * batch + h * head + i * row;
  }
};

// (batch, heads, queries, keys) with strides of zero where it broadcasts; no data: there is none.
template <class T>
struct AttentionPlane {
  const T* data;
  std::int64_t batch, head, row, column;

  explicit AttentionPlane(const loops::AttentionPlane& x)
      : data(reinterpret_cast<const T*>(x.data)),
        batch(x.batch),
        head(x.head),
        row(x.row),
        column(x.column) {}
  const T* at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return data + b * batch + h * head + i * row + j * column;
  }
};

// Which keys a query sees, and what is added to its logits.
template <class T>
struct AttentionView {
  AttentionPlane<bool> mask;
  AttentionPlane<T> bias;
  loops::AttentionLengths query_lengths, key_lengths;
  bool causal, window;
  std::int64_t left, right;

  explicit AttentionView(const loops::Attention& f)
      : mask(f.mask),
        bias(f.bias),
        query_lengths(f.query_lengths),
        key_lengths(f.key_lengths),
        causal(f.causal),
        window(f.window),
        left(f.left),
        right(f.right) {}

  struct Range {
    std::int64_t begin, end;
  };
  // The keys among which those are that query t sees.
  Range keys_of(std::int64_t batch, std::int64_t t, std::int64_t keys) const {
    Range r{0, keys};
    if (key_lengths.data) r.end = std::clamp<std::int64_t>(length(key_lengths, batch), 0, r.end);
    if (causal) r.end = std::min(r.end, t + 1);
    if (window) r = {std::max(r.begin, t - left), std::min(r.end, t + right + 1)};
    if (is_padding(batch, t)) r.end = r.begin;
    return r;
  }
  bool is_padding(std::int64_t batch, std::int64_t t) const {
    return query_lengths.data && t >= length(query_lengths, batch);
  }

 private:
  static std::int64_t length(const loops::AttentionLengths& x, std::int64_t batch) {
    return x.data[batch * x.batch];
  }
};

// Operands of attention. `logarithms`: (batch, queries, heads, 2), or null where no derivative will be asked
// for: of each row the greatest logit, and log(sum(exp(logits - greatest))).
template <class T>
struct AttentionCall {
  AttentionSizes sizes;
  AttentionView<T> view;
  T scale;
  AttentionRows<const T> q, k, v;
  AttentionRows<T> out;
  T* logarithms;

  AttentionCall(const loops::Attention& f, void* kept)
      : sizes{f.batch, f.heads, f.groups, f.queries, f.keys, f.width},
        view(f),
        scale(static_cast<T>(f.scale)),
        q(f.q),
        k(f.k),
        v(f.v),
        out(f.out),
        logarithms(static_cast<T*>(kept)) {}
};
// Operands of its derivatives. The keys' and the values' begin as zeros; `dq` is overwritten.
template <class T>
struct AttentionGradients : AttentionCall<T> {
  AttentionRows<const T> g;
  AttentionRows<T> dq, dk, dv;

  AttentionGradients(const loops::AttentionGradient& x, const void* kept)
      : AttentionCall<T>(x.attention, const_cast<void*>(kept)), g(x.g), dq(x.dq), dk(x.dk), dv(x.dv) {}
};

template <class T>
void attend(const AttentionCall<T>& call);
template <class T>
void attention_gradient(const AttentionGradients<T>& call);

struct AttentionKernel {
  static constexpr const char* name = "dot_product_attention";
  using Function = void(const loops::Attention&, void* logarithms);
  template <class T>
  static void run(const loops::Attention& f, void* logarithms) {
    attend(AttentionCall<T>(f, logarithms));
  }
};
struct AttentionGradientKernel {
  static constexpr const char* name = "dot_product_attention";
  using Function = void(const loops::AttentionGradient&, const void* logarithms);
  template <class T>
  static void run(const loops::AttentionGradient& x, const void* logarithms) {
    attention_gradient(AttentionGradients<T>(x, logarithms));
  }
};

}  // namespace cpu
NAX_END
