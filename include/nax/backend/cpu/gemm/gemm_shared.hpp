#pragma once

// Products shared out over the pool's threads.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "nax/backend/cpu/gemm/gemm_blocked.hpp"
#include "nax/backend/cpu/maps/accumulate.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// Packs all of a with all threads, for parts of a product that share it.
template <class T>
void pack_shared_rows(std::int64_t m, std::int64_t k, Strided<const T> a,
                      std::optional<PackedRows<T>>& packed) {
  const std::int64_t depth = depth_of_slices<T>(k);
  packed.emplace(m, depth, divide_up(k, depth));
  parallel_for(m, divide_up(1 << 14, k), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k0 = 0; k0 < k; k0 += depth)
      packed->pack(k0 / depth, begin, end, m, std::min(depth, k - k0), a.at(0, k0));
  });
}

// Parts of C: `down` times `across`.
struct ProductParts {
  std::int64_t down, across;
};

// A few parts for each thread, so that one which begins late or loses its core does not hold up the others.
// Where each thread can have many rows, parts are as wide as C: all rows of a are packed once, and b only
// once a part. Else a transposed a is cut by rows first, for each part packs what it needs of it; parts of
// another are as high as pays for packing b. No more parts than the product is `worth`.
template <class T>
ProductParts parts_of(std::int64_t m, std::int64_t n, Strided<const T> a, int threads, double worth) {
  constexpr std::int64_t parts_per_thread = 4, rows_of_a_wide_part = 512, rows_of_a_part = 256,
                         narrow = 2 * tile_columns<T>, low = 4 * tile_rows;
  const std::int64_t parts = static_cast<std::int64_t>(
                         std::min(static_cast<double>(threads * parts_per_thread), worth)),
                     wide = threads * (std::min(parts, m / rows_of_a_wide_part) / threads);
  if (wide > 0) return {wide, 1};
  const auto at_most = [](std::int64_t wanted, std::int64_t size, std::int64_t least) {
    return std::clamp<std::int64_t>(size / least, 1, wanted);
  };
  const std::int64_t least_rows = a.column == 1 ? rows_of_a_part : low,
                     across = at_most(divide_up(parts, at_most(parts, m, least_rows)), n, narrow);
  return {at_most(divide_up(parts, across), m, low), across};
}

template <class T>
void gemm_parts(const ProductParts& parts, std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a,
                Strided<const T> b, Strided<T> c, bool accumulate) {
  constexpr std::int64_t most_shared_bytes = 8 * 1024 * 1024, width = tile_columns<T>;
  const std::int64_t height = divide_up(divide_up(m, parts.down), 2) * 2,
                     breadth = divide_up(divide_up(n, parts.across), width) * width;
  std::optional<PackedRows<T>> packed;
  if (parts.down == 1 && parts.across > 1 && rows_collide(m, a) &&
      m * k * std::int64_t{sizeof(T)} <= most_shared_bytes)
    pack_shared_rows(m, k, a, packed);
  parallel_for(parts.down * parts.across, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t i = part / parts.across * height, j = part % parts.across * breadth;
      if (i >= m || j >= n) continue;
      BlockedProduct<T>(std::min(height, m - i), std::min(breadth, n - j), k, a.at(i, 0), b.at(0, j),
                        c.at(i, j), accumulate, {}, nullptr, packed ? &*packed : nullptr)
          .run();
    }
  });
}

// The slices of a small C, each a product of its own; added up in the order in which one thread does.
template <class T>
void gemm_slices(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                 Strided<T> c, bool accumulate) {
  constexpr std::int64_t most_at_once = 64;
  const std::int64_t depth = depth_of_slices<T>(k), slices = divide_up(k, depth),
                     at_once = std::min(slices, most_at_once);
  const Scratch<T> products(at_once * m * n);
  const auto product = [&](std::int64_t slice) -> T* { return products.data() + slice % at_once * m * n; };
  for (std::int64_t first = 0; first < slices; first += at_once) {
    const std::int64_t count = std::min(at_once, slices - first);
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = first + begin; s < first + end; ++s)  // the first slice goes to C
        BlockedProduct<T>(m, n, std::min(depth, k - s * depth), a.at(0, s * depth), b.at(s * depth, 0),
                          s == 0 ? c : Strided<T>{product(s), n, 1}, s == 0 && accumulate, {})
            .run();
    });
    for (std::int64_t s = std::max<std::int64_t>(first, 1); s < first + count; ++s)
      for (std::int64_t i = 0; i < m; ++i)
        accumulate_run<T>(product(s) + i * n, c.at(i, 0).data, c.column, n);
  }
}

template <class T>
void gemm_shared(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                 Strided<T> c, bool accumulate, const UpcomingOperands<T>& upcoming) {
  constexpr double enough = 1 << 17;  // multiplications that a part should have
  constexpr std::int64_t small_bytes = 64 * 1024;
  const double worth = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / enough;
  const int threads = worth >= 2 ? available_threads() : 1;
  if (threads <= 1) return BlockedProduct<T>(m, n, k, a, b, c, accumulate, upcoming).run();
  const ProductParts cut = parts_of(m, n, a, threads, worth);
  const std::int64_t slices = divide_up(k, depth_of_slices<T>(k));
  // A slice reads rows of b which, if b is what a training step updates, the same thread has updated: they
  // lie in its core's cache.
  if (slices > 1 && slices >= std::min<std::int64_t>(threads, cut.down * cut.across) &&
      m * n * std::int64_t{sizeof(T)} <= small_bytes)
    gemm_slices(m, n, k, a, b, c, accumulate);
  else
    gemm_parts(cut, m, n, k, a, b, c, accumulate);
}

// The product A B, stored nowhere: `take` gets its elements row by row, each once, from several threads at a
// time. k is at least 1 and at most most_depth_of_rows.
template <class T>
void gemm_rows(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
               const TakeRow<T>& take) {
  constexpr std::int64_t parts_per_thread = 4, least = 4 * tile_rows;
  const int threads = available_threads();
  const std::int64_t parts =
      threads <= 1 ? 1 : std::clamp<std::int64_t>(m / least, 1, threads * parts_per_thread);
  const std::int64_t height = divide_up(divide_up(m, parts), 2) * 2;
  parallel_for(divide_up(m, height), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t first = part * height;
      const auto take_part = [&](std::int64_t i, std::int64_t j, std::int64_t count, const T* elements) {
        take(first + i, j, count, elements);
      };
      const TakeRow<T> take_row(take_part);
      BlockedProduct<T>(std::min(height, m - first), n, k, a.at(first, 0), b, {}, false, {}, &take_row).run();
    }
  });
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
