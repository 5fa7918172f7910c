#pragma once

#include <cstdlib>
#include <string>

#include "nax/core/devices.hpp"
#include "nax/parallel/processes.hpp"

// A program that was started as several processes, on one host or many: mpirun -np 4 train, srun train. Each
// runs the same program; a pmap over the devices of all processes is one run, to which each process
// brings the examples of its own devices. A program needs nax::mpi to be several processes; without it these
// functions see one.
NAX_BEGIN
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

// Number of processes that mpirun, srun or torchrun started, by the launcher's variables; 1 without a
// launcher.
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
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/parallel/distributed-inl.hpp"
#endif
