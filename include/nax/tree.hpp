#pragma once

// Trees of arrays.

#include "nax/lax/ravel.hpp"
#include "nax/tree/at.hpp"
#include "nax/tree/field_names.hpp"
#include "nax/tree/fields.hpp"
#include "nax/tree/flatten.hpp"
#include "nax/tree/for_each.hpp"
#include "nax/tree/leaf_types.hpp"
#include "nax/tree/map.hpp"
#include "nax/tree/partition.hpp"
#include "nax/tree/path.hpp"
#include "nax/tree/reduce.hpp"
#include "nax/tree/static.hpp"
#include "nax/tree/structure.hpp"
#include "nax/tree/traits.hpp"
#include "nax/tree/tree.hpp"
