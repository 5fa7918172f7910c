#pragma once

#include "nax/program/passes/fuse_reductions.hpp"
#include "nax/program/passes/step_groups.hpp"

NAX_BEGIN
namespace program::detail {

NAX_ENGINE void fuse_reductions(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                const std::vector<int>& results) {
  StepGroups(slots, steps, results, true).run();
}

}  // namespace program::detail
NAX_END
