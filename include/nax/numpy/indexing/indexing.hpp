#pragma once

#include "nax/numpy/indexing/index_items.hpp"
#include "nax/numpy/indexing/select.hpp"

// a(...): NumPy's indexing.
namespace nax::inline NAX_ABI {

template <class Element>
template <class... Index>
Array<Element> Array<Element>::operator()(const Index&... index) const {
  detail::check_operand("index", *this);
  if constexpr ((detail::BasicIndex<Index> && ...)) {
    if (serial_ == 0) return detail::typed<Element>(detail::basic_view(*this, index...));
  }
  return detail::get(*this, detail::select(*this, index...));
}

}  // namespace nax::inline NAX_ABI
