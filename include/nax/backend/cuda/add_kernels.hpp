#pragma once

#include "nax/backend/cuda/elements.hpp"
#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/loop.hpp"

// Sums of two arrays of one dtype: how gradients accumulate.
NAX_BEGIN
namespace cuda {

template <class A>
struct AddElements {
  Loop<3> loop;
  DType dtype;
  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    loop.locate(i, at);
    store_as<A>(dtype, at[2], static_cast<A>(load_as<A>(dtype, at[0]) + load_as<A>(dtype, at[1])));
  }
};

inline void launch_add(Device device, Dims shape, const loops::Operand& a, const loops::Operand& b,
                       const loops::Operand& to) {
  loops::Operand operands[] = {a, b, to};
  if (dtype_kind(to.stored) == Kind::complex) {  // the parts, one by one
    for (loops::Operand& o : operands) {
      for (std::int64_t& stride : o.strides) stride *= 2;
      o.strides.push_back(1);
      o.stored = o.lane = to.stored == DType::complex64 ? DType::float32 : DType::float64;
    }
    shape.push_back(2);
  }
  loops::collapse(shape, operands, 3);
  const Loop<3> loop = make_loop<3>(shape, operands);
  const DType dtype = operands[2].stored;
  with_wide(dtype, [&]<class A>(std::type_identity<A>) {
    launch(device, loop.size, AddElements<A>{loop, dtype});
  });
}

}  // namespace cuda
NAX_END
