// Linked into programs whose GPU is emulated: its kernels, and the device itself.
#include "nax/backend/cuda/emulated.hpp"
#include "nax/backend/cuda/operations_kernels.hpp"

namespace nax::inline NAX_ABI::cuda {
namespace {

EmulatedAccelerator accelerator;
KernelOperations kernel_operations;
const bool provided = (detail::cuda_accelerator = &accelerator, operations_slot = &kernel_operations, true);

}  // namespace
}  // namespace nax::inline NAX_ABI::cuda
