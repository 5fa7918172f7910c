#pragma once

#include "nax/lax/cumulative.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase running_places(const char* function, const ArrayBase& x, int axis, bool greatest,
                                    bool reverse) {
  const ArrayBase from = contiguous(x, transforms_handled);
  ArrayBase places = allocate(DType::int64, layout_of(from), device_for(function, from));
  backend::run(places.device(),
               ops::RunningBest{greatest, lines_of(layout_of(from), axis), reverse, from.dtype()},
               {device_data(from), device_data(places)});
  return places;
}

}  // namespace detail
NAX_END
