#pragma once

// Around a training loop: logs, stopping, progress.

#include "nax/modules/training/early_stopping.hpp"
#include "nax/modules/training/event_records.hpp"
#include "nax/modules/training/json_lines.hpp"
#include "nax/modules/training/log_file.hpp"
#include "nax/modules/training/progress.hpp"
#include "nax/modules/training/tensorboard.hpp"
