#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "nax/core/device.hpp"
#include "nax/core/error.hpp"
#include "nax/devices/nccl/runtime.hpp"
#include "nax/parallel/timeout.hpp"

// NCCL's communicators for the devices of one run, a communicator each, and the cache of them.
//
// They are made so that none of NCCL's calls blocks (config.blocking = 0), and each is used under a mutex of
// its own. So the thread that detects an error can abort them all, whatever the others are doing: kernels
// that wait for a device which never comes then end.
NAX_BEGIN
namespace detail::nccl {

// Calls check() until it is true; false where the time is over. The first thousand times it does not sleep.
template <class Check>
bool poll(std::chrono::steady_clock::time_point deadline, const Check& check) {
  for (long n = 0; !check(); ++n) {
    if (n % 64 == 63 && std::chrono::steady_clock::now() > deadline) return false;
    if (n < 1000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}
inline std::string nccl_error(const char* call, ncclResult_t code, ncclComm_t comm) {
  std::string text = std::string(call) + ": " + ncclGetErrorString(code) + " (" +
                     std::to_string(static_cast<int>(code)) + ")";
  if (const char* last = ncclGetLastError(comm); last && *last) text += ": " + std::string(last);
  return text;
}

class Clique {
 public:
  struct Member {
    std::mutex mutex;
    ncclComm_t comm = nullptr;  // null when aborted
    Device device;
  };

  // Of `size` devices in all, the first of these being number `first`; all who make it have the same `id`.
  // Throws DeviceError where NCCL cannot connect the devices, or has not within the time.
  Clique(const std::vector<Device>& devices, int size, int first, const ncclUniqueId& id)
      : members_(devices.size()), total_(size), first_(first) {
    for (std::size_t i = 0; i < devices.size(); ++i) members_[i].device = devices[i];
    try {
      connect(id);
    } catch (...) {
      abort();
      throw;
    }
  }
  ~Clique() {
    for (Member& member : members_)
      if (member.comm) ncclCommDestroy(member.comm);
  }
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;

  Member& at(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  int size() const { return static_cast<int>(members_.size()); }

  // In one group: alone, the end of a communicator may wait for those of the same process.
  void abort() noexcept {
    const bool grouped = ncclGroupStart() == ncclSuccess;
    for (Member& member : members_) {
      const std::lock_guard lock(member.mutex);
      if (ncclComm_t comm = std::exchange(member.comm, nullptr)) ncclCommAbort(comm);
    }
    if (grouped) ncclGroupEnd();
  }
  // Returns the state of the member's communicator, and its text if it is an error; none after an abort.
  std::optional<ncclResult_t> state_of(int rank, std::string& text) {
    Member& member = at(rank);
    ncclResult_t state = ncclSuccess;
    const std::lock_guard lock(member.mutex);
    if (!member.comm) return std::nullopt;
    if (const ncclResult_t asked = ncclCommGetAsyncError(member.comm, &state); asked != ncclSuccess)
      state = asked;
    if (state != ncclSuccess && state != ncclInProgress)
      text = nccl_error("ncclCommGetAsyncError", state, member.comm);
    return state;
  }
  bool is_usable() {
    for (Member& member : members_) {
      const std::lock_guard lock(member.mutex);
      if (!member.comm) return false;
    }
    return true;
  }

 private:
  void connect(const ncclUniqueId& id) {
    succeed(ncclGroupStart(), "ncclGroupStart", nullptr);
    ncclResult_t result = ncclSuccess;
    for (int r = 0; r < size() && result == ncclSuccess; ++r) {
      [[maybe_unused]] const auto on = cuda::select_for_collectives(at(r).device);
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      result = ncclCommInitRankConfig(&at(r).comm, total_, id, first_ + r, &config);
      if (result == ncclInProgress) result = ncclSuccess;
    }
    const ncclResult_t ended = ncclGroupEnd();
    succeed(result, "ncclCommInitRankConfig", nullptr);
    if (ended != ncclInProgress) succeed(ended, "ncclGroupEnd", nullptr);
    const auto deadline = deadline_from_now();
    for (Member& member : members_) {
      const bool done = poll(deadline, [&] {
        ncclResult_t state = ncclSuccess;
        succeed(ncclCommGetAsyncError(member.comm, &state), "ncclCommGetAsyncError", member.comm);
        if (state == ncclInProgress) return false;
        succeed(state, "ncclCommInitRankConfig", member.comm);
        return true;
      });
      if (!done)
        raise<DeviceError>(
            {"pmap: NCCL has not connected ", to_string(member.device), " after ", timeout_text()});
    }
  }
  void succeed(ncclResult_t code, const char* call, ncclComm_t comm) const {
    if (code == ncclSuccess) return;
    std::string devices;
    for (const Member& member : members_) devices += (devices.empty() ? "" : ", ") + to_string(member.device);
    raise<DeviceError>({"pmap: NCCL cannot connect ", devices, ": ", nccl_error(call, code, comm)});
  }

  std::vector<Member> members_;
  const int total_, first_;
};

inline ncclUniqueId new_unique_id() {
  ncclUniqueId id;
  const ncclResult_t code = ncclGetUniqueId(&id);
  if (code != ncclSuccess) raise<DeviceError>({"pmap: ", nccl_error("ncclGetUniqueId", code, nullptr)});
  return id;
}

// Cliques that have been used before, by their devices. Two runs at a time on the same devices have one each.
class CliqueCache {
 public:
  static CliqueCache& instance() {
    static CliqueCache* const cache = new CliqueCache;  // arrays with static storage may be mapped over yet
    return *cache;
  }
  // Null where none is free. `size` and `first` are as for a clique. Its last collectives may be on their
  // way.
  std::shared_ptr<Clique> take(const std::vector<Device>& devices, int size, int first) {
    const std::lock_guard lock(mutex_);
    auto& free = free_[key_of(devices, size, first)];
    while (!free.empty()) {
      auto clique = std::move(free.back());
      free.pop_back();
      if (clique->is_usable()) return clique;
    }
    return nullptr;
  }
  void put(const std::vector<Device>& devices, int size, int first, std::shared_ptr<Clique> clique) {
    const std::lock_guard lock(mutex_);
    free_[key_of(devices, size, first)].push_back(std::move(clique));
  }

 private:
  static std::vector<int> key_of(const std::vector<Device>& devices, int size, int first) {
    std::vector<int> key = {size, first};
    for (const Device device : devices) key.push_back(device.ordinal);
    return key;
  }
  std::mutex mutex_;
  std::map<std::vector<int>, std::vector<std::shared_ptr<Clique>>> free_;
};

}  // namespace detail::nccl
NAX_END
