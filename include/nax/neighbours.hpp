#pragma once

// Nearest vectors: exact search, and declarations of a graph for approximate search; link nax::hnsw for what
// is behind those.

#include "nax/modules/neighbours/hnsw.hpp"
#include "nax/modules/neighbours/nearest.hpp"
