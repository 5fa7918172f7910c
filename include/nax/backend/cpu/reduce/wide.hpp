#pragma once

#include <complex>

#include "nax/core/half.hpp"

NAX_BEGIN
namespace cpu {

// Long sums are cut into blocks, in which elements add up in their own type, and the sums of the blocks are
// joined in this one: a float that has grown to 2^24 takes no more ones.
template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<float> {
  using type = double;
};
template <>
struct WideOf<std::complex<float>> {
  using type = std::complex<double>;
};
template <>
struct WideOf<half> {
  using type = float;
};
template <>
struct WideOf<bfloat16> {
  using type = float;
};
template <class T>
using wide_t = typename WideOf<T>::type;

}  // namespace cpu
NAX_END
