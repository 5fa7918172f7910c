#pragma once

// Metrics, gathered over batches and devices.

#include "nax/modules/metrics/classification.hpp"
#include "nax/modules/metrics/mean.hpp"
#include "nax/modules/metrics/ranking.hpp"
#include "nax/modules/metrics/regression.hpp"
#include "nax/modules/metrics/text.hpp"
