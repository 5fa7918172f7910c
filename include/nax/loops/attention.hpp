#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

// Attention as a device's kernel takes it: softmax(scale q k^T + bias) v, row by row of q. Strides are in
// elements.
NAX_BEGIN
namespace loops {

// (batch, rows, heads, width), the last axis side by side.
struct AttentionRows {
  char* data = nullptr;
  std::int64_t batch = 0, row = 0, head = 0;
};
inline AttentionRows rows_of(char* row_major, std::int64_t rows, std::int64_t heads, std::int64_t width) {
  return {row_major, rows * heads * width, heads * width, width};
}
// (batch, heads, queries, keys), strides of zero where it is broadcast; no data: there is none.
struct AttentionPlane {
  const char* data = nullptr;
  std::int64_t batch = 0, head = 0, row = 0, column = 0;
};
// One number an example; no data: there is none.
struct AttentionLengths {
  const std::int32_t* data = nullptr;
  std::int64_t batch = 0;
};

// A row that sees no key weighs all of them alike; rows behind their example's length are zero.
struct Attention {
  std::int64_t batch = 0, heads = 0, groups = 0;  // heads / groups share the keys of one group
  std::int64_t queries = 0, keys = 0, width = 0;
  double scale = 1;
  AttentionRows q, k, v, out;
  AttentionPlane mask, bias;  // truth values; elements of the rows' dtype
  AttentionLengths query_lengths, key_lengths;
  bool causal = false, window = false;
  std::int64_t left = 0, right = 0;  // of the window
  // (batch, queries, heads, 2), or none: of each row the greatest logit and a logarithm of the sum of
  // exp(logits - greatest), as the device's kernels count them; infinite where no key is seen.
  float* logarithms = nullptr;
};

// Its derivatives: those of q, k and v, (batch, rows, heads or groups, width) each, of that of the result, g.
struct AttentionGradient {
  Attention attention;
  AttentionRows g, dq, dk, dv;
};

}  // namespace loops
NAX_END
