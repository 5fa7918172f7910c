#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <string>

#include "nax/core/error.hpp"

NAX_BEGIN
namespace detail::mpi {

// Throws DeviceError naming the call and MPI's text.
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  raise<DeviceError>({call, ": ", std::string(text)});
}

}  // namespace detail::mpi
NAX_END
