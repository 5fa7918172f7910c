#include "faults/system_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace faults::calls {

// The system's own function.
template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

// A file that was opened for writing; the second descriptor outlives the program's own.
struct Written {
  int descriptor;
  bool on_disk;
};
// A name that was given or taken away, and a second link to the file that it led to before.
struct Renamed {
  std::string from, to, before;  // no `from`: unlinked; no `before`: it led to none
  std::int64_t syncs;            // of folders, until then
};

// How often any process has brought a folder to the disk; `stopped` when the machine has stopped.
constexpr std::int64_t stopped = -1;
std::atomic<std::int64_t>& folder_syncs() {
  static void* const shared = ::mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *static_cast<std::atomic<std::int64_t>*>(shared);
}

struct Calls {
  std::mutex mutex;
  std::int64_t until = -1;
  CallFault fault = CallFault::fail;
  bool came_to_it = false;
  std::vector<Written> written;
  std::map<int, std::size_t> open;  // by the program's descriptor
  std::vector<Renamed> renamed;     // and not brought to the disk
  int links = 0;
};
Calls& calls() {
  static Calls c;
  return c;
}

[[noreturn]] void crash(Calls& c) {
  if (c.fault != CallFault::crash)
    for (const Written& file : c.written)
      if (!file.on_disk) static_cast<void>(::ftruncate(file.descriptor, 0) == 0);
  static const auto rename = real<int(const char*, const char*)>("rename");
  const std::int64_t syncs = folder_syncs().exchange(stopped);
  if (c.fault == CallFault::lose_names)
    for (std::size_t i = c.renamed.size(); i-- > 0;) {
      const Renamed& r = c.renamed[i];
      if (r.syncs != syncs) break;
      if (!r.from.empty()) rename(r.to.c_str(), r.from.c_str());
      if (!r.before.empty()) rename(r.before.c_str(), r.to.c_str());
    }
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

// Counts a call. True: it is to fail. `last` runs before a crash.
template <class Last>
bool fails(int error, const Last& last) {
  Calls& c = calls();
  const std::lock_guard lock(c.mutex);
  if (c.until < 0 || c.until-- > 0) return false;
  c.came_to_it = true;
  if (c.fault != CallFault::fail) last(), crash(c);
  errno = error;
  return true;
}
bool fails(int error) {
  return fails(error, [] {});
}
bool counts() { return calls().until >= 0; }

// Notes a name that is about to change.
void note(const char* from, const char* to) {
  Calls& c = calls();
  if (!counts() || c.fault != CallFault::lose_names) return;
  Renamed r{from, to, std::string(to) + ".before" + std::to_string(c.links++), folder_syncs()};
  if (::link(to, r.before.c_str()) != 0) r.before.clear();
  c.renamed.push_back(std::move(r));
}

}  // namespace faults::calls

namespace faults {

void start_machine() { calls::folder_syncs() = 0; }
void fault_call(std::int64_t n, CallFault fault) {
  calls::Calls& c = calls::calls();
  const std::lock_guard lock(c.mutex);
  c.came_to_it = false;
  c.fault = fault;
  c.until = n;
}
bool stop_call_faults() {
  calls::Calls& c = calls::calls();
  const std::lock_guard lock(c.mutex);
  for (const calls::Written& file : c.written) calls::real<int(int)>("close")(file.descriptor);
  c.written.clear(), c.open.clear(), c.renamed.clear();
  c.until = -1;
  return c.came_to_it;
}

}  // namespace faults

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(rest, unsigned)) : 0;
  va_end(rest);
  if (faults::calls::fails(EIO)) return -1;
  static const auto system = faults::calls::real<int(const char*, int, ...)>("open");
  const int descriptor = system(path, flags, mode);
  if (descriptor >= 0 && faults::calls::counts() && (flags & O_ACCMODE) != O_RDONLY) {
    const std::lock_guard lock(faults::calls::calls().mutex);
    faults::calls::calls().open[descriptor] = faults::calls::calls().written.size();
    faults::calls::calls().written.push_back({::dup(descriptor), true});
  }
  return descriptor;
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static const auto system = faults::calls::real<ssize_t(int, const void*, size_t)>("write");
  if (faults::calls::counts()) {
    const std::lock_guard lock(faults::calls::calls().mutex);
    if (const auto file = faults::calls::calls().open.find(descriptor);
        file != faults::calls::calls().open.end())
      faults::calls::calls().written[file->second].on_disk = false;
  }
  if (faults::calls::fails(ENOSPC, [&] { static_cast<void>(system(descriptor, data, size / 2) == 0); }))
    return -1;
  return system(descriptor, data, size);
}

int fsync(int descriptor) {
  if (faults::calls::fails(EIO)) return -1;
  static const auto system = faults::calls::real<int(int)>("fsync");
  if (!faults::calls::counts()) return system(descriptor);
  const std::lock_guard lock(faults::calls::calls().mutex);
  if (const auto file = faults::calls::calls().open.find(descriptor);
      file != faults::calls::calls().open.end())
    faults::calls::calls().written[file->second].on_disk = true;
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    std::int64_t syncs = faults::calls::folder_syncs();
    do
      while (syncs == faults::calls::stopped) ::pause();
    while (!faults::calls::folder_syncs().compare_exchange_weak(syncs, syncs + 1));
    for (const auto& r : faults::calls::calls().renamed)
      if (!r.before.empty()) faults::calls::real<int(const char*)>("unlink")(r.before.c_str());
    faults::calls::calls().renamed.clear();
  }
  return 0;
}

int close(int descriptor) {
  const bool fails_afterwards = faults::calls::fails(EIO);
  if (faults::calls::counts()) {
    const std::lock_guard lock(faults::calls::calls().mutex);
    faults::calls::calls().open.erase(descriptor);
  }
  static const auto system = faults::calls::real<int(int)>("close");
  const int result = system(descriptor);
  if (fails_afterwards) errno = EIO;
  return fails_afterwards ? -1 : result;
}

int rename(const char* from, const char* to) noexcept {
  if (faults::calls::fails(EIO)) return -1;
  faults::calls::note(from, to);
  return faults::calls::real<int(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) noexcept {
  if (faults::calls::fails(EIO)) return -1;
  faults::calls::note("", path);
  return faults::calls::real<int(const char*)>("unlink")(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (faults::calls::fails(EIO)) return -1;
  return faults::calls::real<int(const char*, mode_t)>("mkdir")(path, mode);
}

int flock(int descriptor, int operation) noexcept {
  if (faults::calls::fails(EIO)) return -1;
  return faults::calls::real<int(int, int)>("flock")(descriptor, operation);
}

}  // extern "C"
