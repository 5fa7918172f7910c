// A user's own sources, elements by index, and walks with a state.
#include <gtest/gtest.h>

#include <deque>
#include <list>

#include "data/elements.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "support/refusal.hpp"

namespace data_sources {
using namespace nax;
using nax::testing::all_of;
using nax::testing::rest_of;
using Numbers = std::vector<std::int64_t>;

template <class E>
void expect_resumes(const data::Dataset<E>& dataset) {
  const auto all = all_of(dataset);
  ASSERT_GT(all.size(), 2u);
  auto it = dataset.iterator();
  for (std::size_t k = 0; k <= all.size(); ++k) {
    EXPECT_EQ(rest_of(dataset.iterator(it.state())),
              std::vector<E>(all.begin() + static_cast<std::ptrdiff_t>(k), all.end()));
    if (k < all.size()) it.next();
  }
}

const auto count_to_five = [] {
  return [i = std::int64_t{0}]() mutable { return i < 5 ? std::optional(i++) : std::nullopt; };
};

TEST(DataSources, GeneratorsAreCalledByEachLoop) {
  const auto numbers = data::from_generator(count_to_five);
  static_assert(std::is_same_v<decltype(numbers), const data::Dataset<std::int64_t>>);
  EXPECT_EQ(all_of(numbers), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(all_of(numbers), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_FALSE(numbers.size());
  const auto twice = [](std::int64_t i) { return 2 * i; };
  const auto pipeline =
      numbers.repeat(3).shuffle({.buffer = 4, .key = random::key(0)}).map(twice, {.threads = 3}).prefetch(2);
  auto elements = all_of(pipeline);
  expect_resumes(pipeline);
  std::sort(elements.begin(), elements.end());
  EXPECT_EQ(elements, (Numbers{0, 0, 0, 2, 2, 2, 4, 4, 4, 6, 6, 6, 8, 8, 8}));
  const auto by_epoch = data::from_generator([](std::int64_t epoch) { return Numbers(2, epoch); });
  EXPECT_EQ(all_of(by_epoch.repeat(3)), (Numbers{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(all_of(data::from_generator([] {
              return std::list<std::string>{"a", "b"};
            })),
            (std::vector<std::string>{"a", "b"}));
  // Expressions become arrays.
  const auto arrays = data::from_generator([] {
    return [i = 0]() mutable {
      return i < 4 ? std::optional(Array<float>(static_cast<float>(i++)) + 1.f) : std::nullopt;
    };
  });
  for (const Array<float>& batch : arrays.batch(4))
    EXPECT_EQ(batch.to_vector(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(DataSources, GeneratorsErrorsAreNamed) {
  const auto fails = data::from_generator(
      [] {
        return [i = 0]() mutable -> std::optional<int> {
          if (i == 2) throw std::runtime_error("mine");
          return i++;
        };
      },
      {.name = "own"});
  EXPECT_EQ(refusal<Error>([&] { all_of(fails.prefetch(1)); }), "from_generator 'own': element 2: mine");
  EXPECT_EQ(all_of(fails.ignore_errors()), (std::vector<int>{0, 1}));
  const auto late = data::from_generator(count_to_five).map([](std::int64_t i) {
    if (i == 3) throw ValueError("f: three");
    return i;
  });
  EXPECT_EQ(refusal<ValueError>([&] { all_of(late); }), "map: element 3: f: three");
}

TEST(DataSources, OwnIndexablesHaveIndices) {
  const auto letters = data::from_indexable(std::deque<std::string>{"a", "b", "c", "d"});
  EXPECT_EQ(letters.size(), 4);
  EXPECT_EQ(all_of(letters.skip(1)), (std::vector<std::string>{"b", "c", "d"}));
  EXPECT_EQ(letters.at(2), "c");
  expect_resumes(
      letters.shuffle({.key = random::key(1)}).map([](std::string s) { return s + s; }, {.threads = 2}));
  struct Squares {
    std::size_t size() const { return 6; }
    std::int64_t operator[](std::size_t i) const {
      if (i == 5) throw IndexError("Squares: five");
      return static_cast<std::int64_t>(i * i);
    }
  };
  const auto squares = data::from_indexable(Squares(), {.name = "squares"});
  EXPECT_EQ(all_of(squares.take(5)), (Numbers{0, 1, 4, 9, 16}));
  EXPECT_EQ(refusal<IndexError>([&] { all_of(squares); }),
            "from_indexable 'squares': element 5: Squares: five");
}

TEST(DataSources, ElementsByIndex) {
  const auto numbers =
      data::range(10).shuffle({.key = random::key(3)}).map([](std::int64_t i) { return i * i; });
  const Numbers all = all_of(numbers);
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(numbers.at(i), all[static_cast<std::size_t>(i)]);
  EXPECT_EQ(numbers.at(-1), all[9]);
  EXPECT_EQ(numbers.epoch(1).at(4), all_of(numbers.epoch(1))[4]);
  EXPECT_EQ(data::from_arrays(arange<float>(6)).batch(4).at(1).to_vector(), (std::vector<float>{4, 5}));
  EXPECT_EQ(refusal<IndexError>([&] { numbers.at(10); }), "at: there is no element 10 among 10");
  EXPECT_EQ(refusal<IndexError>([&] { numbers.at(-11); }), "at: there is no element -11 among 10");
  EXPECT_EQ(refusal<ValueError>([&] { numbers.prefetch(1).at(0); }),
            "at: the elements of this dataset have no indices");
}

TEST(DataSources, EnumerateTakeWhileScan) {
  for (const bool walked : {false, true}) {
    auto input = data::range(10, 20);
    if (walked) input = input.filter([](std::int64_t) { return true; });
    const auto numbered = input.enumerate(5);
    EXPECT_EQ(numbered.size().has_value(), !walked);
    EXPECT_EQ(all_of(numbered.take(2)),
              (std::vector<std::tuple<std::int64_t, std::int64_t>>{{5, 10}, {6, 11}}));
    expect_resumes(numbered);
    const auto first = input.take_while([](std::int64_t i) { return i != 14; });
    EXPECT_EQ(all_of(first), (Numbers{10, 11, 12, 13}));
    expect_resumes(first);
    const auto sums = input.scan(std::int64_t{0}, [](std::int64_t sum, std::int64_t i) {
      return std::pair{sum + i, 100 * sum + i};
    });
    EXPECT_EQ(all_of(sums.take(3)), (Numbers{10, 1011, 2112}));
    expect_resumes(sums);
    const auto bad = [](std::int64_t i) {
      if (i == 12) throw ValueError("f: twelve");
      return true;
    };
    EXPECT_EQ(refusal<ValueError>([&] { all_of(input.take_while(bad, {.name = "bad"})); }),
              "take_while 'bad': element 2: f: twelve");
  }
  // Parts of tuples, and arrays as states.
  const auto pairs =
      data::range(4).enumerate().take_while([](std::int64_t i, std::int64_t) { return i < 3; });
  EXPECT_EQ(all_of(pairs).size(), 3u);
  const auto means = data::range(4).scan(Array<float>(0.f), [](const Array<float>& sum, std::int64_t i) {
    return std::pair{sum + static_cast<float>(i), sum * 2.f};
  });
  std::vector<float> seen;
  for (const Array<float>& x : means) seen.push_back(x.item());
  EXPECT_EQ(seen, (std::vector<float>{0, 0, 2, 6}));
}

}  // namespace data_sources
