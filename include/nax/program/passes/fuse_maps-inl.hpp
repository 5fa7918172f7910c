#pragma once

#include "nax/program/passes/fuse_maps.hpp"
#include "nax/program/passes/step_groups.hpp"

NAX_BEGIN
namespace program::detail {

NAX_ENGINE void fuse_maps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                          const std::vector<int>& results) {
  StepGroups(slots, steps, results, false).run();
}

}  // namespace program::detail
NAX_END
