// Sets, unique with all its results, trim_zeros and sort_complex against NumPy. The lengths of their results
// depend on values.

#include "nax/numpy/sorting/sets.hpp"

#include "nax/numpy/sorting/order.hpp"
#include "nax/numpy/sorting/trim_zeros.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/numpy_more.hpp"
#include "support/refusal.hpp"

namespace sets_test {

using A = nax::Array<double>;
using C = nax::Array<std::complex<double>>;
using nax::none;

TEST(Sets, MatchNumPy) {
  for (const std::string tag : {"", ".nan", ".empty"}) {
    const A a = more::record("union1d" + tag + "/f64/in0"), b = more::record("union1d" + tag + "/f64/in1");
    more::expect("union1d" + tag + "/f64/out", nax::union1d(a, b));
    more::expect("intersect1d" + tag + "/f64/out", nax::intersect1d(a, b));
    more::expect("setdiff1d" + tag + "/f64/out", nax::setdiff1d(a, b));
    more::expect("setxor1d" + tag + "/f64/out", nax::setxor1d(a, b));
  }
  const A a = more::record("union1d/f64/in0"), b = more::record("union1d/f64/in1");
  more::expect("setdiff1d.assume_unique/f64/out", nax::setdiff1d(a, b, {.assume_unique = true}));
  const auto both = nax::intersect1d_indices(a, b);
  more::expect("intersect1d.indices/f64/out0", both.values);
  more::expect("intersect1d.indices/f64/out1", both.ar1_indices);
  more::expect("intersect1d.indices/f64/out2", both.ar2_indices);
  const nax::Array<int> i = {3, 1, 3}, j = {1, 2};
  EXPECT_EQ(nax::union1d(i, j).to_vector(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(nax::setxor1d(i, j).to_vector(), (std::vector<int>{2, 3}));
  EXPECT_EQ(nax::union1d(i, j, {.size = 5, .fill_value = 0}).to_vector(), (std::vector<int>{1, 2, 3, 0, 0}));
}

TEST(Sets, UniqueAlongAnAxis) {
  const A rows = more::record("unique.axis=0/f64/in0");
  const auto check = [&](const std::string& name, const nax::Axis& axis) {
    const auto all = nax::unique_all(rows, {.axis = axis, .equal_nan = true});
    const std::string record = "unique.axis=" + name + "/f64/out";
    more::expect(record + "0", all.values);
    more::expect(record + "1", all.indices);
    more::expect(record + "2", all.inverse_indices);
    more::expect(record + "3", all.counts);
    more::expect(record + "0", nax::unique(rows, {.axis = axis}));
  };
  check("None", none);
  check("0", 0);
  check("1", 1);
  check("-1", -1);
  EXPECT_EQ(nax::unique_values(A{std::nan(""), 1, std::nan("")}).size(), 3);  // as the array API has it
  EXPECT_EQ(nax::unique(C{{0, 1}, {2, 0}, {0, 1}}).size(), 3);
}

TEST(Sets, DerivativesMoveAlong) {
  const A w = {1, 10, 100};
  const auto loss = [&](const A& x) { return nax::sum(nax::setdiff1d(x, A{5}) * w); };
  EXPECT_EQ(nax::grad(loss)(A{5, 3, 1, 2}).to_vector(), (std::vector<double>{0, 100, 1, 10}));
  const auto rows = [](const A& x) { return nax::sum(nax::unique(x, {.axis = 0}) * A{1, 2}); };
  EXPECT_EQ(nax::grad(rows)(A{{1, 2}, {0, 1}, {1, 2}}).to_vector(), (std::vector<double>{1, 2, 1, 2, 0, 0}));
}

TEST(Sets, RefusedUnderVmapByName) {
  const A rows = {{1, 2}, {3, 3}};
  const auto of = [&](auto f) { return refusal([&] { nax::vmap([&](const A& x) { return f(x); })(rows); }); };
  const std::string text = ": the length of the result depends on the values, which vmap cannot map";
  EXPECT_EQ(of([](const A& x) { return nax::unique(x); }), "unique" + text);
  EXPECT_EQ(of([](const A& x) { return nax::setdiff1d(x, A{1}); }), "setdiff1d" + text);
  EXPECT_EQ(of([](const A& x) { return nax::setxor1d(x, A{1}); }), "setxor1d" + text);
  EXPECT_EQ(of([](const A& x) { return nax::intersect1d(A{1}, x); }), "intersect1d" + text);
  EXPECT_EQ(of([](const A& x) { return nax::trim_zeros(x); }).substr(0, 53),
            "trim_zeros: the array is batched by vmap and has no s");
  const A sized = nax::vmap([](const A& x) { return nax::unique(x, {.size = 2, .fill_value = -1}); })(rows);
  EXPECT_EQ(sized.to_vector(), (std::vector<double>{1, 2, 3, -1}));
  EXPECT_EQ(refusal([&] { nax::unique(nax::zeros<double>({0}), {.size = 1}); }),
            "unique: an empty array needs a fill_value to fill .size elements");
  EXPECT_EQ(refusal([&] { nax::unique(rows, {.axis = {0, 1}}); }), "unique: axis must be one axis");
}

TEST(TrimZeros, MatchesNumPy) {
  const A x = more::record("trim_zeros/f64/in0");
  more::expect("trim_zeros/f64/out", nax::trim_zeros(x));
  more::expect("trim_zeros.f/f64/out", nax::trim_zeros(x, {.trim = "f"}));
  more::expect("trim_zeros.axis=1/f64/out", nax::trim_zeros(x, {.axis = 1}));
  more::expect("trim_zeros.b.axis=0/f64/out", nax::trim_zeros(x, {.trim = "b", .axis = 0}));
  EXPECT_EQ(nax::trim_zeros(A{0, 0}, {.trim = "f"}).size(), 0);
  EXPECT_EQ(nax::trim_zeros(nax::Array<int>{0, 3, 0, 0}).to_vector(), (std::vector<int>{3}));
  EXPECT_EQ(nax::grad([](const A& a) {
              return nax::sum(nax::trim_zeros(a) * A{1, 2, 3});
            })(A{0, 4, 0, 5})
                .to_vector(),
            (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(refusal([] { nax::trim_zeros(A{1}, {.trim = "x"}); }),
            "trim_zeros: unexpected character(s) in trim: 'x'");
}

TEST(Order, ComplexNumbersAndErrors) {
  const C z = more::record<std::complex<double>>("sort_complex/c128/in0");
  more::expect("sort_complex/c128/out", nax::sort_complex(z));
  more::expect("sort_complex/c128/out", nax::sort(z));
  EXPECT_EQ(nax::sort_complex(nax::Array<int>{2, 1}).dtype(), nax::DType::complex64);
  EXPECT_EQ(refusal([] {
              nax::partition(A{1, 2}, 2);
            }),
            "partition: kth(=2) out of bounds for an axis of 2 elements");
  EXPECT_EQ(nax::argsort(nax::Array<int>{1, 2, 1, 2}, {.stable = true, .descending = true}).to_vector(),
            (std::vector<std::int32_t>{1, 3, 0, 2}));
  EXPECT_THROW(nax::lexsort({A{1, 2}, A{1}}), nax::ShapeError);
}

}  // namespace sets_test
