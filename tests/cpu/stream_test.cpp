// Large results are written past the caches; they equal small ones, at any alignment.

#include "nax/backend/cpu/packets/stream.hpp"

#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/cumulative.hpp"

namespace {

TEST(Stream, LargeResultsAreComplete) {
  using nax::Array;
  const std::int64_t n = nax::cpu::streamed_result_bytes / 4 + 1237;
  const Array<float> x = nax::arange<float>(static_cast<float>(n)), y = x + x, z = y - x;
  const Array<double> wide = nax::arange<double>(static_cast<double>(n)) * 2.0;
  const Array<bool> positive = x > 0.5f;
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(y.data()[i], 2 * static_cast<float>(i));
    ASSERT_EQ(z.data()[i], static_cast<float>(i));
    ASSERT_EQ(wide.data()[i], 2 * static_cast<double>(i));
    ASSERT_EQ(positive.data()[i], i > 0);
  }
  const Array<float> sums = nax::cumsum(nax::ones<float>({1024, 2112}), {.axis = 1});
  for (std::int64_t r = 0; r < 1024; ++r)
    for (std::int64_t i = 0; i < 2112; ++i) ASSERT_EQ(sums.data()[r * 2112 + i], static_cast<float>(i + 1));
}

TEST(Stream, TakenRows) {
  using nax::Array;
  const Array<float> x = nax::arange<float>(3 * 1501.f).reshape({3, 1501});
  const Array<std::int32_t> which = nax::arange<std::int32_t>(2000) % 3;
  const Array<float> rows = nax::take(x, which, {.axis = 0});
  for (std::int64_t r = 0; r < 2000; ++r)
    for (std::int64_t i = 0; i < 1501; ++i)
      ASSERT_EQ(rows.data()[r * 1501 + i], static_cast<float>(r % 3 * 1501 + i));
}

TEST(Stream, Lines) {
  alignas(64) char from[1000], to[1024] = {};
  for (int i = 0; i < 1000; ++i) from[i] = static_cast<char>(i * 7);
  EXPECT_EQ(nax::cpu::bytes_to_line(to), 0);
  EXPECT_EQ(nax::cpu::bytes_to_line(to + 1), 63);
  EXPECT_EQ(nax::cpu::stream_lines(to + 64, from + 3, 700), 640);
  nax::cpu::finish_streams();
  for (int i = 0; i < 640; ++i) ASSERT_EQ(to[64 + i], from[3 + i]);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(to[i], 0);
  for (int i = 704; i < 1024; ++i) ASSERT_EQ(to[i], 0);
}

}  // namespace
