#pragma once

// Around a training loop: logs, stopping, progress.

#include "nax/training/early_stopping.hpp"
#include "nax/training/event_records.hpp"
#include "nax/training/json_lines.hpp"
#include "nax/training/log_file.hpp"
#include "nax/training/progress.hpp"
#include "nax/training/tensorboard.hpp"
