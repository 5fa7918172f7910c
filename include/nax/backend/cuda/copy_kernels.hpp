#pragma once

#include "nax/backend/cuda/elements.hpp"
#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/loop.hpp"
#include "nax/core/accelerator.hpp"

// Elements from one layout to another, and from one dtype to another.
NAX_BEGIN
namespace cuda {

// Bytes move; all dtypes of a size share a kernel.
template <class Unit>
struct CopyElement {
  Loop<2> loop;
  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    *reinterpret_cast<Unit*>(at[1]) = *reinterpret_cast<const Unit*>(at[0]);
  }
};

// By way of a type that holds both exactly, or that rounds as one conversion would.
template <class A>
struct ConvertElement {
  Loop<2> loop;
  DType from, to;
  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    store_as<A>(to, at[1], load_as<A>(from, at[0]));
  }
};

inline void launch_copy(Device device, Dims shape, const loops::Operand& from, const loops::Operand& to) {
  loops::Operand operands[] = {from, to};
  loops::collapse(shape, operands, 2);
  const Loop<2> loop = make_loop<2>(shape, operands);
  if (loop.size == 0) return;
  const std::size_t bytes = dtype_size(to.stored);
  if (from.stored != to.stored) {
    if (dtype_kind(from.stored) == Kind::complex || dtype_kind(to.stored) == Kind::complex)
      throw DeviceError("astype: complex numbers are not converted on a GPU; do it on the CPU");
    with_wide(from.stored, [&]<class A>(std::type_identity<A>) {
      // A float that becomes a half is rounded once, from double.
      using Exact = std::conditional_t<std::is_floating_point_v<A>, double, A>;
      launch(device, loop.size, ConvertElement<Exact>{loop, from.stored, to.stored});
    });
  } else if (loop.rank == 0 || (loop.rank == 1 && loop.strides[0][0] == loop.strides[1][0] &&
                                loop.strides[0][0] == static_cast<std::int64_t>(bytes))) {
    detail::accelerator_of(device).copy_between(device, loop.data[1], device, loop.data[0],
                                                static_cast<std::size_t>(loop.size) * bytes);
  } else {
    with_piece(bytes, [&]<class Unit>(std::type_identity<Unit>) {
      launch(device, loop.size, CopyElement<Unit>{loop});
    });
  }
}

}  // namespace cuda
NAX_END
