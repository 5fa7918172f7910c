#pragma once

#include "nax/numpy/statistics/bin_rules.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE double stone_width(const BinSample& x) {
  const double n = x.count(), spread = x.spread();
  if (n <= 1 || spread == 0) return 0;
  const int most = std::max(100, static_cast<int>(std::sqrt(n)));
  double best = 0, least = 0;
  for (int bins = 1; bins <= most; ++bins) {
    std::vector<double> counts(static_cast<std::size_t>(bins), 0.0);
    const double step = (x.last - x.first) / bins;
    std::size_t bin = 0;
    for (const double v : x.values) {  // ascending, and so are the edges
      while (bin + 1 < counts.size() && v >= x.first + static_cast<double>(bin + 1) * step) ++bin;
      counts[bin] += 1;
    }
    double squares = 0;
    for (const double c : counts) squares += c / n * (c / n);
    const double width = spread / bins, error = (2 - (n + 1) * squares) / width;
    if (bins == 1 || error < least) least = error, best = width;
  }
  return best;
}

NAX_ENGINE double bin_width(const char* function, std::string_view rule, const BinSample& x) {
  const double n = x.count(), spread = x.spread(), root3 = std::cbrt(n);
  const auto sturges = [&] { return spread / (std::log2(n) + 1); };                                  // 1926
  const auto freedman_diaconis = [&] { return 2 * (x.quantile(0.75) - x.quantile(0.25)) / root3; };  // 1981
  const auto square_root = [&] { return spread / std::sqrt(n); };
  if (rule ==
      "auto")  // the smaller of the two, unless the quartiles are so close that bins would be countless
    return std::min(std::max(freedman_diaconis(), square_root() / 2), sturges());
  if (rule == "fd") return freedman_diaconis();
  if (rule == "sturges") return sturges();
  if (rule == "sqrt") return square_root();
  if (rule == "rice") return spread / (2 * root3);
  if (rule == "scott") return std::cbrt(24 * std::sqrt(std::numbers::pi) / n) * x.deviation();  // 1979
  if (rule == "stone") return stone_width(x);
  if (rule == "doane") {  // 1976: Sturges' rule with regard to the skewness
    const double deviation = x.deviation(), mean = x.mean();
    if (n <= 2 || !(deviation > 0)) return 0;
    double skewness = 0;
    for (const double v : x.values) skewness += std::pow((v - mean) / deviation, 3);
    const double of_normal = std::sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
    return spread / (1 + std::log2(n) + std::log2(1 + std::abs(skewness / n) / of_normal));
  }
  raise<ValueError>({function, ": '", rule, "' is not a valid estimator for `bins`"});
}

NAX_ENGINE std::int64_t bins_by_rule(const char* function, std::string_view rule, std::vector<double> values,
                                     double first, double last, bool whole) {
  std::erase_if(values, [=](double v) { return !(v >= first && v <= last); });
  if (values.empty()) {
    bin_width(function, rule, {{0.0}, 0, 1});  // is there such a rule?
    return 1;
  }
  std::sort(values.begin(), values.end());
  double width = bin_width(function, rule, {std::move(values), first, last});
  if (!(width > 0)) return 1;
  if (whole && width < 1) width = 1;
  const double bins = std::ceil((last - first) / width);
  if (!(bins < 1e9)) raise<ValueError>({function, ": the rule '", rule, "' asks for ", bins, " bins"});
  return static_cast<std::int64_t>(bins);
}

}  // namespace detail
NAX_END
