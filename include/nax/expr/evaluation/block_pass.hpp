#pragma once

#include "nax/expr/evaluation/evaluate.hpp"

// The machine behind assignments.hpp: assignments that are kept, to be done together, block by block. Nothing
// happens before run().
NAX_BEGIN
namespace detail {

class BlockPass {
 public:
  // One more assignment. An empty target becomes an array of the pass alone, which has a shape but no
  // elements. After false the pass cannot be run, but goes on giving such targets their shapes.
  NAX_COMPILED_ONCE bool keep(const KernelTable& table, const void* constants, int constant_count,
                              const ArrayBase* const* leaves, const Frame& frame, ArrayBase& target) {
    Operation& next = operations_[fits_ ? count_ : 0];
    fits_ = fits_ && !on_accelerator(device_for(table.name, leaves, table.leaves)) &&
            count_ < most_operations && constant_count <= most_constants &&
            (count_ == 0 || frame.size() == size_) && table.result_lane == table.result &&
            !(table.fused_type && any_recorded(table, leaves)) && find_leaves(table, leaves, frame, next);
    const bool fresh = !ArrayAccess::buffer(target);
    if (fresh)
      target = ArrayAccess::make(BufferRef(Buffer::allocate(0)), Layout::contiguous(frame), table.result);
    fits_ = fits_ && find_target(fresh, table, leaves, frame, target, next.out);
    if (!fits_) return false;
    next.kernel = table.forward;
    next.leaves = table.leaves;
    std::memcpy(&next.constants, constants, 16 * static_cast<std::size_t>(constant_count));
    next.target = next.out.tile < 0 ? &target : nullptr;
    size_ = frame.size();
    widest_ = std::max(widest_, next.out.element);
    for (int l = 0; l < next.leaves; ++l) widest_ = std::max(widest_, next.in[l].element);
    ++count_;
    return true;
  }

  NAX_COMPILED_ONCE void run() const {
    for (int o = 0; o < count_; ++o)
      if (ArrayBase* const target = operations_[o].target) ArrayAccess::serial(*target) = 0;
    parallel_for(size_, cpu::detail::parallel_grain,
                 [&](std::int64_t begin, std::int64_t end) { run(begin, end); });
  }

 private:
  static constexpr int most_operations = 8, most_tiles = 8, most_constants = 6;
  // So short that the processor is at several operations at once, and their arrays come from memory side by
  // side.
  static constexpr std::int64_t block_bytes = 1024;

  // Where an operand lies: in an array, or a block of it in a tile of the thread's own.
  struct Place {
    char* data;
    int tile;
    std::int64_t element;  // its bytes
  };
  struct Operation {
    cpu::ForwardKernel kernel;
    ConstantSlots<most_constants> constants;
    int leaves;
    Place in[max_leaves], out;
    ArrayBase* target;  // null for an array of the pass alone: by the time of run() it may be gone
  };
  // The content of a tile: blocks of an array of the pass alone, or one number over and over.
  struct TileUse {
    BufferRef array;
    ConstantSlots<1> number;
    std::size_t number_bytes = 0;

    void fill(char* to, std::int64_t n) const {
      for (std::int64_t i = 0; number_bytes > 0 && i < n; ++i, to += number_bytes)
        std::memcpy(to, &number, number_bytes);
    }
  };

  void run(std::int64_t begin, std::int64_t end) const;

  int tile_of(const ArrayBase& a) const {
    for (int t = 0; t < tile_count_; ++t)
      if (tiles_[t].array && tiles_[t].array.get() == ArrayAccess::buffer(a).get()) return t;
    return -1;
  }

  bool find_leaves(const KernelTable& table, const ArrayBase* const* leaves, const Frame& frame,
                   Operation& to) {
    for (int l = 0; l < table.leaves; ++l)
      if (table.stored[l] != table.lanes[l] || !find_leaf(*leaves[l], frame, to.in[l])) return false;
    return true;
  }
  bool find_leaf(const ArrayBase& leaf, const Frame& frame, Place& place);
  bool find_target(bool fresh, const KernelTable& table, const ArrayBase* const* leaves, const Frame& frame,
                   const ArrayBase& target, Place& place);

  Operation operations_[most_operations];
  TileUse tiles_[most_tiles];
  int count_ = 0, tile_count_ = 0;
  std::int64_t size_ = 0, widest_ = 1;
  bool fits_ = true;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/evaluation/block_pass-inl.hpp"
#endif
