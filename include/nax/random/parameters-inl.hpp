#pragma once

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

}  // namespace random::detail
NAX_END
