#include "nax/backend/operations.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "nax/numpy/products/contract.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/ops/table.hpp"

// The host's reductions and products called as device operations, by addresses, dtypes and strides.

namespace operations_test {

using nax::Dims, nax::DType;
using nax::backend::run, nax::ops::Reduce, nax::loops::Product;
using nax::loops::Operand, nax::loops::ReduceKind;

template <class T>
Operand operand(std::vector<T>& x, const Dims& strides) {
  return {reinterpret_cast<char*>(x.data()), strides, nax::dtype_of<T>, nax::dtype_of<T>};
}
Dims dims(std::initializer_list<std::int64_t> list) { return Dims(list.begin(), list.end()); }

TEST(Operations, reduce_reads_any_layout) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, sums(2), total(1);
  // The transpose of (2, 3), over its first axis.
  run({}, Reduce{ReduceKind::sum, dims({3, 2}), dims({1, 0}), operand(x, dims({1, 3})),
                 operand(sums, dims({0, 1}))});
  EXPECT_EQ(sums, (std::vector<float>{6, 15}));
  run({}, Reduce{ReduceKind::sum, dims({3, 2}), dims({1, 1}), operand(x, dims({0, 3})),
                 operand(total, dims({0, 0}))});
  EXPECT_EQ(total[0], 3 * (1 + 4));
}

TEST(Operations, reduce_finds_the_pair_of_types) {
  nax::cpu::provide_reducer<nax::cpu::reduce_op::Sum<std::int32_t>, std::int8_t>();
  std::vector<std::int8_t> x(3, 100);
  std::vector<std::int32_t> sum(1);
  std::vector<double> none(1);
  run({}, Reduce{ReduceKind::sum, dims({3}), dims({1}), operand(x, dims({1})), operand(sum, dims({0}))});
  EXPECT_EQ(sum[0], 300);
  EXPECT_THROW(run({}, Reduce{ReduceKind::product, dims({3}), dims({1}), operand(x, dims({1})),
                              operand(none, dims({0}))}),
               nax::Error);
}

TEST(Operations, reduce_of_nothing_is_the_identity) {
  std::vector<float> x, sums = {7, 7};
  run({}, Reduce{ReduceKind::sum, dims({2, 0}), dims({0, 1}), operand(x, dims({0, 1})),
                 operand(sums, dims({1, 0}))});
  EXPECT_EQ(sums, (std::vector<float>{0, 0}));
}

TEST(Operations, unknown_conversions_throw) {
  const nax::Array<std::int8_t> x = {1, 2};
  EXPECT_THROW(nax::detail::as_dtype(x, DType::complex64), nax::TypeError);
  std::vector<std::int8_t> from(2, 1);
  std::vector<double> to(2);
  EXPECT_THROW(run({}, nax::ops::Copy{dims({2}), operand(from, dims({1})), operand(to, dims({1}))}),
               nax::Error);
}

// Products over a kept and a summed axis.
TEST(Operations, contract_is_many_products) {
  nax::detail::provide_products<double>();
  std::vector<double> a(2 * 3 * 2 * 2), b(a.size()), at_once(2 * 2 * 2), expected(at_once);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<double>(i), b[i] = static_cast<double>(i * 7 % 5);
  for (std::size_t s = 0; s < 3; ++s)
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 2; ++j)
          for (std::size_t l = 0; l < 2; ++l)
            expected[4 * k + 2 * i + j] += a[12 * k + 4 * s + 2 * i + l] * b[12 * k + 4 * s + 2 * l + j];
  const Product p{2, 2, 2, 2, 1, 2, 1, 2, 1};
  nax::ops::Matmul products{DType::float64, p, {}};
  products.axes.push_back({3, 4, 4, 0, true});
  products.axes.push_back({2, 12, 12, 4, false});
  run({}, products, {a.data(), b.data(), at_once.data()});
  EXPECT_EQ(at_once, expected);
  products.accumulate = true;
  run({}, products, {a.data(), b.data(), at_once.data()});
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(at_once[i], 2 * expected[i]);
}

// Recordings and verifiers read no more of a call than this.
TEST(Operations, forms_say_what_calls_read_and_write) {
  using namespace nax::ops;
  const Sort up{{2, 3, 4}, DType::float64, false}, down{{2, 3, 4}, DType::float64, true};
  Operands operands;
  facts(Op::sort).describe(&up, operands);
  ASSERT_EQ(operands.size(), 2);
  EXPECT_FALSE(operands.begin()[0].written);
  EXPECT_TRUE(operands.begin()[1].written);
  EXPECT_EQ(operands.begin()[1].shape, dims({24}));
  EXPECT_EQ(operands.begin()[1].dtype, DType::float64);
  EXPECT_STREQ(facts(Op::sort).name(&up), "sort");
  EXPECT_FALSE(facts(Op::sort).may_fail(&up));
  const auto copy = facts(Op::sort).keep(&up);
  EXPECT_EQ(facts(Op::sort).identity(copy.get()), facts(Op::sort).identity(&up));
  EXPECT_NE(facts(Op::sort).identity(&up), facts(Op::sort).identity(&down));

  const Bincount counts{2, 5, 3, DType::int8, DType::int32};
  Operands of_counts;
  facts(Op::bincount).describe(&counts, of_counts);
  ASSERT_EQ(of_counts.size(), 3);
  EXPECT_TRUE(of_counts.begin()[1].optional);  // the weights
  EXPECT_EQ(of_counts.begin()[2].shape, dims({6}));
  EXPECT_TRUE(facts(Op::bincount).may_fail(&counts));

  const Factorise factors{{.kind = nax::loops::Factorisation::qr, .batch = 2, .m = 4, .n = 3},
                          DType::float32};
  EXPECT_STREQ(facts(Op::factorise).name(&factors), "qr");
  const Matmul product{DType::float32, {2, 3, 4, 4, 1, 3, 1, 3, 1}, {}};
  EXPECT_EQ(facts(Op::matmul).flops(&product), 2. * 2 * 3 * 4);
}

// Bins below zero are found before anything is written.
TEST(Operations, bincount_finds_negative_bins) {
  std::vector<std::int16_t> bins = {0, 2, -1};
  std::vector<std::int32_t> counts = {7, 7, 7};
  nax::cpu::provide<nax::cpu::CountKernel, std::int16_t>();
  const nax::ops::Bincount form{1, 3, 3, DType::int16, DType::int32};
  EXPECT_EQ(run({}, form, {bins.data(), nullptr, counts.data()}), true);
  EXPECT_EQ(counts, (std::vector<std::int32_t>{7, 7, 7}));
  bins[2] = 2;
  EXPECT_EQ(run({}, form, {bins.data(), nullptr, counts.data()}), false);
  EXPECT_EQ(counts, (std::vector<std::int32_t>{1, 0, 2}));
}

}  // namespace operations_test
