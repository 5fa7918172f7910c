#pragma once

#include <cstdint>
#include <utility>

#include "nax/core/buffer.hpp"
#include "nax/core/dtype.hpp"
#include "nax/core/layout.hpp"

NAX_BEGIN

namespace detail {
struct ArrayAccess;
struct Unset {};  // makes a handle that holds nothing yet
}  // namespace detail

// The untyped handle of an array, which tapes, trees and transforms pass around. A handle
// is a buffer, a layout, the dtype, and the serial number of the tape node that made the value (0: none).
//
// A moved-from handle has no buffer and no axes: one element without memory for it. No other handle a user
// can reach is in that state (an empty array has no buffer either, but no elements), and every use of it
// throws.
class ArrayBase {
 public:
  ArrayBase() { layout_.shape.push_back(0), layout_.strides.push_back(1); }
  // Copies are calls, not inlined: handles are copied everywhere, and inlined copies would be most of the
  // code compiled. A 0-d array has no axes to copy; the axes of others are copied as one block.
  [[gnu::noinline, gnu::flatten]] ArrayBase(const ArrayBase& other)
      : buffer_(other.buffer_), offset_(other.offset_), serial_(other.serial_), dtype_(other.dtype_) {
    if (!other.layout_.shape.empty()) layout_.copy_block(other.layout_);
  }
  [[gnu::noinline, gnu::flatten]] ArrayBase(ArrayBase&& other) noexcept
      : buffer_(std::move(other.buffer_)),
        offset_(other.offset_),
        serial_(other.serial_),
        dtype_(other.dtype_) {
    if (!other.layout_.shape.empty()) layout_.move_block(other.layout_);
  }
  [[gnu::flatten]] NAX_COMPILED_ONCE ArrayBase& operator=(const ArrayBase& other) {
    if (this != &other) {
      buffer_ = other.buffer_;
      offset_ = other.offset_;
      if (layout_.lies_in_place() && other.layout_.lies_in_place())
        layout_.copy_block(other.layout_);
      else
        layout_.copy_apart(other.layout_);
      serial_ = other.serial_;
      dtype_ = other.dtype_;
    }
    return *this;
  }
  [[gnu::flatten]] NAX_COMPILED_ONCE ArrayBase& operator=(ArrayBase&& other) noexcept {
    if (this == &other) return *this;
    buffer_ = std::move(other.buffer_);
    offset_ = other.offset_;
    if (other.layout_.shape.empty())
      layout_.clear();
    else if (layout_.lies_in_place())
      layout_.move_block(other.layout_);
    else
      layout_.move_apart(other.layout_);
    serial_ = other.serial_;
    dtype_ = other.dtype_;
    return *this;
  }
  [[gnu::noinline, gnu::flatten]] ~ArrayBase() {}

  Shape shape() const { return layout_.visible_shape(); }
  std::int64_t shape(std::int64_t axis) const {
    return layout_.visible(detail::normalize_axis("shape", axis, layout_.ndim()));
  }
  int ndim() const { return layout_.ndim(); }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int axis = 0; axis < layout_.ndim(); ++axis) n *= layout_.visible(axis);
    return n;
  }
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * dtype_size(dtype_); }
  DType dtype() const { return dtype_; }
  Device device() const { return buffer_ ? buffer_->device : Device{}; }

 protected:
  friend struct detail::ArrayAccess;
  explicit ArrayBase(detail::Unset) {}
  ArrayBase(detail::BufferRef buffer, Layout layout, DType dtype)
      : buffer_(std::move(buffer)), layout_(std::move(layout)), dtype_(dtype) {}

  detail::BufferRef buffer_;
  std::int64_t offset_ = 0;  // in elements
  Layout layout_;
  std::uint64_t serial_ = 0;
  DType dtype_ = DType::float32;
};

namespace detail {

// The inside of a handle, for the library's own layers.
struct ArrayAccess {
  static ArrayBase unset() { return ArrayBase(Unset()); }
  static ArrayBase make(BufferRef buffer, Layout layout, DType dtype) {
    return ArrayBase(std::move(buffer), std::move(layout), dtype);
  }
  static BufferRef& buffer(ArrayBase& a) { return a.buffer_; }
  static const BufferRef& buffer(const ArrayBase& a) { return a.buffer_; }
  static std::int64_t& offset(ArrayBase& a) { return a.offset_; }
  static std::int64_t offset(const ArrayBase& a) { return a.offset_; }
  static Layout& layout(ArrayBase& a) { return a.layout_; }
  static const Layout& layout(const ArrayBase& a) { return a.layout_; }
  static std::uint64_t& serial(ArrayBase& a) { return a.serial_; }
  static std::uint64_t serial(const ArrayBase& a) { return a.serial_; }
  static DType& dtype(ArrayBase& a) { return a.dtype_; }
};

inline const Layout& layout_of(const ArrayBase& a) { return ArrayAccess::layout(a); }
inline std::uint64_t serial_of(const ArrayBase& a) { return ArrayAccess::serial(a); }
inline bool is_batched(const ArrayBase& a) { return !layout_of(a).levels.empty(); }

inline bool on_accelerator(const ArrayBase& a) {
  return ArrayAccess::buffer(a) && on_accelerator(ArrayAccess::buffer(a)->device);
}
// Notes when the elements are complete (Buffer::note_moment), of an array that has memory.
inline void note_moment(const ArrayBase& a) {
  if (const BufferRef& buffer = ArrayAccess::buffer(a)) buffer->note_moment();
}
// True if the host can read the elements. Functions whose next step depends on values ask this first.
inline bool is_readable(const ArrayBase& a) { return !on_accelerator(a); }
// True while the elements are recorded: they are there in replays alone.
inline bool is_yet_unknown(const ArrayBase& a) { return graph_recording && on_accelerator(a); }
// True if all examples of vmaps have one array whose elements the host can read.
inline bool is_known(const ArrayBase& a) { return is_readable(a) && !is_batched(a); }

[[noreturn, gnu::cold]] inline void throw_moved_from(const char* function) {
  raise<ValueError>(
      {function, ": an array is used after it was moved from (or given away to a function that threw)"});
}
// True if it has elements, but no memory for them.
[[gnu::cold]] inline bool is_moved_from(const ArrayBase& a) {
  return !ArrayAccess::buffer(a) && layout_of(a).size() != 0;
}
// The address of the elements of an array without a buffer: it should have none.
[[gnu::cold]] NAX_COMPILED_ONCE char* no_data(const ArrayBase& a) {
  if (is_moved_from(a)) throw_moved_from("array");
  return nullptr;
}

// The address of the first element, on the device where the elements lie.
inline char* device_data(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  if (!buffer) return no_data(a);
  return static_cast<char*>(buffer.get()->data()) +
         ArrayAccess::offset(a) * static_cast<std::int64_t>(dtype_size(a.dtype()));
}
// Returns the address on the host. Throws DeviceError for an array that lies on an accelerator.
inline char* raw_data(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  if (!buffer) return no_data(a);
  if (on_accelerator(buffer->device)) [[unlikely]]
    throw_no_device_form(buffer->device);
  return static_cast<char*>(buffer.get()->host_data()) +
         ArrayAccess::offset(a) * static_cast<std::int64_t>(dtype_size(a.dtype()));
}

// The address of the number that all elements are, where strides and the host say so; else null.
inline const void* known_number(const ArrayBase& a) {
  const Layout& layout = layout_of(a);
  return is_readable(a) && layout.size() != 0 && is_repeated(layout.strides, layout.shape) ? raw_data(a)
                                                                                           : nullptr;
}

// Waits until the elements are computed. Those on the host always are.
inline void wait_for(const ArrayBase& a) {
  if (!on_accelerator(a)) return;
  device_data(a);  // so that this thread's stream waits for the one that computes them
  accelerator_of(a.device()).wait(a.device());
}

// At the door of a function of which no program is made. Throws NotRecordable for an array of a recording.
inline void check_recordable(const char* function, const ArrayBase& a) {
  if (!on_program(a.device())) return;
  check_recordable(function);
  check_recording_lasts(a.device());
}

// At the door of a function that only the CPU computes. Throws DeviceError that names it.
template <class... A>
void need_host(const char* function, const A&... array) {
  const auto check = [function](const ArrayBase& a) {
    if (on_accelerator(a)) [[unlikely]]
      throw_no_device_form(function, a.device());
  };
  (check(array), ...);
}

// Makes `a` a new row-major array over `frame`, elements not initialised. Precondition: `a` is empty.
[[gnu::flatten]] NAX_COMPILED_ONCE void allocate_in(ArrayBase& a, DType dtype, const Frame& frame,
                                                    Device device) {
  const std::int64_t size = ArrayAccess::layout(a).make_row_major(frame);
  ArrayAccess::dtype(a) = dtype;
  ArrayAccess::buffer(a).adopt(Buffer::allocate(static_cast<std::size_t>(size) * dtype_size(dtype), device));
}

// A fresh row-major array over `frame`, elements not initialised.
NAX_COMPILED_ONCE ArrayBase allocate(DType dtype, const Frame& frame, Device device = current_device) {
  ArrayBase a = ArrayAccess::unset();
  allocate_in(a, dtype, frame, device);
  return a;
}

// Returns the elements under another layout; the view is not recorded.
NAX_ENGINE ArrayBase view(ArrayBase a, Layout layout, std::int64_t extra_offset = 0);

// True if the elements are one unbroken run that no other handle shares.
inline bool is_exclusive(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  return buffer.unique() && !buffer->source && layout_of(a).is_contiguous();
}

inline ArrayBase constant(ArrayBase a) {
  ArrayAccess::serial(a) = 0;
  return a;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase view(ArrayBase a, Layout layout, std::int64_t extra_offset) {
  ArrayAccess::offset(a) += extra_offset;
  ArrayAccess::layout(a) = std::move(layout);
  ArrayAccess::serial(a) = 0;
  return a;
}

}  // namespace detail
NAX_END
#endif
