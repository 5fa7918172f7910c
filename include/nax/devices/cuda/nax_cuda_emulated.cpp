// Linked into programs whose GPU is emulated: its kernels, and the device itself.
#include "nax/devices/cuda/device/emulated.hpp"
#include "nax/devices/cuda/operations_kernels.hpp"

NAX_BEGIN
namespace cuda {
namespace {

EmulatedAccelerator accelerator;
KernelOperations kernel_operations;
const bool provided = [] {
  detail::provide_accelerator(Platform::cuda, accelerator);
  backend::provided_operations[static_cast<int>(Platform::cuda)] = &kernel_operations;
  return true;
}();

}  // namespace
}  // namespace cuda
NAX_END
