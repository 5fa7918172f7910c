#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/core/compiled_once.hpp"
#include "nax/loops/convolution.hpp"

// Convolutions of row-major arrays (loops/convolution.hpp). All three parts go by blocks of rows of y: the
// patches that a row sees become a row of a matrix, and the block is one matrix product. Where patches of
// neighbours overlap, y from x and its transpose go by lines, without gathering patches. Defined in
// conv_kernels.hpp.
NAX_BEGIN
namespace cpu {

using loops::ConvGeometry, loops::ConvPart;

template <class T>
void conv_forward(const ConvGeometry& s, const T* x, const T* w, T* y);
template <class T>
void conv_input(const ConvGeometry& s, const T* g, const T* w, T* x);
// Adds to what is there when `accumulate`.
template <class T>
void conv_weights(const ConvGeometry& s, const T* x, const T* g, T* w, bool accumulate);

struct ConvKernel {
  static constexpr const char* name = "conv_general_dilated";
  using Function = void(ConvPart, const ConvGeometry&, const void* a, const void* b, void* to,
                        bool accumulate);
  template <class T>
  static void run(ConvPart part, const ConvGeometry& geometry, const void* a_, const void* b_, void* to_,
                  bool accumulate) {
    const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
    T* const to = static_cast<T*>(to_);
    switch (part) {
      case ConvPart::forward:
        return conv_forward<T>(geometry, a, b, to);
      case ConvPart::input:
        return conv_input<T>(geometry, a, b, to);
      case ConvPart::weights:
        return conv_weights<T>(geometry, a, b, to, accumulate);
    }
  }
};

}  // namespace cpu
NAX_END
