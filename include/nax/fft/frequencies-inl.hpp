#pragma once

#include "nax/fft/frequencies.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_frequencies(const char* function, std::int64_t n, double d) {
  if (n < 1) raise<ValueError>({function, ": n must be at least 1, got ", n});
  if (d == 0) raise<ValueError>({function, ": the sample spacing d must not be 0"});
}

}  // namespace detail
NAX_END
