#pragma once

// pmap and collectives.

#include "nax/parallel/collective_rules.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/parallel/device_threads.hpp"
#include "nax/parallel/pmap.hpp"
#include "nax/parallel/pmap_node.hpp"
#include "nax/parallel/replicated.hpp"
