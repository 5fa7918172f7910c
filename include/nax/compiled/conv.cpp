// The part of nax::compiled for convolutions.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/conv_kernels.hpp"

NAX_BEGIN
namespace cpu {

#define NAX_CONV(T)                                                           \
  template void conv_forward<T>(const ConvGeometry&, const T*, const T*, T*); \
  template void conv_input<T>(const ConvGeometry&, const T*, const T*, T*);   \
  template void conv_weights<T>(const ConvGeometry&, const T*, const T*, T*, bool);
NAX_CONV(float)
NAX_CONV(double)

}  // namespace cpu
NAX_END
