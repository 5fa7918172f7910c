#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "nax/core/abi.hpp"

// Decimal digits of a binary float, as NumPy chooses them.
//
// The free-format algorithm of Steele & White and Burger & Dybvig on big integers: value and half the gaps to
// the two neighbouring floats are integers over a common scale; each step divides out one decimal digit and
// stops where the digits name this float and no other. std::to_chars is not enough: NumPy may ask for more
// digits than the shortest (then they are the exact value's) or fewer (then it is the exact value that gets
// rounded).
//
// A float of any width comes in as a double plus a FloatSpec, which says where its neighbours are.
NAX_BEGIN
namespace detail {

struct FloatSpec {
  int digits;                  // bits of the significand
  int min_ulp;                 // exponent of the smallest subnormal
  double array_exponent_from;  // arrays with this or more print in exponential form,
  double array_exponent_below;
  double scalar_exponent_from;
};

// A non-negative integer of at most 40 words, enough for any double times 10^324.
class BigInt {
 public:
  explicit BigInt(std::uint64_t value = 0) {
    for (; value != 0; value >>= 32) word_[size_++] = static_cast<std::uint32_t>(value);
  }

  BigInt& operator*=(std::uint32_t factor);

  BigInt& multiply_pow10(int exponent) {
    for (; exponent >= 9; exponent -= 9) *this *= 1'000'000'000u;
    for (; exponent > 0; --exponent) *this *= 10u;
    return *this;
  }

  BigInt& shift_left(int bits) {
    for (; bits >= 31; bits -= 31) *this *= 1u << 31;
    return *this *= 1u << bits;
  }

  BigInt& operator+=(const BigInt& other);

  // Needs *this >= other.
  BigInt& operator-=(const BigInt& other);

  friend int compare(const BigInt& a, const BigInt& b) {
    if (a.size_ != b.size_) return a.size_ < b.size_ ? -1 : 1;
    for (int i = a.size_; i-- > 0;) {
      if (a.word_[i] != b.word_[i]) return a.word_[i] < b.word_[i] ? -1 : 1;
    }
    return 0;
  }

 private:
  std::uint32_t word_[40] = {};
  int size_ = 0;
};

// Where digits may stop. Positions count after the decimal point, or, with `total`, from the first digit; -1
// is no bound.
struct DigitLimits {
  int most = -1;
  int least = -1;
  bool total = false;
  bool unique = true;  // stop at the shortest text that names the float; otherwise only at an exact end
};

struct Decimal {
  std::string digits;  // d1 d2 d3 ...
  int exponent = 0;    // value = d1.d2d3... * 10^exponent
};

// Digits of |value|, which is finite.
NAX_ENGINE Decimal decimal_digits(double value, const FloatSpec& spec, DigitLimits limits);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/digits-inl.hpp"
#endif
