#pragma once

// Pytrees: structs, tuples and containers of arrays, taken apart and put together without registration.
#include "nax/tree/flatten.hpp"
#include "nax/tree/for_each.hpp"
#include "nax/tree/map.hpp"
#include "nax/tree/reduce.hpp"
#include "nax/tree/static.hpp"
#include "nax/tree/structure.hpp"
#include "nax/tree/traits.hpp"
