#pragma once

#include <cstdint>
#include <map>

#include "nax/devices/mpi/call.hpp"
#include "nax/parallel/processes.hpp"

// Elements are bytes to MPI, and combined by nax's own functions, which all types have.
NAX_BEGIN
namespace detail::mpi {

class ElementTypes {
 public:
  MPI_Datatype of_size(std::size_t element) {
    auto [at, fresh] = types_.emplace(element, MPI_DATATYPE_NULL);
    if (fresh) {
      check(MPI_Type_contiguous(static_cast<int>(element), MPI_BYTE, &at->second), "MPI_Type_contiguous");
      check(MPI_Type_commit(&at->second), "MPI_Type_commit");
    }
    return at->second;
  }
  // For one collective at a time.
  MPI_Op operation(Processes::CombineRun combine) {
    if (operation_ == MPI_OP_NULL) check(MPI_Op_create(combine_run, 1, &operation_), "MPI_Op_create");
    combining() = combine;
    return operation_;
  }

 private:
  static Processes::CombineRun& combining() {
    static Processes::CombineRun now = nullptr;
    return now;
  }
  static void combine_run(void* from, void* to, int* count, MPI_Datatype*) {
    combining()(from, to, 1, *count);
  }
  std::map<std::size_t, MPI_Datatype> types_;
  MPI_Op operation_ = MPI_OP_NULL;
};

}  // namespace detail::mpi
NAX_END
