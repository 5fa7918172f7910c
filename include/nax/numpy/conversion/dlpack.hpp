#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "nax/numpy/conversion/foreign.hpp"

// Arrays to and from other libraries (PyTorch, CuPy, NumPy, JAX) by DLPack, without copies: a struct that
// points at elements and says their type, shape, strides and device, and whom to tell when they are no longer
// used. The structs below have the layout of dlpack.h 1.0; those of that header serve as well.
// Source: https://dmlc.github.io/dlpack/latest/c_api.html
NAX_BEGIN
namespace dlpack {

struct Device {
  std::int32_t device_type = 1, device_id = 0;  // 1: the host, 2: CUDA
};
struct DataType {
  std::uint8_t code = 0, bits = 0;
  std::uint16_t lanes = 1;
};
struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t *shape = nullptr, *strides = nullptr;  // in elements
  std::uint64_t byte_offset = 0;
};
struct Version {
  std::uint32_t major = 1, minor = 0;
};
inline constexpr std::uint64_t read_only = 1;  // among the flags

// DLManagedTensorVersioned
struct ManagedTensor {
  Version version;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
  std::uint64_t flags = 0;
  Tensor dl_tensor;
};

}  // namespace dlpack
namespace detail {

// The type by DLPack's code and bits. Throws TypeError where nax has none.
NAX_ENGINE DType dtype_of_dlpack(std::uint8_t code, std::uint8_t bits, std::uint16_t lanes);
NAX_ENGINE dlpack::DataType dlpack_dtype(DType dtype);
// The device by DLPack's type. Throws DeviceError where nax has none.
NAX_ENGINE Device device_of_dlpack(std::int32_t type, std::int32_t id);
// The array to hand out: its elements are complete, and it has no history.
NAX_ENGINE ArrayBase lent(const ArrayBase& a);
[[noreturn, gnu::cold]] NAX_ENGINE void throw_dlpack_type(DType has, DType wanted);
[[noreturn, gnu::cold]] NAX_ENGINE void throw_dlpack_version(std::uint32_t major);

template <class Managed>
struct LentTensor {
  Managed managed{};
  ArrayBase array;
  std::vector<std::int64_t> shape, strides;
};

}  // namespace detail

// The array as DLPack's tensor: read-only, on its device, with its strides. It keeps the elements alive until
// its deleter is called, which who takes it does; the elements are complete when this returns. `Managed` may
// be DLManagedTensor or DLManagedTensorVersioned of dlpack.h. Throws ValueError under grad and vmap.
template <class Managed = dlpack::ManagedTensor, detail::ArrayLike X>
Managed* to_dlpack(const X& x) {
  using namespace detail;
  const Array<typename X::value_type> array(x);
  auto held = std::make_unique<LentTensor<Managed>>();
  held->array = lent(array);
  const Layout& layout = layout_of(held->array);
  held->shape.assign(layout.shape.begin(), layout.shape.end());
  held->strides.assign(layout.strides.begin(), layout.strides.end());
  Managed& m = held->managed;
  auto& tensor = m.dl_tensor;
  tensor.data =
      layout.size() == 0 ? nullptr : const_cast<void*>(static_cast<const void*>(device_data(held->array)));
  const nax::Device device = held->array.device();
  using Type = decltype(tensor.device.device_type);
  const bool on_gpu = on_accelerator(device);
  tensor.device.device_type = static_cast<Type>(on_gpu ? 2 : 1);
  tensor.device.device_id = on_gpu ? device.ordinal : 0;
  tensor.ndim = static_cast<std::int32_t>(held->shape.size());
  const dlpack::DataType dtype = dlpack_dtype(held->array.dtype());
  tensor.dtype.code = dtype.code, tensor.dtype.bits = dtype.bits, tensor.dtype.lanes = dtype.lanes;
  tensor.shape = held->shape.data(), tensor.strides = held->strides.data();
  tensor.byte_offset = 0;
  if constexpr (requires { m.flags; }) {
    m.version = {1, 0};
    m.flags = dlpack::read_only;
  }
  m.manager_ctx = held.get();
  m.deleter = [](Managed* done) { delete static_cast<LentTensor<Managed>*>(done->manager_ctx); };
  return &held.release()->managed;
}

// An array of the tensor's shape over its elements, whose deleter is called when no array uses them any more.
// It is for reading alone, also where the tensor may be written; the elements must not change while it lives,
// and be complete, or on a GPU be so for the calling thread's stream. Throws TypeError if elements are no T,
// DeviceError for a device that nax does not know, ValueError for a later version of DLPack; the tensor then
// still is the caller's.
template <Dtype T, class Managed>
Array<T> from_dlpack(Managed* managed) {
  using namespace detail;
  if (!managed) throw ValueError("from_dlpack: null");
  if constexpr (requires { managed->version.major; })
    if (managed->version.major > 1) throw_dlpack_version(managed->version.major);
  const auto& tensor = managed->dl_tensor;
  const DType dtype = dtype_of_dlpack(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
  if (dtype != dtype_of<T>) throw_dlpack_type(dtype, dtype_of<T>);
  const Shape shape(tensor.shape, tensor.shape + tensor.ndim);
  const Dims strides = tensor.strides ? Dims(tensor.strides, tensor.strides + tensor.ndim)
                                      : Layout::row_major(new_frame("from_dlpack", shape).shape);
  char* const data = static_cast<char*>(tensor.data);
  return typed<T>(foreign_array(
      "from_dlpack", data ? data + tensor.byte_offset : data, dtype, shape, strides,
      device_of_dlpack(static_cast<std::int32_t>(tensor.device.device_type), tensor.device.device_id),
      [managed] {
        if (managed->deleter) managed->deleter(managed);
      }));
}
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/conversion/dlpack-inl.hpp"
#endif
