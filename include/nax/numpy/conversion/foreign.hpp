#pragma once

#include <functional>
#include <mutex>

#include "nax/core/array.hpp"
#include "nax/core/devices.hpp"
#include "nax/numpy/views/elements.hpp"

// Memory that nax shares with other code, on the host and on GPUs: kernels and libraries of one's own take an
// array's address and stream, and nax takes theirs. Nothing is copied.
//
// An array over memory of others is read and never written: what would be computed in place gets memory of
// its own. Its elements must not change while it lives, as those of no array do.
NAX_BEGIN
namespace detail {

// The address of an array's elements for code that is not nax's, on this thread's stream. `function`: to
// name.
NAX_ENGINE const void* address_for_others(const char* function, const ArrayBase& a);
NAX_ENGINE void* native_stream(const ArrayBase& a);

// An array over foreign memory, whose first element (of index 0 along each axis) lies there. Steps between
// elements may be of any sign. release() is called when no handle is left and no stream of nax's uses the
// elements; if this throws, it is not.
NAX_ENGINE ArrayBase foreign_array(const char* function, void* first, DType dtype, const Shape& shape,
                                   const Dims& strides, Device device, std::function<void()> release);

}  // namespace detail

// The address of the first element in the memory of the array's device, for kernels of one's own that read it
// on stream(). The elements are complete for that stream's work; the pointer is good as long as the array is.
// Throws ValueError for a view whose elements are no unbroken run (copy(x) is one), and under vmap.
template <class Element>
const Element* Array<Element>::device_data() const {
  return static_cast<const Element*>(detail::address_for_others("device_data", *this));
}
// The stream of the array's device that the calling thread's work goes to, a cudaStream_t; null on the host.
// Work put there runs behind what nax has put there, and before what it puts there later.
template <class Element>
void* Array<Element>::stream() const {
  return detail::native_stream(*this);
}

// An array over memory of a device that others own, row-major, of that shape. deleter(data) is called when no
// array uses it any more, and nothing that nax has put on streams; by default it is not freed. The elements
// must be complete, or be written on stream() of an array of that device by this thread. Throws ValueError
// for a device that this program has not, and for an address that is no multiple of the element's size.
template <Dtype T, class Deleter = std::nullptr_t>
Array<T> from_device(T* data, const Shape& shape, Device device = default_device(), Deleter deleter = {}) {
  const Dims strides = Layout::row_major(detail::new_frame("from_device", shape).shape);
  std::function<void()> release;
  if constexpr (!std::is_same_v<Deleter, std::nullptr_t>)
    release = [data, deleter = std::move(deleter)] { deleter(data); };
  return detail::typed<T>(
      detail::foreign_array("from_device", data, dtype_of<T>, shape, strides, device, std::move(release)));
}
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/conversion/foreign-inl.hpp"
#endif
