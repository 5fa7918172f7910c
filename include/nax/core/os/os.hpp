#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include "nax/core/abi.hpp"
#include "nax/core/compiled_once.hpp"

// Functions of the operating system. posix-inl.hpp defines them for Linux and macOS, windows-inl.hpp for
// Windows; no other header includes the system's own.
//
// Paths are UTF-8. A file is a descriptor of the C library, below 0 where it could not be opened. A function
// that fails leaves the reason in errno. Calls that a signal interrupts are repeated.
NAX_BEGIN
namespace detail::os {

#if defined(_WIN32)
inline constexpr char separators[] = "/\\";  // of folders in paths
#else
inline constexpr char separators[] = "/";
#endif

// Whether the path does not depend on the working folder.
inline bool is_absolute(const std::string& path) {
#if defined(_WIN32)
  if (path.size() > 1 && path[1] == ':') return true;
#endif
  return path.find_first_of(separators) == 0;
}

enum class FileKind : std::uint8_t { file, folder, device, other };  // other: pipes, sockets
struct FileStatus {
  FileKind kind = FileKind::other;
  std::int64_t size = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  // of the last write, since 1970
  unsigned mode = 0, owner = 0, group = 0;    // as POSIX has them
};

enum class Open : std::uint8_t {
  to_read,
  to_write,      // what is there
  to_append,     // to what is there, or to a new file
  to_overwrite,  // what is there, or a new file
  to_create,     // a new file alone
};

// Opens a file for this process alone: programs that it starts do not inherit it.
NAX_ENGINE int open_file(const std::string& path, Open how, unsigned mode = 0666);
NAX_ENGINE bool close_file(int file);
// Read and write up to `size` bytes; the result is how many, 0 at the end of the file, -1 for a failure.
NAX_ENGINE std::int64_t read_some(int file, void* to, std::size_t size);
NAX_ENGINE std::int64_t read_some_at(int file, void* to, std::size_t size, std::uint64_t at);
NAX_ENGINE std::int64_t write_some(int file, const void* from, std::size_t size);
// As write_some. A pipe whose reader is gone is an error (EPIPE), not the end of the process (SIGPIPE).
NAX_ENGINE std::int64_t write_to_reader(int file, const void* from, std::size_t size);
// Brings a file, or the names in a folder, to the disk. Some file systems know no such thing of folders, and
// a folder that may not be read cannot be opened: then sync_folder has done as much as can be done.
NAX_ENGINE bool sync_file(int file);
NAX_ENGINE bool sync_folder(const std::string& folder);
NAX_ENGINE bool status_of(int file, FileStatus& status);
NAX_ENGINE bool status_of(const std::string& path, FileStatus& status);
NAX_ENGINE bool exists(const std::string& path);
NAX_ENGINE bool may_write(const std::string& path);
// Sets the time of the last write to now.
NAX_ENGINE void touch(int file);
// Gives a file the mode of an older one and, as far as the system lets this process, its owner.
NAX_ENGINE void take_after(int file, const FileStatus& old);
// The path that a symbolic link holds; empty for what is none.
NAX_ENGINE std::string link_target(const std::string& path);
// Renames a file, in place of the one of that name in the same folder. Readers see either.
NAX_ENGINE bool replace_file(const std::string& from, const std::string& to);
NAX_ENGINE bool remove_file(const std::string& path);
NAX_ENGINE bool make_folder(const std::string& path);
// Appends the names in a folder.
NAX_ENGINE bool names_in(const std::string& folder, std::vector<std::string>& names);

enum class Lock : std::uint8_t { held, taken, unknown };  // unknown: the file system has no locks
// A descriptor by which the folder can be locked: by one descriptor at a time, until unlock(), its end or the
// process's.
NAX_ENGINE int open_lock(const std::string& folder);
NAX_ENGINE Lock try_lock(int lock);
NAX_ENGINE void unlock(int lock);

// Maps a file into memory; pages that are written to are this process's own. Null where it cannot be.
NAX_ENGINE void* map_file(int file, std::size_t size);
NAX_ENGINE void unmap_file(void* address, std::size_t size);
// Advice: pages are read in no order, or will be read soon.
NAX_ENGINE void advise_random(void* address, std::size_t size);
NAX_ENGINE void advise_soon(void* address, std::size_t size);

// Memory of `bytes`, a multiple of `align`. Null where there is none.
NAX_ENGINE void* allocate_aligned(std::size_t align, std::size_t bytes);
NAX_ENGINE void free_aligned(void* pointer);
// Gives the system the memory that the C library keeps.
NAX_ENGINE void return_memory();

// A copy of this code in memory that can be executed and not written to. Null where the system has no memory
// (errno is ENOMEM) or allows no such code.
NAX_ENGINE void* make_code(const void* code, std::size_t size);
NAX_ENGINE void free_code(void* code, std::size_t size);
// Lets this process use the tile registers of AMX.
NAX_ENGINE bool allow_tiles();

NAX_ENGINE std::int64_t process_id();
// Whether no process of this machine has this number.
NAX_ENGINE bool has_ended(std::int64_t process);
NAX_ENGINE std::string host_name();
NAX_ENGINE bool is_terminal(std::FILE* stream);
// Processors that this process may run on; 0 where that is not known.
NAX_ENGINE int usable_cores();
NAX_ENGINE bool is_main_thread();
// Time that this thread has computed.
NAX_ENGINE double thread_seconds();
NAX_ENGINE std::tm utc(std::time_t time);
// Whether the process certainly has one thread: then counting needs no locked instruction.
inline bool single_threaded() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded;
#else
  return false;
#endif
}
// Calls these around every fork from now on, where not null. Never called where processes do not fork.
NAX_ENGINE void around_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

// A pointer of each thread. When the thread ends, `at_end` gets it, after C++ has destroyed the thread's
// thread_local objects where the system can; some systems call it for null, too. A main thread's end is not
// noticed.
class ThreadKey {
 public:
  explicit ThreadKey(void (*at_end)(void*)) noexcept;
  void set(void* value) const noexcept;

 private:
  unsigned long key_;
  bool there_;
};

// Libraries that are opened while the program runs.
NAX_ENGINE void* open_library(const std::string& name);
NAX_ENGINE void* symbol_of(void* library, const char* name);
NAX_ENGINE std::string library_error();

}  // namespace detail::os
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#if defined(_WIN32)
#include "nax/core/os/windows-inl.hpp"
#else
#include "nax/core/os/posix-inl.hpp"
#endif
#endif
