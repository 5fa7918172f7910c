#pragma once

#include <vector>

#include "nax/backend/cpu/factor/factor.hpp"
#include "nax/backend/cpu/factor/factor_tiny.hpp"
#include "nax/backend/cpu/factor/system_slots.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu {
namespace detail {

// A matrix with these strides as a row-major one.
template <class T>
void gather_matrix(const T* from, std::int64_t row, std::int64_t column, std::int64_t m, std::int64_t n,
                   T* to) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[i * n + j] = from[i * row + j * column];
}

// The systems of a batch, with addresses; b null: the identity.
template <class T>
class Systems {
 public:
  Systems(const loops::LinearSystems& s, const void* a, const void* b, void* x)
      : s_(s), a_(static_cast<const T*>(a)), b_(static_cast<const T*>(b)), x_(static_cast<T*>(x)) {}

  void solve(std::int64_t begin, std::int64_t end) const {
    if (s_.kind != loops::SystemKind::general) return solve_triangles(begin, end);
    if constexpr (simd::has_packet<T>)
      if (has_tiny_factors<T>(s_.n) && (!b_ || s_.m <= most_tiny_right)) return solve_lanes(begin, end);
    const std::int64_t n = s_.n, m = s_.m;
    std::vector<T> lu(static_cast<std::size_t>(n * n)), right(static_cast<std::size_t>(n * m), T(0));
    std::vector<std::int32_t> rows(static_cast<std::size_t>(n));
    if (!b_)
      for (std::int64_t i = 0; i < n; ++i) right[static_cast<std::size_t>(i * n + i)] = T(1);
    std::int64_t factored = -1;  // a matrix met again is not factored again
    for (std::int64_t i = begin; i < end; ++i) {
      if (const std::int64_t at = s_.a.at(i, s_.batches); at != factored) {
        factored = at;
        gather_matrix(a_ + at, s_.a.row, s_.a.column, n, n, lu.data());
        lu_factor(lu.data(), n, n, n, rows.data());
      }
      if (b_) gather_matrix(b_ + s_.b.at(i, s_.batches), s_.b.row, s_.b.column, n, m, right.data());
      lu_solve(lu.data(), rows.data(), n, right.data(), x_ + i * n * m, m);
    }
  }

 private:
  // A packet's width of systems at a time; the last one over and over where there are fewer.
  void solve_lanes(std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t width = simd::Packet<T>::size;
    const T *a[width], *b[width] = {};
    for (std::int64_t i = begin; i < end; i += width) {
      const std::int64_t some = std::min(end - i, width);
      for (std::int64_t l = 0; l < width; ++l) {
        const std::int64_t which = i + std::min(l, some - 1);
        a[l] = a_ + s_.a.at(which, s_.batches);
        if (b_) b[l] = b_ + s_.b.at(which, s_.batches);
      }
      solve_tiny<T>(a, s_.a.row, s_.a.column, s_.n, b_ ? b : nullptr, s_.b.row, s_.b.column, s_.m,
                    x_ + i * s_.n * s_.m, some);
    }
  }
  void solve_triangles(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; ++i) {
      T* const x = x_ + i * s_.n * s_.m;
      gather_matrix(b_ + s_.b.at(i, s_.batches), s_.b.row, s_.b.column, s_.n, s_.m, x);
      solve_triangle(a_ + s_.a.at(i, s_.batches), s_.a.row, s_.a.column, s_.n, is_lower(s_.kind),
                     is_unit(s_.kind), x, s_.m);
    }
  }

  const loops::LinearSystems& s_;
  const T *a_, *b_;
  T* x_;
};

}  // namespace detail

template <class T>
void SystemKernel::run(const loops::LinearSystems& s, const void* a, const void* b, void* x) {
  const detail::Systems<T> systems(s, a, b, x);
  parallel_for(s.count(), 1 + (std::int64_t{1} << 15) / (s.n * s.n * s.n + 1),
               [&](std::int64_t begin, std::int64_t end) { systems.solve(begin, end); });
}

}  // namespace cpu
NAX_END
