#pragma once

#include <algorithm>
#include <utility>

#include "nax/core/text_number.hpp"
#include "nax/parallel/distributed.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Launched launched_processes() {
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    int value = -1;
    if (text) number_of_text(without_blanks(text), value);
    return value;
  };
  // Each with a variable that must be there, too: WORLD_SIZE alone is anything, and a batch script of Slurm
  // has SLURM_NTASKS before it starts them.
  for (const auto& [size, other] :
       {std::pair{"OMPI_COMM_WORLD_SIZE", ""}, std::pair{"PMI_SIZE", ""},
        std::pair{"MV2_COMM_WORLD_SIZE", ""}, std::pair{"SLURM_STEP_NUM_TASKS", ""},
        std::pair{"SLURM_NTASKS", "SLURM_STEP_ID"}, std::pair{"SLURM_NTASKS", "SLURM_STEPID"},
        std::pair{"WORLD_SIZE", "RANK"}})
    if (const int count = number(size); count > 1 && (!*other || number(other) >= 0)) return {count, size};
  if (number("SLURM_PROCID") > 0) return {std::max(2, number("SLURM_NTASKS")), "SLURM_PROCID"};
  return {};
}

}  // namespace detail
NAX_END
NAX_BEGIN
namespace distributed {

NAX_ENGINE void initialize() {
  if (detail::several_processes) return;
  const auto [launched, variable] = detail::launched_processes();
  if (detail::process_launcher) detail::several_processes = detail::process_launcher->start();
  if (launched > 1 && !detail::several_processes)
    raise<DeviceError>({"distributed::initialize: the launcher started ", launched, " processes (", variable,
                        "), but this is one alone",
                        detail::process_launcher
                            ? ": MPI sees no others (srun --mpi=pmix, or mpirun of the MPI "
                              "that the program links)"
                            : ": link nax::mpi"});
}

NAX_ENGINE void barrier() {
  if (auto* const all = detail::several_processes) all->exchange(all->begin_run("barrier"), "barrier", "");
}

NAX_ENGINE void shutdown() {
  if (!detail::several_processes) return;
  barrier();
  detail::process_table = nullptr;
  detail::several_processes = nullptr;
  detail::process_launcher->stop();
}

}  // namespace distributed
NAX_END
