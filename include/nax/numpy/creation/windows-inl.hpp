#pragma once

#include "nax/numpy/creation/windows.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE double bessel_i0(double x) {
  const double quarter = x * x / 4;
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17 && k < 4000; ++k) sum += term *= quarter / (double(k) * k);
  return sum;
}

}  // namespace detail
NAX_END
