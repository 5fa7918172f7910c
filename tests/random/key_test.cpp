#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/random/bits.hpp"
#include "nax/transform/vmap.hpp"
#include "random/draws.hpp"

namespace key_test {
using namespace nax;
using draws::expect_same;

TEST(Key, SeedsHave64Bits) {
  constexpr std::int64_t seeds[] = {0,
                                    1,
                                    42,
                                    -1,
                                    -12345,
                                    2147483647,
                                    2147483648,
                                    4294967295,
                                    4294967301,
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
  for (std::int64_t seed : seeds) {
    const std::string text = std::to_string(seed);
    expect_same(random::key(seed), "key/" + text);
    expect_same(random::split(random::key(seed), 2), "split/" + text);
    expect_same(random::bits(random::key(seed), {5}), "bits/" + text);
  }
}

TEST(Key, SplitsAndFoldsLikeJax) {
  const auto key = random::key(42);
  for (int n : {1, 2, 3, 5, 7, 16}) expect_same(random::split(key, n), "split/42," + std::to_string(n));
  expect_same(random::split(key, {2, 3}), "split/42,(2,3)");
  expect_same(random::split(random::split(key, 3)[1], 2), "split/42,3/split/[1],2");
  auto [k1, k2] = random::split(key);
  const auto both = random::split(key, 2);
  EXPECT_EQ(draws::values(random::key_data(k1)), draws::values(random::key_data(both(0))));
  EXPECT_EQ(draws::values(random::key_data(k2)), draws::values(random::key_data(both(-1))));
  for (std::int64_t data : {0LL, 1LL, 7LL, 12345LL, 1LL << 31, (1LL << 32) - 1})
    expect_same(random::fold_in(key, data), "fold_in/42," + std::to_string(data));
  expect_same(random::fold_in(random::fold_in(random::key(0), 7), 3), "fold_in/0,7/fold_in/3");
}

TEST(Key, IsOpaqueAndActsAsAnArray) {
  const auto keys = random::split(random::key(42), 5);
  EXPECT_EQ(keys.shape(), (Shape{5}));
  int n = 0;
  for (auto key : keys) n += key.ndim() == 0;
  EXPECT_EQ(n, 5);
  EXPECT_THROW(keys[5], IndexError);
  EXPECT_THROW(random::bits(keys, {2}), ValueError);
  EXPECT_THROW(random::bits(keys[0], {-2}), ValueError);
  const auto back = random::wrap_key_data(random::key_data(keys));
  EXPECT_EQ(draws::values(random::key_data(back)), draws::values(random::key_data(keys)));
  EXPECT_THROW(random::wrap_key_data(Array<std::uint32_t>{1, 2, 3}), ShapeError);
}

TEST(Key, BatchesAsALoop) {
  const auto keys = random::split(random::key(42), 4);
  expect_same(vmap([](const random::Key& k) { return random::split(k, 2); })(keys), "vmap/split");
  expect_same(vmap([](const random::Key& k) { return random::split(k, 3); })(keys), "vmap/split,3");
  expect_same(vmap([](const random::Key& k) { return random::fold_in(k, 7); })(keys), "vmap/fold_in,7");
  expect_same(vmap([](const random::Key& k) { return random::bits(k, {3}); })(keys), "vmap/bits");
  const Array<int> numbers = {0, 1, 2, 3, 4};
  expect_same(vmap([](const Array<int>& i) { return random::fold_in(random::key(42), i); })(numbers),
              "vmap/fold_in/range(5)");
  // Axes of keys behave like other axes.
  const auto grid = random::split(random::key(1), {2, 3});
  const auto last = vmap([](const random::Key& k) { return k; }, {.in_axes = -1})(grid);
  EXPECT_EQ(last.shape(), (Shape{3, 2}));
}

template <class I>
void expect_counts_modulo() {
  const auto key = random::key(42);
  const auto folded = [&](const Array<I>& i) { return random::fold_in(key, i); };
  const Array<I> numbers = {I(5), I(-1), I(100), I(-7)};
  const Array<std::uint32_t> backwards = random::key_data(vmap(folded)(numbers(slice(_, _, -1))));
  for (int i = 0; i < 4; ++i) {
    const I number = static_cast<I>(numbers(i).item());
    const auto words = random::key_data(random::fold_in(key, number)).to_vector();
    EXPECT_EQ(words, random::key_data(folded(numbers(i))).to_vector()) << i;
    EXPECT_EQ(words, Array<std::uint32_t>(backwards(3 - i)).to_vector()) << i;
  }
}

TEST(Key, FoldsInNumbersOfAllIntegerTypes) {
  expect_counts_modulo<std::int8_t>();
  expect_counts_modulo<std::uint16_t>();
  expect_counts_modulo<std::int32_t>();
  expect_counts_modulo<std::uint32_t>();
  expect_counts_modulo<std::int64_t>();
}

TEST(Bits, MatchJax) {
  const auto key = random::key(42);
  expect_same(random::bits(key), "bits/u32/()");
  expect_same(random::bits(key, {101}), "bits/u32/(101)");
  expect_same(random::bits(key, {2, 3, 4}), "bits/u32/(2,3,4)");
  expect_same(random::bits(key, {0}), "bits/u32/(0)");
  expect_same(random::bits<std::uint8_t>(key, {9}), "bits/u8/(9,)");
  expect_same(random::bits<std::uint16_t>(key, {9}), "bits/u16/(9,)");
  draws::expect_same_words(random::bits<std::uint64_t>(key, {3, 5}), "bits/u64/(3,5)");
  // A large draw is computed in parts; its elements do not depend on the parts.
  const auto large = draws::values(random::bits(key, {100003}));
  EXPECT_EQ(std::vector<double>(large.begin(), large.begin() + 101), draws::values(random::bits(key, {101})));
  EXPECT_EQ(large[100002], (loops::threefry(42, 100002).first ^ loops::threefry(42, 100002).second));
}

TEST(Threefry, CarriesIntoTheHighWord) {
  std::uint32_t x[20];
  const std::uint64_t first = (std::uint64_t{1} << 32) - 5;
  cpu::random_bits(7, first, 20, x);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto [a, b] = loops::threefry(7, first + i);
    EXPECT_EQ(x[i], a ^ b);
  }
}

}  // namespace key_test
