#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/compare.hpp"

namespace transforms {

using namespace nax;
using A = Array<double>;

inline testing::AssertionResult matches(const A& got, const A& want) {
  return compare::close(got, want, 1e-13);
}

// Returns the text of the Error that f throws; empty if it throws nothing or another type.
template <class Exception, class F>
std::string text_of(F f) {
  try {
    f();
  } catch (const Exception& error) {
    return error.what();
  } catch (...) {
  }
  return "";
}

}  // namespace transforms
