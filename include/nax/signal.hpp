#pragma once

// Filters, by SciPy's names.

#include "nax/signal/lfilter.hpp"
