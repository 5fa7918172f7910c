#include "nax/nn/initializers.hpp"

#include "nax/transform/vmap.hpp"
#include "random/draws.hpp"

namespace initializers_test {
using namespace nax;
namespace init = nn::initializers;

TEST(Initializers, MatchJax) {
  const auto key = random::key(42);
  const auto check = [&](const std::string& name, auto f) {
    draws::expect_close(f(Shape{5, 4}), "initializers/" + name + "/(5,4)", 8);
    draws::expect_close(f(Shape{3, 3, 2, 4}), "initializers/" + name + "/(3,3,2,4)", 8);
  };
  check("glorot_uniform", [&](const Shape& s) { return init::glorot_uniform(key, s); });
  check("glorot_normal", [&](const Shape& s) { return init::glorot_normal(key, s); });
  check("he_uniform", [&](const Shape& s) { return init::he_uniform(key, s); });
  check("he_normal", [&](const Shape& s) { return init::he_normal(key, s); });
  check("lecun_uniform", [&](const Shape& s) { return init::lecun_uniform(key, s); });
  check("lecun_normal", [&](const Shape& s) { return init::lecun_normal(key, s); });
  draws::expect_close(init::orthogonal(key, {5, 4}), "initializers/orthogonal/(5,4)", 8, 1e-6);
  EXPECT_EQ(init::orthogonal(key, {3, 2, 7}).shape(), (Shape{3, 2, 7}));
  EXPECT_EQ(draws::values(init::constant(key, {2}, {.value = 3})), (std::vector<double>{3, 3}));
  EXPECT_THROW(init::he_normal(key, {5}), ValueError);
}

TEST(Initializers, BatchAsALoop) {
  const auto keys = random::split(random::key(1), 3);
  const auto all = vmap([](const random::Key& k) { return init::orthogonal(k, {3, 2}); })(keys);
  const auto values = draws::values(all), last = draws::values(init::orthogonal(keys[2], {3, 2}));
  EXPECT_EQ(std::vector<double>(values.begin() + 12, values.end()), last);
}

}  // namespace initializers_test
