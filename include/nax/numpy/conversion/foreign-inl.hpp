#pragma once

#include <cstdint>

#include "nax/numpy/conversion/foreign.hpp"

NAX_BEGIN
namespace detail {

class ForeignElements final : public BufferSource {
 public:
  ForeignElements(char* first, std::size_t bytes, Device device)
      : first_(first), bytes_(bytes), device_(device) {}
  ~ForeignElements() override {
    if (release_) release_();
  }
  void release_by(std::function<void()> release) { release_ = std::move(release); }
  bool lies_in_memory() const override { return !owns_address(); }
  bool owns_address() const override { return on_accelerator(device_); }
  void* gather() override {
    if (lies_in_memory()) return first_;
    std::call_once(copied_, [this] {
      copy_.reset(new std::max_align_t[bytes_ / sizeof(std::max_align_t) + 1]);
      copy_bytes(Device{}, copy_.get(), device_, first_, bytes_);
    });
    return copy_.get();
  }

 private:
  char* first_;
  std::size_t bytes_;
  Device device_;
  std::function<void()> release_;
  std::once_flag copied_;
  std::unique_ptr<std::max_align_t[]> copy_;  // for the host
};

NAX_ENGINE const void* address_for_others(const char* function, const ArrayBase& a) {
  if (is_moved_from(a)) throw_moved_from(function);
  if (is_batched(a)) throw_batched(function, "return it from the mapped function instead");
  check_recordable(function, a);
  if (!layout_of(a).is_contiguous())
    raise<ValueError>({function, ": the elements of this view are no unbroken run; copy(x) is one"});
  return layout_of(a).size() == 0 ? nullptr : device_data(a);
}

NAX_ENGINE void* native_stream(const ArrayBase& a) {
  const Device device = a.device();
  return on_card(device) ? accelerator_of(device).native_stream(device) : nullptr;
}

NAX_ENGINE ArrayBase foreign_array(const char* function, void* first, DType dtype, const Shape& shape,
                                   const Dims& strides, Device device, std::function<void()> release) {
  if (!is_known(device)) raise<ValueError>({function, ": no device ", device, " in this program"});
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  Layout layout;
  static_cast<Frame&>(layout) = new_frame(function, shape);
  layout.strides = strides;
  std::int64_t below = 0, above = 0;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    const std::int64_t reach = (layout.shape[axis] - 1) * strides[axis];
    (reach < 0 ? below : above) += reach;
  }
  const bool empty = layout.size() == 0;
  if (!empty && !first) raise<ValueError>({function, ": null for ", layout.size(), " elements"});
  // Complex numbers are aligned as their parts are.
  const bool complex = dtype == DType::complex64 || dtype == DType::complex128;
  const std::int64_t aligned = complex ? size / 2 : size;
  if (reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(aligned) != 0)
    raise<ValueError>({function, ": the address is no multiple of ", aligned, " bytes"});
  if (empty) below = above = 0;
  char* const lowest = static_cast<char*>(first) + below * size;
  const std::size_t bytes = empty ? 0 : static_cast<std::size_t>((above - below + 1) * size);
  auto owned = std::make_unique<ForeignElements>(lowest, bytes, device);
  ForeignElements& source = *owned;
  ArrayBase a = ArrayAccess::make(
      BufferRef(Buffer::wrap(std::move(owned), bytes, device, on_accelerator(device) ? lowest : nullptr)),
      std::move(layout), dtype);
  ArrayAccess::offset(a) = -below;
  source.release_by(std::move(release));  // nothing can fail any more
  return a;
}

}  // namespace detail
NAX_END
