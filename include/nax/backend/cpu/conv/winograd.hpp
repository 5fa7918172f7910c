#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "nax/backend/cpu/gemm/gemm.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/loops/convolution.hpp"

// Planes convolved with 3 x 3 taps by Winograd's F(2 x 2, 3 x 3), which takes 16 products where tap by tap
// there are 36 (A. Lavin, S. Gray: Fast algorithms for convolutional neural networks, 2015, section 4.1).
//
// y is cut into tiles of 2 x 2, each of which sees a piece d of 4 x 4 of x. With taps g, a tile is
// A' ((G g G') * (B' d B)) A, where * is element by element and is summed over the channels: 16 products of
// matrices (tiles, c) (c, o). The gradient of g is G' (sum over tiles of (B' d B) * (A dy A')) G. Blocks of
// tiles pass through all steps, so that what lies between stays in a cache.
//
// The sums pass through differences of neighbours: results are as exact as the largest elements of their
// piece are, and neighbours of infinity and NaN are spoilt. Functions return false where a result is not
// finite, and `weights` leaves its own as they were; the caller then computes tap by tap.
NAX_BEGIN
namespace cpu::winograd {

using loops::ConvGeometry;

// Tiles of all images, row by row; which elements of x and y each has.
struct Tiles {
  explicit Tiles(const ConvGeometry& g)
      : s(g), down((g.out[1] + 1) / 2), across((g.out[2] + 1) / 2), count(g.n * g.in[0] * down * across) {}

  // The elements of a plane of `rows` x `columns` from (top, left) on, `side` x `side`; `outside` stands for
  // those that are not there.
  template <int side, class T>
  static void place(T* plane, std::int64_t rows, std::int64_t columns, std::int64_t channels,
                    std::int64_t top, std::int64_t left, T* outside, T** to) {
    for (std::int64_t i = top; i < top + side; ++i)
      for (std::int64_t j = left; j < left + side; ++j) {
        const bool inside = i >= 0 && i < rows && j >= 0 && j < columns;
        *to++ = inside ? plane + (i * columns + j) * channels : outside;
      }
  }
  template <class T>
  void seen(const T* x, std::int64_t tile, const T* zeros, const T** to) const {
    const std::int64_t image = tile / (down * across), at = tile % (down * across);
    place<4>(x + image * s.in[1] * s.in[2] * s.c, s.in[1], s.in[2], s.c, at / across * 2 - s.low[1],
             at % across * 2 - s.low[2], zeros, to);
  }
  template <class T>
  void made(T* y, std::int64_t tile, T* outside, T** to) const {
    const std::int64_t image = tile / (down * across), at = tile % (down * across);
    place<2>(y + image * s.out[1] * s.out[2] * s.o, s.out[1], s.out[2], s.o, at / across * 2, at % across * 2,
             outside, to);
  }

  const ConvGeometry& s;
  std::int64_t down, across, count;
};

// f(load, store, first) for the packets of `count` elements, the last of which may be a part of one.
template <class T, class F>
void for_packets(std::int64_t count, const F& f) {
  constexpr std::int64_t width = simd::Packet<T>::size;
  std::int64_t i = 0;
  for (; i + width <= count; i += width)
    f([](const T* from) { return simd::Packet<T>::load(from); },
      [](const simd::Packet<T>& x, T* to) { x.store(to); }, i);
  if (const std::int64_t rest = count - i; rest > 0)
    f([rest](const T* from) { return simd::Packet<T>::load(from, rest); },
      [rest](const simd::Packet<T>& x, T* to) { x.store(to, rest); }, i);
}

// Does so by several threads.
template <class T, class F>
void share_packets(std::int64_t count, const F& f) {
  parallel_for(count, 1 << 12, [&](std::int64_t begin, std::int64_t end) {
    for_packets<T>(end - begin,
                   [&](const auto& load, const auto& store, std::int64_t i) { f(load, store, begin + i); });
  });
}

// B' d B of each channel: element k at to[k * stride].
template <class T>
void transform_piece(const T* const* d, std::int64_t channels, T* to, std::int64_t stride) {
  for_packets<T>(channels, [&](const auto& load, const auto& store, std::int64_t i) {
    simd::Packet<T> t[16];
    for (int j = 0; j < 4; ++j) {
      const simd::Packet<T> a = load(d[j] + i), b = load(d[4 + j] + i), c = load(d[8 + j] + i),
                            e = load(d[12 + j] + i);
      t[j] = a - c;
      t[4 + j] = b + c;
      t[8 + j] = c - b;
      t[12 + j] = b - e;
    }
    for (int row = 0; row < 4; ++row) {
      const simd::Packet<T>* const r = t + 4 * row;
      T* const at = to + 4 * row * stride + i;
      store(r[0] - r[2], at);
      store(r[1] + r[2], at + stride);
      store(r[2] - r[1], at + 2 * stride);
      store(r[1] - r[3], at + 3 * stride);
    }
  });
}

// y = A' m A of each channel. Whether all are finite.
template <class T>
bool finish_tile(const T* m, std::int64_t stride, std::int64_t channels, T* const* y) {
  simd::Packet<T> nothing(T(0));  // but NaN where a result is not finite
  for_packets<T>(channels, [&](const auto& load, const auto& store, std::int64_t i) {
    simd::Packet<T> t[8];
    for (int j = 0; j < 4; ++j) {
      const T* const at = m + j * stride + i;
      const simd::Packet<T> b = load(at + 4 * stride), c = load(at + 8 * stride);
      t[j] = load(at) + b + c;
      t[4 + j] = b - c - load(at + 12 * stride);
    }
    for (int row = 0; row < 2; ++row) {
      const simd::Packet<T>* const r = t + 4 * row;
      const simd::Packet<T> left = r[0] + r[1] + r[2], right = r[1] - r[2] - r[3];
      nothing = nothing + (left - left) + (right - right);
      store(left, y[2 * row] + i);
      store(right, y[2 * row + 1] + i);
    }
  });
  return simd::reduce_add(nothing) == T(0);
}

// A dy A' of each channel.
template <class T>
void transform_cotangent(const T* const* g, std::int64_t channels, T* to, std::int64_t stride) {
  for_packets<T>(channels, [&](const auto& load, const auto& store, std::int64_t i) {
    const simd::Packet<T> g0 = load(g[0] + i), g1 = load(g[1] + i), g2 = load(g[2] + i), g3 = load(g[3] + i);
    const simd::Packet<T> left[4] = {g0, g0 + g2, g0 - g2, -g2}, right[4] = {g1, g1 + g3, g1 - g3, -g3};
    for (int row = 0; row < 4; ++row) {
      T* const at = to + 4 * row * stride + i;
      store(left[row], at);
      store(left[row] + right[row], at + stride);
      store(left[row] - right[row], at + 2 * stride);
      store(-right[row], at + 3 * stride);
    }
  });
}

// G g G' of taps w, (9, size): (16, size).
template <class T>
void transform_weights(const T* w, std::int64_t size, T* to) {
  share_packets<T>(size, [&](const auto& load, const auto& store, std::int64_t i) {
    const simd::Packet<T> half(T(0.5));
    simd::Packet<T> t[12];
    for (int j = 0; j < 3; ++j) {
      const simd::Packet<T> a = load(w + j * size + i), b = load(w + (3 + j) * size + i),
                            c = load(w + (6 + j) * size + i), sum = half * (a + c), middle = half * b;
      t[j] = a;
      t[3 + j] = sum + middle;
      t[6 + j] = sum - middle;
      t[9 + j] = c;
    }
    for (int row = 0; row < 4; ++row) {
      const simd::Packet<T>* const r = t + 3 * row;
      const simd::Packet<T> sum = half * (r[0] + r[2]), middle = half * r[1];
      T* const at = to + 4 * row * size + i;
      store(r[0], at);
      store(sum + middle, at + size);
      store(sum - middle, at + 2 * size);
      store(r[2], at + 3 * size);
    }
  });
}

// Whether all are finite, and so small that sums of sixteen are.
template <class T>
bool all_summable(const T* x, std::int64_t size) {
  std::atomic<bool> good{true};
  parallel_for(size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    simd::Packet<T> nothing(T(0));
    for_packets<T>(end - begin, [&](const auto& load, const auto&, std::int64_t i) {
      const simd::Packet<T> value = simd::Packet<T>(T(16)) * load(x + begin + i);
      nothing = nothing + (value - value);
    });
    if (simd::reduce_add(nothing) != T(0)) good.store(false, std::memory_order_relaxed);
  });
  return good;
}

// w = G' u G, or added to w.
template <class T>
void finish_weights(const T* u, std::int64_t size, T* w, bool accumulate) {
  share_packets<T>(size, [&](const auto& load, const auto& store, std::int64_t i) {
    const simd::Packet<T> half(T(0.5));
    simd::Packet<T> t[12];
    for (int j = 0; j < 4; ++j) {
      const T* const at = u + j * size + i;
      const simd::Packet<T> b = load(at + 4 * size), c = load(at + 8 * size), sum = half * (b + c);
      t[j] = load(at) + sum;
      t[4 + j] = half * (b - c);
      t[8 + j] = sum + load(at + 12 * size);
    }
    for (int row = 0; row < 3; ++row) {
      const simd::Packet<T>* const r = t + 4 * row;
      T* const at = w + 3 * row * size + i;
      const simd::Packet<T> sum = half * (r[1] + r[2]),
                            taps[3] = {r[0] + sum, half * (r[1] - r[2]), sum + r[3]};
      for (int j = 0; j < 3; ++j) store(accumulate ? load(at + j * size) + taps[j] : taps[j], at + j * size);
    }
  });
}

// Tiles whose pieces and products are about so many bytes.
template <class T>
std::int64_t block_of_tiles(const Tiles& tiles, std::int64_t bytes) {
  constexpr std::int64_t least = 48;
  const std::int64_t each = 16 * (tiles.s.c + tiles.s.o) * std::int64_t{sizeof(T)};
  const std::int64_t blocks = divide_up(tiles.count, std::max(bytes / each, least));
  return divide_up(tiles.count, blocks);
}

// Whether this way is the faster one, measured with one thread: .4 to .8 of the time of tap by tap.
template <class T>
bool suits(const ConvGeometry& s) {
  if constexpr (simd::has_packet<T>) {
    constexpr std::int64_t least_channels = 16, least_tiles = 32, most_pairs = 1 << 20;
    bool plain = s.groups == 1 && s.kernel[0] == 1 && s.kernel[1] == 3 && s.kernel[2] == 3 && s.low[0] == 0 &&
                 s.in[0] == s.out[0];
    for (int axis = 0; axis < 3; ++axis)
      plain = plain && s.stride[axis] == 1 && s.lhs[axis] == 1 && s.rhs[axis] == 1;
    return plain && s.c >= least_channels && s.o >= least_channels && s.c * s.o <= most_pairs &&
           Tiles(s).count >= least_tiles;
  } else {
    return false;
  }
}
// Its gradient of the taps reads and writes 16 numbers a pair of channels for each block of tiles.
template <class T>
bool suits_weights(const ConvGeometry& s) {
  constexpr std::int64_t most_pairs = 1 << 16, many_tiles = 256;
  return suits<T>(s) && (s.c * s.o <= most_pairs || Tiles(s).count >= many_tiles);
}

// y from x and the taps w.
template <class T>
bool forward(const ConvGeometry& s, const T* x, const T* w, T* y) {
  const Tiles tiles(s);
  const Scratch<T> taps(16 * s.c * s.o), zeros(s.c);
  std::fill_n(zeros.data(), s.c, T(0));
  transform_weights(w, s.c * s.o, taps.data());
  const std::int64_t block = block_of_tiles<T>(tiles, std::int64_t{1} << 20);
  const std::int64_t blocks = divide_up(tiles.count, block), grain = 1 + (1 << 12) / (s.c + s.o);
  std::atomic<bool> finite{true};
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> pieces(16 * block * s.c), products(16 * block * s.o);
    for (std::int64_t first = begin * block; first < std::min(end * block, tiles.count); first += block) {
      const std::int64_t here = std::min(block, tiles.count - first);
      parallel_for(here, grain, [&](std::int64_t from, std::int64_t to) {
        const T* d[16];
        for (std::int64_t t = from; t < to; ++t) {
          tiles.seen<T>(x, first + t, zeros.data(), d);
          transform_piece(d, s.c, pieces.data() + t * s.c, here * s.c);
        }
      });
      gemm_batched<T>(16, here, s.o, s.c, pieces.data(), here * s.c, s.c, 1, taps.data(), s.c * s.o, s.o, 1,
                      products.data(), here * s.o, s.o, 1, false);
      parallel_for(here, grain, [&](std::int64_t from, std::int64_t to) {
        const Scratch<T> outside(s.o);
        bool good = true;
        T* made[4];
        for (std::int64_t t = from; t < to; ++t) {
          tiles.made(y, first + t, outside.data(), made);
          good &= finish_tile(products.data() + t * s.o, here * s.o, s.o, made);
        }
        if (!good) finite.store(false, std::memory_order_relaxed);
      });
      if (!finite.load(std::memory_order_relaxed)) return;
    }
  };
  // Threads share the blocks, or each block where there are fewer of them.
  if (blocks < available_threads())
    run(0, blocks);
  else
    parallel_for(blocks, 1, run);
  return finite;
}

// The gradient w of the taps from x and one of y, or that added to w.
template <class T>
bool weights(const ConvGeometry& s, const T* x, const T* g, T* w, bool accumulate) {
  const Tiles tiles(s);
  const std::int64_t size = s.c * s.o, block = block_of_tiles<T>(tiles, std::int64_t{1} << 21);
  const Scratch<T> sums(16 * size), pieces(16 * block * s.c), cotangents(16 * block * s.o),
      zeros(std::max(s.c, s.o));
  std::fill_n(zeros.data(), std::max(s.c, s.o), T(0));
  for (std::int64_t first = 0; first < tiles.count; first += block) {
    const std::int64_t here = std::min(block, tiles.count - first);
    parallel_for(here, 1 + (1 << 12) / (s.c + s.o), [&](std::int64_t begin, std::int64_t end) {
      const T* d[16];
      for (std::int64_t t = begin; t < end; ++t) {
        tiles.seen<T>(x, first + t, zeros.data(), d);
        transform_piece(d, s.c, pieces.data() + t * s.c, here * s.c);
        tiles.made<const T>(g, first + t, zeros.data(), d);
        transform_cotangent(d, s.o, cotangents.data() + t * s.o, here * s.o);
      }
    });
    gemm_batched<T>(16, s.c, s.o, here, pieces.data(), here * s.c, 1, s.c, cotangents.data(), here * s.o, s.o,
                    1, sums.data(), size, s.o, 1, first > 0);
  }
  if (!all_summable(sums.data(), 16 * size)) return false;
  finish_weights(sums.data(), size, w, accumulate);
  return true;
}

}  // namespace cpu::winograd
NAX_END
