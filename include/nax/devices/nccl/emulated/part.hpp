#pragma once

#include <cstddef>

#include "nax/core/abi.hpp"
#include "nax/devices/nccl/emulated/nccl.hpp"

NAX_BEGIN
namespace cuda::emulated_nccl {

// A call of NCCL's, one of a group.
struct Part {
  enum Kind { all_reduce, reduce_scatter, all_gather, broadcast, send, receive } kind;
  const char* from;
  char* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;
  bool done = false;

  bool is_collective() const { return kind != send && kind != receive; }
};

}  // namespace cuda::emulated_nccl
NAX_END
