#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "nax/backend/cpu/lines/rows.hpp"
#include "nax/backend/cpu/packets/stream.hpp"
#include "nax/loops/select_loop.hpp"

// Running the loops of select_loop.hpp on the CPU.
NAX_BEGIN
namespace cpu {

using loops::dropped_index;
using loops::SelectLoop;

namespace detail {

inline constexpr std::int64_t most_of_short_row = 256;  // bytes
// At least one step's bytes; the last two steps may overlap.
template <std::size_t step>
inline void copy_in_steps(char* to, const char* from, std::int64_t bytes) {
  const std::int64_t last = bytes - static_cast<std::int64_t>(step);
  for (std::int64_t i = 0; i < last; i += static_cast<std::int64_t>(step))
    std::memcpy(to + i, from + i, step);
  std::memcpy(to + last, from + last, step);
}

// Whether the loop, over two axes, is one over such rows, each contiguous and with an index of its own.
NAX_ENGINE bool are_short_rows(const SelectLoop& loop);

// Such rows [begin, end). One costs little more than its bytes: there is no call for it and no walk over
// axes.
template <std::size_t step>
void gather_rows_in_steps(const SelectLoop& loop, std::int64_t begin, std::int64_t end) {
  const std::int64_t item = static_cast<std::int64_t>(dtype_size(loop.operands[0].stored));
  const std::int64_t to_row = loop.operands[0].strides[0] * item,
                     from_row = loop.operands[1].strides[0] * item, index_row = loop.operands[2].strides[0],
                     scale = loop.scale * item, bytes = loop.shape[1] * item;
  const auto* const indices = reinterpret_cast<const std::int64_t*>(loop.operands[2].data);
  for (std::int64_t r = begin; r < end; ++r) {
    char* const to = loop.operands[0].data + r * to_row;
    const std::int64_t index = indices[r * index_row];
    if (index == dropped_index) [[unlikely]]
      std::memset(to, 0, static_cast<std::size_t>(bytes));
    else
      copy_in_steps<step>(to, loop.operands[1].data + r * from_row + index * scale, bytes);
  }
}
NAX_ENGINE void gather_short_rows(const SelectLoop& loop, std::int64_t begin, std::int64_t end);

// out[i] = in[index[i]], eight at a time: whether any is dropped is asked once for them all, so that their
// loads do not wait for each other's tests.
template <class Unit>
void gather_elements(const Unit* in, const std::int64_t* index, Unit* out, std::int64_t n) {
  constexpr int block = 8;
  std::int64_t i = 0;
  for (; i + block <= n; i += block) {
    bool dropped = false;
    for (int j = 0; j < block; ++j) dropped |= index[i + j] == dropped_index;
    if (dropped) [[unlikely]] {
      for (int j = 0; j < block; ++j) out[i + j] = index[i + j] == dropped_index ? Unit{} : in[index[i + j]];
    } else {
      Unit held[block];
      for (int j = 0; j < block; ++j) held[j] = in[index[i + j]];
      std::memcpy(out + i, held, sizeof held);
    }
  }
  for (; i < n; ++i) out[i] = index[i] == dropped_index ? Unit{} : in[index[i]];
}

template <class Unit>
void gather_range(const SelectLoop& loop, std::int64_t begin, std::int64_t end) {
  Unit* to = reinterpret_cast<Unit*>(loop.operands[0].data);
  const Unit* from = reinterpret_cast<const Unit*>(loop.operands[1].data);
  const auto* indices = reinterpret_cast<const std::int64_t*>(loop.operands[2].data);
  const bool any = !loop.shape.empty();
  const std::size_t inner = loop.shape.size() - 1;
  const std::int64_t ts = any ? loop.operands[0].strides[inner] : 1,
                     fs = any ? loop.operands[1].strides[inner] : 1,
                     is = any ? loop.operands[2].strides[inner] : 0, scale = loop.scale;
  // Whole rows of a large result are written past the caches.
  std::int64_t size = static_cast<std::int64_t>(sizeof(Unit));
  for (const std::int64_t d : loop.shape) size *= d;
  const bool streaming = can_stream && any && ts == 1 && fs == 1 && is == 0 &&
                         size >= streamed_result_bytes &&
                         loop.shape[inner] * static_cast<std::int64_t>(sizeof(Unit)) >= 8 * line_bytes;
  for_each_row(loop.shape, loop.operands, begin, end, [&](const std::int64_t* at, std::int64_t n) {
    Unit* out = to + at[0];
    const Unit* in = from + at[1];
    const std::int64_t* index = indices + at[2];
    if (is == 0) {
      if (*index == dropped_index) {
        for (std::int64_t i = 0; i < n; ++i) out[i * ts] = Unit{};
      } else if (streaming) {
        stream_copy(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(in + *index * scale),
                    n * static_cast<std::int64_t>(sizeof(Unit)));
      } else {
        copy_run<Unit>(in + *index * scale, fs, out, ts, n);
      }
      return;
    }
    if (is == 1 && ts == 1 && fs == 0 && scale == 1) return gather_elements(in, index, out, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t j = index[i * is];
      out[i * ts] = j == dropped_index ? Unit{} : in[i * fs + j * scale];
    }
  });
  if (streaming) finish_streams();
}

// Rounds of one write each, in the order of the loop: of several writes to one place the last stays.
struct SetElement {
  template <class Unit>
  static void run(Unit& to, const Unit& from) {
    to = from;
  }
};
struct AddElement {
  template <class To, class From>
  static void run(To& to, const From& from) {
    if constexpr (std::is_same_v<To, bool>)
      to = to || from;
    else
      to = static_cast<To>(to + static_cast<To>(from));
  }
};

template <class Write, class To, class From>
void scatter_range(const SelectLoop& loop, std::int64_t begin, std::int64_t end) {
  const From* from = reinterpret_cast<const From*>(loop.operands[0].data);
  To* to = reinterpret_cast<To*>(loop.operands[1].data);
  const auto* indices = reinterpret_cast<const std::int64_t*>(loop.operands[2].data);
  const bool any = !loop.shape.empty();
  const std::size_t inner = loop.shape.size() - 1;
  const std::int64_t fs = any ? loop.operands[0].strides[inner] : 1,
                     ts = any ? loop.operands[1].strides[inner] : 1,
                     is = any ? loop.operands[2].strides[inner] : 0, scale = loop.scale;
  for_each_row(loop.shape, loop.operands, begin, end, [&](const std::int64_t* at, std::int64_t n) {
    const From* in = from + at[0];
    To* out = to + at[1];
    const std::int64_t* index = indices + at[2];
    if (is == 0) {
      if (*index == dropped_index) return;
      out += *index * scale;
      if (fs == 1 && ts == 1) {
        for (std::int64_t i = 0; i < n; ++i) Write::run(out[i], in[i]);
      } else if (fs == 0 && ts == 1) {  // the gradient of a sum
        const From value = *in;
        for (std::int64_t i = 0; i < n; ++i) Write::run(out[i], value);
      } else {
        for (std::int64_t i = 0; i < n; ++i) Write::run(out[i * ts], in[i * fs]);
      }
      return;
    }
    if (is == 1 && ts == 0 && scale == 1) {  // single elements
      for (std::int64_t i = 0; i < n; ++i)
        if (const std::int64_t j = index[i]; j != dropped_index) Write::run(out[j], in[i * fs]);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i)
      if (const std::int64_t j = index[i * is]; j != dropped_index)
        Write::run(out[i * ts + j * scale], in[i * fs]);
  });
}

using SelectRange = void (*)(const SelectLoop&, std::int64_t begin, std::int64_t end);

NAX_ENGINE SelectRange gatherer(std::size_t bytes);
NAX_ENGINE SelectRange setter(std::size_t bytes);

NAX_ENGINE std::int64_t loop_size(const SelectLoop& loop);

}  // namespace detail

// values = data at the indices.
NAX_ENGINE void gather(SelectLoop loop, std::size_t bytes);

// data at the indices = values, or += values. Two positions of the loop may name one place, but only if they
// agree in every coordinate by which the data moves; so threads share such an axis out among them.
NAX_ENGINE void scatter(SelectLoop loop, detail::SelectRange run);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/maps/gather-inl.hpp"
#endif
