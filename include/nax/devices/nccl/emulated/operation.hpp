#pragma once

#include <vector>

#include "nax/devices/nccl/emulated/part.hpp"
#if defined(NAX_EMULATED_NCCL_STREAMS)  // a header that defines what streams.hpp does: tests bring one
#include NAX_EMULATED_NCCL_STREAMS
#else
#include "nax/devices/nccl/emulated/streams.hpp"
#endif

NAX_BEGIN
namespace cuda::emulated_nccl {

// A group's calls for one communicator: on a GPU one kernel.
struct Operation : OnStream {
  std::vector<Part> parts;
  bool stuck = false;

  bool done() const {
    for (const Part& part : parts)
      if (!part.done) return false;
    return true;
  }
};

}  // namespace cuda::emulated_nccl
NAX_END
