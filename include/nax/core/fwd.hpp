#pragma once

#include "nax/core/abi.hpp"

// The one name of core that lower or sibling layers may speak of without seeing it.
NAX_BEGIN

template <class Element>
class Array;

NAX_END
