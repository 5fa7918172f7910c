#pragma once

// Optimisers and schedules.

#include "nax/optim/adagrad.hpp"
#include "nax/optim/adam.hpp"
#include "nax/optim/factored.hpp"
#include "nax/optim/joined_schedules.hpp"
#include "nax/optim/lion.hpp"
#include "nax/optim/loss_scale.hpp"
#include "nax/optim/moments.hpp"
#include "nax/optim/muon.hpp"
#include "nax/optim/rmsprop.hpp"
#include "nax/optim/scaling.hpp"
#include "nax/optim/schedules.hpp"
#include "nax/optim/sgd.hpp"
#include "nax/optim/transformation.hpp"
#include "nax/optim/value_and_step.hpp"
#include "nax/optim/wrappers.hpp"
