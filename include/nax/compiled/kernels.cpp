// The part of the engine for kernels that are found by dtype.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/lines/row_kernels.hpp"
#include "nax/backend/cpu/reduce/bin_kernels.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {

void provide_listed_kernels() {
  lists::rows(Providing());
  lists::draws(Providing());
  lists::lines(Providing());
}

}  // namespace cpu
NAX_END
