#pragma once

// Metrics, gathered over batches and devices.

#include "nax/metrics/classification.hpp"
#include "nax/metrics/mean.hpp"
#include "nax/metrics/ranking.hpp"
#include "nax/metrics/regression.hpp"
#include "nax/metrics/text.hpp"
