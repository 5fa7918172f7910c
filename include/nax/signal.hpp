#pragma once

// Filters, by SciPy's names.

#include "nax/modules/signal/lfilter.hpp"
