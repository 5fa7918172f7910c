#pragma once

#include "nax/core/error.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::string text_of(std::initializer_list<TextPart> parts) {
  std::string text;
  for (const TextPart& part : parts) part.append_to(text);
  return text;
}

}  // namespace detail
NAX_END
