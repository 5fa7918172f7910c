#include "nax/modules/image/mix.hpp"

#include <gtest/gtest.h>

#include "nax/nn/one_hot.hpp"
#include "nax/numpy/reductions/close.hpp"
#include "nax/random.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vmap.hpp"
#include "support/text_of.hpp"

namespace mix_test {
using namespace nax;
using F = Array<float>;

TEST(Mixup, MixesExamplesAndLabelsByOneShare) {
  const F x = arange<float>(5).reshape({5, 1}) + zeros({5, 3}), labels = nn::one_hot(arange<int>(5), 5);
  bool differs = false;
  for (int seed = 0; seed < 5; ++seed) {
    const auto [y, l] = image::mixup(random::key(seed), x, labels, {.alpha = 1});
    // The labels say of what an example is made.
    EXPECT_TRUE(allclose(F(y(_, 0)), F(matmul(l, arange<float>(5))), {.rtol = 1e-5, .atol = 1e-6}));
    EXPECT_TRUE(allclose(F(sum(l, {.axis = 1})), ones({5})));
    EXPECT_EQ(y.shape(), x.shape());
    differs = differs || !allclose(y, x);
  }
  EXPECT_TRUE(differs);
  EXPECT_NE(text_of<ShapeError>([&] {
              image::mixup(random::key(0), x, F(labels(0))(newaxis));
            }).find("shapes (5, 3) and (1, 5)"),
            std::string::npos);
  EXPECT_NE(text_of<ValueError>([&] { image::mixup(random::key(0), x, labels, {.alpha = 0}); }).find("got 0"),
            std::string::npos);
}

TEST(Cutmix, MixesLabelsByTheArea) {
  const F x = arange<float>(4).reshape({4, 1, 1, 1}) + zeros({4, 8, 6, 2}),
          labels = nn::one_hot(arange<int>(4), 4);
  bool cuts = false;
  for (int seed = 0; seed < 8; ++seed) {
    const auto [y, l] = image::cutmix(random::key(seed), x, labels);
    EXPECT_TRUE(allclose(F(mean(y, {.axis = {1, 2, 3}})), F(matmul(l, arange<float>(4))),
                         {.rtol = 1e-5, .atol = 1e-6}));
    for (int i = 0; i < 4; ++i)  // whole pixels of one image or the other
      EXPECT_TRUE(all(logical_or(y(i) == float(i), y(i) == max(where(y(i) == float(i), -1.f, y(i))))).item());
    cuts = cuts || l(0, 0).item() < 1;
  }
  EXPECT_TRUE(cuts);
  const auto whole = [](const random::Key& k, const F& a, const F& b) { return image::cutmix(k, a, b); };
  const auto [a, b] = image::cutmix(random::key(3), x, labels);
  EXPECT_TRUE(allclose(jit(whole)(random::key(3), x, labels).first, a));
  const auto bytes = image::cutmix(random::key(3), x.astype<std::uint8_t>(), labels);
  EXPECT_TRUE(allclose(bytes.first.astype<float>(), a));
  EXPECT_NE(
      text_of<ShapeError>([&] { image::cutmix(random::key(0), F(x(_, 0)), labels); }).find("shape (4, 6, 2)"),
      std::string::npos);
}

}  // namespace mix_test
