// Conveniences: printed dtypes, expressions as vectors, indices in structured bindings.

#include <gtest/gtest.h>

#include <sstream>

#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace handy_forms {
using namespace nax;
using I = std::vector<int>;

TEST(HandyForms, DtypesPrint) {
  std::ostringstream out;
  out << Array<float>().dtype() << ' ' << DType::boolean << ' ' << dtype_of<std::complex<double>>;
  EXPECT_EQ(out.str(), "float32 bool complex128");
}

TEST(HandyForms, ExpressionsBecomeVectors) {
  const Array<float> x = {1, 2};
  EXPECT_EQ((x * 2 + 1).to_vector(), (std::vector<float>{3, 5}));
  EXPECT_EQ((x > 1.f).to_vector(), (std::vector<bool>{false, true}));
}

TEST(HandyForms, IndicesAreBoundByStructuredBindings) {
  const Array<float> x = {{0, 1, 0}, {2, 0, 3}};
  const auto [i, j] = where<2>(x > 0.f);
  EXPECT_EQ(i.to_vector(), (I{0, 1, 1}));
  EXPECT_EQ(j.to_vector(), (I{1, 0, 2}));
  const auto [rows, columns] = nonzero<2>(x);
  EXPECT_EQ(rows.to_vector(), i.to_vector());
  EXPECT_EQ(x(rows, columns).to_vector(), (std::vector<float>{1, 2, 3}));
  const auto [k] = where<1>(Array<bool>{false, false});
  EXPECT_EQ(k.shape(), (Shape{0}));
  EXPECT_EQ(refusal<ShapeError>([&] { where<3>(x > 0.f); }),
            "where: 3 axes are asked for, the array has shape (2, 3)");
}

TEST(HandyForms, MaskIndicesTakesAnyCallable) {
  const I want = {0, 0, 1};
  const auto rows = [](const auto& f) { return mask_indices(3, f, {.k = 1})[0].to_vector(); };
  EXPECT_EQ(rows([](const auto& m, auto o) { return triu(m, o); }), want);
  EXPECT_EQ(rows([](const auto& m, auto k) { return triu(m, {.k = k}); }), want);
  EXPECT_EQ(rows([](const Array<int>& m, int k) { return triu(m, {.k = k}) > 0; }), want);
  EXPECT_EQ(rows([](const Array<int>& m, const DiagOptions& o) { return triu(m, o); }), want);
  EXPECT_EQ(rows([](const Array<int>& m) { return triu(m, {.k = 1}); }), want);
  const std::function<Array<bool>(const Array<int>&)> upper = [](const Array<int>& m) {
    return Array<bool>(triu(m, {.k = 1}) != 0);
  };
  EXPECT_EQ(rows(upper), want);
}

TEST(HandyForms, UniformTakesBoundsLikeJax) {
  const random::Key key = random::key(3);
  const Array<float> u = random::uniform(key, {50}, -1, 3);
  EXPECT_EQ(u.to_vector(), random::uniform(key, {50}, {.minval = -1, .maxval = 3}).to_vector());
  EXPECT_LT(min(u).item(), -0.5f);
  EXPECT_GT(max(u).item(), 2);
  EXPECT_EQ(random::uniform<double>(key, {}, 2, 2.5).dtype(), DType::float64);
}

}  // namespace handy_forms
