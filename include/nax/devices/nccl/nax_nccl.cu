// Compiled into every program that links nax::nccl: pmap's collectives by NCCL.
#include "nax/devices/nccl/communicator.hpp"

NAX_BEGIN
namespace detail::nccl {
namespace {

NcclProvider provider;
const bool provided = (nccl_provider = &provider, true);

}  // namespace
}  // namespace detail::nccl
NAX_END
