#pragma once

#include <vector>

#include "nax/random/parameters.hpp"

NAX_BEGIN
namespace random::detail {

NAX_ENGINE void check_fit(const char* function, const Shape& shape,
                          std::initializer_list<const Shape*> parameters) {
  for (const Shape* p : parameters) {
    bool fits = p->size() <= shape.size();
    for (std::size_t i = 0; fits && i < p->size(); ++i) {
      const std::int64_t n = (*p)[i];
      fits = n == 1 || n == shape[shape.size() - p->size() + i];
    }
    if (!fits)
      raise<ShapeError>(
          {function, ": a parameter of shape ", *p, " does not broadcast to the shape ", shape});
  }
}

NAX_ENGINE ArrayBase sample(const char* function, const Key& key, const Shape& shape, Sampler kind,
                            DType dtype, std::initializer_list<const ArrayBase*> parameters) {
  check_single(function, key);
  count_elements(function, shape);
  // Parameters with axes say where; numbers and keys on the host go along.
  std::vector<const ArrayBase*> placing;
  if (on_accelerator(key.words())) placing.push_back(&key.words());
  Frame rows = layout_of(key.words());
  for (const ArrayBase* p : parameters) {
    if (on_accelerator(*p) || !layout_of(*p).shape.empty()) placing.push_back(p);
    rows = broadcast(function, rows, below(layout_of(*p), {}));
  }
  const ArrayBase* const* const first = placing.data();
  const Device device =
      placing.empty() ? draw_device(key) : device_for(function, first, static_cast<int>(placing.size()));
  const Frame frame = below(rows, shape);
  count_elements(function, frame.shape);
  ArrayBase result = allocate(dtype, frame, device);
  if (frame.size() == 0) return placed(std::move(result));
  const ArrayBase words = copy_over(beside(result, key.words()), rows);
  std::vector<ArrayBase> full;
  const char* from[2] = {};
  for (const ArrayBase* p : parameters) {
    full.push_back(copy_over(beside(result, constant(*p)), frame));
    from[full.size() - 1] = device_data(full.back());
  }
  backend::run(device, ops::Sample{kind, rows.size(), frame.size() / rows.size(), dtype},
               {device_data(words), from[0], from[1], device_data(result)});
  return placed(std::move(result));
}

}  // namespace random::detail
NAX_END
