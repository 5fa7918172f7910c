// Linked into programs whose GPUs are emulated: NCCL for those, and nax's use of it.
#include "nax/devices/nccl/communicator.hpp"
#include "nax/devices/nccl/emulated/functions.hpp"

NAX_BEGIN
namespace detail::nccl {
namespace {

NcclProvider provider;
const bool provided = (nccl_provider = &provider, true);

}  // namespace
}  // namespace detail::nccl
NAX_END
