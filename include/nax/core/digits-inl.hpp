#pragma once

#include "nax/core/digits.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE auto BigInt::operator*=(std::uint32_t factor) -> BigInt& {
  std::uint64_t carry = 0;
  for (int i = 0; i < size_; ++i) {
    carry += std::uint64_t{word_[i]} * factor;
    word_[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) word_[size_++] = static_cast<std::uint32_t>(carry);
  return *this;
}

NAX_ENGINE auto BigInt::operator+=(const BigInt& other) -> BigInt& {
  std::uint64_t carry = 0;
  for (int i = 0; i < size_ || i < other.size_ || carry != 0; ++i) {
    if (i == size_) word_[size_++] = 0;
    carry += std::uint64_t{word_[i]} + (i < other.size_ ? other.word_[i] : 0u);
    word_[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return *this;
}

NAX_ENGINE auto BigInt::operator-=(const BigInt& other) -> BigInt& {
  std::int64_t borrow = 0;
  for (int i = 0; i < size_; ++i) {
    borrow += std::int64_t{word_[i]} - (i < other.size_ ? std::int64_t{other.word_[i]} : 0);
    word_[i] = static_cast<std::uint32_t>(borrow);
    borrow >>= 32;
  }
  while (size_ > 0 && word_[size_ - 1] == 0) --size_;
  return *this;
}

NAX_ENGINE Decimal decimal_digits(double value, const FloatSpec& spec, DigitLimits limits) {
  value = std::fabs(value);
  if (value == 0) return {"0", 0};
  const int binary_exponent = std::ilogb(value);
  const int smallest_ulp = spec.min_ulp;
  const int ulp =
      binary_exponent - (spec.digits - 1) > smallest_ulp ? binary_exponent - (spec.digits - 1) : smallest_ulp;
  const auto significand = static_cast<std::uint64_t>(std::scalbn(value, -ulp));
  const bool even = significand % 2 == 0;
  // Below a power of two the neighbour is nearer: the lower gap is half the upper one.
  const bool uneven_gaps = significand == std::uint64_t{1} << (spec.digits - 1) && ulp > smallest_ulp;

  const int spare = uneven_gaps ? 2 : 1;  // so that half a gap is an integer
  BigInt rest(significand), scale(1), gap_below(limits.unique ? 1 : 0);
  rest.shift_left(spare + (ulp > 0 ? ulp : 0));
  scale.shift_left(spare + (ulp < 0 ? -ulp : 0));
  if (ulp > 0) gap_below.shift_left(ulp);

  // One more than the exponent of the first digit; the estimate may be one too small.
  int position = static_cast<int>(std::ceil(binary_exponent * 0.30102999566398119521 - 0.69));
  if (!limits.total && limits.most >= 0 && position <= -limits.most) position = 1 - limits.most;
  if (position > 0) {
    scale.multiply_pow10(position);
  } else {
    rest.multiply_pow10(-position);
    gap_below.multiply_pow10(-position);
  }
  if (compare(rest, scale) >= 0) {
    ++position;
  } else {
    rest *= 10;
    gap_below *= 10;
  }

  const int none = std::numeric_limits<int>::min();
  const int first = position;
  const int last_at_most = limits.most < 0 ? none : limits.total ? first - limits.most : -limits.most;
  int last_at_least = limits.least < 0 ? first : limits.total ? first - limits.least : -limits.least;
  if (last_at_least > first) last_at_least = first;

  Decimal result;
  result.exponent = first - 1;
  bool low = false, high = false;
  char digit = '0';
  for (;;) {
    --position;
    digit = '0';
    while (compare(rest, scale) >= 0) {
      rest -= scale;
      ++digit;
    }
    BigInt upper = gap_below;
    if (uneven_gaps) upper *= 2;
    upper += rest;
    const int below = compare(rest, gap_below), above = compare(upper, scale);
    low = even ? below <= 0 : below < 0;
    high = even ? above >= 0 : above > 0;
    if (((low || high) && position <= last_at_least) || position == last_at_most) break;
    result.digits += digit;
    rest *= 10;
    gap_below *= 10;
  }

  bool up = high;
  if (low == high) {  // both ways are open: to the nearer, a tie to the even digit
    rest *= 2;
    const int half_way = compare(rest, scale);
    up = half_way > 0 || (half_way == 0 && digit % 2 != 0);
  }
  result.digits += digit;
  if (!up) return result;
  while (!result.digits.empty() && result.digits.back() == '9') result.digits.pop_back();
  if (result.digits.empty()) {
    result.digits = "1";
    ++result.exponent;
  } else {
    ++result.digits.back();
  }
  return result;
}

}  // namespace detail
NAX_END
