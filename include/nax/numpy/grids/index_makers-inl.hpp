#pragma once

#include "nax/numpy/grids/index_makers.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_matrix(const char* function, const Shape& shape) {
  if (shape.size() != 2) raise<ValueError>({function, ": input array must be 2-d, shape ", shape});
}

}  // namespace detail
NAX_END
NAX_BEGIN

NAX_ENGINE std::vector<Array<std::int32_t>> diag_indices(std::int64_t n, const DiagIndicesOptions& options) {
  if (options.ndim < 0) raise<ValueError>({"diag_indices: ndim must not be negative, got ", options.ndim});
  if (n < 0) raise<ValueError>({"diag_indices: n must not be negative, got ", n});
  return std::vector<Array<std::int32_t>>(static_cast<std::size_t>(options.ndim),
                                          detail::open_index<std::int32_t>("diag_indices", Shape{n}, 0));
}

NAX_ENGINE std::vector<Array<std::int32_t>> tril_indices(std::int64_t n,
                                                         const TriangleIndicesOptions& options) {
  const std::int64_t k = options.k;
  return detail::triangle_indices("tril_indices", n, options.m.value_or(n),
                                  [k](std::int64_t d) { return d <= k; });
}

NAX_ENGINE std::vector<Array<std::int32_t>> triu_indices(std::int64_t n,
                                                         const TriangleIndicesOptions& options) {
  const std::int64_t k = options.k;
  return detail::triangle_indices("triu_indices", n, options.m.value_or(n),
                                  [k](std::int64_t d) { return d >= k; });
}

NAX_END
NAX_BEGIN
namespace detail {

NAX_ENGINE bool is_c_order(const char* function, std::string_view order) {
  if (order != "C" && order != "F")
    raise<ValueError>({function, ": order must be 'C' or 'F', not '", order, "'"});
  return order == "C";
}

}  // namespace detail
NAX_END
