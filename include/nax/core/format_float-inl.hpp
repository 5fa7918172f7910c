#pragma once

#include "nax/core/format_float.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE FloatText positional_text(double x, const FloatSpec& spec, DigitLimits limits, bool plus) {
  Decimal d = decimal_digits(x, spec, limits);
  FloatText text{sign_text(x, plus), "", ""};
  const auto count = static_cast<int>(d.digits.size());
  if (d.exponent < 0) {
    text.whole += '0';
    text.fraction = std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
  } else {
    const int whole = d.exponent + 1;
    if (count < whole) d.digits.append(static_cast<std::size_t>(whole - count), '0');
    text.whole += d.digits.substr(0, static_cast<std::size_t>(whole));
    text.fraction = d.digits.substr(static_cast<std::size_t>(whole));
  }
  while (!text.fraction.empty() && text.fraction.back() == '0') text.fraction.pop_back();
  return text;
}

NAX_ENGINE FloatText scientific_text(double x, const FloatSpec& spec, DigitLimits limits, bool plus) {
  limits.total = true;
  const Decimal d = decimal_digits(x, spec, limits);
  FloatText text{sign_text(x, plus) + d.digits[0], d.digits.substr(1), d.exponent < 0 ? "-" : "+"};
  while (!text.fraction.empty() && text.fraction.back() == '0') text.fraction.pop_back();
  const std::string exponent = std::to_string(d.exponent < 0 ? -d.exponent : d.exponent);
  if (exponent.size() < 2) text.exponent += '0';
  text.exponent += exponent;
  return text;
}

NAX_ENGINE std::string scalar_text(double x, const FloatSpec& spec, bool point, bool plus) {
  if (!std::isfinite(x)) return nonfinite_text(x, plus);
  const double size = std::fabs(x);
  if (size == 0 || (size >= 1e-4 && size < spec.scalar_exponent_from)) {
    const FloatText text = positional_text(x, spec, {}, plus);
    if (text.fraction.empty()) return text.whole + (point ? ".0" : "");
    return text.whole + '.' + text.fraction;
  }
  const FloatText text = scientific_text(x, spec, {}, plus);
  return text.whole + (text.fraction.empty() ? "" : "." + text.fraction) + 'e' + text.exponent;
}

NAX_ENGINE std::string bfloat16_text(double x) {
  if (!std::isfinite(x)) return nonfinite_text(x, false);
  DigitLimits six{.most = 6, .total = true, .unique = false};
  FloatText text = scientific_text(x, float_spec<double>, six, false);
  const int exponent = std::stoi(text.exponent);
  if (exponent < -4 || exponent >= 6) {
    return text.whole + (text.fraction.empty() ? "" : "." + text.fraction) + 'e' + text.exponent;
  }
  six.most = 5 - exponent;
  six.total = false;
  text = positional_text(x, float_spec<double>, six, false);
  return text.whole + (text.fraction.empty() ? "" : "." + text.fraction);
}

NAX_ENGINE FloatFormat::FloatFormat(const std::vector<double>& values, const FloatSpec& spec,
                                    const PrintOptions& options, bool plus)
    : spec_(spec), precision_(options.precision), plus_(plus) {
  bool any_finite = false, any_nonfinite = false, negative_infinity = false;
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  for (const double x : values) {
    if (!std::isfinite(x)) {
      any_nonfinite = true;
      negative_infinity |= x < 0;
      continue;
    }
    any_finite = true;
    if (x == 0) continue;
    const double size = std::fabs(x);
    if (size > largest) largest = size;
    if (size < smallest) smallest = size;
  }
  if (largest > 0) {
    const bool spread = smallest < spec.array_exponent_below || ratio(largest, smallest) > 1000;
    exponential_ = largest >= spec.array_exponent_from || (!options.suppress && spread);
  }
  if (any_finite) measure(values);
  if (any_nonfinite) {
    const int after_point = pad_right_ + 1;
    const int infinity = (plus || negative_infinity ? 4 : 3) - after_point;
    if (pad_left_ < 3 - after_point) pad_left_ = 3 - after_point;
    if (pad_left_ < infinity) pad_left_ = infinity;
  }
}

NAX_ENGINE std::string FloatFormat::operator()(double x) const {
  if (!std::isfinite(x)) {
    const std::string text = nonfinite_text(x, plus_);
    return padding(pad_left_ + pad_right_ + 1, text.size()) + text;
  }
  if (!exponential_) {
    const FloatText text = positional_text(x, spec_, {.most = precision_, .least = 0}, plus_);
    return padding(pad_left_, text.whole.size()) + text.whole + '.' + text.fraction +
           padding(pad_right_, text.fraction.size());
  }
  FloatText text = scientific_text(x, spec_, {.most = precision_ + 1, .least = precision_ + 1}, plus_);
  text.fraction += std::string(padding(precision_, text.fraction.size()).size(), '0');
  const std::string zeros(padding(exponent_size_ + 1, text.exponent.size()).size(), '0');
  return padding(pad_left_, text.whole.size()) + text.whole + '.' + text.fraction + 'e' + text.exponent[0] +
         zeros + text.exponent.substr(1);
}

NAX_ENGINE void FloatFormat::measure(const std::vector<double>& values) {
  std::size_t whole = 0, fraction = 0, exponent = 0;
  const DigitLimits limits{.most = exponential_ ? precision_ + 1 : precision_};
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    const FloatText text =
        exponential_ ? scientific_text(x, spec_, limits, plus_) : positional_text(x, spec_, limits, plus_);
    if (text.whole.size() > whole) whole = text.whole.size();
    if (text.fraction.size() > fraction) fraction = text.fraction.size();
    if (text.exponent.size() > exponent) exponent = text.exponent.size();
  }
  pad_left_ = static_cast<int>(whole);
  pad_right_ = static_cast<int>(fraction);
  if (exponential_) {
    exponent_size_ = static_cast<int>(exponent) - 1;
    precision_ = pad_right_;
    pad_right_ += exponent_size_ + 2;
  }
}

}  // namespace detail
NAX_END
