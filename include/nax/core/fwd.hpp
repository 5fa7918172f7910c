#pragma once

#include "nax/core/abi.hpp"

// The one name of core that lower or sibling layers may speak of without seeing it.
namespace nax::inline NAX_ABI {

template <class Element>
class Array;

}  // namespace nax::inline NAX_ABI
