#pragma once

#include "nax/tape/sweep.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void Reverse::run(std::size_t stop) {
  while (top_ > stop) {
    const std::size_t i = --top_;
    current_ = i;
    if (slots_.holds_number(i)) {
      tape_[i].pull_number(slots_.take_number(i), *this);
    } else if (slots_.holds(i)) {
      const ArrayBase cotangent = slots_.take(i);
      const ComputeOn beside(cotangent);
      tape_[i].pull(cotangent, *this);
    }
    if (consume_) tape_.destroy(i);
  }
}

NAX_ENGINE void Forward::run(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    try {
      tape_[i].push(*this, i);
    } catch (const NoTangent&) {
      refuse(i);  // it depends on one that has none
    }
  }
}

}  // namespace detail
NAX_END
