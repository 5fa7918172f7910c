#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

// How many bytes the UTF-8 character that `text` begins with has; 0 where none does.
NAX_ENGINE std::size_t utf8_length(std::string_view text);

// A string of JSON, in quotes. Bytes that are no UTF-8 become U+FFFD.
NAX_ENGINE std::string json_text(std::string_view text);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/json_text-inl.hpp"
#endif
