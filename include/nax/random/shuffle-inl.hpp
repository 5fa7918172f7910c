#pragma once

#include "nax/random/shuffle.hpp"

NAX_BEGIN
namespace random::detail {

NAX_ENGINE std::vector<std::uint64_t> round_keys(std::uint64_t key, int rounds) {
  std::vector<std::uint64_t> keys;
  for (int round = 0; round < rounds; ++round) {
    keys.push_back(loops::word_pair(loops::threefry(key, 1)));
    key = loops::word_pair(loops::threefry(key, 0));
  }
  return keys;
}

NAX_ENGINE Array<std::int64_t> shuffled_on_device(const char* function, const Key& key, const Shape& shape,
                                                  int axis) {
  check_single(function, key);
  const ComputeOn there(draw_device(key));
  Dims extents(shape.size(), 1);
  const std::int64_t n = extents[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)];
  const Array<std::int64_t> along = reshape_to(
      function, generated<std::int64_t>(function, n, [](std::int64_t i) { return i; }), Shape(extents));
  Array<std::int64_t> places = nax::detail::typed<std::int64_t>(copy_over(along, Frame{shape, {}}));
  Key rest = key;
  for (int rounds = shuffle_rounds(shape.count()); rounds > 0; --rounds) {
    const auto [next, own] = split(rest);
    const Array<std::uint32_t> sort_keys = bits<std::uint32_t>(own, shape);
    const Array<std::int64_t> order =
        nax::detail::typed<std::int64_t>(as_dtype(argsort_lines(sort_keys, axis, false), DType::int64));
    places = get(places, along_selection(layout_of(places), order, axis));
    rest = next;
  }
  return places;
}

NAX_ENGINE Array<std::int64_t> independent_positions(const Key& key, const Shape& shape, int axis) {
  if (on_accelerator(draw_device(key))) return shuffled_on_device("permutation", key, shape, axis);
  const auto fill = [&shape, axis](std::uint64_t k, std::int64_t, std::int64_t n, std::int64_t* out) {
    std::int64_t inner = 1;
    for (int a = axis + 1; a < static_cast<int>(shape.size()); ++a)
      inner *= shape[static_cast<std::size_t>(a)];
    const std::int64_t length = shape[static_cast<std::size_t>(axis)];
    std::vector<std::uint32_t> sort_keys(static_cast<std::size_t>(n));
    std::vector<std::int64_t> vector(static_cast<std::size_t>(length));
    std::vector<std::uint64_t> pairs;
    const auto rounds = round_keys(k, shuffle_rounds(n));
    for (std::int64_t i = 0; i < n; ++i) out[i] = i / inner % length;
    for (std::uint64_t round : rounds) {
      cpu::random_bits(round, 0, n, sort_keys.data());
      for (std::int64_t i = 0; i < n / length; ++i) {
        const std::int64_t first = i / inner * inner * length + i % inner;
        for (std::int64_t j = 0; j < length; ++j)
          vector[static_cast<std::size_t>(j)] = out[first + j * inner];
        sort_positions(
            length, [&](std::int64_t j) { return sort_keys[static_cast<std::size_t>(first + j * inner)]; },
            vector.data(), pairs);
        for (std::int64_t j = 0; j < length; ++j)
          out[first + j * inner] = vector[static_cast<std::size_t>(j)];
      }
    }
  };
  return draw_whole<std::int64_t>("permutation", key, shape, fill);
}

}  // namespace random::detail
NAX_END
