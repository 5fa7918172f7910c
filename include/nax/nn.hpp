#pragma once

// Networks: activations, losses, normalisation, initialisers, modules.

#include "nax/nn/activations.hpp"
#include "nax/nn/attention.hpp"
#include "nax/nn/batch_norm.hpp"
#include "nax/nn/conv.hpp"
#include "nax/nn/initializers.hpp"
#include "nax/nn/layers.hpp"
#include "nax/nn/losses.hpp"
#include "nax/nn/modules.hpp"
#include "nax/nn/modules/layers.hpp"
#include "nax/nn/modules/norms.hpp"
#include "nax/nn/modules/sequences.hpp"
#include "nax/nn/modules/sequential.hpp"
#include "nax/nn/normalization.hpp"
#include "nax/nn/one_hot.hpp"
#include "nax/nn/policy.hpp"
#include "nax/nn/pooling.hpp"
#include "nax/nn/recurrent.hpp"
#include "nax/nn/softmax.hpp"
