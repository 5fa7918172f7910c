#pragma once

#include "nax/core/array.hpp"
#include "nax/core/compiled_once.hpp"

// Attention on a GPU as one launch, by the device's operation `attend`: memory grows with T + S.
NAX_BEGIN
namespace detail {

// Operands as AttentionTerms has them, null where there is none.
struct DeviceAttention {
  const ArrayBase &query, &key, &value;
  const ArrayBase *bias, *mask, *query_lengths, *key_lengths;
  double scale;
  bool causal, window;
  std::int64_t left, right;
};

// The result, of query's shape; without a buffer where the operands are not on one GPU or it has no kernel
// for them. Not recorded. `logarithms`, if any, gets what the gradients need, (B, T, N, 2), where the device
// has kernels for these.
NAX_ENGINE ArrayBase attend_on_device(const DeviceAttention& of, ArrayBase* logarithms);
// The cotangents of query, key and value for the result's, g. Returns false, and does nothing, where the
// device has no kernel for them.
NAX_ENGINE bool attention_gradients_on_device(const DeviceAttention& of, const ArrayBase& logarithms,
                                              const ArrayBase& result, const ArrayBase& g,
                                              ArrayBase* const (&shares)[3]);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/nn/attention_on_device-inl.hpp"
#endif
