#pragma once

#include <algorithm>
#include <memory>

#include "nax/backend/cpu/maps/tiles.hpp"
#include "nax/backend/cpu/maps/transpose.hpp"
#include "nax/backend/cpu/packets/stream.hpp"
#include "nax/core/per_thread.hpp"

// Runs fused elementwise kernels over loops of any shape; see tiles.hpp.
NAX_BEGIN
namespace cpu {

// out[i] = expression(leaves[.][i]) for contiguous runs of n elements. `constants`: the expression's C++
// scalars.
using ForwardKernel = void (*)(const void* constants, const void* const* leaves, void* out, std::int64_t n);

namespace detail {
inline constexpr std::int64_t parallel_grain =
    1 << 15;  // elements: below, waking a thread costs more than it saves

// Tiles for one kernel's run. Few lie on the stack; a large expression takes the thread's, which stay.
class TileStore {
 public:
  explicit TileStore(int count) : tiles_(count <= few ? few_ : of_thread(count)) {}
  void* operator[](int i) { return tiles_[i].bytes; }

 private:
  static Tile* of_thread(int count);
  static constexpr int few = 4;
  Tile few_[few];
  Tile* tiles_;
};

NAX_ENGINE void map_range(ForwardKernel kernel, const void* constants, const Dims& shape,
                          const Operand* leaves, int count, const Operand& out, std::int64_t tile_length,
                          std::int64_t begin, std::int64_t end);

// Values [begin, end) of the flat, row-major loop, one after the other to `to`.
NAX_ENGINE void compute_range(ForwardKernel kernel, const void* constants, const Dims& shape,
                              const Operand* leaves, int count, DType result, std::int64_t begin,
                              std::int64_t end, void* to_);

// A large result of contiguous operands: computed piece by piece in the first cache and streamed from there.
NAX_ENGINE void map_streaming(ForwardKernel kernel, const void* constants, const Operand* operands, int count,
                              std::int64_t begin, std::int64_t end);

// Leaves that are contiguous along another axis than the last one, as a transposed matrix is: read row by
// row, each element would cost a cache line. The loop runs over panels instead, whose parts of such leaves
// are transposed first, into a buffer that the second cache holds.
struct Panels {
  static constexpr std::int64_t rows = 64, columns = 512;
};
inline bool lies_across(std::int64_t stride) { return stride <= -16 || stride >= 16; }
// The axis along which some leaf is contiguous that lies across the last one, where the loop is large enough
// for it to matter; -1 otherwise.
NAX_ENGINE int axis_across(const Dims& shape, const Operand* leaves, int count, std::int64_t size);
// `across` is that axis. All operands are used up.
NAX_ENGINE void map_panels(ForwardKernel kernel, const void* constants, Dims shape, Operand* operands,
                           int count, int across, std::int64_t tile_length);

}  // namespace detail

// `operands`: `count` leaves, then the result; their strides run over `shape`. All are used up (collapsed).
NAX_ENGINE void map(ForwardKernel kernel, const void* constants, Dims shape, Operand* operands, int count);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/maps/elementwise-inl.hpp"
#endif
