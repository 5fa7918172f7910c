#pragma once

// Programs of several processes.
#include "nax/distributed/distributed.hpp"
