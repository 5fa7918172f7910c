#pragma once

#include "nax/transform/jit/options.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<bool> named_arguments(const char* option, const Argnums& numbers, int count) {
  std::vector<bool> named(static_cast<std::size_t>(count));
  for (int i : numbers.get()) {
    if (i < -count || i >= count)
      raise<ValueError>({"jit: ", option, " ", i, " is out of range for ", count, " arguments"});
    named[static_cast<std::size_t>(i < 0 ? i + count : i)] = true;
  }
  return named;
}

}  // namespace detail
NAX_END
