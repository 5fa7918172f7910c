#pragma once

#include "nax/fft/lines.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE double norm_scale(const char* function, std::string_view norm, bool inverse, std::int64_t n) {
  const double all = static_cast<double>(n);
  if (norm == "ortho") return 1 / std::sqrt(all);
  if (norm != "backward" && norm != "forward")
    raise<ValueError>(
        {function, ": invalid norm value '", norm, "'; it should be 'backward', 'ortho' or 'forward'"});
  return (norm == "backward") == inverse ? 1 / all : 1;
}

NAX_ENGINE void check_length(const char* function, std::int64_t n) {
  if (n < 1) raise<ValueError>({function, ": invalid number of data points (", n, ") specified"});
  count_elements(function, Dims(1, n));
}

}  // namespace detail
NAX_END
