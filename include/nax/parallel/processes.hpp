#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nax/core/array_base.hpp"

// The processes that a program was started as, where it is several (nax::mpi brings them). All make the same
// calls in the same order: a run is a pmap over all of them (or a barrier), and has a number.
NAX_BEGIN
namespace detail {

class Processes {
 public:
  virtual int index() const = 0;
  virtual int count() const = 0;

  // A new run begins in this process; its number.
  virtual std::uint64_t begin_run(const char* function) = 0;
  // Returns the messages of all processes, when all have sent one; each of at most 2000 characters. Throws
  // DeviceError that names the process which failed in this run, went on to another, ended, or did not arrive
  // in time.
  virtual std::vector<std::string> exchange(std::uint64_t run, const char* function,
                                            const std::string& mine) = 0;

  // The collectives of elements. Arrays are row-major, of the host, and made for the call, which keeps them
  // until no process can write to them any more, also where it throws.
  using CombineRun = void (*)(const void* from, void* to, std::int64_t stride, std::int64_t n);
  // elements[i] of all processes combined in place by combine(from, to, 1, n).
  virtual void all_reduce(std::uint64_t run, const char* function, const ArrayBase& elements,
                          CombineRun combine) = 0;
  // Process i's bytes[i] bytes, one after another, in `all`; its own are there already.
  virtual void all_gather(std::uint64_t run, const char* function, const ArrayBase& all,
                          const std::vector<std::size_t>& bytes) = 0;
  // to[i] of process p is the combination of all processes' from[i + the counts before p], of counts[p]
  // elements.
  virtual void reduce_scatter(std::uint64_t run, const char* function, const ArrayBase& from,
                              const ArrayBase& to, const std::vector<std::int64_t>& counts,
                              CombineRun combine) = 0;
  // Bytes that go to or come from one process, and where they are in `from` or `to`. Between two processes
  // they travel in the order of the list.
  struct Parcel {
    int process;
    bool comes;
    std::size_t at, bytes;
  };
  virtual void send(std::uint64_t run, const char* function, const ArrayBase& from, const ArrayBase& to,
                    const std::vector<Parcel>& parcels) = 0;
  // The bytes for each process, and from each, one after another; `all` are those of all processes together.
  virtual void all_to_all(std::uint64_t run, const char* function, const ArrayBase& from, const ArrayBase& to,
                          const std::vector<std::size_t>& sent, const std::vector<std::size_t>& received,
                          std::size_t all) = 0;

  // Tells the others that the run has failed here.
  virtual void fail(std::uint64_t run, const char* why) noexcept = 0;

 protected:
  ~Processes() = default;
};

// Elements, or bytes, in one call of MPI, which counts in int; more take several. Tests make it less.
inline constinit std::int64_t largest_transfer = std::int64_t{1} << 28;

inline constinit Processes* several_processes = nullptr;  // since distributed::initialize

// A run over all processes: how many devices it has, and the place of this process' first.
struct Span {
  Processes* processes = nullptr;
  std::uint64_t run = 0;
  int size = 0, first = 0;
};

}  // namespace detail
NAX_END
