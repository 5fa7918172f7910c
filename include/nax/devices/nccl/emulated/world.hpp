#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "nax/devices/nccl/emulated/combine.hpp"
#include "nax/devices/nccl/emulated/faults.hpp"
#include "nax/devices/nccl/emulated/operation.hpp"

// Communicators of emulated GPUs, and how their operations meet.
//
// An operation is under way when it is first on its stream and first of its communicator. A collective is
// carried out by the thread that puts its last part under way; a send when its receive is. What differs
// between ranks is an error here (on GPUs: a hang, or worse). All is done under world_mutex().
NAX_BEGIN
namespace cuda::emulated_nccl {
struct World;
}
NAX_END

struct ncclComm {
  std::shared_ptr<nax::cuda::emulated_nccl::World> world;
  int rank = 0;
  bool blocking = true;
  int polls_left = 0;  // until its last call is settled: those that do not block pretend to take a while
  ncclResult_t error = ncclSuccess;
  std::string last_error;
  std::deque<std::shared_ptr<nax::cuda::emulated_nccl::Operation>> operations;
};

NAX_BEGIN
namespace cuda::emulated_nccl {

struct World {
  std::vector<ncclComm*> ranks;
  std::size_t joined = 0;

  explicit World(std::size_t size) : ranks(size) {}

  void fail_all(ncclResult_t code, const char* text) {
    for (ncclComm* comm : ranks)
      if (comm) fail(*comm, code, text);
  }
  static void fail(ncclComm& comm, ncclResult_t code, const char* text) {
    if (comm.error == ncclSuccess) comm.error = code, comm.last_error = text;
  }

  static Operation* under_way(const ncclComm* comm) {
    if (!comm || comm->error != ncclSuccess || comm->operations.empty()) return nullptr;
    Operation& first = *comm->operations.front();
    return !first.stuck && first.is_first() ? &first : nullptr;
  }
  static Part* first_collective(Operation* operation) {
    if (operation)
      for (Part& part : operation->parts)
        if (!part.done && part.is_collective()) return &part;
    return nullptr;
  }

  // Carries out what can be; true where something was.
  bool progress() {
    bool any = meet();
    for (ncclComm* comm : ranks)
      if (Operation* operation = under_way(comm))
        for (Part& part : operation->parts)
          if (!part.done && part.kind == Part::send) any |= deliver(comm->rank, part);
    for (ncclComm* comm : ranks)
      if (Operation* operation = under_way(comm); operation && operation->done()) {
        operation->leave();
        comm->operations.pop_front();
        any = true;
      }
    return any;
  }

 private:
  bool meet() {
    std::vector<Part*> parts;
    for (const ncclComm* comm : ranks) {
      parts.push_back(first_collective(under_way(comm)));
      if (!parts.back()) return false;
    }
    const Part& first = *parts[0];
    std::vector<const char*> from;
    for (const Part* part : parts) {
      if (part->kind != first.kind || part->count != first.count || part->type != first.type ||
          part->op != first.op || part->peer != first.peer) {
        fail_all(ncclInvalidUsage, "ranks make different calls");
        return true;
      }
      from.push_back(part->from);
    }
    carry_out(first.kind, parts, from);
    for (Part* part : parts) part->done = true;
    return true;
  }
  static void carry_out(Part::Kind kind, const std::vector<Part*>& parts,
                        const std::vector<const char*>& from) {
    const Part& first = *parts[0];
    const std::size_t count = first.count, bytes = count * size_of(first.type);
    if (kind == Part::all_reduce) {
      std::vector<char> result(bytes);
      combine_all(first.type, first.op, from, 0, count, result.data());
      for (Part* part : parts) std::memcpy(part->to, result.data(), bytes);
    } else if (kind == Part::reduce_scatter) {
      std::vector<std::vector<char>> results;
      for (std::size_t r = 0; r < parts.size(); ++r)
        combine_all(first.type, first.op, from, r * count, count, results.emplace_back(bytes).data());
      for (std::size_t r = 0; r < parts.size(); ++r) std::memcpy(parts[r]->to, results[r].data(), bytes);
    } else if (kind == Part::all_gather) {
      std::vector<char> result;
      for (const char* one : from) result.insert(result.end(), one, one + bytes);
      for (Part* part : parts) std::memcpy(part->to, result.data(), result.size());
    } else {
      const std::vector<char> result(from[static_cast<std::size_t>(first.peer)],
                                     from[static_cast<std::size_t>(first.peer)] + bytes);
      for (Part* part : parts) std::memcpy(part->to, result.data(), bytes);
    }
  }
  bool deliver(int from, Part& send) {
    Operation* const other = under_way(ranks[static_cast<std::size_t>(send.peer)]);
    if (!other) return false;
    for (Part& part : other->parts)
      if (!part.done && part.kind == Part::receive && part.peer == from) {
        if (part.count * size_of(part.type) != send.count * size_of(send.type)) {
          fail_all(ncclInvalidUsage, "a send and its receive differ in size");
          return true;
        }
        std::memmove(part.to, send.from, send.count * size_of(send.type));
        part.done = send.done = true;
        return true;
      }
    return false;
  }
};

// All there is, under world_mutex().
struct Worlds {
  std::map<std::string, std::weak_ptr<World>> by_id;
  std::set<ncclComm*> live;
  long ids = 0;

  static Worlds& instance() {
    static Worlds worlds;
    return worlds;
  }
  void progress() {
    for (bool any = true; any;) {
      any = false;
      std::set<World*> seen;
      for (ncclComm* comm : live)
        if (seen.insert(comm->world.get()).second) any |= comm->world->progress();
    }
  }
  void remove(ncclComm* comm) {
    for (const auto& operation : comm->operations) operation->leave();
    comm->world->ranks[static_cast<std::size_t>(comm->rank)] = nullptr;
    live.erase(comm);
    --live_communicators;
    delete comm;
    progress();
  }
};

}  // namespace cuda::emulated_nccl
NAX_END
