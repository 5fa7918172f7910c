#pragma once

#include "nax/parallel/distributed.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Launched launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* text = std::getenv(name))
      if (const long count = std::strtol(text, nullptr, 10); count > 1)
        return {static_cast<int>(count), name};
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
