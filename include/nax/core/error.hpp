#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "nax/core/abi.hpp"

// The exceptions of nax: one base, one class a kind. Every text opens with the NumPy name of the function at
// fault.
NAX_BEGIN

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ShapeError : Error {
  using Error::Error;
};
struct TypeError : Error {
  using Error::Error;
};
struct IndexError : Error {
  using Error::Error;
};
struct ValueError : Error {
  using Error::Error;
};
// A number beyond the range of the element type that it is to have.
struct OverflowError : Error {
  using Error::Error;
};
// A NaN or an infinity that debug_nans or debug_infs looks for.
struct FloatingPointError : Error {
  using Error::Error;
};
struct DeviceError : Error {
  using Error::Error;
};
struct IoError : Error {
  using Error::Error;
};

namespace detail {

// A part of an error's text: a string, or a value with a to_string. It becomes text when the error is made.
class TextPart {
 public:
  TextPart(const char* text)
      : part_(text),
        append_([](std::string& to, const void* part) { to += static_cast<const char*>(part); }) {}
  template <class T>
  requires(!std::is_convertible_v<const T&, const char*>) TextPart(const T& part)
      : part_(&part), append_([](std::string& to, const void* p) {
          using std::to_string;
          if constexpr (std::is_convertible_v<const T&, std::string_view> || std::is_same_v<T, char>)
            to += *static_cast<const T*>(p);
          else
            to += to_string(*static_cast<const T*>(p));
        }) {}
  void append_to(std::string& text) const { append_(text, part_); }

 private:
  const void* part_;
  void (*append_)(std::string&, const void*);
};

[[gnu::cold]] NAX_ENGINE std::string text_of(std::initializer_list<TextPart> parts);

}  // namespace detail

// Throws E, whose text is the parts one after another; out of line, since most of the code of a check would
// be its error's.
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void raise(std::initializer_list<detail::TextPart> parts) {
  throw E(detail::text_of(parts));
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::string text_of(std::initializer_list<TextPart> parts) {
  std::string text;
  for (const TextPart& part : parts) part.append_to(text);
  return text;
}

}  // namespace detail
NAX_END
#endif
