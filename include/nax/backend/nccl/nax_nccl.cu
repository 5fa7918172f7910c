// Compiled into every program that links nax::nccl: pmap's collectives by NCCL.
#include "nax/backend/nccl/communicator.hpp"

namespace nax::inline NAX_ABI::detail::nccl {
namespace {

NcclProvider provider;
const bool provided = (nccl_provider = &provider, true);

}  // namespace
}  // namespace nax::inline NAX_ABI::detail::nccl
