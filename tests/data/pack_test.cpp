// Elements of one key together, and sequences packed into rows of one length.
#include <gtest/gtest.h>

#include "data/elements.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "support/refusal.hpp"

namespace pack_test {
using namespace nax;
using nax::testing::all_of;
using nax::testing::rest_of;
using Numbers = std::vector<std::int64_t>;
using Row = data::Packed<Array<std::int64_t>>;

Numbers flat(const Array<std::int64_t>& x) { return x.to_vector(); }

TEST(DataGroupByWindow, GroupsOfOneKey) {
  const auto key = [](std::int64_t i) { return i % 3; };
  const auto batch = [](std::int64_t, const data::Dataset<std::int64_t>& window) { return window.batch(2); };
  const auto rows = data::range(11).group_by_window(key, batch, 3).map(flat);
  // Keys 0: 0 3 6 | 9; 1: 1 4 7 | 10; 2: 2 5 8.
  EXPECT_EQ(all_of(rows), (std::vector<Numbers>{{0, 3}, {6}, {1, 4}, {7}, {2, 5}, {8}, {9}, {10}}));
  EXPECT_EQ(all_of(data::range(11).group_by_window(key, batch, 3, {.drop_remainder = true}).map(flat)).size(),
            6u);
  // A window for each key, and a reduction that looks at it.
  const auto sum = [](std::int64_t k, const data::Dataset<std::int64_t>& window) {
    return window.map([k](std::int64_t i) { return 100 * k + i; }).take(1);
  };
  const auto by_key = data::range(6).group_by_window(key, sum, [](std::int64_t k) { return k + 1; });
  EXPECT_EQ(all_of(by_key), (Numbers{0, 3, 101, 202}));
  EXPECT_EQ(all_of(data::range(0).group_by_window(key, sum, 2)), Numbers());
}

TEST(DataGroupByWindow, ResumesAndKeepsItsOrder) {
  const auto key = [](std::int64_t i) { return i * 7 % 5; };
  const auto same = [](std::int64_t, const data::Dataset<std::int64_t>& window) { return window; };
  for (const int threads : {0, 3}) {
    const auto input = data::range(40).map([](std::int64_t i) { return i; }, {.threads = threads});
    const auto groups = input.group_by_window(key, same, 3).prefetch(threads);
    const Numbers all = all_of(groups);
    ASSERT_EQ(all.size(), 40u);
    EXPECT_EQ(all, all_of(data::range(40).group_by_window(key, same, 3)));
    auto it = groups.iterator();
    for (std::size_t k = 0; k <= all.size(); ++k, it.next())
      EXPECT_EQ(rest_of(groups.iterator(it.state())),
                Numbers(all.begin() + static_cast<std::ptrdiff_t>(k), all.end()));
  }
  auto it = data::range(40).group_by_window(key, same, 3).iterator();
  EXPECT_THROW(data::range(40).group_by_window(key, same, 4).iterator(it.state()), ValueError);
}

TEST(DataGroupByWindow, ErrorsNameTheElement) {
  const auto same = [](std::int64_t, const data::Dataset<std::int64_t>& window) { return window; };
  const auto fails = [](std::int64_t i) { return i == 2 ? throw ShapeError("no twos") : i; };
  EXPECT_EQ(refusal<ShapeError>([&] { all_of(data::range(4).group_by_window(fails, same, 2)); }),
            "group_by_window: element 2: no twos");
  const auto key = [](std::int64_t) { return 0; };
  EXPECT_EQ(refusal([&] { all_of(data::range(4).group_by_window(key, same, 0)); }),
            "group_by_window: element 0: group_by_window: a window must have an element, not 0");
}

// Sequence i has `lengths[i]` times the number 10 * i, 10 * i + 1, ...
data::Dataset<Array<std::int64_t>> sequences(const std::vector<std::int64_t>& lengths) {
  return data::from_indexable(lengths).enumerate().map([](std::int64_t i, std::int64_t n) {
    return Array<std::int64_t>(arange<std::int64_t>(10 * i, 10 * i + n));
  });
}
std::vector<Numbers> numbers(const std::vector<Row>& rows) {
  std::vector<Numbers> all;
  for (const Row& row : rows) {
    all.push_back(row.values.to_vector());
    for (const auto& part : {row.segment_ids, row.positions}) {
      const std::vector<int> ints = part.to_vector();
      all.emplace_back(ints.begin(), ints.end());
    }
  }
  return all;
}

TEST(DataPack, FirstFit) {
  const auto rows = sequences({3, 4, 2, 5, 0, 1}).pack(6, {.bins = 2, .value = -1});
  EXPECT_EQ(numbers(all_of(rows)),
            (std::vector<Numbers>{// 4 leaves room for none but 2, which the first row has taken
                                  {0, 1, 2, 20, 21, -1},
                                  {1, 1, 1, 2, 2, 0},
                                  {0, 1, 2, 0, 1, 0},
                                  {10, 11, 12, 13, 50, -1},
                                  {1, 1, 1, 1, 2, 0},
                                  {0, 1, 2, 3, 0, 0},
                                  {30, 31, 32, 33, 34, -1},
                                  {1, 1, 1, 1, 1, 0},
                                  {0, 1, 2, 3, 4, 0}}));
  // A full row comes at once; one row open is packing in order.
  EXPECT_EQ(numbers(all_of(sequences({2, 2, 1, 4}).pack(4, {.bins = 1}))),
            (std::vector<Numbers>{{0, 1, 10, 11},
                                  {1, 1, 2, 2},
                                  {0, 1, 0, 1},
                                  {20, 0, 0, 0},
                                  {1, 0, 0, 0},
                                  {0, 0, 0, 0},
                                  {30, 31, 32, 33},
                                  {1, 1, 1, 1},
                                  {0, 1, 2, 3}}));
  EXPECT_TRUE(all_of(sequences({0, 0}).pack(4)).empty());
}

TEST(DataPack, SplitsLeaveNoRoom) {
  EXPECT_EQ(numbers(all_of(sequences({3, 9, 2}).pack(4, {.split = true}))),
            (std::vector<Numbers>{{0, 1, 2, 10},
                                  {1, 1, 1, 2},
                                  {0, 1, 2, 0},
                                  {11, 12, 13, 14},
                                  {1, 1, 1, 1},
                                  {0, 1, 2, 3},
                                  {15, 16, 17, 18},
                                  {1, 1, 1, 1},
                                  {0, 1, 2, 3},
                                  {20, 21, 0, 0},
                                  {1, 1, 0, 0},
                                  {0, 1, 0, 0}}));
}

// Random lengths: every element once and whole, no row overlong, and little room left.
TEST(DataPack, EveryElementOnceInAnyOrderOfThreads) {
  std::vector<std::int64_t> lengths;
  std::uint32_t x = 1;
  std::int64_t total = 0;
  for (int i = 0; i < 500; ++i)
    lengths.push_back((x = x * 1664525 + 1013904223) >> 27), total += lengths.back();
  std::vector<Numbers> first;
  for (const int threads : {0, 3})
    for (const std::int64_t bins : {1, 16}) {
      const auto packed = sequences(lengths).pack(64, {.bins = bins, .threads = threads});
      const std::vector<Row> rows = all_of(packed);
      std::map<std::int64_t, std::int64_t> seen;
      for (const Row& row : rows) {
        const Numbers values = row.values.to_vector();
        const auto ids = row.segment_ids.to_vector(), positions = row.positions.to_vector();
        ASSERT_EQ(values.size(), 64u);
        std::int64_t begin = 0;
        for (std::size_t k = 0; k < 64; ++k) {
          if (ids[k] == 0) continue;
          if (positions[k] == 0) begin = values[k], ++seen[begin];
          EXPECT_EQ(values[k], begin + positions[k]);
          EXPECT_EQ(ids[k], positions[k] == 0 ? (k == 0 ? 1 : ids[k - 1] + 1) : ids[k - 1]);
        }
      }
      for (std::size_t i = 0; i < lengths.size(); ++i)
        EXPECT_EQ(seen[static_cast<std::int64_t>(10 * i)], lengths[i] > 0) << i;
      if (bins == 16) {
        EXPECT_LT(static_cast<std::int64_t>(rows.size()) * 64, total * 104 / 100 + 64 * 4);
        if (threads == 0) first = numbers(rows);
        EXPECT_EQ(numbers(rows), first);
      }
      auto it = packed.iterator();
      for (int k = 0; k < 9; ++k) it.next();
      EXPECT_EQ(numbers(rest_of(packed.iterator(it.state()))),
                numbers(std::vector<Row>(rows.begin() + 9, rows.end())));
    }
}

// Trees whose arrays have more axes, batched, and trees that differ where they must agree.
TEST(DataPack, TreesAndRefusals) {
  const auto pairs = data::range(1, 5).map([](std::int64_t n) {
    return std::pair{Array<float>(full<float>({n, 2}, static_cast<float>(n))),
                     Array<bool>(full<bool>({n}, true))};
  });
  const auto batches = all_of(pairs.pack(5).batch(3));  // 1 and 2; 3; 4 with 1 no more
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].values.first.shape(), (Shape{3, 5, 2}));
  EXPECT_EQ(batches[0].values.second.shape(), (Shape{3, 5}));
  EXPECT_EQ(batches[0].segment_ids.to_vector(),
            (std::vector<int>{1, 2, 2, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(batches[0].values.first(0, 2, 1).item(), 2.f);
  EXPECT_EQ(batches[0].values.first(0, 3, 1).item(), 0.f);
  EXPECT_EQ(refusal([&] {
              all_of(sequences({2, 9}).pack(4));
            }),
            "pack: element 1: pack: a sequence of length 9 is longer than a row of 4");
  // The others are packed.
  EXPECT_EQ(numbers(all_of(sequences({2, 9, 1}).pack(4).ignore_errors()))[0], (Numbers{0, 1, 20, 0}));
  EXPECT_EQ(refusal([&] { sequences({2}).pack(0); }),
            "pack: the length and .bins must be at least 1, not 0 and 16");
  const auto mixed = data::range(1, 3).map([](std::int64_t n) { return Array<float>(zeros<float>({1, n})); });
  EXPECT_NE(refusal<ShapeError>([&] {
              all_of(mixed.pack(4));
            }).find("pack: sequences 0 and 1 of a row have shapes (1, 1) and (1, 2)"),
            std::string::npos);
  const auto uneven = data::range(1, 3).map([](std::int64_t n) {
    return std::pair{Array<float>(zeros<float>({n})), Array<float>(zeros<float>({1}))};
  });
  EXPECT_THROW(all_of(uneven.pack(4)), ValueError);
}

}  // namespace pack_test
