// Linked into programs whose GPUs are emulated: NCCL for those, and nax's use of it.
#include "nax/backend/nccl/communicator.hpp"
#include "nax/backend/nccl/emulated/functions.hpp"

namespace nax::inline NAX_ABI::detail::nccl {
namespace {

NcclProvider provider;
const bool provided = (nccl_provider = &provider, true);

}  // namespace
}  // namespace nax::inline NAX_ABI::detail::nccl
