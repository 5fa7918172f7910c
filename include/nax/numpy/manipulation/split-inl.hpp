#pragma once

#include "nax/numpy/manipulation/split.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase narrow(const ArrayBase& x, int axis, std::int64_t begin, std::int64_t end) {
  Selection s = Selection::all(layout_of(x));
  s.start[static_cast<std::size_t>(axis)] = begin;
  s.count[static_cast<std::size_t>(axis)] = end > begin ? end - begin : 0;
  return get(x, s);
}

}  // namespace detail
NAX_END
NAX_BEGIN

NAX_ENGINE std::vector<std::int64_t> Sections::bounds(const char* function, std::int64_t extent,
                                                      bool equal) const {
  std::vector<std::int64_t> out{0};
  if (!by_count_) {
    const auto clamp = [&](std::int64_t i) {
      i = i < 0 ? i + extent : i;
      return i < 0 ? 0 : i > extent ? extent : i;
    };
    for (std::int64_t i : at_) out.push_back(clamp(i));
    out.push_back(extent);
    return out;
  }
  if (parts_ <= 0) raise<ValueError>({function, ": number sections must be larger than 0"});
  if (equal && extent % parts_ != 0)
    raise<ValueError>(
        {function, ": array split does not result in an equal division: ", extent, " into ", parts_});
  for (std::int64_t i = 0; i < parts_; ++i)
    out.push_back(out.back() + extent / parts_ + (i < extent % parts_ ? 1 : 0));
  return out;
}

NAX_END
