#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/parallel/pmap.hpp"
#include "nax/transform/grad.hpp"
#include "support/compare.hpp"
#include "support/four_devices.hpp"

namespace on_devices {

using namespace nax;
using A = Array<double>;

inline testing::AssertionResult matches(const A& got, const A& want) {
  return compare::close(got, want, 1e-13);
}

// Returns the texts of the nested errors that f throws, the outermost first; empty if it throws no Error.
template <class Exception = Error, class F>
std::string text_of(F f) {
  try {
    f();
  } catch (const Exception& error) {
    return platform::as_on_cpu(error.what());
  }
  return "";
}

}  // namespace on_devices
