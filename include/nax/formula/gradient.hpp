#pragma once

#include <vector>

#include "nax/formula/symbol.hpp"

// Derivatives of formulas, which are formulas again: of any order, and no code is compiled for them.
NAX_BEGIN
namespace formula {

// The shares of some inputs in the cotangents of the results. Those are inputs of their own, behind f's: one
// for each result, in order. A zero cotangent contributes zero, also where a derivative is infinite.
// `valued`: then f's results. Throws ValueError for operations without a derivative (functions of lanes).
NAX_ENGINE Formula pull_of(const Formula& f, const std::vector<int>& inputs, bool valued = false);
// The derivatives of f's one result by some inputs: as pull_of for a cotangent of 1.
NAX_ENGINE Formula gradient_of(const Formula& f, const std::vector<int>& inputs, bool valued = false);
// Whether all steps of a formula have derivatives. Those of its derivatives have them, too.
NAX_ENGINE bool is_differentiable(const Formula& f);
// The tangents of f's results for those of some inputs, which are inputs behind f's, in order. A tangent of
// zero contributes zero, and so does a derivative of zero.
NAX_ENGINE Formula push_of(const Formula& f, const std::vector<int>& inputs);
// Records `sum` (none below 0) plus a tangent times a derivative.
NAX_ENGINE int tangent_sum(Recorder& recorder, int sum, int tangent, int derivative);

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/gradient-inl.hpp"
#endif
