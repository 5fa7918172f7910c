#pragma once

#include "nax/numpy/grids/index_makers.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_matrix(const char* function, const Shape& shape) {
  if (shape.size() != 2) raise<ValueError>({function, ": input array must be 2-d, shape ", shape});
}

NAX_ENGINE std::vector<Array<std::int32_t>> triangle_indices(const char* function, std::int64_t n,
                                                             std::int64_t m, std::int64_t k, bool below) {
  count_elements(function, Shape{n, m});
  check_index_type<std::int32_t>(function, n);
  check_index_type<std::int32_t>(function, m);
  k = std::clamp(k, -n - 1, m + 1);
  std::vector<std::int32_t> rows, columns;
  const auto size = static_cast<std::size_t>(n * m);
  rows.reserve(size / 2), columns.reserve(size / 2);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t begin = below ? 0 : std::clamp<std::int64_t>(i + k, 0, m),
                       end = below ? std::clamp<std::int64_t>(i + k + 1, 0, m) : m;
    rows.insert(rows.end(), static_cast<std::size_t>(end - begin), static_cast<std::int32_t>(i));
    for (std::int64_t j = begin; j < end; ++j) columns.push_back(static_cast<std::int32_t>(j));
  }
  const auto as_indices = [](const std::vector<std::int32_t>& v) {
    return typed<std::int32_t>(placed(host_numbers<std::int32_t>(v)));
  };
  return {as_indices(rows), as_indices(columns)};
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
  return detail::triangle_indices("tril_indices", n, options.m.value_or(n), options.k, true);
}

NAX_ENGINE std::vector<Array<std::int32_t>> triu_indices(std::int64_t n,
                                                         const TriangleIndicesOptions& options) {
  return detail::triangle_indices("triu_indices", n, options.m.value_or(n), options.k, false);
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
