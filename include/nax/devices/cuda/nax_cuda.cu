// Linked into programs that use GPUs, by the target nax::cuda: the device, and the kernels that know no type
// of the program's.
#include "nax/devices/cuda/device/gpu.hpp"
#include "nax/devices/cuda/device/name_ranges.hpp"
#include "nax/devices/cuda/device/times.hpp"
#include "nax/devices/cuda/operations_kernels.hpp"

#if defined(CUDART_VERSION) && CUDART_VERSION < 12080
#error "nax: the CUDA Toolkit is older than 12.8"
#endif

NAX_BEGIN
namespace cuda {

extern const bool nax_cuda_of_this_processor = true;  // see launch_nvcc.hpp

namespace {

Gpu gpu;
KernelOperations kernel_operations;
const bool provided = [] {
  detail::provide_accelerator(Platform::cuda, gpu);
  backend::provided_operations[static_cast<int>(Platform::cuda)] = &kernel_operations;
  detail::profile::time_device[static_cast<int>(Platform::cuda)] = time_stream;
  provide_name_ranges();
  return true;
}();

}  // namespace
}  // namespace cuda
NAX_END
