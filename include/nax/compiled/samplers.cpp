// The part of the engine for draws by rejection.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/draws/sampler_rows.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_samplers() { lists::samplers(Providing()); }
}  // namespace cpu
NAX_END
