#pragma once

#include "nax/core/rounded.hpp"
#include "nax/numpy/sorting/quantile_methods.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE QuantileMethod quantile_method(const char* function, std::string_view name) {
  constexpr std::string_view names[] = {"inverted_cdf",
                                        "averaged_inverted_cdf",
                                        "closest_observation",
                                        "interpolated_inverted_cdf",
                                        "hazen",
                                        "weibull",
                                        "linear",
                                        "median_unbiased",
                                        "normal_unbiased",
                                        "lower",
                                        "higher",
                                        "midpoint",
                                        "nearest"};
  for (int i = 0; i < 13; ++i)
    if (names[i] == name) return static_cast<QuantileMethod>(i);
  raise<ValueError>({function, ": unknown method '", name, "'"});
}

NAX_ENGINE QuantilePlace quantile_place(QuantileMethod method, double q, std::int64_t n) {
  using enum QuantileMethod;
  const double count = static_cast<double>(n), share = rounded(count * q);
  const auto line = [=](double alpha, double beta) {
    return share + (alpha + rounded(q * (1 - alpha - beta))) - 1;
  };
  double place = 0;
  switch (method) {
    case inverted_cdf:
    case averaged_inverted_cdf:
    case interpolated_inverted_cdf:
      place = share - 1;
      break;
    case closest_observation:
      place = share - 1.5;
      break;
    case hazen:
      place = line(0.5, 0.5);
      break;
    case weibull:
      place = line(0, 0);
      break;
    case median_unbiased:
      place = line(1.0 / 3, 1.0 / 3);
      break;
    case normal_unbiased:
      place = line(3.0 / 8, 3.0 / 8);
      break;
    case linear:
    case lower:
    case higher:
    case midpoint:
    case nearest:
      place = rounded((count - 1) * q);
      break;
  }
  const double floor = std::floor(place), part = place - floor;
  double weight = part;
  switch (method) {
    case inverted_cdf:
    case higher:
      weight = part > 0 ? 1 : 0;
      break;
    case averaged_inverted_cdf:
      weight = part > 0 ? 1 : 0.5;
      break;
    case closest_observation:  // a tie goes to the place that is even, counted from one
      weight = part == 0 && std::fmod(floor, 2) != 0 ? 0 : 1;
      break;
    case lower:
      weight = 0;
      break;
    case midpoint:
      weight = part > 0 ? 0.5 : 0;
      break;
    case nearest:  // a tie goes to the even place
      weight = part > 0.5 || (part == 0.5 && std::fmod(floor, 2) != 0) ? 1 : 0;
      break;
    case interpolated_inverted_cdf:
    case hazen:
    case weibull:
    case median_unbiased:
    case normal_unbiased:
    case linear:
      break;
  }
  const auto inside = [=](double at) { return static_cast<std::int64_t>(std::clamp(at, 0.0, count - 1)); };
  const QuantilePlace found{inside(floor), inside(floor + 1), weight};
  return found.low == found.high ? QuantilePlace{found.low, found.low, 0} : found;
}

}  // namespace detail
NAX_END
