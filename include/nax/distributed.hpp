#pragma once

// Programs of several processes.
#include "nax/parallel/distributed.hpp"
