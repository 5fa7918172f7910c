#pragma once

#include "nax/lax/padding.hpp"

NAX_BEGIN
namespace lax {

NAX_ENGINE auto Padding::over(const char* function, const Dims& in, const Dims& window,
                              const Dims& strides) const -> std::vector<Pair> {
  if (!named()) {
    if (pairs_.size() != in.size())
      raise<ValueError>({function, ": padding has ", pairs_.size(), " pairs for ", in.size(), " axes"});
    return pairs_;
  }
  std::vector<Pair> pairs;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    if (name_ == "VALID") {
      pairs.push_back({0, 0});
    } else if (name_ == "SAME" || name_ == "SAME_LOWER") {
      const std::int64_t out = (in[axis] + strides[axis] - 1) / strides[axis];
      const std::int64_t all = std::max<std::int64_t>(0, (out - 1) * strides[axis] + window[axis] - in[axis]);
      const std::int64_t less = all / 2;
      pairs.push_back(name_ == "SAME" ? Pair{less, all - less} : Pair{all - less, less});
    } else {
      raise<ValueError>(
          {function, ": padding must be 'SAME', 'SAME_LOWER', 'VALID' or pairs, not '", name_, "'"});
    }
  }
  return pairs;
}

}  // namespace lax
NAX_END
NAX_BEGIN
namespace detail {

NAX_ENGINE Dims each_axis(const char* function, const char* option, const Dims& given, std::size_t axes) {
  if (given.empty()) return Dims(axes, 1);
  if (given.size() != axes)
    raise<ValueError>({function, ": ", option, " has ", given.size(), " numbers for ", axes, " axes"});
  for (const std::int64_t n : given)
    if (n < 1 || n > (std::int64_t{1} << 31))
      raise<ValueError>({function, ": ", option, " must be at least 1: ", to_string(given)});
  return given;
}

NAX_ENGINE std::int64_t window_count(const char* function, std::int64_t in, std::int64_t window,
                                     std::int64_t stride, const lax::Padding::Pair& pad) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (pad.first < -most || pad.first > most || pad.second < -most || pad.second > most)
    raise<ValueError>({function, ": padding is out of range: ", pad.first, ", ", pad.second});
  const std::int64_t room = in + pad.first + pad.second - window;
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace detail
NAX_END
