#pragma once

#include "nax/numpy/indexing/index_items.hpp"
#include "nax/numpy/indexing/select.hpp"

// a(...): NumPy's indexing.
NAX_BEGIN

template <class Element>
template <class... Index>
Array<Element> Array<Element>::operator()(const Index&... index) const {
  detail::check_operand("index", *this);
  if constexpr ((detail::BasicIndex<Index> && ...)) {
    if (serial_ == 0) return detail::typed<Element>(detail::basic_view(*this, index...));
  }
  return detail::get(*this, detail::select(*this, index...));
}

NAX_END
