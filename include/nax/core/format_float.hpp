#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nax/core/digits.hpp"
#include "nax/core/half.hpp"
#include "nax/core/print_options.hpp"

// Text of floating-point numbers as NumPy writes them: scalars in their shortest form, the elements of an
// array in one common form, so that points and exponents stand under each other. Everything works on doubles
// plus a FloatSpec, so that it is compiled once, not once per type.
NAX_BEGIN
namespace detail {

template <class T>
inline constexpr FloatSpec float_spec = {};
template <>
inline constexpr FloatSpec float_spec<double> = {53, -1074, 1e8, 1e-4, 1e16};
template <>
inline constexpr FloatSpec float_spec<float> = {24, -149, 1e6, double(1e-4f), 1e6};
template <>
inline constexpr FloatSpec float_spec<half> = {11, -24, 1e3, double(float(half(1e-4f))), 1e3};
template <>
inline constexpr FloatSpec float_spec<bfloat16> = {8, -133, 1e6, 1e-4, 1e6};

inline std::string sign_text(double x, bool plus) { return std::signbit(x) ? "-" : plus ? "+" : ""; }

// "12.5", "0.001", "3."; the fraction is empty where the digits end before the point.
struct FloatText {
  std::string whole, fraction, exponent;  // exponent without its 'e', empty in positional form
};

NAX_ENGINE FloatText positional_text(double x, const FloatSpec& spec, DigitLimits limits, bool plus);

NAX_ENGINE FloatText scientific_text(double x, const FloatSpec& spec, DigitLimits limits, bool plus);

inline std::string nonfinite_text(double x, bool plus) {
  if (std::isnan(x)) return plus ? "+nan" : "nan";
  return sign_text(x, plus) + "inf";
}

// str() of a NumPy scalar; `point` keeps at least "1.0", otherwise it is "1" (as inside a complex number).
NAX_ENGINE std::string scalar_text(double x, const FloatSpec& spec, bool point = true, bool plus = false);

// bfloat16 prints as printf's %g, in arrays too: NumPy has no such type, and the one JAX registers prints so.
NAX_ENGINE std::string bfloat16_text(double x);

// The common form of an array's numbers: decided from all of them at once, then applied to each.
class FloatFormat {
 public:
  // `plus`: positive numbers carry a sign, as imaginary parts do.
  FloatFormat(const std::vector<double>& values, const FloatSpec& spec, const PrintOptions& options,
              bool plus);

  std::string operator()(double x) const;

 private:
  static std::string padding(int width, std::size_t used) {
    const auto wide = static_cast<std::size_t>(width > 0 ? width : 0);
    return std::string(wide > used ? wide - used : 0, ' ');
  }

  // Rounded to the array's own type, as NumPy's comparison has it.
  double ratio(double largest, double smallest) const {
    const double exact = largest / smallest;
    if (spec_.digits == 24) return static_cast<float>(exact);
    return spec_.digits == 11 ? double(float(half(exact))) : exact;
  }

  // Widths of the parts, from the form each number would take by itself.
  void measure(const std::vector<double>& values);

  FloatSpec spec_;
  int precision_;
  bool plus_;
  bool exponential_ = false;
  int pad_left_ = 0, pad_right_ = 0, exponent_size_ = 0;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/format_float-inl.hpp"
#endif
