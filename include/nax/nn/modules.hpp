#pragma once

// Modules: structs of parameters with the function that they belong to.

#include "nax/nn/modules/adapted.hpp"
#include "nax/nn/modules/attention.hpp"
#include "nax/nn/modules/layers.hpp"
#include "nax/nn/modules/norms.hpp"
#include "nax/nn/modules/resampling.hpp"
#include "nax/nn/modules/sequences.hpp"
#include "nax/nn/modules/sequential.hpp"
#include "nax/nn/modules/summary.hpp"
#include "nax/nn/modules/transformer.hpp"
