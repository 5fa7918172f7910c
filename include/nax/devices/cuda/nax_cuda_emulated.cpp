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

// A program that links nax::compiled, too, does not link (nax/compiled/engine.cpp).
extern "C" {
extern const char nax_compiled_has_no_kernels_for_emulated_gpus_link_nax_headers_instead;
const char nax_compiled_has_no_kernels_for_emulated_gpus_link_nax_headers_instead = 0;
}
