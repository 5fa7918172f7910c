#include "nax/backend/cpu/reduce/short_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "nax/backend/cpu/reduce/reduce.hpp"

// Reductions of many short runs against loops: every length around a packet's width, counts of runs that fill
// packets and that do not, contiguous and strided runs and results. A run's total does not depend on the runs
// beside it.

namespace {

using namespace nax::cpu;
using nax::Dims;

constexpr std::int64_t run_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200};
constexpr std::int64_t most = detail::most_of_short_run;

template <class T>
T element(std::int64_t i) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::sin(static_cast<double>(i) * 1.7));
  else
    return static_cast<T>(i * 7 % 5);
}

// One run at a time, in the widest type.
template <class Op, class From>
double expected(const From* x, std::int64_t n, double before) {
  double total = before;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    if (std::isnan(total)) continue;
    switch (Op::kind) {
      case nax::loops::ReduceKind::sum:
        total += v;
        break;
      case nax::loops::ReduceKind::product:
        total *= v;
        break;
      case nax::loops::ReduceKind::max:
        total = v > total || std::isnan(v) ? v : total;
        break;
      case nax::loops::ReduceKind::min:
        total = v < total || std::isnan(v) ? v : total;
        break;
      case nax::loops::ReduceKind::any:
        total = total != 0 || v != 0;
        break;
      case nax::loops::ReduceKind::all:
        total = total != 0 && v != 0;
        break;
    }
  }
  return total;
}

// Memory that ends with its last element, so that sanitizers see reads beyond it.
template <class T>
std::unique_ptr<T[]> room(std::int64_t n) {
  return std::unique_ptr<T[]>(new T[static_cast<std::size_t>(n)]);
}

template <class Op, class From>
void check(std::int64_t runs, std::int64_t n, std::int64_t gap, std::int64_t to_stride, bool with_nan) {
  using Acc = typename Op::Acc;
  SCOPED_TRACE(testing::Message() << runs << " runs of " << n << ", gap " << gap << ", results " << to_stride
                                  << " apart");
  const std::int64_t stride = n + gap, size = (runs - 1) * stride + n, results = (runs - 1) * to_stride + 1;
  const auto x = room<From>(size);
  const auto to = room<Acc>(results);
  for (std::int64_t i = 0; i < size; ++i) x[i] = element<From>(i);
  if constexpr (std::is_floating_point_v<From>)
    if (with_nan)
      for (std::int64_t r = 0; r < runs; r += 3)
        x[r * stride + r % n] = std::numeric_limits<From>::quiet_NaN();
  for (std::int64_t i = 0; i < results; ++i) to[i] = static_cast<Acc>(i % 2);
  reducer<Op, From>.short_runs(x.get(), stride, runs, n, to.get(), to_stride);
  for (std::int64_t r = 0; r < runs; ++r) {
    const Acc before = static_cast<Acc>(r * to_stride % 2), total = to[r * to_stride];
    const double want = expected<Op>(x.get() + r * stride, n, static_cast<double>(before));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(static_cast<double>(total))) << r;
    } else if constexpr (std::is_floating_point_v<Acc>) {
      ASSERT_NEAR(static_cast<double>(total), want,
                  8 * static_cast<double>(n) * std::numeric_limits<Acc>::epsilon())
          << r;
    } else {
      ASSERT_EQ(static_cast<double>(total), want) << r;
    }
    // Alone.
    const auto own = room<From>(n);
    std::memcpy(own.get(), x.get() + r * stride, static_cast<std::size_t>(n) * sizeof(From));
    Acc alone = before;
    reducer<Op, From>.short_runs(own.get(), n, 1, n, &alone, 1);
    ASSERT_EQ(std::memcmp(&alone, &to[r * to_stride], sizeof(Acc)), 0) << r;
  }
  if (to_stride == 2) {  // what lies between results is as it was
    for (std::int64_t i = 1; i < results; i += 2) ASSERT_EQ(to[i], Acc(1));
  }
}

template <class Op, class From>
void check_all() {
  for (std::int64_t n = 1; n <= most; ++n)
    for (const std::int64_t runs : run_counts)
      for (const bool with_nan : {false, true}) {
        check<Op, From>(runs, n, 0, 1, with_nan);
        check<Op, From>(runs, n, 3, 1, with_nan);
        check<Op, From>(runs, n, 0, 2, with_nan);
      }
}

TEST(ShortRuns, Floating) {
  check_all<reduce_op::Sum<float>, float>();
  check_all<reduce_op::Sum<double>, double>();
  check_all<reduce_op::Product<double>, double>();
  check_all<reduce_op::Max<float>, float>();
  check_all<reduce_op::Max<double>, double>();
  check_all<reduce_op::Min<float>, float>();
}

TEST(ShortRuns, OtherTypes) {
  check_all<reduce_op::Sum<std::int32_t>, std::int32_t>();
  check_all<reduce_op::Sum<std::int32_t>, std::int8_t>();
  check_all<reduce_op::Max<std::int64_t>, std::int64_t>();
  check_all<reduce_op::Sum<float>, std::int32_t>();
  check_all<reduce_op::Any, bool>();
  check_all<reduce_op::All, bool>();
}

// Through the loops over arrays: three axes, of which the last is reduced, in place and by tiles.
TEST(ShortRuns, Loops) {
  for (const std::int64_t n : {2, 3, 4, 5, 8, 11, 16, 31, 32, 33, 63, 64, 65}) {
    constexpr std::int64_t outer = 7, middle = 300;
    const auto x = room<double>(outer * middle * n);
    for (std::int64_t i = 0; i < outer * middle * n; ++i) x[i] = element<double>(i);
    const Reducer& r = reducer<reduce_op::Sum<double>, double>;
    const auto sums = [&](ForwardKernel kernel, std::initializer_list<std::int64_t> strides) {
      std::vector<double> out(static_cast<std::size_t>(outer * middle));
      Operand operands[2];
      operands[0].data = reinterpret_cast<char*>(x.get());
      operands[1].data = reinterpret_cast<char*>(out.data());
      Dims shape;
      for (const std::int64_t d : {outer, middle, n}) shape.push_back(d);
      for (const std::int64_t s : {middle * n, n, std::int64_t{1}}) operands[0].strides.push_back(s);
      for (const std::int64_t s : strides) operands[1].strides.push_back(s);
      for (Operand& o : operands) o.stored = o.lane = nax::DType::float64;
      reduce(kernel, nullptr, shape, operands, 1, outer * middle, r);
      return out;
    };
    const ForwardKernel copy = [](const void*, const void* const* in, void* out, std::int64_t count) {
      std::memcpy(out, in[0], static_cast<std::size_t>(count) * sizeof(double));
    };
    const std::vector<double> rows = sums(nullptr, {middle, 1, 0}), columns = sums(nullptr, {1, outer, 0});
    EXPECT_EQ(rows, sums(copy, {middle, 1, 0})) << n;
    EXPECT_EQ(columns, sums(copy, {1, outer, 0})) << n;
    for (std::int64_t i = 0; i < outer; ++i)
      for (std::int64_t j = 0; j < middle; ++j) {
        const double want = expected<reduce_op::Sum<double>>(x.get() + (i * middle + j) * n, n, 0);
        ASSERT_NEAR(rows[static_cast<std::size_t>(i * middle + j)], want, 1e-13) << n;
        ASSERT_EQ(rows[static_cast<std::size_t>(i * middle + j)],
                  columns[static_cast<std::size_t>(j * outer + i)])
            << n;
      }
  }
}

}  // namespace
