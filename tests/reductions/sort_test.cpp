#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/sorting/unique.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "reductions/check.hpp"

namespace sort_test {

using A = nax::Array<double>;
using I = nax::Array<std::int32_t>;

TEST(SortGolden, Values) {
  const auto in = [](const std::string& name) { return check::input<double>(name + "/in0"); };
  check::expect("sort/f64", nax::sort(in("sort/f64")));
  check::expect("sort.axis=0/f64", nax::sort(in("sort.axis=0/f64"), {.axis = 0}));
  check::expect("sort.nan/f64", nax::sort(in("sort.nan/f64")));
  check::expect("sort.empty/f64", nax::sort(in("sort.empty/f64")));
  check::expect("sort/bool", nax::sort(check::input<bool>("sort/bool/in0")));
  check::expect("argsort/f64", nax::argsort(in("argsort/f64")));
  check::expect("argsort.axis=0/f64", nax::argsort(in("argsort.axis=0/f64"), {.axis = 0}));
  check::expect("argsort.stable/f64", nax::argsort(in("argsort.stable/f64")));
  check::expect("argsort.descending/f64", nax::argsort(in("argsort.descending/f64"), {.descending = true}));
  check::expect("argsort.nan/f64", nax::argsort(in("argsort.nan/f64")));
  const A ramp = in("searchsorted.left/f64"), query = check::input<double>("searchsorted.left/f64/in1");
  check::expect("searchsorted.left/f64", nax::searchsorted(ramp, query));
  check::expect("searchsorted.right/f64", nax::searchsorted(ramp, query, {.side = "right"}));
}

TEST(Sort, LongRunsAreSortedToo) {
  constexpr int n = 5000;
  nax::Array<float> x = nax::zeros<float>({n});
  float* v = nax::detail::elements<float>(x);
  std::uint32_t state = 1;
  for (int i = 0; i < n; ++i)
    v[i] = static_cast<float>(static_cast<int>((state = state * 1664525u + 1013904223u) >> 16)) / 7 - 4000;
  std::vector<float> want = x.to_vector();
  std::sort(want.begin(), want.end());
  EXPECT_EQ(nax::sort(x).to_vector(), want);
  EXPECT_EQ(nax::take_along_axis(x, nax::argsort(x)).to_vector(), want);
}

TEST(Sort, GradientMovesAlong) {
  const A x = {{3, 1, 2}, {-1, 5, 0}}, w = {{1, 2, 3}, {4, 5, 6}};
  const auto loss = [&](const A& a) { return nax::sum(nax::sort(a) * w); };
  EXPECT_EQ(nax::grad(loss)(x).to_vector(), (std::vector<double>{3, 1, 2, 4, 6, 5}));
  const A rows = nax::vmap([](const A& a) { return nax::sort(a, {.descending = true}); },
                           {.in_axes = 1, .out_axes = 1})(x);
  EXPECT_EQ(rows.to_vector(), (std::vector<double>{3, 5, 2, -1, 1, 0}));
  const auto top = nax::top_k(x, 2);
  EXPECT_EQ(top.values.to_vector(), (std::vector<double>{3, 2, 5, 0}));
  EXPECT_EQ(top.indices.to_vector(), (std::vector<std::int32_t>{0, 2, 1, 2}));
}

TEST(Sort, UniqueAndCounts) {
  const I x = {{3, 1}, {1, 7}};
  const auto all = nax::unique_all(x);
  EXPECT_EQ(all.values.to_vector(), (std::vector<std::int32_t>{1, 3, 7}));
  EXPECT_EQ(all.indices.to_vector(), (std::vector<std::int32_t>{1, 0, 3}));
  EXPECT_EQ(all.inverse_indices.to_vector(), (std::vector<std::int32_t>{1, 0, 0, 2}));
  EXPECT_EQ(all.counts.to_vector(), (std::vector<std::int32_t>{2, 1, 1}));
  EXPECT_EQ(nax::bincount(I{0, 2, 2}, {.minlength = 4}).to_vector(), (std::vector<std::int32_t>{1, 0, 2, 0}));
  EXPECT_EQ(nax::bincount(I{0, 2, 2}, A{1, 2, 3}).to_vector(), (std::vector<double>{1, 0, 5}));
  EXPECT_EQ(nax::digitize(A{0.5, 1, 3}, A{1, 2, 3}).to_vector(), (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(nax::digitize(A{0.5, 1, 3}, A{3, 2, 1}).to_vector(), (std::vector<std::int32_t>{3, 2, 0}));
}

}  // namespace sort_test
