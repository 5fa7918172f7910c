#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/backend/cpu/maps/accumulate.hpp"

// Reducers that are found by what they compute, the type of elements and that of accumulators; provided as
// kernels are (kernel_slots.hpp).
NAX_BEGIN
namespace cpu {

inline constinit std::atomic<const Reducer*> reducer_slots[loops::reduce_kinds][dtype_count][dtype_count] =
    {};

inline std::atomic<const Reducer*>& reducer_slot(loops::ReduceKind kind, DType from, DType to) {
  return reducer_slots[static_cast<std::size_t>(kind)][static_cast<std::size_t>(from)]
                      [static_cast<std::size_t>(to)];
}

template <class Op, class From>
const Reducer& reducer_of_library();
#if !defined(NAX_CALLS_KERNELS) && defined(NAX_IS_LIBRARY)
template <class Op, class From>
const Reducer& reducer_of_library() {
  return reducer<Op, From>;
}
#endif

template <class Op, class From, bool in_library = calls_kernels>
void provide_reducer() {
  auto& slot = reducer_slot(Op::kind, dtype_of<From>, dtype_of<typename Op::Acc>);
  if (slot.load(std::memory_order_relaxed)) [[likely]]
    return;
  if constexpr (in_library)
    slot.store(&reducer_of_library<Op, From>(), std::memory_order_release);
  else
    slot.store(&reducer<Op, From>, std::memory_order_release);
}

// The reducer of elements `from` to accumulators `to`; sums within a type are always there. Throws Error
// where no function has provided it.
inline const Reducer& reducer_for(loops::ReduceKind kind, DType from, DType to) {
  const Reducer* found = reducer_slot(kind, from, to).load(std::memory_order_acquire);
  if (!found && kind == loops::ReduceKind::sum && from == to) found = sum_reducer(from);
  if (!found) [[unlikely]]
    throw_no_kernel("reduce", from);
  return *found;
}

// The reducer of an expression's values, `From` in arrays and `Tile` in the tiles that kernels fill (truths
// lie there in the lanes of what was compared). A user's file takes the library's where that has it: its own,
// perhaps not optimised, would be the whole program's.
template <class Op, class Tile, class From = Tile, bool in_library = calls_kernels>
const Reducer& expression_reducer() {
  constexpr bool asks_truth = Op::kind == loops::ReduceKind::any || Op::kind == loops::ReduceKind::all;
  constexpr bool sums = Op::kind == loops::ReduceKind::sum && std::is_same_v<Tile, typename Op::Acc>;
  if constexpr (in_library && (asks_truth || sums || std::is_same_v<Tile, From>)) {
    provide_reducer<Op, Tile>();
    return reducer_for(Op::kind, dtype_of<Tile>, dtype_of<typename Op::Acc>);
  } else {
    return reducer<Op, Tile>;
  }
}

}  // namespace cpu
NAX_END
