#pragma once

#include <cstdio>
#include <new>

#include "nax/devices/nccl/emulated/world.hpp"

// NCCL's functions for emulated GPUs: definitions, for one source file of a program.
NAX_BEGIN
namespace cuda::emulated_nccl {

// A thread's group of calls.
struct Group {
  struct Call {
    ncclComm* comm;
    Stream stream;
    Part part;
  };
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<Call> calls;
  std::vector<ncclComm*> made;
};
inline Group& group() {
  static thread_local Group group;
  return group;
}

inline bool strikes(ncclResult_t& code) {
  if (!Faults::instance().strikes_call()) return false;
  code = static_cast<ncclResult_t>(Faults::instance().code());
  if (group().depth > 0) group().error = code;
  return true;
}

inline bool in_progress(const ncclComm* comm) {
  return comm->polls_left > 0 || comm->world->joined < comm->world->ranks.size();
}

// Puts the operations that a thread's group has gathered on the streams.
inline ncclResult_t launch(Group& group) {
  const std::lock_guard lock(world_mutex());
  bool waits = false;
  std::vector<std::pair<ncclComm*, std::shared_ptr<Operation>>> operations;
  for (Group::Call& call : group.calls) {
    if (!Worlds::instance().live.count(call.comm)) return ncclInvalidArgument;
    if (in_progress(call.comm)) return ncclInvalidUsage;
    std::shared_ptr<Operation>* at = nullptr;
    for (auto& [comm, operation] : operations)
      if (comm == call.comm) at = &operation;
    if (!at) {
      at = &operations.emplace_back(call.comm, std::make_shared<Operation>()).second;
      (*at)->stream = call.stream;
    }
    (*at)->parts.push_back(call.part);
  }
  if (!operations.empty()) {
    ++launched_groups;
    std::size_t ranks = 0;
    for (const auto& [comm, operation] : operations) ranks += comm->world == operations[0].first->world;
    partial_groups += ranks < operations[0].first->world->ranks.size();
  }
  for (auto& [comm, operation] : operations) {
    const Fault fault = Faults::instance().strikes_operation();
    operation->stuck = fault != Fault::none;
    comm->operations.push_back(operation);
    put(operation);
    if (!comm->blocking) comm->polls_left = 1, waits = true;
    if (fault == Fault::async_error)
      World::fail(*comm, static_cast<ncclResult_t>(Faults::instance().code()), "a fault on the device");
    if (fault == Fault::dead)
      for (ncclComm* other : comm->world->ranks)
        if (other && other != comm) World::fail(*other, ncclRemoteError, "a rank is gone");
  }
  for (ncclComm* comm : group.made) waits |= !comm->blocking;
  Worlds::instance().progress();
  return waits ? ncclInProgress : ncclSuccess;
}

inline ncclResult_t end_group() {
  Group& mine = group();
  if (--mine.depth > 0) return ncclSuccess;
  const ncclResult_t result = mine.error != ncclSuccess ? mine.error : launch(mine);
  mine = {};
  return result;
}

inline ncclResult_t call(const char* name, Part part, ncclComm* comm, cudaStream_t stream) {
  ncclResult_t code = ncclSuccess;
  if (strikes(code)) return code;
  if (part.count > 0 && ((!part.from && part.kind != Part::receive) || (!part.to && part.kind != Part::send)))
    return ncclInvalidArgument;
  {
    const std::lock_guard lock(world_mutex());
    if (!Worlds::instance().live.count(comm) || part.peer < 0 ||
        part.peer >= static_cast<int>(comm->world->ranks.size())) {
      std::fprintf(stderr, "%s: no such communicator or peer\n", name);
      return ncclInvalidArgument;
    }
  }
  Group& mine = group();
  const bool alone = mine.depth == 0;
  if (alone) ++mine.depth;
  mine.calls.push_back({comm, stream_of(stream), part});
  return alone ? end_group() : ncclSuccess;
}

inline ncclResult_t join(ncclComm_t* comm, int size, const ncclUniqueId& id, int rank, bool blocking) {
  ncclResult_t code = ncclSuccess;
  if (strikes(code)) return code;
  if (size < 1 || rank < 0 || rank >= size) return ncclInvalidArgument;
  const std::lock_guard lock(world_mutex());
  auto& known = Worlds::instance().by_id[std::string(id.internal, sizeof id.internal)];
  std::shared_ptr<World> world = known.lock();
  if (!world) known = world = std::make_shared<World>(static_cast<std::size_t>(size));
  ncclComm*& place = world->ranks.at(static_cast<std::size_t>(rank));
  if (place) return ncclInvalidUsage;
  place = *comm = new ncclComm;
  place->world = world;
  place->rank = rank;
  place->blocking = blocking;
  ++world->joined;
  Worlds::instance().live.insert(place);
  ++live_communicators;
  if (group().depth > 0) group().made.push_back(place);
  return blocking || group().depth > 0 ? ncclSuccess : ncclInProgress;
}

inline ncclResult_t take_away(ncclComm* comm) {
  const std::lock_guard lock(world_mutex());
  if (!Worlds::instance().live.count(comm)) return ncclInvalidArgument;
  Worlds::instance().remove(comm);
  return ncclSuccess;
}

}  // namespace cuda::emulated_nccl
NAX_END

extern "C" {

using namespace nax::cuda::emulated_nccl;  // NOLINT: a source of NCCL's functions alone

ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  ncclResult_t code = ncclSuccess;
  if (strikes(code)) return code;
  const std::lock_guard lock(world_mutex());
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "emulated %ld", ++Worlds::instance().ids);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return join(comm, nranks, id, rank, !config || config->blocking != 0);
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank) {
  return join(comm, nranks, id, rank, true);
}
ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int*) {
  ncclUniqueId id;
  ncclResult_t result = ncclGetUniqueId(&id);
  for (int r = 0; r < ndev && result == ncclSuccess; ++r) result = join(comm + r, ndev, id, r, true);
  return result;
}
ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }
ncclResult_t ncclCommDestroy(ncclComm_t comm) { return take_away(comm); }
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (group().depth == 0) ++lone_aborts;
  return take_away(comm);
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* texts[] = {"no error",
                                   "unhandled cuda error",
                                   "unhandled system error",
                                   "internal error",
                                   "invalid argument",
                                   "invalid usage",
                                   "remote process exited or there was a network error",
                                   "NCCL operation in progress"};
  return result >= 0 && result < ncclNumResults ? texts[result] : "unknown result code";
}
const char* ncclGetLastError(ncclComm_t comm) {
  const std::lock_guard lock(world_mutex());
  return comm && Worlds::instance().live.count(comm) ? comm->last_error.c_str() : "";
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const std::lock_guard lock(world_mutex());
  if (!Worlds::instance().live.count(comm)) return ncclInvalidArgument;
  *error = comm->error != ncclSuccess ? comm->error : in_progress(comm) ? ncclInProgress : ncclSuccess;
  if (comm->polls_left > 0) --comm->polls_left;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  *count = static_cast<int>(comm->world->ranks.size());
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call("ncclAllReduce",
              {Part::all_reduce, static_cast<const char*>(from), static_cast<char*>(to), count, type, op, 0},
              comm, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return call(
      "ncclReduceScatter",
      {Part::reduce_scatter, static_cast<const char*>(from), static_cast<char*>(to), count, type, op, 0},
      comm, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return call(
      "ncclAllGather",
      {Part::all_gather, static_cast<const char*>(from), static_cast<char*>(to), count, type, ncclSum, 0},
      comm, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return call(
      "ncclBroadcast",
      {Part::broadcast, static_cast<const char*>(from), static_cast<char*>(to), count, type, ncclSum, root},
      comm, stream);
}
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call("ncclSend", {Part::send, static_cast<const char*>(from), nullptr, count, type, ncclSum, peer},
              comm, stream);
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call("ncclRecv", {Part::receive, nullptr, static_cast<char*>(to), count, type, ncclSum, peer}, comm,
              stream);
}
ncclResult_t ncclGroupStart() {
  ncclResult_t code = ncclSuccess;
  if (strikes(code)) return code;
  ++group().depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  ncclResult_t code = ncclSuccess;
  strikes(code);  // then the group's calls are dropped
  return end_group();
}
}
