// The part of the engine for reductions that are found by dtype.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
void provide_reducers() {
  lists::reducers([]<class Op, class From>() {
    provide_reducer<Op, From>();
    emit(&reducer_of_library<Op, From>);
  });
}
}  // namespace cpu
NAX_END
