#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstring>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/maps/indices.hpp"
#include "nax/backend/cpu/packets/true_places.hpp"
#include "nax/loops/element_bytes.hpp"
#include "nax/loops/select_loop.hpp"

NAX_BEGIN
namespace cpu {

using loops::IndexMode;

struct IndexLimits {
  IndexMode mode;
  std::int64_t extent, window;
  std::atomic<bool>* dropped;
};

// Indices that are not less than -extent count from the front; others are dropped.
template <class I>
void drop_outside(const IndexLimits& limits, const I* from, std::int64_t* out, std::int64_t n) {
  const std::int64_t extent = limits.extent, lowest = std::is_unsigned_v<I> ? 0 : -extent;
  // A block as if all were in range, and then its extremes: a loop without a way out of it runs on packets.
  constexpr std::int64_t block = 512;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = n - begin < block ? n : begin + block;
    std::int64_t least = 0, most = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t k = static_cast<std::int64_t>(from[i]);
      least = k < least ? k : least;
      most = k > most ? k : most;
      out[i] = k < 0 ? k + extent : k;
    }
    if (least >= lowest && most < extent) [[likely]]
      continue;
    for (std::int64_t i = begin; i < end; ++i)
      if (const std::int64_t k = static_cast<std::int64_t>(from[i]); k < lowest || k >= extent) {
        out[i] = loops::dropped_index;
        limits.dropped->store(true, std::memory_order_relaxed);
      }
  }
}

template <class I>
void wrap_run(const void* limits_, const void* const* in, void* out_, std::int64_t n) {
  const IndexLimits& limits = *static_cast<const IndexLimits*>(limits_);
  const I* const from = static_cast<const I*>(in[0]);
  std::int64_t* const out = static_cast<std::int64_t*>(out_);
  const std::int64_t extent = limits.extent;
  const auto each = [&](const auto& f) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(static_cast<std::int64_t>(from[i]));
  };
  switch (limits.mode) {
    case IndexMode::drop:
      return drop_outside(limits, from, out, n);
    case IndexMode::wrap:
      return each([=](std::int64_t k) { return (k % extent + extent) % extent; });
    case IndexMode::clip:
      return each([=](std::int64_t k) { return k < 0 ? 0 : k >= extent ? extent - 1 : k; });
    case IndexMode::slide:
      return each([=, last = extent - limits.window](std::int64_t k) {
        return std::clamp<std::int64_t>(k < 0 ? k + extent : k, 0, last);
      });
  }
}

NAX_ENGINE bool wrap_indices(IndexMode mode, std::int64_t extent, std::int64_t window, const Dims& shape,
                             const loops::Operand& from, const loops::Operand& to) {
  std::atomic<bool> dropped = false;
  const IndexLimits limits{mode, extent, window, &dropped};
  loops::Operand operands[2] = {from, to};
  const auto run = [&](ForwardKernel kernel) { map(kernel, &limits, shape, operands, 1); };
  switch (from.stored) {
#define NAX_WRAP(name, type, kind, text)                         \
  case DType::name:                                              \
    if constexpr (std::is_integral_v<type>) run(wrap_run<type>); \
    break;
    NAX_FOR_EACH_DTYPE(NAX_WRAP)
#undef NAX_WRAP
  }
  return dropped;
}

NAX_ENGINE void true_positions(std::int64_t n, const bool* mask, const loops::Room& room) {
  const std::int64_t count = detail::count_true(mask, n);
  std::int64_t* const to = room(count);
  write_true_places<std::int64_t>(mask, n, 0, to, to + count);
}

// Writes `one` for the labels of lines [first, last), in elements that are zero.
template <class Word>
void mark_labels(const loops::Lines& lines, std::int64_t first, std::int64_t last, const std::int64_t* labels,
                 const loops::ElementBytes& bytes, char* to_) {
  Word one;
  std::memcpy(&one, bytes.at, sizeof one);
  Word* const to = reinterpret_cast<Word*>(to_);
  for (std::int64_t line = first; line < last; ++line) {
    const std::int64_t k = labels[line - first];
    if (k < 0 || k >= lines.n) continue;
    const std::int64_t outer = lines.inner == 1 ? line : line / lines.inner;
    to[(outer * lines.n + k) * lines.inner + line - outer * lines.inner] = one;
  }
}

NAX_ENGINE void one_hot(const loops::Lines& lines, DType label, const char* labels, DType dtype, char* to) {
  const auto bytes = static_cast<std::int64_t>(dtype_size(dtype));
  const loops::ElementBytes one = loops::one_of(dtype);
  const auto mark = bytes == 1   ? mark_labels<std::uint8_t>
                    : bytes == 2 ? mark_labels<std::uint16_t>
                    : bytes == 4 ? mark_labels<std::uint32_t>
                    : bytes == 8 ? mark_labels<std::uint64_t>
                                 : mark_labels<std::complex<double>>;
  // Elements whose labels lie side by side, and how many such groups are cleared before they are marked.
  const std::int64_t group = lines.n * lines.inner, many = 1 + (std::int64_t{1} << 12) / (group + 1);
  parallel_for(lines.outer, 1 + (std::int64_t{1} << 17) / (group + 1),
               [&](std::int64_t begin, std::int64_t end) {
                 std::int64_t block[256];
                 for (std::int64_t next; begin < end; begin = next) {
                   next = std::min(end, begin + many);
                   std::memset(to + begin * group * bytes, 0,
                               static_cast<std::size_t>((next - begin) * group * bytes));
                   const std::int64_t last = next * lines.inner;
                   for (std::int64_t first = begin * lines.inner; first < last; first += 256) {
                     const std::int64_t count = std::min<std::int64_t>(256, last - first);
                     loops::read_integers(labels, first, count, label, block);
                     mark(lines, first, first + count, block, one, to);
                   }
                 }
               });
}

}  // namespace cpu
NAX_END
