#pragma once

#include "nax/lax/conv_product.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Levels levels_without(const Levels& all, const Levels& gone) {
  Levels left;
  for (const Level level : all)
    if (!contains(gone, level)) left.push_back(level);
  return left;
}

}  // namespace detail
NAX_END
