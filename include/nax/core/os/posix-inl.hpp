#pragma once

#if !defined(_WIN32)
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__APPLE__)
#include <libkern/OSCacheControl.h>
#endif

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "nax/core/os/os.hpp"

NAX_BEGIN
namespace detail::os {

// A descriptor that is closed at the end of its scope.
struct Opened {
  int file;
  ~Opened() {
    if (file >= 0) ::close(file);
  }
};

// Calls `f` until no signal interrupts it.
template <class F>
auto repeated(const F& f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

NAX_ENGINE int open_file(const std::string& path, Open how, unsigned mode) {
  constexpr int flags[] = {O_RDONLY | O_NOCTTY, O_WRONLY | O_NOCTTY, O_WRONLY | O_CREAT | O_APPEND,
                           O_WRONLY | O_CREAT | O_TRUNC, O_WRONLY | O_CREAT | O_EXCL};
  return ::open(path.c_str(), flags[static_cast<int>(how)] | O_CLOEXEC, static_cast<mode_t>(mode));
}

NAX_ENGINE bool close_file(int file) { return ::close(file) == 0; }

NAX_ENGINE std::int64_t read_some(int file, void* to, std::size_t size) {
  return repeated([&] { return ::read(file, to, size); });
}

NAX_ENGINE std::int64_t read_some_at(int file, void* to, std::size_t size, std::uint64_t at) {
  return repeated([&] { return ::pread(file, to, size, static_cast<off_t>(at)); });
}

NAX_ENGINE std::int64_t write_some(int file, const void* from, std::size_t size) {
  return repeated([&] { return ::write(file, from, size); });
}

// Holds SIGPIPE back in this thread meanwhile, and takes it away if write() raised it.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t waiting;
    sigemptyset(&pipe_), sigaddset(&pipe_, SIGPIPE);  // (macros, on macOS)
    ::sigpending(&waiting);
    was_waiting_ = sigismember(&waiting, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const int error = errno;
    if (!was_waiting_ && error == EPIPE) take_away();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  void take_away() {
#if defined(__APPLE__)
    sigset_t waiting;
    int signal = 0;
    if (::sigpending(&waiting) == 0 && sigismember(&waiting, SIGPIPE) == 1) ::sigwait(&pipe_, &signal);
#else
    const timespec now{};
    ::sigtimedwait(&pipe_, nullptr, &now);
#endif
  }

  sigset_t pipe_, before_;
  bool was_waiting_;
};

NAX_ENGINE std::int64_t write_to_reader(int file, const void* from, std::size_t size) {
  const NoPipeSignal held;
  return write_some(file, from, size);
}

NAX_ENGINE bool sync_file(int file) { return ::fsync(file) == 0; }

NAX_ENGINE bool sync_folder(const std::string& folder) {
  const Opened opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  return opened.file < 0 || ::fsync(opened.file) == 0 || errno != EIO;
}

inline bool translate(int result, const struct stat& from, FileStatus& to) {
  if (result != 0) return false;
  to.kind = S_ISREG(from.st_mode)                            ? FileKind::file
            : S_ISDIR(from.st_mode)                          ? FileKind::folder
            : S_ISCHR(from.st_mode) || S_ISBLK(from.st_mode) ? FileKind::device
                                                             : FileKind::other;
  to.size = static_cast<std::int64_t>(from.st_size);
#if defined(__APPLE__)
  const timespec& written = from.st_mtimespec;
#else
  const timespec& written = from.st_mtim;
#endif
  to.seconds = static_cast<std::int64_t>(written.tv_sec);
  to.nanoseconds = static_cast<std::int64_t>(written.tv_nsec);
  to.mode = from.st_mode, to.owner = from.st_uid, to.group = from.st_gid;
  return true;
}
NAX_ENGINE bool status_of(int file, FileStatus& status) {
  struct stat now;
  return translate(::fstat(file, &now), now, status);
}
NAX_ENGINE bool status_of(const std::string& path, FileStatus& status) {
  struct stat now;
  return translate(::stat(path.c_str(), &now), now, status);
}

NAX_ENGINE bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

NAX_ENGINE bool may_write(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

NAX_ENGINE void touch(int file) { static_cast<void>(::futimens(file, nullptr)); }

// Nothing here is worth failing for: a file system without owners or modes keeps its own.
NAX_ENGINE void take_after(int file, const FileStatus& old) {
  unsigned mode = old.mode & 07777u;
  // In another group the group's rights would be other people's.
  if (::fchown(file, static_cast<uid_t>(-1), static_cast<gid_t>(old.group)) != 0) mode &= ~02070u;
  if (::fchown(file, static_cast<uid_t>(old.owner), static_cast<gid_t>(-1)) != 0) mode &= ~04000u;
  static_cast<void>(::fchmod(file, static_cast<mode_t>(mode)) == 0);
}

NAX_ENGINE std::string link_target(const std::string& path) {
  char to[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), to, sizeof to);
  return size <= 0 || size == sizeof to ? std::string() : std::string(to, static_cast<std::size_t>(size));
}

NAX_ENGINE bool replace_file(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

NAX_ENGINE bool remove_file(const std::string& path) { return ::unlink(path.c_str()) == 0; }

NAX_ENGINE bool make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0777) == 0; }

NAX_ENGINE bool names_in(const std::string& folder, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  if (!opened) return false;
  errno = 0;
  while (const dirent* const entry = ::readdir(opened.get())) names.emplace_back(entry->d_name), errno = 0;
  return errno == 0;
}

NAX_ENGINE int open_lock(const std::string& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
NAX_ENGINE Lock try_lock(int lock) {
  if (repeated([&] { return ::flock(lock, LOCK_EX | LOCK_NB); }) == 0) return Lock::held;
  return errno == EWOULDBLOCK ? Lock::taken : Lock::unknown;
}
NAX_ENGINE void unlock(int lock) { ::flock(lock, LOCK_UN); }

NAX_ENGINE void* map_file(int file, std::size_t size) {
  void* const address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  return address == MAP_FAILED ? nullptr : address;
}
NAX_ENGINE void unmap_file(void* address, std::size_t size) { ::munmap(address, size); }
NAX_ENGINE void advise_random(void* address, std::size_t size) {
  static_cast<void>(::madvise(address, size, MADV_RANDOM));
}
NAX_ENGINE void advise_soon(void* address, std::size_t size) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::uintptr_t>(address) % page;
  static_cast<void>(::madvise(static_cast<char*>(address) - before, size + before, MADV_WILLNEED));
}

NAX_ENGINE void* allocate_aligned(std::size_t align, std::size_t bytes) {
  void* const block = std::aligned_alloc(align, bytes);
#if defined(MADV_HUGEPAGE)
  // Asks for large pages, of which neighbours share one: fewer faults and look-ups of addresses.
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::size_t least = 1 << 20;
  if (block && bytes >= least) {
    const std::size_t before = page - 1 - (reinterpret_cast<std::uintptr_t>(block) - 1) % page;
    static_cast<void>(
        ::madvise(static_cast<char*>(block) + before, (bytes - before) / page * page, MADV_HUGEPAGE));
  }
#endif
  return block;
}
NAX_ENGINE void free_aligned(void* pointer) { std::free(pointer); }
NAX_ENGINE void return_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

NAX_ENGINE void* make_code(const void* code, std::size_t size) {
#if defined(__APPLE__) && defined(__aarch64__)
  // Pages of MAP_JIT are writable or executable for each thread by itself.
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_JIT, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::pthread_jit_write_protect_np(0);
  std::memcpy(memory, code, size);
  ::pthread_jit_write_protect_np(1);
  ::sys_icache_invalidate(memory, size);
#else
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, code, size);
  if (::mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
    ::munmap(memory, size);
    errno = EACCES;
    return nullptr;
  }
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + size);
#endif
  return memory;
}
NAX_ENGINE void free_code(void* code, std::size_t size) { ::munmap(code, size); }

NAX_ENGINE bool allow_tiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long ask_permission = 0x1023, tile_data = 18;
  return ::syscall(SYS_arch_prctl, ask_permission, tile_data) == 0;
#else
  return false;
#endif
}

NAX_ENGINE std::int64_t process_id() { return ::getpid(); }

NAX_ENGINE bool has_ended(std::int64_t process) {
  return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

NAX_ENGINE std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

NAX_ENGINE bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

NAX_ENGINE int usable_cores() {
#if defined(__linux__)
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  return 0;
}

NAX_ENGINE bool is_main_thread() {
#if defined(__APPLE__)
  return ::pthread_main_np() == 1;
#elif defined(__linux__)
  return ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid));
#else
  return false;
#endif
}

NAX_ENGINE double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

NAX_ENGINE std::tm utc(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return parts;
}

NAX_ENGINE void around_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  ::pthread_atfork(before, in_parent, in_child);
}

NAX_ENGINE ThreadKey::ThreadKey(void (*at_end)(void*)) noexcept {
  pthread_key_t key{};
  there_ = ::pthread_key_create(&key, at_end) == 0;
  key_ = key;
}
NAX_ENGINE void ThreadKey::set(void* value) const noexcept {
  if (there_) ::pthread_setspecific(static_cast<pthread_key_t>(key_), value);
}

NAX_ENGINE void* open_library(const std::string& name) {
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}
NAX_ENGINE void* symbol_of(void* library, const char* name) { return ::dlsym(library, name); }
NAX_ENGINE std::string library_error() {
  const char* const text = ::dlerror();
  return text ? text : "";
}

}  // namespace detail::os
NAX_END
#endif
