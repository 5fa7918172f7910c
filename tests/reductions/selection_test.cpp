// Selecting, counting and searching without sorting, against sorting: values, gradients, vmap, strided arrays
// and all layouts of reductions.
#include "nax/numpy.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "reductions/check.hpp"

namespace selection_test {

using namespace nax;
using A = Array<float>;

// Numbers that repeat, in no order.
template <class T = float>
Array<T> numbers(const Shape& shape, std::int64_t modulus = 97) {
  const Array<std::int64_t> k = arange<std::int64_t>(shape.count());
  return eval((k * 7919 + k * k * 31) % modulus - modulus / 3).template astype<T>().reshape(shape);
}

template <class T>
void expect_equal(const Array<T>& got, const Array<T>& want) {
  EXPECT_EQ(got.shape(), want.shape());
  EXPECT_EQ(got.to_vector(), want.to_vector());
}

template <class T>
void check_truth(const Array<T>& x) {
  const Array<bool> mask = x != T(0);
  const Array<std::int32_t> ones = mask.template astype<std::int32_t>();
  for (const Axis& axis : {Axis(), Axis(0), Axis(1), Axis{0, 2}, Axis{1, 2}}) {
    const Array<std::int32_t> counts = sum(ones, {.axis = axis});
    expect_equal(count_nonzero(x, {.axis = axis}), counts);
    expect_equal(sum(mask, {.axis = axis}), counts);
    expect_equal(any(x, {.axis = axis}), Array<bool>(counts > 0));
    expect_equal(all(x, {.axis = axis}), Array<bool>(counts == static_cast<std::int32_t>(x.size()) /
                                                                   static_cast<std::int32_t>(counts.size())));
  }
  expect_equal(count_nonzero(x != T(0)), sum(ones));
}
TEST(Truth, OverAnyAxesOfAnyLayout) {
  for (const Shape& shape : {Shape{3, 70, 5}, Shape{2, 3, 200}, Shape{1, 1, 1}, Shape{40, 33, 129}})
    for (const std::int64_t modulus : {2, 3, 500}) {
      const A x = numbers(shape, modulus);
      check_truth(x);
      check_truth(x.transpose());
      check_truth(A(x(ellipsis, slice(none, none, -2))));
      check_truth(numbers<std::int32_t>(shape, modulus));
      check_truth(numbers<half>(shape, modulus));
      check_truth(Array<bool>(x != 0.f));
    }
  EXPECT_TRUE(any(A{0, NAN}).item());
  EXPECT_TRUE(all(A{1, NAN}).item());
  EXPECT_FALSE(any(A{0, -0.f}).item());
  const A late = where(arange<std::int32_t>(100000) == 99999, 1.f, 0.f);
  EXPECT_TRUE(any(late > 0.5f).item());
  EXPECT_FALSE(all(late < 0.5f).item());
  EXPECT_TRUE(any(late < 0.5f).item());
}

TEST(Nonzero, CoordinatesOfEachAxis) {
  for (const Shape& shape : {Shape{7}, Shape{1000}, Shape{9, 17}, Shape{4, 3, 70}, Shape{3, 0, 2}}) {
    const Array<std::int32_t> x = numbers<std::int32_t>(shape, 3);
    const std::vector<std::int32_t> values = x.to_vector();
    std::vector<std::vector<std::int32_t>> want(shape.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0) {
        std::int64_t rest = static_cast<std::int64_t>(i);
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
          want[axis].push_back(static_cast<std::int32_t>(rest % shape[axis]));
      }
    const auto got = nonzero(x);
    ASSERT_EQ(got.size(), shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) EXPECT_EQ(got[axis].to_vector(), want[axis]);
    EXPECT_EQ(flatnonzero(x.reshape(-1)).to_vector(), nonzero(x.reshape(-1))[0].to_vector());
  }
}

TEST(Partition, PutsTheKthElementAtK) {
  for (const int axis : {0, 1})
    for (const std::int64_t kth : {0, 50, 199, -1}) {
      const A x = numbers({200, 201});
      const A part = partition(x, kth, {.axis = axis}), sorted = sort(x, {.axis = axis});
      expect_equal(sort(part, {.axis = axis}), sorted);
      expect_equal(A(take(part, kth, {.axis = axis})), A(take(sorted, kth, {.axis = axis})));
      expect_equal(A(take_along_axis(x, argpartition(x, kth, {.axis = axis}), axis)), part);
      const A each = vmap([&](const A& row) { return partition(row, kth); })(x);
      expect_equal(each, partition(x, kth));
    }
  const A x = numbers({300}), w = numbers({300}, 11);
  const auto order = argpartition(x, 150);
  const A g = grad([&](const A& a) { return sum(partition(a, 150) * w); })(x);
  expect_equal(A(take(g, order)), w);
}

TEST(TopK, AsSortedLinesAndUnderVmap) {
  const A x = numbers({40, 3000}, 1009);
  for (const std::int64_t k : {0, 1, 10, 700, 3000}) {
    const auto got = top_k(x, k);
    expect_equal(got.indices, Array<std::int32_t>(argsort(x, {.descending = true})(ellipsis, slice(0, k))));
    expect_equal(got.values, A(take_along_axis(x, got.indices, -1)));
    const A each = vmap([&](const A& row) { return top_k(row, k).values; })(x);
    expect_equal(each, got.values);
  }
}

TEST(Quantile, SelectedOrSortedAreTheSame) {
  const A x = numbers({5, 2000}, 1501);
  const std::vector<double> q = {0, 0.1, 0.25, 0.5, 0.77, 1};  // enough fractions for sorting
  for (const char* method : {"linear", "lower", "higher", "midpoint", "nearest", "hazen", "inverted_cdf"})
    for (const int axis : {0, 1}) {
      const A all = quantile(x, q, {.axis = axis, .method = method});
      for (std::size_t i = 0; i < q.size(); ++i)
        expect_equal(quantile(x, q[i], {.axis = axis, .method = method}), A(all(static_cast<int>(i))));
    }
  const A each = vmap([](const A& row) { return median(row); })(x);
  expect_equal(each, median(x, {.axis = 1}));
  const auto one = [](const A& a) { return sum(quantile(a, 0.3, {.axis = 1})); };
  const auto many = [](const A& a) {
    return sum(A(quantile(a, std::vector<double>{0.3, 0, 0, 0, 1, 1}, {.axis = 1})(0)));
  };
  expect_equal(grad(one)(x), grad(many)(x));
  const A per_row = vmap(grad([](const A& row) { return median(row); }))(x);
  expect_equal(per_row, grad([](const A& a) { return sum(median(a, {.axis = 1})); })(x));
  const A with_nan = where(x == max(x), NAN, x);
  EXPECT_TRUE(std::isnan(median(with_nan).item()));
  const Array<half> h = numbers<half>({2001}, 50);
  EXPECT_EQ(static_cast<float>(median(h).item()), static_cast<float>(sort(h)(1000).item()));
}

TEST(Interp, BetweenItsPoints) {
  const Array<double> xp = sort(numbers<double>({50}, 1009)), fp = numbers<double>({50}, 31);
  const Array<double> x = linspace<double>(-400, 800, 1001);
  const std::vector<double> at = xp.to_vector(), f = fp.to_vector(), v = x.to_vector();
  const std::vector<double> got = interp(x, xp, fp).to_vector();
  for (std::size_t i = 0; i < v.size(); ++i) {
    double want = v[i] < at.front() ? f.front() : f.back();
    for (std::size_t k = 0; k + 1 < at.size(); ++k)
      if (at[k] <= v[i] && v[i] < at[k + 1])
        want = f[k] + (v[i] - at[k]) / (at[k + 1] - at[k]) * (f[k + 1] - f[k]);
    EXPECT_NEAR(got[i], want, 1e-9) << v[i];
  }
  EXPECT_EQ(interp(3., Array<double>{1}, Array<double>{7}).item(), 7);
}

TEST(Bincount, CountsAndNamesWhatIsNegative) {
  for (const std::int64_t modulus : {3, 1000, 100000}) {
    const Array<std::int32_t> x = abs(numbers<std::int32_t>({30000}, modulus));
    std::vector<std::int32_t> want(static_cast<std::size_t>(max(x).item()) + 1);
    for (const std::int32_t v : x.to_vector()) ++want[static_cast<std::size_t>(v)];
    EXPECT_EQ(bincount(x).to_vector(), want);
    EXPECT_EQ(bincount(x, ones<double>({30000})).astype<std::int32_t>().to_vector(), want);
    want.resize(2);
    EXPECT_EQ(bincount(x, {.length = 2}).to_vector(), want);
  }
  EXPECT_EQ(bincount(zeros<std::int32_t>({0}), {.minlength = 2}).to_vector(),
            (std::vector<std::int32_t>{0, 0}));
  EXPECT_THROW(bincount(Array<std::int32_t>{1, -2, -3}), ValueError);
}

TEST(Unique, CountsNansAndZeros) {
  const A x = {3, NAN, 0, -0.f, 3, NAN, 1, NAN};
  const auto one = unique_counts(x, {.equal_nan = true});
  EXPECT_EQ(one.counts.to_vector(), (std::vector<std::int32_t>{2, 1, 2, 3}));
  EXPECT_EQ(one.values(slice(0, 3)).to_vector(), (std::vector<float>{0, 1, 3}));
  EXPECT_FALSE(std::signbit(one.values(0).item()));
  EXPECT_TRUE(std::signbit(unique(A{1, -0.f, 0})(0).item()));
  EXPECT_EQ(unique_counts(x).counts.to_vector(), (std::vector<std::int32_t>{2, 1, 2, 1, 1, 1}));
  EXPECT_EQ(unique(A{NAN, NAN}).size(), 1);
  EXPECT_EQ(unique(zeros<float>({0})).size(), 0);
  const Array<std::int32_t> k = numbers<std::int32_t>({5000}, 300);
  const auto all = unique_all(k);
  expect_equal(unique(k), all.values);
  expect_equal(unique_counts(k).counts, all.counts);
}

}  // namespace selection_test
