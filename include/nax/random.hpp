#pragma once

// JAX's random numbers.

#include "nax/random/bits.hpp"
#include "nax/random/choice.hpp"
#include "nax/random/continuous.hpp"
#include "nax/random/counts.hpp"
#include "nax/random/gamma.hpp"
#include "nax/random/integers.hpp"
#include "nax/random/key.hpp"
#include "nax/random/multivariate.hpp"
#include "nax/random/orthonormal.hpp"
#include "nax/random/parameters.hpp"
#include "nax/random/shuffle.hpp"
#include "nax/random/transformed.hpp"
#include "nax/random/uniform.hpp"
