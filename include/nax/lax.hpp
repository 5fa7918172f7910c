#pragma once

// JAX's lax: loops and branches as functions, convolutions, windows.

#include "nax/lax/associative_scan.hpp"
#include "nax/lax/branches.hpp"
#include "nax/lax/conv.hpp"
#include "nax/lax/conv_product.hpp"
#include "nax/lax/cumulative.hpp"
#include "nax/lax/dynamic_slice.hpp"
#include "nax/lax/implicit.hpp"
#include "nax/lax/iota.hpp"
#include "nax/lax/loops.hpp"
#include "nax/lax/map.hpp"
#include "nax/lax/padding.hpp"
#include "nax/lax/parts.hpp"
#include "nax/lax/scan.hpp"
#include "nax/lax/segments.hpp"
#include "nax/lax/sort_key_val.hpp"
#include "nax/lax/windows.hpp"
