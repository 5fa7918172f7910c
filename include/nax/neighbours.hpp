#pragma once

// Nearest vectors: exact search, and declarations of a graph for approximate search; link nax::hnsw for what
// is behind those.

#include "nax/neighbours/hnsw.hpp"
#include "nax/neighbours/nearest.hpp"
