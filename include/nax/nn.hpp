#pragma once

// Networks: activations, losses, normalisation, initialisers.

#include "nax/nn/activations.hpp"
#include "nax/nn/initializers.hpp"
#include "nax/nn/layers.hpp"
#include "nax/nn/losses.hpp"
#include "nax/nn/normalization.hpp"
#include "nax/nn/one_hot.hpp"
#include "nax/nn/softmax.hpp"
