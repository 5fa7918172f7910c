#include "nax/random/integers.hpp"

#include "nax/transform/vmap.hpp"
#include "random/draws.hpp"

namespace integers_test {
using namespace nax;
using draws::expect_same;

TEST(Randint, MatchesJax) {
  const auto key = random::key(42);
  const auto i32 = [&](std::int64_t low, std::int64_t high) {
    expect_same(random::randint(key, {12}, low, high),
                "randint." + std::to_string(low) + "," + std::to_string(high) + "/i32/(12,)");
  };
  i32(0, 10), i32(-5, 5), i32(0, 1), i32(0, 2147483647), i32(-2147483648, 2147483647), i32(3, 3), i32(7, 2);
  i32(100, 1000003);
  expect_same(random::randint<std::uint8_t>(key, {12}, 0, 10), "randint.0,10/u8/(12,)");
  expect_same(random::randint<std::uint8_t>(key, {12}, 0, 255), "randint.0,255/u8/(12,)");
  expect_same(random::randint<std::uint8_t>(key, {12}, 0, 256), "randint.0,256/u8/(12,)");
  expect_same(random::randint<std::uint8_t>(key, {12}, 17, 201), "randint.17,201/u8/(12,)");
  expect_same(random::randint<std::int8_t>(key, {12}, -128, 127), "randint.-128,127/i8/(12,)");
  expect_same(random::randint<std::int8_t>(key, {12}, -3, 4), "randint.-3,4/i8/(12,)");
  expect_same(random::randint<std::uint16_t>(key, {12}, 0, 1000), "randint.0,1000/u16/(12,)");
  expect_same(random::randint<std::int16_t>(key, {12}, -1000, 1000), "randint.-1000,1000/i16/(12,)");
  expect_same(random::randint<std::uint32_t>(key, {12}, 5, 4294967295LL), "randint.5,4294967295/u32/(12,)");
  draws::expect_same_words(random::randint<std::int64_t>(key, {7}, -5, 5), "randint.-5,5/i64/(7,)");
  draws::expect_same_words(random::randint<std::int64_t>(key, {7}, 0, 1000000000000),
                           "randint.0,1000000000000/i64/(7,)");
  draws::expect_same_words(random::randint<std::int64_t>(key, {7}, std::numeric_limits<std::int64_t>::min(),
                                                         std::numeric_limits<std::int64_t>::max()),
                           "randint.-9223372036854775808,9223372036854775807/i64/(7,)");
  expect_same(random::randint(key, {3, 5}, 0, 10), "randint.0,10/i32/(3,5)");
  const Array<int> low = {0, 10, -7}, high = {3, 20, 100};
  expect_same(random::randint(key, {2, 3}, low, high), "randint.[0,10,-7],[3,20,100]/i32/(2,3)");
  EXPECT_THROW(random::randint(key, {2}, low, high), ShapeError);
}

TEST(Bernoulli, MatchesJax) {
  const auto key = random::key(42);
  expect_same(random::bernoulli(key, 0, {24}), "bernoulli.0/(24,)");
  expect_same(random::bernoulli(key, 0.3, {24}), "bernoulli.0.3/(24,)");
  expect_same(random::bernoulli(key, 1, {24}), "bernoulli.1/(24,)");
  expect_same(random::bernoulli(key, 0.3), "bernoulli.0.3/()");
  const Array<float> p = {0.1f, 0.5f, 0.9f};
  expect_same(random::bernoulli(key, p, {4, 3}), "bernoulli.[0.1,0.5,0.9]/(4,3)");
  EXPECT_THROW(random::bernoulli(key, p, {4, 2}), ShapeError);
  expect_same(random::rademacher(key, {20}), "rademacher/i32/(20,)");
  expect_same(random::rademacher<float>(key, {20}), "rademacher/f32/(20,)");
}

TEST(Integers, BatchAsALoop) {
  const auto keys = random::split(random::key(42), 4);
  expect_same(vmap([](const random::Key& k) { return random::randint(k, {5}, 0, 10); })(keys),
              "vmap/randint.0,10");
  expect_same(vmap([](const random::Key& k) { return random::bernoulli(k, 0.3, {5}); })(keys),
              "vmap/bernoulli.0.3");
}

}  // namespace integers_test
