#pragma once

// Copies between any two layouts of the same shape: what transposing, reversing, broadcasting and slicing
// come to in the end. Elements are moved as units of 1, 2, 4, 8 or 16 bytes, so that few instances serve
// every type.
//
// The axes are first put into the order of the destination (longest stride first, positive but where the
// source would run backward) and merged where both sides allow it. Then the innermost axis is copied as runs;
// but where the source is contiguous along another axis, that axis and the innermost one form a plane that is
// transposed tile by tile, each tile in registers for 4 and 8 bytes. Threads share the outer axes and the
// rows of planes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

#include "nax/backend/cpu/packets/stream.hpp"
#include "nax/backend/cpu/packets/units.hpp"
#include "nax/core/error.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu {

struct CopyAxes {
  static constexpr int most = 64;
  int count = 0;
  std::int64_t shape[most], to[most], from[most];  // strides in elements

  std::int64_t size() const {
    std::int64_t result = 1;
    for (int axis = 0; axis < count; ++axis) result *= shape[axis];
    return result;
  }
  void add(std::int64_t n, std::int64_t to_stride, std::int64_t from_stride) {
    shape[count] = n;
    to[count] = to_stride;
    from[count] = from_stride;
    ++count;
  }
  void exchange(int a, int b) {
    std::swap(shape[a], shape[b]);
    std::swap(to[a], to[b]);
    std::swap(from[a], from[b]);
  }
  void remove(int axis) {
    for (--count; axis < count; ++axis) exchange(axis, axis + 1);
  }
  // Offsets of the `index`-th combination of all axes but the last `skip`.
  std::pair<std::int64_t, std::int64_t> offsets(std::int64_t index, int skip) const;
};

inline namespace NAX_SIMD_ABI {

inline constexpr std::int64_t copy_grain_bytes = 1 << 18;  // a thread's share is worth waking it
inline constexpr std::int64_t side_bytes = 256;            // a side of what is transposed at a time

// to[i * to_row + j] = from[j * from_column + i], i < rows, j < columns; one tile that caches hold.
template <class U>
void transpose_tile(std::int64_t rows, std::int64_t columns, U* to, std::int64_t to_row, const U* from,
                    std::int64_t from_column) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) to[i * to_row + j] = from[j * from_column + i];
}

// A square of one packet's width goes through registers; a packet of floating point moves any bits unchanged.
template <class T, bool streaming, class U>
void transpose_square(U* to, std::int64_t to_row, const U* from, std::int64_t from_column) {
  using P = simd::Packet<T>;
  P block[P::size];
  for (std::int64_t l = 0; l < P::size; ++l)
    block[l] = P::load(reinterpret_cast<const T*>(from + l * from_column));
  simd::transpose(block);
  for (std::int64_t l = 0; l < P::size; ++l) {
    T* const line = reinterpret_cast<T*>(to + l * to_row);
    if constexpr (streaming)
      stream(line, block[l]);
    else
      block[l].store(line);
  }
}
template <class T, class U>
void transpose_squares(std::int64_t rows, std::int64_t columns, U* to, std::int64_t to_row, const U* from,
                       std::int64_t from_column) {
  constexpr std::int64_t size = simd::Packet<T>::size;
  const std::int64_t whole_rows = rows / size * size, whole_columns = columns / size * size;
  for (std::int64_t i = 0; i < whole_rows; i += size)
    for (std::int64_t j = 0; j < whole_columns; j += size)
      transpose_square<T, false>(to + i * to_row + j, to_row, from + j * from_column + i, from_column);
  transpose_tile(rows, columns - whole_columns, to + whole_columns, to_row,
                 from + whole_columns * from_column, from_column);
  transpose_tile(rows - whole_rows, whole_columns, to + whole_rows * to_row, to_row, from + whole_rows,
                 from_column);
}

inline constexpr std::int64_t stream_bytes = 2 << 20;

template <class T, class U>
void transpose_streaming(std::int64_t rows, std::int64_t columns, U* to, std::int64_t to_row, const U* from,
                         std::int64_t from_column) {
  constexpr std::int64_t size = simd::Packet<T>::size,
                         line = line_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t whole_rows = rows / size * size, whole_columns = columns / line * line;
  for (std::int64_t j = 0; j < whole_columns; j += line)
    for (std::int64_t i = 0; i < whole_rows; i += size)
      for (std::int64_t part = j; part < j + line; part += size)
        transpose_square<T, true>(to + i * to_row + part, to_row, from + part * from_column + i, from_column);
  finish_streams();
  transpose_tile(rows, columns - whole_columns, to + whole_columns, to_row,
                 from + whole_columns * from_column, from_column);
  transpose_tile(rows - whole_rows, whole_columns, to + whole_rows * to_row, to_row, from + whole_rows,
                 from_column);
}

// Two axes of a copy; strides in elements.
struct Plane {
  std::int64_t rows, columns;
  void* to;
  std::int64_t to_row, to_column;
  const void* from;
  std::int64_t from_row, from_column;
};

// Rows of `columns` copies of one element each.
template <int columns, class U>
void repeat_elements(const Plane& plane) {
  U* const to = static_cast<U*>(plane.to);
  const U* const from = static_cast<const U*>(plane.from);
  for (std::int64_t i = 0; i < plane.rows; ++i) {
    const U value = from[i * plane.from_row];
    for (int j = 0; j < columns; ++j) to[i * columns + j] = value;
  }
}

template <class U>
void copy_rows(const Plane& plane) {
  if (plane.from_column == 0 && plane.to_column == 1 && plane.to_row == plane.columns) {
    if (plane.columns == 2) return repeat_elements<2, U>(plane);
    if (plane.columns == 3) return repeat_elements<3, U>(plane);
    if (plane.columns == 4) return repeat_elements<4, U>(plane);
  }
  for (std::int64_t i = 0; i < plane.rows; ++i)
    copy_run<U>(static_cast<const U*>(plane.from) + i * plane.from_row, plane.from_column,
                static_cast<U*>(plane.to) + i * plane.to_row, plane.to_column, plane.columns);
}

// Where to_column and from_row are 1.
template <class U>
void transpose_plane(const Plane& plane, bool large) {
  U* const to = static_cast<U*>(plane.to);
  const U* const from = static_cast<const U*>(plane.from);
  const auto [rows, columns, to_row, from_column] =
      std::array{plane.rows, plane.columns, plane.to_row, plane.from_column};
  if constexpr (can_stream && (sizeof(U) == 4 || sizeof(U) == 8)) {
    using T = std::conditional_t<sizeof(U) == 4, float, double>;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % line_bytes == 0 &&
                         to_row * static_cast<std::int64_t>(sizeof(U)) % line_bytes == 0;
    if (large && aligned) return transpose_streaming<T>(rows, columns, to, to_row, from, from_column);
  }
  // Four cache lines each way: few pages at a time, and each line is used up while it is near.
  constexpr std::int64_t tile = side_bytes / static_cast<std::int64_t>(sizeof(U));
  for (std::int64_t i = 0; i < rows; i += tile)
    for (std::int64_t j = 0; j < columns; j += tile) {
      const std::int64_t m = std::min(tile, rows - i), n = std::min(tile, columns - j);
      U* const target = to + i * to_row + j;
      const U* const source = from + j * from_column + i;
      if constexpr (sizeof(U) == 4 && simd::has_packet<float>)
        transpose_squares<float>(m, n, target, to_row, source, from_column);
      else if constexpr (sizeof(U) == 8 && simd::has_packet<double>)
        transpose_squares<double>(m, n, target, to_row, source, from_column);
      else
        transpose_tile(m, n, target, to_row, source, from_column);
    }
}

// The loops for one size of elements.
struct CopyLoops {
  std::int64_t bytes;
  void (*rows)(const Plane&);
  void (*transpose)(const Plane&, bool large);
};
template <class U>
inline constexpr CopyLoops copy_loops{sizeof(U), copy_rows<U>, transpose_plane<U>};

NAX_COMPILED_ONCE void copy_axes(const CopyLoops& loops, const CopyAxes& axes, char* to, const char* from) {
  const std::int64_t bytes = loops.bytes;
  const int last = axes.count - 1;
  if (last < 0) return loops.rows({1, 1, to, 1, 1, from, 1, 1});
  const std::int64_t n = axes.shape[last];
  int across = -1;  // the axis along which the source is contiguous, if that is not the last one
  if (axes.to[last] == 1 && axes.from[last] != 1 && axes.from[last] != 0 && n > 3)
    for (int axis = 0; axis < last; ++axis)
      if (axes.from[axis] == 1 && axes.shape[axis] > 3) across = axis;

  if (across >= 0) {
    CopyAxes planes = axes;  // the plane's axes come last
    for (int axis = across; axis + 1 < last; ++axis) planes.exchange(axis, axis + 1);
    const std::int64_t rows = planes.shape[last - 1], step = side_bytes / bytes;
    const std::int64_t strips = (rows + step - 1) / step, outer = axes.size() / (rows * n);
    const bool large = axes.size() * bytes >= stream_bytes;
    parallel_for(outer * strips, copy_grain_bytes / (std::min(step, rows) * n * bytes) + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t part = begin; part < end;) {
                     const std::int64_t first = part % strips, some = std::min(strips - first, end - part);
                     const auto [to_offset, from_offset] = planes.offsets(part / strips, 2);
                     const std::int64_t row = first * step, to_row = planes.to[last - 1];
                     loops.transpose(
                         {std::min(some * step, rows - row), n, to + (to_offset + row * to_row) * bytes,
                          to_row, 1, from + (from_offset + row) * bytes, 1, planes.from[last]},
                         large);
                     part += some;
                   }
                 });
    return;
  }
  const std::int64_t runs = axes.size() / n;
  if (runs == 1) {
    parallel_for(n, copy_grain_bytes / bytes, [&](std::int64_t begin, std::int64_t end) {
      loops.rows({1, end - begin, to + begin * axes.to[last] * bytes, 0, axes.to[last],
                  from + begin * axes.from[last] * bytes, 0, axes.from[last]});
    });
    return;
  }
  const std::int64_t middle = axes.shape[last - 1], outer = runs / middle;
  const std::int64_t to_row = axes.to[last - 1], from_row = axes.from[last - 1];
  parallel_for(runs, copy_grain_bytes / (n * bytes) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t run = begin; run < end;) {
      const std::int64_t first = run % middle, some = std::min(middle - first, end - run);
      const auto [to_offset, from_offset] =
          outer > 1 ? axes.offsets(run / middle, 2) : std::pair<std::int64_t, std::int64_t>{};
      loops.rows({some, n, to + (to_offset + first * to_row) * bytes, to_row, axes.to[last],
                  from + (from_offset + first * from_row) * bytes, from_row, axes.from[last]});
      run += some;
    }
  });
}

}  // namespace NAX_SIMD_ABI

// Brings the axes into the order described above; `to` and `from` move where a stride changes its sign.
// Returns false when there is nothing to copy.
NAX_ENGINE bool normalise(CopyAxes& axes, std::int64_t& to_offset, std::int64_t& from_offset);

// Throws TypeError for sizes that no dtype has.
NAX_ENGINE const CopyLoops& copy_loops_of(std::int64_t element_bytes);

// to[sum i_d to_strides[d]] = from[sum i_d from_strides[d]] for every index within `shape`; strides in
// elements, of any sign; a source stride of zero repeats. The two must not overlap, and no element of `to` be
// reached twice.
NAX_ENGINE void strided_copy(std::size_t element_bytes, int ndim, const std::int64_t* shape, void* to,
                             const std::int64_t* to_strides, const void* from,
                             const std::int64_t* from_strides);

template <class T>
void strided_copy(int ndim, const std::int64_t* shape, T* to, const std::int64_t* to_strides, const T* from,
                  const std::int64_t* from_strides) {
  strided_copy(sizeof(T), ndim, shape, static_cast<void*>(to), to_strides, static_cast<const void*>(from),
               from_strides);
}

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/maps/transpose-inl.hpp"
#endif
