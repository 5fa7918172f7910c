#pragma once

#include <cusolverDn.h>

#include "cuda/runtime/solver.hpp"
#include "cuda/runtime/world.hpp"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  int card = stand_in::current;
};

// Shared by cuSOLVER's calls on the stand-in: they are no part of graphs, and invalidate a capture. Work
// areas are overwritten, so that nothing else may lie there.
namespace stand_in {

inline cusolverStatus_t refused() { return CUSOLVER_STATUS_INVALID_VALUE; }
inline cusolverStatus_t submitted(cusolverDnHandle_t handle, std::function<void()> work) {
  return submit(handle->stream, Library::not_captured, std::move(work)) ? CUSOLVER_STATUS_SUCCESS
                                                                        : CUSOLVER_STATUS_INTERNAL_ERROR;
}
template <class T>
void spoil(T* work, int size) {
  if (size > 0) std::memset(static_cast<void*>(work), 0xEE, static_cast<std::size_t>(size) * sizeof(T));
}
inline int work_size(int m, int n) { return 32 * std::max(m, n) + 7; }

}  // namespace stand_in
