// The part of the engine for products of matrices, and for what is made of them, found by dtype.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/lines/attention_kernels.hpp"
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_products() { lists::products(Providing()); }
}  // namespace cpu
NAX_END
