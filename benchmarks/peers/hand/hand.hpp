#pragma once

// Rows as loops over plain, preallocated memory: the machine's limit. Nothing is allocated while the clock
// runs.

#include <memory>
#include <vector>

#include "../../support/data.hpp"
#include "../../support/row.hpp"

namespace bench {

using Floats = std::vector<float>;

inline Floats floats(std::int64_t n) { return Floats(static_cast<std::size_t>(n)); }

// A row from a function that fills `out`.
template <class T = float, class F>
Work fills(std::int64_t n, F f) {
  const auto out = std::make_shared<std::vector<T>>(static_cast<std::size_t>(n));
  return work([=] { f(out->data()); },
              [=] {
                f(out->data());
                return Floats(out->begin(), out->end());
              });
}

Rows hand_peak_rows();
Rows hand_elementwise_rows();
Rows hand_reduction_rows();
Rows hand_layout_rows();

}  // namespace bench
