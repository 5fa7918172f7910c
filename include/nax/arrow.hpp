#pragma once

// Tables to and from other libraries, by Arrow's C interfaces.

#include "nax/modules/arrow/from_arrow.hpp"
#include "nax/modules/arrow/to_arrow.hpp"
