#pragma once

#include <bit>
#include <string_view>

#include "nax/core/dtype.hpp"
#include "nax/core/shape.hpp"
#include "nax/io/member.hpp"

// NumPy's .npy: a magic string, a version, a Python dictionary with dtype, order and shape, then the
// elements.
NAX_BEGIN
namespace io::detail {

static_assert(std::endian::native == std::endian::little,
              "nax::io: files are written as the machine holds numbers");

// NumPy has no bfloat16: like JAX's, such an array is saved as two bytes without a meaning.
constexpr const char* npy_descr(DType dtype) {
  constexpr const char* names[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4",
                                   "<u8", "<f2", "<V2", "<f4", "<f8", "<c8", "<c16"};
  return names[static_cast<std::size_t>(dtype)];
}

NAX_ENGINE std::string npy_header(const std::string& descr, const Shape& shape);
inline std::string npy_header(DType dtype, const Shape& shape) { return npy_header(npy_descr(dtype), shape); }

// Stands for a descr that is no string: of records, which nax does not hold.
inline constexpr const char* structured_descr = "a structured dtype";

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// The dictionary. Strict as NumPy is: these three keys and no other, True or False, a tuple of integers. (It
// is Python, of which files have only what is read here.)
class NpyDictionary {
 public:
  NpyDictionary(const Member& member, std::string_view text) : member_(member), text_(text) {}

  NpyHeader read();

 private:
  [[noreturn, gnu::cold]] void damaged() const {
    member_.fail("has a header that is damaged at its character " + std::to_string(at_));
  }
  // The next character that is no space; 0 at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged();
  }
  std::string_view string();
  // Passes a list or tuple, with what lies in it.
  void nested();
  bool boolean();
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void tuple(Shape& shape);

  const Member& member_;
  std::string_view text_;
  std::size_t at_ = 0;
};

NAX_ENGINE NpyHeader read_npy_header(Member& member);

// Whether descr names the type, in the host's byte order or the other, which sets `swapped`.
NAX_ENGINE bool same_descr(std::string_view descr, DType dtype, bool& swapped);

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/npy_header-inl.hpp"
#endif
