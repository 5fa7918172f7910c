#pragma once

#include "nax/random/shuffle.hpp"

NAX_BEGIN
namespace random::detail {

// By operations of all devices, for those that have no permutations: all positions.
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
  for (int rounds = loops::shuffle_rounds(shape.count()); rounds > 0; --rounds) {
    const auto [next, own] = split(rest);
    const Array<std::uint32_t> sort_keys = bits<std::uint32_t>(own, shape);
    const Array<std::int64_t> order =
        nax::detail::typed<std::int64_t>(as_dtype(argsort_lines(sort_keys, axis, false), DType::int64));
    places = get(places, along_selection(layout_of(places), order, axis));
    rest = next;
  }
  return places;
}

NAX_ENGINE ArrayBase shuffled(const char* function, const Key& key, const Shape& shape, int axis,
                              std::int64_t kept, DType dtype) {
  const Device device = draw_device(key);
  Shape result_shape = shape;
  result_shape[static_cast<std::size_t>(axis)] = kept;
  if (!backend::has<ops::Shuffle>(device, dtype)) {
    const Array<std::int64_t> all = shuffled_on_device(function, key, shape, axis);
    if (kept == shape[static_cast<std::size_t>(axis)]) return as_dtype(all, dtype);
    return as_dtype(contiguous(all(slice(0, kept))), dtype);  // along the first axis, of one
  }
  ArrayBase words;
  ArrayBase result = allocate_draw(function, key, result_shape, dtype, words, device);
  if (layout_of(result).size() == 0) return result;
  words = beside(result, words);
  loops::Lines lines{1, shape[static_cast<std::size_t>(axis)], 1};
  for (int a = 0; a < static_cast<int>(shape.size()); ++a)
    if (a != axis) (a < axis ? lines.outer : lines.inner) *= shape[static_cast<std::size_t>(a)];
  backend::run(device, ops::Shuffle{lines, kept, layout_of(words).size(), dtype},
               {device_data(words), device_data(result)});
  return result;
}

}  // namespace random::detail
NAX_END
