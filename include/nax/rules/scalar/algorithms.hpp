#pragma once

#include "nax/rules/scalar/bessel.hpp"
#include "nax/rules/scalar/beta.hpp"
#include "nax/rules/scalar/faddeeva.hpp"
#include "nax/rules/scalar/gamma.hpp"
#include "nax/rules/scalar/hypergeometric.hpp"
#include "nax/rules/scalar/integrals.hpp"
#include "nax/rules/scalar/legendre.hpp"
#include "nax/rules/scalar/normal.hpp"
#include "nax/rules/scalar/zeta.hpp"
