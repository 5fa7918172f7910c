#include "nax/backend/cpu/gemm/gemm_tiny.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "nax/backend/cpu/gemm/gemm.hpp"
#include "support/with_threads.hpp"

// Batches of small products against loops: every shape up to the largest, operands of every layout, few and
// many of them, on one thread and on several. Memory ends with the last element, so that sanitizers see
// accesses beyond it, and memory between matrices stays unchanged.

namespace {

using nax::cpu::gemm_batched;

enum class Way { rows, columns, apart, backward, shared };
constexpr Way ways[] = {Way::rows, Way::columns, Way::apart, Way::backward, Way::shared};

template <class T>
struct Batch {
  std::int64_t row, column, step, size, first = 0;
  std::unique_ptr<T[]> memory;

  Batch(std::int64_t batch, std::int64_t m, std::int64_t n, Way way, std::int64_t seed) {
    row = way == Way::columns ? 1 : way == Way::apart ? 2 * n + 1 : n;
    column = way == Way::columns ? m : way == Way::apart ? 2 : 1;
    step = way == Way::shared ? 0 : way == Way::apart ? m * row + 3 : m * n;
    size = (batch - 1) * step + (m - 1) * row + (n - 1) * column + 1;
    if (way == Way::backward) row = -row, column = -column, step = -step, first = size - 1;
    memory.reset(new T[static_cast<std::size_t>(size)]);
    for (std::int64_t i = 0; i < size; ++i) memory[i] = static_cast<T>((i * 7 + seed) % 11 - 5);
  }
  T* data() const { return memory.get() + first; }
  std::int64_t place(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return first + b * step + i * row + j * column;
  }
  T at(std::int64_t b, std::int64_t i, std::int64_t j) const { return memory[place(b, i, j)]; }
};

// Small whole numbers: sums of them are exact.
template <class T>
void check(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, Way wa, Way wb, Way wc,
           bool accumulate) {
  const Batch<T> a(batch, m, k, wa, 1), b(batch, k, n, wb, 4), c(batch, m, n, wc, 2);
  const std::unique_ptr<T[]> want(new T[static_cast<std::size_t>(c.size)]);
  std::copy_n(c.memory.get(), c.size, want.get());
  for (std::int64_t p = 0; p < batch; ++p)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T sum = accumulate ? c.at(p, i, j) : T(0);
        for (std::int64_t l = 0; l < k; ++l) sum += a.at(p, i, l) * b.at(p, l, j);
        want[c.place(p, i, j)] = sum;
      }
  gemm_batched<T>(batch, m, n, k, a.data(), a.step, a.row, a.column, b.data(), b.step, b.row, b.column,
                  c.data(), c.step, c.row, c.column, accumulate);
  for (std::int64_t i = 0; i < c.size; ++i)
    ASSERT_EQ(c.memory[i], want[i]) << batch << " of " << m << "x" << k << "x" << n << ", ways "
                                    << static_cast<int>(wa) << static_cast<int>(wb) << static_cast<int>(wc)
                                    << accumulate << ", element " << i;
}

template <class T>
class TinyProducts : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TinyProducts, Types);

TYPED_TEST(TinyProducts, EveryShape) {
  for (std::int64_t m = 1; m <= 9; ++m)
    for (std::int64_t n = 1; n <= 9; ++n)
      for (const std::int64_t k : {1, 2, 3, 4, 7, 8, 16, 17})
        for (const std::int64_t batch : {2, 3, 9}) {
          check<TypeParam>(batch, m, n, k, Way::rows, Way::rows, Way::rows, false);
          check<TypeParam>(batch, m, n, k, Way::columns, Way::columns, Way::columns, k % 2 == 0);
        }
}

TYPED_TEST(TinyProducts, EveryLayout) {
  for (const Way wa : ways)
    for (const Way wb : ways)
      for (const Way wc : {Way::rows, Way::columns, Way::apart, Way::backward})
        for (const bool accumulate : {false, true}) {
          check<TypeParam>(5, 3, 5, 4, wa, wb, wc, accumulate);
          check<TypeParam>(5, 4, 8, 3, wa, wb, wc, accumulate);
          check<TypeParam>(5, 6, 1, 6, wa, wb, wc, accumulate);
          check<TypeParam>(5, 1, 7, 2, wa, wb, wc, accumulate);
        }
}

TYPED_TEST(TinyProducts, Threads) {
  for (const int count : {1, 2, 3}) {
    const WithThreads threads(count);
    for (const std::int64_t n : {2, 3, 4, 7}) {
      check<TypeParam>(20'000, n, n, n, Way::rows, Way::rows, Way::rows, false);
      check<TypeParam>(20'000, n, n, n, Way::rows, Way::shared, Way::rows, false);
    }
  }
}

// Memory beside a matrix, NaN included, does not affect its product.
TYPED_TEST(TinyProducts, NotANumber) {
  using T = TypeParam;
  constexpr std::int64_t batch = 9, n = 3;
  const Batch<T> a(batch, n, n, Way::rows, 1), c(batch, n, n, Way::rows, 2);
  const Batch<T> b(batch, n, n, Way::rows, 3);
  b.memory[b.place(4, 0, 0)] = std::numeric_limits<T>::quiet_NaN();
  b.memory[b.place(7, 0, 0)] = std::numeric_limits<T>::infinity();
  gemm_batched<T>(batch, n, n, n, a.data(), a.step, n, 1, b.data(), b.step, n, 1, c.data(), c.step, n, 1,
                  false);
  for (std::int64_t p = 0; p < batch; ++p)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        EXPECT_EQ(std::isfinite(c.at(p, i, j)), (p != 4 && p != 7) || j > 0) << p << i << j;
}

}  // namespace
