#pragma once

#include <algorithm>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/reduce/reduce.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/formula/array_loop.hpp"

NAX_BEGIN
namespace formula {

NAX_ENGINE ArrayLoop::ArrayLoop(const Kernel& kernel, std::int64_t n, const std::int64_t* strides,
                                std::int64_t grain)
    : kernel_(kernel), shape_(1, n), line_(n), size_(n), grain_(grain) {
  for (std::size_t i = 0; i < kernel.types().size(); ++i) strides_.push_back(strides[i] * size_of(i));
  find_code();
}

NAX_ENGINE ArrayLoop::ArrayLoop(const Kernel& kernel, Dims shape, std::vector<loops::Operand> operands,
                                const std::vector<const cpu::Reducer*>& reducers)
    : kernel_(kernel),
      shape_(std::move(shape)),
      operands_(std::move(operands)),
      grain_(cpu::detail::parallel_grain) {
  constexpr std::int64_t short_line = 32, few_lines = 16;
  const std::size_t all = operands_.size(), stored = all - reducers.size();
  if (stored < all)
    cpu::detail::order_axes(shape_, operands_.data(), static_cast<int>(stored), static_cast<int>(all));
  loops::collapse(shape_, operands_.data(), static_cast<int>(all));
  for (const std::int64_t d : shape_) size_ *= d;
  const std::size_t rank = shape_.size();
  if (rank > 0) line_ = shape_[rank - 1];
  for (std::size_t axis = 0; axis + 1 < rank; ++axis)
    for (std::size_t i = 0; i < stored; ++i) {
      const Dims& strides = operands_[i].strides;
      steps_.push_back(strides[axis] * size_of(i));
      together_ = together_ && strides[axis] == strides[axis + 1] * shape_[axis + 1];
    }
  bool apart = false;  // along the lines of some operand
  for (std::size_t i = 0; i < stored && rank > 1; ++i)
    apart = apart || (operands_[i].strides[rank - 1] != 0 && operands_[i].strides[rank - 1] != 1);
  tiled_ =
      !together_ && (apart || line_ < short_line) && size_ > few_lines * line_ && all <= loops::max_operands;
  for (std::size_t i = 0; i < all; ++i) {
    std::int64_t stride = rank == 0 || i >= stored ? 1 : operands_[i].strides[rank - 1];
    if (tiled_) stride = nax::detail::is_repeated(operands_[i].strides, shape_) && i < stored ? 0 : 1;
    strides_.push_back(stride * size_of(i));
    operands_[i].stored = operands_[i].lane = kernel.types()[i];
  }
  if (stored < all) plan_reductions(reducers);
  find_code();
}

inline void ArrayLoop::find_code() {
  SmallVector<Access, 64> accesses;
  for (std::size_t i = 0; i < strides_.size(); ++i)
    accesses.push_back(strides_[i] == size_of(i) ? Access::contiguous
                       : strides_[i] == 0        ? Access::repeated
                                                 : Access::strided);
  code_ = kernel_.code(accesses.data());
}

NAX_ENGINE std::pair<std::int64_t, std::int64_t> ArrayLoop::reach(std::size_t operand) const {
  std::int64_t first = 0, last = size_of(operand);
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    const std::int64_t stride =
        operands_.empty() ? strides_[operand] : operands_[operand].strides[axis] * size_of(operand);
    // Results of reductions are written where there is nothing to reduce, too.
    if (shape_[axis] == 0 && (operand < computed() || stride != 0)) return {0, 0};
    (stride < 0 ? first : last) += (shape_[axis] - 1) * stride;
  }
  return {first, last - first};
}

NAX_ENGINE void ArrayLoop::run(char* const* at) const {
  if (!reduced_.empty()) return reduce(at);
  if (size_ <= grain_) return size_ > 0 ? run_part(at, nullptr, 0, size_) : void();
  parallel_for(size_, grain_,
               [&](std::int64_t begin, std::int64_t end) { run_part(at, nullptr, begin, end); });
}

inline void ArrayLoop::compute(char* const* at, std::int64_t begin, std::int64_t n,
                               char* const* tiles) const {
  const std::size_t stored = computed(), outer = shape_.empty() ? 0 : shape_.size() - 1;
  SmallVector<char*, 64> own;
  own.resize_for_overwrite(strides_.size());
  if (together_) {
    for (std::size_t i = 0; i < stored; ++i) own[i] = at[i] + begin * strides_[i];
    for (std::size_t k = stored; k < own.size(); ++k) own[k] = tiles[k - stored];
    return call(own.data(), n);
  }
  const std::int64_t column = begin % line_;
  Dims index;  // of the line, along the axes before the last
  index.resize_for_overwrite(outer);
  std::int64_t rest = begin / line_;
  for (std::size_t axis = outer; axis-- > 0; rest /= shape_[axis]) index[axis] = rest % shape_[axis];
  for (std::size_t i = 0; i < stored; ++i) {
    own[i] = at[i] + column * strides_[i];
    for (std::size_t axis = 0; axis < outer; ++axis) own[i] += index[axis] * steps_[axis * stored + i];
  }
  const auto shift = [&](const std::int64_t* steps, std::int64_t by) {
    for (std::size_t i = 0; i < stored; ++i) own[i] += by * steps[i];
  };
  for (std::int64_t done = 0, length = std::min(line_ - column, n);;) {
    for (std::size_t k = stored; k < own.size(); ++k) own[k] = tiles[k - stored] + done * strides_[k];
    call(own.data(), length);
    if (done == 0 && column > 0) shift(strides_.data(), -column);
    done += length;
    if (done == n) return;
    length = std::min(line_, n - done);
    for (std::size_t axis = outer; axis-- > 0;) {
      const std::int64_t* const steps = steps_.data() + axis * stored;
      for (std::size_t i = 0; i < stored; ++i) own[i] += steps[i];
      if (++index[axis] < shape_[axis]) break;
      shift(steps, -shape_[axis]);
      index[axis] = 0;
    }
  }
}

// Operands whose lines are short, several lines at a time.
class ArrayLoop::Tiled {
 public:
  Tiled(const ArrayLoop& loop, char* const* at) : loop_(loop), tiles_(static_cast<int>(loop.computed())) {
    for (std::size_t i = 0; i < loop.computed(); ++i) {
      operands_[i] = loop.operands_[i];
      operands_[i].data = at[i];
      access_[i] = cpu::TileAccess(operands_[i], loop.shape_);
    }
  }
  static std::int64_t most(const ArrayLoop& loop) {
    std::size_t widest = 1;
    for (const loops::Operand& x : loop.operands_) widest = std::max(widest, dtype_size(x.lane));
    return cpu::tile_bytes / static_cast<std::int64_t>(widest);
  }
  void compute(const cpu::Chunk& chunk, char* const* tiles) {
    char* own[loops::max_operands];
    const std::size_t stored = loop_.computed(),
                      read = static_cast<std::size_t>(loop_.kernel_.lowered().inputs);
    for (std::size_t i = 0; i < stored; ++i) {
      void* const tile = tiles_[static_cast<int>(i)];
      own[i] = loop_.strides_[i] == 0 ? operands_[i].data
                                      : static_cast<char*>(i < read ? access_[i].read(chunk, tile)
                                                                    : access_[i].target(chunk, tile));
    }
    for (std::size_t k = stored; k < loop_.strides_.size(); ++k) own[k] = tiles[k - stored];
    loop_.call(own, chunk.length());
    for (std::size_t i = read; i < stored; ++i) access_[i].flush(chunk, own[i], tiles_[static_cast<int>(i)]);
  }

 private:
  const ArrayLoop& loop_;
  cpu::detail::TileStore tiles_;
  loops::Operand operands_[loops::max_operands];
  cpu::TileAccess access_[loops::max_operands];
};

// ---- reductions

struct ArrayLoop::Tiles {
  static constexpr std::int64_t size = 8192;  // a part of an operand that stays in the first cache
  alignas(64) char bytes[most_reduced][size];
  char* at[most_reduced];
  Tiles() {
    for (std::size_t k = 0; k < most_reduced; ++k) at[k] = bytes[k];
  }
};

inline void ArrayLoop::run_part(char* const* at, char* const* sums, std::int64_t begin,
                                std::int64_t end) const {
  if (reduced_.empty() && !tiled_) {
    if (together_ && begin == 0) return call(at, end);
    return compute(at, begin, end - begin, nullptr);
  }
  std::int64_t most = reduced_.empty() ? end : Tiles::size;
  for (const Reduced& r : reduced_)
    most = std::min(most, Tiles::size / static_cast<std::int64_t>(dtype_size(r.reducer->from)));
  Tiles tiles;
  // Whole rows that need no accumulators in front of the results.
  const std::size_t rank = shape_.size();
  bool direct = rank <= 2 && line_ <= most && !tiled_;
  std::int64_t outer[most_reduced] = {}, inner[most_reduced] = {};
  for (std::size_t k = 0; k < reduced_.size() && direct; ++k) {
    if (rank > 0) inner[k] = strides_of_reduced(k)[rank - 1];
    if (rank > 1) outer[k] = strides_of_reduced(k)[0];
    direct = !(reduced_[k].wide && inner[k] != 0);
  }
  if (direct) {
    const std::int64_t last = end / line_, at_once = most / line_;
    for (std::int64_t row = begin / line_, rows; row < last; row += rows) {
      rows = std::min(at_once, last - row);
      compute(at, row * line_, rows * line_, tiles.at);
      for (std::size_t k = 0; k < reduced_.size(); ++k) {
        const cpu::Reducer& into = reduced_[k].into();
        char* const result = sums[k] + row * outer[k] * static_cast<std::int64_t>(dtype_size(into.to));
        cpu::detail::join_rows(into, tiles.at[k], rows, line_, result, outer[k], inner[k]);
      }
    }
    return;
  }
  loops::Operand to[most_reduced];
  cpu::detail::ChunkSums joined[most_reduced];
  cpu::detail::Accumulators nearby[most_reduced];
  for (std::size_t k = 0; k < reduced_.size(); ++k) {
    const Reduced& r = reduced_[k];
    to[k] = {sums[k], strides_of_reduced(k), r.into().to, r.into().to};
    joined[k] = cpu::detail::ChunkSums(*r.reducer, r.wide, to[k], shape_);
    if (const std::size_t bytes = joined[k].near_bytes()) joined[k].use(nearby[k].allocate(bytes));
  }
  const auto run_chunks = [&](const auto& run_chunk) {
    for (cpu::Chunk chunk(shape_, begin); chunk.advance(end, most, most + 1);) {
      run_chunk(chunk);
      for (std::size_t k = 0; k < reduced_.size(); ++k) joined[k].add(chunk, tiles.at[k]);
    }
  };
  if (tiled_) {
    Tiled tiled(*this, at);
    most = std::min(most, Tiled::most(*this));
    run_chunks([&](const cpu::Chunk& chunk) { tiled.compute(chunk, tiles.at); });
  } else {
    run_chunks([&](const cpu::Chunk& chunk) { compute(at, chunk.begin(), chunk.length(), tiles.at); });
  }
  for (std::size_t k = 0; k < reduced_.size(); ++k) joined[k].finish();
}

inline void ArrayLoop::plan_reductions(const std::vector<const cpu::Reducer*>& reducers) {
  constexpr std::int64_t most_parts = 16;
  std::int64_t lacking = 0;  // elements of results that lack the first axis
  for (std::size_t k = 0; k < reducers.size(); ++k) {
    const Dims& strides = operands_[operands_.size() - reducers.size() + k].strides;
    Reduced r{reducers[k]};
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      if (strides[axis] != 0) r.size *= shape_[axis];
    r.wide = cpu::detail::joins_many(*r.reducer, shape_, strides);
    r.apart = !shape_.empty() && strides[0] == 0;
    if (r.apart) lacking += r.size;
    reduced_.push_back(r);
  }
  if (size_ > grain_ && lacking == 0) parts_ = std::min(shape_[0], (size_ + grain_ - 1) / grain_);
  if (size_ > grain_ && lacking > 0 && shape_[0] >= 8 * most_parts && 4 * most_parts * lacking <= size_)
    parts_ = most_parts;
  for (const bool apart : {false, true})
    for (Reduced& r : reduced_) {
      if (r.apart != apart || !(r.wide || (apart && parts_ > 1))) continue;
      r.place = shared_bytes_ + part_bytes_;
      (apart ? part_bytes_ : shared_bytes_) +=
          (r.size * static_cast<std::int64_t>(dtype_size(r.into().to)) + 63) / 64 * 64;
    }
}

inline void ArrayLoop::reduce(char* const* at) const {
  char* const* const results = at + computed();
  for (std::size_t k = 0; k < reduced_.size(); ++k) reduced_[k].reducer->fill(results[k], reduced_[k].size);
  if (size_ == 0) return;
  const std::int64_t bytes = shared_bytes_ + parts_ * part_bytes_;
  if (parts_ == 1 && bytes == 0) return run_part(at, results, 0, size_);
  cpu::detail::Accumulators memory;
  char* const accumulators = bytes > 0 ? memory.allocate(static_cast<std::size_t>(bytes)) : nullptr;
  const auto place = [&](std::size_t k, std::int64_t p) {
    const Reduced& r = reduced_[k];
    return r.place < 0 ? results[k] : accumulators + r.place + (r.apart ? p * part_bytes_ : 0);
  };
  for (std::size_t k = 0; k < reduced_.size(); ++k)
    for (std::int64_t p = 0; reduced_[k].place >= 0 && p < (reduced_[k].apart ? parts_ : 1); ++p)
      reduced_[k].into().fill(place(k, p), reduced_[k].size);
  const std::int64_t first = shape_.empty() ? 1 : shape_[0], part = (first + parts_ - 1) / parts_,
                     step = size_ / first;
  parallel_for(parts_, 1, [&](std::int64_t p, std::int64_t end) {
    for (; p < end; ++p) {
      char* sums[most_reduced];
      for (std::size_t k = 0; k < reduced_.size(); ++k) sums[k] = place(k, p);
      const std::int64_t from = std::min(first, p * part), to = std::min(first, (p + 1) * part);
      run_part(at, sums, from * step, to * step);
    }
  });
  for (std::size_t k = 0; k < reduced_.size(); ++k) {
    const Reduced& r = reduced_[k];
    if (r.place < 0) continue;
    for (std::int64_t p = 1; r.apart && p < parts_; ++p) r.into().merge(place(k, p), place(k, 0), r.size);
    (r.wide ? r.reducer->narrow : r.reducer->merge)(place(k, 0), results[k], r.size);
  }
}

}  // namespace formula
NAX_END
