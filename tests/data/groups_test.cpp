// Several elements as one: windows, padded batches, buckets, batches of another size.
#include <gtest/gtest.h>

#include "data/elements.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "support/refusal.hpp"

namespace data_groups {
using namespace nax;
using Rows = std::vector<std::vector<std::int64_t>>;

// All batches, as rows of numbers, their shapes in front.
template <class T>
std::vector<T> flat(const Array<T>& a) {
  const Shape shape = a.shape();
  std::vector<T> numbers(shape.begin(), shape.end());
  for (const T x : a.to_vector()) numbers.push_back(x);
  return numbers;
}
template <class T>
std::vector<std::vector<T>> rows_of(data::Iterator<Array<T>>&& it) {
  std::vector<std::vector<T>> rows;
  while (auto batch = it.next()) rows.push_back(flat(*batch));
  return rows;
}
template <class T>
void expect_resumes(const data::Dataset<Array<T>>& dataset) {
  const auto all = rows_of(dataset.iterator());
  ASSERT_GT(all.size(), 1u);
  auto it = dataset.iterator();
  for (std::size_t k = 0; k <= all.size(); ++k, it.next())
    EXPECT_EQ(rows_of(dataset.iterator(it.state())),
              std::vector<std::vector<T>>(all.begin() + static_cast<std::ptrdiff_t>(k), all.end()))
        << k;
}

const auto passes = [](std::int64_t) { return true; };

TEST(DataGroups, WindowsOfAllKinds) {
  // Against the definition, for every shift, stride and end, with and without indices and threads.
  for (const std::int64_t size : {0, 1, 4, 11})
    for (const std::int64_t n : {1, 3})
      for (const std::int64_t shift : {1, 2, 5})
        for (const std::int64_t stride : {1, 2})
          for (const bool drop : {false, true}) {
            Rows expected;
            for (std::int64_t first = 0; first < size; first += shift) {
              std::vector<std::int64_t> window;
              for (std::int64_t k = 0; k < n && first + k * stride < size; ++k)
                window.push_back(first + k * stride);
              if (drop && static_cast<std::int64_t>(window.size()) < n) continue;
              window.insert(window.begin(), static_cast<std::int64_t>(window.size()));
              expected.push_back(window);
            }
            const data::WindowOptions options{.shift = shift, .stride = stride, .drop_remainder = drop};
            const auto by_index = data::range(size).window(n, options);
            const auto same = [](std::int64_t i) { return i; };
            SCOPED_TRACE(std::to_string(size) + " " + std::to_string(n) + " " + std::to_string(shift) + " " +
                         std::to_string(stride) + (drop ? " dropped" : ""));
            EXPECT_EQ(rows_of(by_index.iterator()), expected);
            EXPECT_EQ(by_index.size(), static_cast<std::int64_t>(expected.size()));
            const auto walked = data::range(size).filter(passes).window(n, options);
            EXPECT_EQ(rows_of(walked.iterator()), expected);
            EXPECT_EQ(rows_of(data::range(size).map(same, {.threads = 2}).window(n, options).iterator()),
                      expected);
            if (expected.size() > 1) expect_resumes(by_index), expect_resumes(walked);
          }
  EXPECT_THROW(data::range(3).window(0), ValueError);
  EXPECT_THROW(data::range(3).window(1, {.shift = 0}), ValueError);
}

TEST(DataGroups, PaddedBatches) {
  const auto ragged = [](std::int64_t i) {
    return std::tuple{Array<float>(full<float>({i % 3, i + 1}, static_cast<float>(i))), i,
                      Array<bool>(full<bool>({i}, true))};
  };
  for (const int threads : {0, 2})
    for (const bool walked : {false, true}) {
      auto input = data::range(5);
      if (walked) input = input.filter(passes);
      const auto batches = input.map(ragged).padded_batch(3, {.value = -1, .threads = threads});
      auto it = batches.iterator();
      const auto [x, i, mask] = *it.next();
      EXPECT_EQ(x.shape(), (Shape{3, 2, 3}));
      EXPECT_EQ(x.to_vector(), (std::vector<float>{-1, -1, -1, -1, -1, -1,  // (0, 1)
                                                   1, 1, -1, -1, -1, -1,    // (1, 2)
                                                   2, 2, 2, 2, 2, 2}));     // (2, 3)
      EXPECT_EQ(i.to_vector(), (std::vector<std::int64_t>{0, 1, 2}));
      std::vector<int> set;
      for (const bool m : mask.to_vector()) set.push_back(m);
      EXPECT_EQ(set, (std::vector<int>{1, 1, 1, 1, 1, 1}));  // -1 is true; lengths 0, 1, 2
      EXPECT_EQ(mask.shape(), (Shape{3, 2}));
      EXPECT_EQ(std::get<0>(*it.next()).shape(), (Shape{2, 1, 5}));
      EXPECT_FALSE(it.next());
      EXPECT_EQ(batches.size().has_value(), !walked);
      expect_resumes(batches.map([](auto, Array<std::int64_t> numbers, auto) { return numbers; }));
    }
  const auto rows = data::range(1, 5).map([](std::int64_t i) { return Array<int>(full<int>({i}, 7)); });
  for (const auto& batch : rows.padded_batch(4, {.shape = {6}})) EXPECT_EQ(batch.shape(), (Shape{4, 6}));
  EXPECT_EQ(rows.padded_batch(3, {.drop_remainder = true}).size(), 1);
  EXPECT_EQ(
      refusal<ShapeError>([&] { rows_of(rows.padded_batch(4, {.shape = {3}}).iterator()); }),
      "map 'padded_batch': the window of element 0 on: padded_batch: an element of shape (4,) is larger "
      "than (3,)");
  const auto mixed = data::range(2).map([](std::int64_t i) {
    return Array<int>(i ? zeros<int>({2}) : zeros<int>({2, 2}));
  });
  EXPECT_THROW(rows_of(mixed.padded_batch(2).iterator()), ShapeError);
}

TEST(DataGroups, BucketsByLength) {
  const auto sequence = [](std::int64_t i) {
    return Array<std::int64_t>(full<std::int64_t>({i * 7 % 10 + 1}, i));
  };
  const auto length = [](const Array<std::int64_t>& s) { return s.shape(0); };
  // Lengths 1 8 5 2 9 6 3 10 7 4: below 4, below 8, the rest.
  for (const int threads : {0, 2}) {
    const auto buckets = data::range(10).map(sequence).bucket_by_sequence_length(length, {4, 8}, {2, 3, 2},
                                                                                 {.threads = threads});
    EXPECT_EQ(rows_of(buckets.iterator()),
              (Rows{{2, 2, 0, 0, 3, 3},
                    {2, 9, 1, 1, 1, 1, 1, 1, 1, 1, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4},
                    {3, 7, 2, 2, 2, 2, 2, 0, 0, 5, 5, 5, 5, 5, 5, 0, 8, 8, 8, 8, 8, 8, 8},
                    {1, 3, 6, 6, 6},
                    {1, 4, 9, 9, 9, 9},
                    {1, 10, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}}));
    expect_resumes(buckets);
  }
  const auto dropped = data::range(10).map(sequence).bucket_by_sequence_length(
      length, {4, 8}, {2, 3, 2}, {.value = -1, .drop_remainder = true, .pad_to_boundary = true});
  const Rows rows = rows_of(dropped.iterator());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (std::vector<std::int64_t>{2, 3, 0, -1, -1, 3, 3, -1}));
  EXPECT_EQ(refusal([&] { data::range(3).map(sequence).bucket_by_sequence_length(length, {4}, {1}); }),
            "bucket_by_sequence_length: 1 boundaries make 2 buckets, but there are 1 batch sizes");
  EXPECT_THROW(data::range(3).map(sequence).bucket_by_sequence_length(length, {4, 4}, {1, 1, 1}), ValueError);
}

TEST(DataGroups, Rebatch) {
  const auto batches = data::range(10).batch(4).rebatch(3);
  EXPECT_EQ(rows_of(batches.iterator()), (Rows{{3, 0, 1, 2}, {3, 3, 4, 5}, {3, 6, 7, 8}, {1, 9}}));
  expect_resumes(batches);
  EXPECT_EQ(rows_of(data::range(10).batch(2).rebatch(4, {.drop_remainder = true}).iterator()),
            (Rows{{4, 0, 1, 2, 3}, {4, 4, 5, 6, 7}}));
}

}  // namespace data_groups
