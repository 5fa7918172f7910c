#pragma once

#include <cstdint>

#include "nax/formula/formula.hpp"

// Runs a formula block by block: each step over a few hundred elements, which stay in the first cache. It
// works on every processor, and is what machine code is compared with.
NAX_BEGIN
namespace formula {

// Elements of an input or of a result: every stride-th from `data` on; an input's stride may be 0.
struct Line {
  const void* data = nullptr;
  std::int64_t stride = 1;
};
struct Target {
  void* data = nullptr;
  std::int64_t stride = 1;
};

// results[k][i] = f(inputs[0][i], ...) for n elements, stored as f's input_types and result_types say; truths
// are 1 and 0. A result may lie where
// an input does. `f` must be lowered.
NAX_ENGINE void interpret(const Formula& f, const Line* inputs, const Target* results, std::int64_t n);

namespace detail {
// The result of a step that has operands, for these numbers of these types (a truth is 1 or 0), all floating.
NAX_ENGINE double value_of_step(const Step& step, const DType* types, const double* operands);
}  // namespace detail

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/interpret-inl.hpp"
#endif
