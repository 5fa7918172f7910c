#pragma once

// Recorded functions as ONNX, StableHLO and C.

#include "nax/modules/exporting/onnx.hpp"
#include "nax/modules/exporting/save_c.hpp"
#include "nax/modules/exporting/stablehlo.hpp"
