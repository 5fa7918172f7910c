#pragma once

#include <cstdlib>
#include <string>

#include "nax/collective/processes.hpp"
#include "nax/core/devices.hpp"

// A program that was started as several processes, on one host or many: mpirun -np 4 train, srun train. Each
// runs the same program; a pmap whose devices are everybody's is one run over all processes, in which each
// gives the examples of its own devices. Programs that link nax::mpi can be several; any other is one, and
// all of this is there for it as well.
namespace nax::inline NAX_ABI {
namespace detail {

// The launcher that nax::mpi registers before main begins.
class ProcessLauncher {
 public:
  virtual Processes* start() = 0;  // null where there is one process
  virtual void stop() = 0;

 protected:
  ~ProcessLauncher() = default;
};
inline constinit ProcessLauncher* process_launcher = nullptr;

// Number of processes that mpirun or srun started, by the launcher's variables; 1 without a launcher.
struct Launched {
  int count = 1;
  const char* variable = nullptr;
};
NAX_ENGINE Launched launched_processes();

}  // namespace detail

namespace distributed {

// Joins the processes that mpirun or srun has started. Before anything asks for devices; a second call does
// nothing. Throws DeviceError where the launcher started several processes and this program cannot join them,
// or one does not come within NAX_COLLECTIVE_TIMEOUT_S (300) seconds. (MPI_Init cannot be given up: where it
// is that which waits the program ends, with a line on stderr.)
NAX_ENGINE void initialize();

// Which of the processes this is, and how many there are; 0 of 1 before initialize().
inline int process_index() { return detail::several_processes ? detail::several_processes->index() : 0; }
// How many processes the program has; 1 without distributed::initialize.
inline int process_count() { return detail::several_processes ? detail::several_processes->count() : 1; }
// Of a device.
inline int process_index(Device device) { return device.remote ? device.remote - 1 : process_index(); }

// Waits until all processes are here. Throws DeviceError, naming it, where one does not come within
// NAX_COLLECTIVE_TIMEOUT_S (300) seconds.
NAX_ENGINE void barrier();

// Leaves the others: this program is one process from now on. At the end of main it comes by itself.
NAX_ENGINE void shutdown();

}  // namespace distributed
}  // namespace nax::inline NAX_ABI

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

NAX_ENGINE Launched launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* text = std::getenv(name))
      if (const long count = std::strtol(text, nullptr, 10); count > 1)
        return {static_cast<int>(count), name};
  return {};
}

}  // namespace nax::inline NAX_ABI::detail
namespace nax::inline NAX_ABI::distributed {

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

}  // namespace nax::inline NAX_ABI::distributed
#endif
