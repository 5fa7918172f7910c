#pragma once

// The part of the engine that this module is (compiled/engine.cpp).

#include "nax/modules/arrow/to_arrow.hpp"
