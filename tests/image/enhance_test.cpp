#include "nax/modules/image/enhance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "nax/modules/image/rand_augment.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/reductions/close.hpp"
#include "nax/random/key.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vmap.hpp"
#include "support/golden.hpp"
#include "support/text_of.hpp"

namespace enhance_test {
using namespace nax;
using Image = Array<std::uint8_t>;
using F = Array<float>;

Image golden_image(const std::string& name) {
  const golden::Golden& record = golden::get("augment", name);
  return array(std::vector<std::uint8_t>(record.values.begin(), record.values.end()))
      .reshape(Shape(record.shape));
}
// At most `off` of the bytes differ, by any number, the others by `level`.
void expect_near(const Image& got, const std::string& name, int level = 0, int off = 0) {
  const Image want = golden_image(name);
  ASSERT_EQ(got.shape(), want.shape()) << name;
  int count = 0;
  for (std::int64_t i = 0; i < got.size(); ++i)
    count += std::abs(static_cast<int>(got.data()[i]) - static_cast<int>(want.data()[i])) > level;
  EXPECT_LE(count, off) << name;
}

TEST(Enhance, GivesPillowsBytes) {
  const Image x = golden_image("image");
  for (const auto& [text, factor] : {std::pair{"0.4", 0.4f}, std::pair{"1.7", 1.7f}}) {
    const std::string at = std::string("/") + text;
    expect_near(image::adjust_brightness(x, factor), "brightness" + at);
    expect_near(image::adjust_saturation(x, factor), "color" + at);
    expect_near(image::adjust_contrast(x, factor), "contrast" + at);
    expect_near(image::adjust_sharpness(x, factor), "sharpness" + at, 1);
  }
  expect_near(image::posterize(x, 3), "posterize");
  expect_near(image::solarize(x, 110), "solarize");
  expect_near(image::autocontrast(x), "autocontrast", 1);
  expect_near(image::equalize(x), "equalize");
  expect_near(image::affine(x, F{1, 0.3f, 0, 0, 1, 0}, {.fill = 7}), "shear", 0, 6);
  expect_near(image::affine(x, F{1, 0, -5, 0, 1, 3}), "translate");
  const float c = std::cos(20 * 3.14159265f / 180), s = -std::sin(20 * 3.14159265f / 180);
  expect_near(image::affine(x, F{c, s, 8 - 8 * c - 6 * s, -s, c, 6 + 8 * s - 6 * c}), "rotate", 0, 6);
}

TEST(Enhance, ChangesImagesOfABatchEach) {
  const Image x = golden_image("image"), other = x(_, slice(_, _, -1));
  const Image both = stack({x, Image(other)});
  const auto check = [&](const auto& f) {
    const Image all = f(both), mapped = vmap(f)(both), first = f(x), second = f(Image(other));
    EXPECT_TRUE(array_equal(Image(all(0)), first));
    EXPECT_TRUE(array_equal(Image(all(1)), second));
    EXPECT_TRUE(array_equal(all, mapped));
  };
  check([](const Image& v) { return image::equalize(v); });
  check([](const Image& v) { return image::autocontrast(v); });
  check([](const Image& v) { return image::adjust_contrast(v, 0.5f); });
  check([](const Image& v) { return image::affine(v, F{1, 0.2f, 0, 0, 1, 0}); });
  const Image flat = full<std::uint8_t>({4, 4, 3}, std::uint8_t(9));
  EXPECT_TRUE(array_equal(image::equalize(flat), flat));
  EXPECT_TRUE(array_equal(image::autocontrast(flat), flat));
  EXPECT_NE(text_of<ValueError>([&] { image::posterize(flat, 9); }).find("got 9"), std::string::npos);
  EXPECT_NE(text_of<ShapeError>([&] { image::affine(flat, F{1}); }).find("shape (1,)"), std::string::npos);
  EXPECT_NE(text_of<ShapeError>([&] {
              image::adjust_saturation(Image(flat(_, _, slice(0, 1))), 1.f);
            }).find("three channels, shape (4, 4, 1)"),
            std::string::npos);
}

TEST(RandAugment, DrawsChangesByKey) {
  const Image x = golden_image("image");
  std::set<std::vector<std::uint8_t>> made;
  for (int seed = 0; seed < 60; ++seed)
    made.insert(image::rand_augment(random::key(seed), x, {.operations = 1}).to_vector());
  EXPECT_GT(made.size(), 14u);  // most changes have two signs
  EXPECT_LT(made.size(), 25u);
  EXPECT_TRUE(array_equal(image::rand_augment(random::key(1), x, {.operations = 0}), x));
  const random::Key keys = random::split(random::key(5), Shape{6});
  const auto each = [&](const random::Key& k) { return image::rand_augment(k, x); };
  const Image mapped = vmap(each)(keys);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(array_equal(Image(mapped(i)), each(keys[i]))) << i;
  EXPECT_TRUE(array_equal(jit(each)(keys[2]), each(keys[2])));
  EXPECT_NE(text_of<ValueError>([&] {
              image::rand_augment(random::key(1), x, {.magnitude = 31});
            }).find("magnitude = 31"),
            std::string::npos);
}

}  // namespace enhance_test
