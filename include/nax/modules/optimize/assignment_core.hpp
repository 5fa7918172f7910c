#pragma once

#include <cstdint>
#include <vector>

#include "nax/modules/optimize/dense.hpp"

NAX_BEGIN
namespace optimize::detail {

// For each row of a matrix (rows x columns, row-major, rows <= columns) its column in an assignment of
// least cost: shortest augmenting paths (Crouse 2016). Throws ValueError for NaN, -infinity, and where
// every assignment costs infinity.
NAX_ENGINE std::vector<std::int64_t> assign_rows(std::size_t rows, std::size_t columns, const Vector& cost);
// Such an assignment as pairs in the order of the first; `swapped`: of columns and rows.
NAX_ENGINE void assign_pairs(std::size_t rows, std::size_t columns, const Vector& cost, bool swapped,
                             std::vector<std::int64_t>& first, std::vector<std::int64_t>& second);

}  // namespace optimize::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/optimize/assignment_core-inl.hpp"
#endif
