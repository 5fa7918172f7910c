#pragma once

#include "nax/core/bools.hpp"
#include "nax/io/npy_header.hpp"
#include "nax/numpy/views/copy.hpp"

// Arrays out of .npy files.
NAX_BEGIN
namespace io::detail {

// How many bytes the elements take. The product of the extents that are not 0 is checked too: strides are
// made of it.
NAX_ENGINE std::uint64_t npy_bytes(const Member& member, DType dtype, const Shape& shape);

// Turns the bytes of elements that are in the other order.
NAX_ENGINE void swap_bytes(char* elements, std::size_t bytes, DType dtype);

// The row-major array that lies in Fortran's order where `a` lies.
NAX_ENGINE ArrayBase out_of_fortran_order(const ArrayBase& a);

// An array on the host with the elements of a .npy file, of this dtype and, where that is known, this shape.
// Nothing is allocated before the header has been believed: the file must hold what it says, to the byte.
NAX_ENGINE ArrayBase read_npy(Member& member, DType dtype, const Shape* expected);

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/npy-inl.hpp"
#endif
