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

// The texts of what f throws, from the outside in; empty where it throws no Error.
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
