#pragma once

#include "nax/core/function_ref.hpp"
#include "nax/modules/exporting/graph.hpp"
#include "nax/program/record/recording.hpp"

// Expressions of steps as nodes. Functions of floats are written down by their own rules (formula/symbol.hpp)
// and become the nodes of what these compute; functions of truths and integers have nodes of their own. Half
// precision is computed in float, as steps compute it, and rounded at the end.
NAX_BEGIN
namespace io::detail {

// The expression of these arrays, as the dtype that it is stored in; `refuse` throws for what has no node.
NAX_ENGINE int expression_nodes(Graph& graph, const program::StepExpression& e,
                                const std::vector<int>& arrays, DType stored,
                                FunctionRef<void(const std::string&)> refuse);

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/exporting/expressions-inl.hpp"
#endif
