#pragma once

#include "nax/nn/one_hot.hpp"
#include "nax/nn/softmax.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/numpy/views/reshape.hpp"

// Which experts see an element, by the logits of a gate.
NAX_BEGIN
namespace detail {

// 1 at the k largest logits of the last axis.
template <class T>
Array<T> largest_ones(const Array<T>& logits, std::int64_t k) {
  return sum(nn::one_hot<T>(top_k(logits, k).indices, logits.shape(-1)), {.axis = -2});
}

}  // namespace detail

namespace nn {

// The shares of the experts: softmax over the k largest logits (..., n), 0 for the others. The result has the
// shape of the logits. Throws ValueError if k is negative or exceeds n.
template <class T>
Array<T> top_k_gates(const Array<T>& logits, std::int64_t k) {
  const Array<T> chosen = nax::detail::largest_ones(logits, k);
  return softmax(Array<T>(where(chosen > T(0), logits, -std::numeric_limits<T>::infinity())));
}

// How unevenly the experts are used (Fedus and others 2021): n times the sum over experts of the share of
// elements that the k largest logits (..., n) send to it, times its mean probability. 1 where all are used
// alike; a 0-d array. Throws ValueError if k is negative or exceeds n.
template <class T>
Array<T> load_balance_loss(const Array<T>& logits, std::int64_t k) {
  const std::int64_t n = logits.shape(-1);
  const Array<T> rows = logits.reshape({-1, n});
  const Array<T> sent = mean(nax::detail::largest_ones(rows, k), {.axis = 0}),
                 likely = mean(softmax(rows), {.axis = 0});
  return Array<T>(sum(sent * likely) * static_cast<T>(static_cast<double>(n) / static_cast<double>(k)));
}

}  // namespace nn
NAX_END
