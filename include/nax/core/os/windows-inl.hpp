#pragma once

#if defined(_WIN32)
// The functions of kernel32 that are needed here, declared as windows.h declares them. That header itself
// stays out: it brings macros (min, near, ERROR), and a user's file may include it before or after nax, with
// the options that it likes.
#include <fcntl.h>
#include <io.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "nax/core/os/os.hpp"
#if defined(__GLIBCXX__) && defined(_GLIBCXX_HAS_GTHREADS)
#include <bits/gthr.h>
#endif

struct _BY_HANDLE_FILE_INFORMATION;
struct _FILETIME;
struct _OVERLAPPED;
struct _SECURITY_ATTRIBUTES;
struct _WIN32_FIND_DATAW;
struct HINSTANCE__;

extern "C" {
#define NAX_KERNEL32(result) __declspec(dllimport) result __stdcall
NAX_KERNEL32(int) CloseHandle(void*);
NAX_KERNEL32(int) CreateDirectoryW(const wchar_t*, _SECURITY_ATTRIBUTES*);
NAX_KERNEL32(void*)
CreateFileMappingW(void*, _SECURITY_ATTRIBUTES*, unsigned long, unsigned long, unsigned long, const wchar_t*);
NAX_KERNEL32(void*)
CreateFileW(const wchar_t*, unsigned long, unsigned long, _SECURITY_ATTRIBUTES*, unsigned long, unsigned long,
            void*);
NAX_KERNEL32(int) DeleteFileW(const wchar_t*);
NAX_KERNEL32(int) FindClose(void*);
NAX_KERNEL32(void*) FindFirstFileW(const wchar_t*, _WIN32_FIND_DATAW*);
NAX_KERNEL32(int) FindNextFileW(void*, _WIN32_FIND_DATAW*);
NAX_KERNEL32(unsigned long) FlsAlloc(void(__stdcall*)(void*));
NAX_KERNEL32(int) FlsSetValue(unsigned long, void*);
NAX_KERNEL32(int) FlushFileBuffers(void*);
NAX_KERNEL32(int) FlushInstructionCache(void*, const void*, unsigned long long);
NAX_KERNEL32(int) GetComputerNameW(wchar_t*, unsigned long*);
NAX_KERNEL32(void*) GetCurrentProcess();
NAX_KERNEL32(unsigned long) GetCurrentProcessId();
NAX_KERNEL32(void*) GetCurrentThread();
NAX_KERNEL32(unsigned long) GetCurrentThreadId();
NAX_KERNEL32(unsigned long) GetFileAttributesW(const wchar_t*);
NAX_KERNEL32(int) GetFileInformationByHandle(void*, _BY_HANDLE_FILE_INFORMATION*);
NAX_KERNEL32(unsigned long) GetFileType(void*);
NAX_KERNEL32(unsigned long)
GetFinalPathNameByHandleW(void*, wchar_t*, unsigned long, unsigned long);
NAX_KERNEL32(unsigned long) GetLastError();
__declspec(dllimport) long long(__stdcall* __stdcall GetProcAddress(HINSTANCE__*, const char*))();
NAX_KERNEL32(int) GetProcessAffinityMask(void*, unsigned long long*, unsigned long long*);
NAX_KERNEL32(void) GetSystemTimeAsFileTime(_FILETIME*);
NAX_KERNEL32(int) GetThreadTimes(void*, _FILETIME*, _FILETIME*, _FILETIME*, _FILETIME*);
NAX_KERNEL32(HINSTANCE__*) LoadLibraryW(const wchar_t*);
NAX_KERNEL32(int)
LockFileEx(void*, unsigned long, unsigned long, unsigned long, unsigned long, _OVERLAPPED*);
NAX_KERNEL32(void*)
MapViewOfFile(void*, unsigned long, unsigned long, unsigned long, unsigned long long);
NAX_KERNEL32(int) MoveFileExW(const wchar_t*, const wchar_t*, unsigned long);
NAX_KERNEL32(int)
MultiByteToWideChar(unsigned, unsigned long, const char*, int, wchar_t*, int);
NAX_KERNEL32(void*) OpenProcess(unsigned long, int, unsigned long);
NAX_KERNEL32(int) ReadFile(void*, void*, unsigned long, unsigned long*, _OVERLAPPED*);
NAX_KERNEL32(int) SetFileTime(void*, const _FILETIME*, const _FILETIME*, const _FILETIME*);
NAX_KERNEL32(int) UnlockFileEx(void*, unsigned long, unsigned long, unsigned long, _OVERLAPPED*);
NAX_KERNEL32(int) UnmapViewOfFile(const void*);
NAX_KERNEL32(void*) VirtualAlloc(void*, unsigned long long, unsigned long, unsigned long);
NAX_KERNEL32(int) VirtualFree(void*, unsigned long long, unsigned long);
NAX_KERNEL32(int) VirtualProtect(void*, unsigned long long, unsigned long, unsigned long*);
NAX_KERNEL32(unsigned long) WaitForSingleObject(void*, unsigned long);
NAX_KERNEL32(int)
WideCharToMultiByte(unsigned, unsigned long, const wchar_t*, int, char*, int, const char*, int*);
NAX_KERNEL32(int) WriteFile(void*, const void*, unsigned long, unsigned long*, _OVERLAPPED*);
#undef NAX_KERNEL32
}

NAX_BEGIN
namespace detail::os {

using Word = unsigned long;  // DWORD, of 32 bits
using HandleValue = void*;
inline const HandleValue no_handle = reinterpret_cast<HandleValue>(static_cast<std::intptr_t>(-1));

// The structures of those names, laid out as Windows has them.
struct FileTime {
  Word low, high;
  std::uint64_t ticks() const { return std::uint64_t{high} << 32 | low; }
  operator _FILETIME*() { return reinterpret_cast<_FILETIME*>(this); }
};
struct Overlapped {
  std::uintptr_t internal[2] = {};
  Word offset = 0, offset_high = 0;
  HandleValue event = nullptr;
  operator _OVERLAPPED*() { return reinterpret_cast<_OVERLAPPED*>(this); }
};
struct HandleInformation {
  Word attributes;
  FileTime made, read, written;
  Word volume, size_high, size_low, links, index_high, index_low;
  operator _BY_HANDLE_FILE_INFORMATION*() { return reinterpret_cast<_BY_HANDLE_FILE_INFORMATION*>(this); }
};
struct FindData {
  Word attributes;
  FileTime made, read, written;
  Word size_high, size_low, reserved[2];
  wchar_t name[260], short_name[14];
  Word more[3];  // of some systems
  operator _WIN32_FIND_DATAW*() { return reinterpret_cast<_WIN32_FIND_DATAW*>(this); }
};

inline constexpr unsigned utf8 = 65001;
inline constexpr Word generic_read = 0x80000000, generic_write = 0x40000000, append_data = 4,
                      read_attributes = 0x80, synchronize = 0x100000;
inline constexpr Word share_all = 7, create_new = 1, create_always = 2, open_existing = 3, open_always = 4;
inline constexpr Word attribute_hidden = 2, attribute_folder = 0x10, attribute_normal = 0x80,
                      attribute_link = 0x400, no_attributes = 0xffffffff, folders_too = 0x02000000;
inline constexpr Word type_disk = 1, type_char = 2;
inline constexpr Word move_replace = 1, move_write_through = 8, lock_at_once = 1, lock_exclusive = 2;
inline constexpr Word page_readwrite = 4, page_writecopy = 8, page_execute_read = 0x20, map_copy = 1,
                      commit_and_reserve = 0x3000, release_all = 0x8000;
enum Error : Word {
  file_not_found = 2,
  path_not_found = 3,
  too_many_open_files = 4,
  access_denied = 5,
  invalid_handle = 6,
  not_enough_memory = 8,
  out_of_memory = 14,
  invalid_drive = 15,
  no_more_files = 18,
  write_protect = 19,
  sharing_violation = 32,
  lock_violation = 33,
  handle_eof = 38,
  handle_disk_full = 39,
  bad_netpath = 53,
  file_exists = 80,
  invalid_parameter = 87,
  broken_pipe = 109,
  disk_full = 112,
  invalid_name = 123,
  dir_not_empty = 145,
  bad_pathname = 161,
  already_exists = 183,
  no_data = 232,
  directory_name = 267,
  io_pending = 997,
  user_mapped_file = 1224,
  commitment_limit = 1455
};

inline std::wstring wide(const std::string& text) {
  const int bytes = static_cast<int>(text.size());
  const int size = ::MultiByteToWideChar(utf8, 0, text.c_str(), bytes, nullptr, 0);
  std::wstring out(static_cast<std::size_t>(size), L'\0');
  ::MultiByteToWideChar(utf8, 0, text.c_str(), bytes, out.data(), size);
  return out;
}
inline std::string narrow(const wchar_t* text) {
  const int size = ::WideCharToMultiByte(utf8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(size > 0 ? size : 1), '\0');
  ::WideCharToMultiByte(utf8, 0, text, -1, out.data(), size, nullptr, nullptr);
  out.pop_back();
  return out;
}

// Gives errno the last error of Windows; false, for callers to return.
inline bool note_error() {
  errno = [] {
    switch (::GetLastError()) {
      case file_not_found:
      case path_not_found:
      case invalid_name:
      case bad_pathname:
      case bad_netpath:
      case invalid_drive:
        return ENOENT;
      case access_denied:
      case sharing_violation:
      case lock_violation:
      case user_mapped_file:
      case write_protect:
        return EACCES;
      case already_exists:
      case file_exists:
        return EEXIST;
      case disk_full:
      case handle_disk_full:
        return ENOSPC;
      case broken_pipe:
      case no_data:
        return EPIPE;
      case directory_name:
        return ENOTDIR;
      case dir_not_empty:
        return ENOTEMPTY;
      case too_many_open_files:
        return EMFILE;
      case not_enough_memory:
      case out_of_memory:
      case commitment_limit:
        return ENOMEM;
      case invalid_handle:
        return EBADF;
      case invalid_parameter:
        return EINVAL;
    }
    return EIO;
  }();
  return false;
}

inline HandleValue handle_of(int file) { return reinterpret_cast<HandleValue>(::_get_osfhandle(file)); }

// A handle that is closed at the end of its scope.
struct Handle {
  HandleValue handle;
  explicit Handle(HandleValue opened) : handle(opened) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (*this) ::CloseHandle(handle);
  }
  explicit operator bool() const { return handle != nullptr && handle != no_handle; }
};

// Files may be renamed and removed while they are open, as with POSIX.
inline HandleValue open_handle(const std::string& path, Word access, Word disposition, Word flags = 0) {
  return ::CreateFileW(wide(path).c_str(), access, share_all, nullptr, disposition, attribute_normal | flags,
                       nullptr);
}
inline int descriptor_of(HandleValue handle, int flags) {
  if (handle == no_handle) return note_error(), -1;
  const int file = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), flags | _O_BINARY);
  if (file < 0) ::CloseHandle(handle);
  return file;
}

NAX_ENGINE int open_file(const std::string& path, Open how, unsigned) {
  switch (how) {
    case Open::to_read:  // folders, too, whose status says so
      return descriptor_of(open_handle(path, generic_read, open_existing, folders_too), _O_RDONLY);
    case Open::to_write:
      return descriptor_of(open_handle(path, generic_write, open_existing), _O_WRONLY);
    case Open::to_append:
      return descriptor_of(open_handle(path, append_data | synchronize, open_always), _O_WRONLY);
    case Open::to_overwrite:
      return descriptor_of(open_handle(path, generic_write, create_always), _O_WRONLY);
    case Open::to_create:
      return descriptor_of(open_handle(path, generic_write, create_new), _O_WRONLY);
  }
  return -1;
}

NAX_ENGINE bool close_file(int file) { return ::_close(file) == 0; }

inline constexpr std::size_t most_at_once = std::size_t{1} << 30;

inline std::int64_t read_by(int file, void* to, std::size_t size, _OVERLAPPED* place) {
  Word got = 0;
  if (::ReadFile(handle_of(file), to, static_cast<Word>(std::min(size, most_at_once)), &got, place))
    return got;
  const Word error = ::GetLastError();
  if (error == handle_eof || error == broken_pipe) return 0;
  return note_error(), -1;
}
NAX_ENGINE std::int64_t read_some(int file, void* to, std::size_t size) {
  return read_by(file, to, size, nullptr);
}
NAX_ENGINE std::int64_t read_some_at(int file, void* to, std::size_t size, std::uint64_t at) {
  Overlapped place;
  place.offset = static_cast<Word>(at), place.offset_high = static_cast<Word>(at >> 32);
  return read_by(file, to, size, place);
}

NAX_ENGINE std::int64_t write_some(int file, const void* from, std::size_t size) {
  Word done = 0;
  if (::WriteFile(handle_of(file), from, static_cast<Word>(std::min(size, most_at_once)), &done, nullptr))
    return done;
  return note_error(), -1;
}
NAX_ENGINE std::int64_t write_to_reader(int file, const void* from, std::size_t size) {
  return write_some(file, from, size);
}

NAX_ENGINE bool sync_file(int file) { return ::FlushFileBuffers(handle_of(file)) || note_error(); }
// Names are on the disk as soon as replace_file returns.
NAX_ENGINE bool sync_folder(const std::string&) { return true; }

inline bool status_of_handle(HandleValue handle, FileStatus& status) {
  status = {};
  const Word type = ::GetFileType(handle);
  if (type == type_char) status.kind = FileKind::device;
  if (type != type_disk) return true;
  HandleInformation about;
  if (!::GetFileInformationByHandle(handle, about)) return note_error();
  status.kind = about.attributes & attribute_folder ? FileKind::folder : FileKind::file;
  status.size = static_cast<std::int64_t>(std::uint64_t{about.size_high} << 32 | about.size_low);
  constexpr std::int64_t per_second = 10'000'000, from_1601_to_1970 = 11'644'473'600;
  const auto ticks = static_cast<std::int64_t>(about.written.ticks());
  status.seconds = ticks / per_second - from_1601_to_1970;
  status.nanoseconds = ticks % per_second * 100;
  return true;
}
NAX_ENGINE bool status_of(int file, FileStatus& status) { return status_of_handle(handle_of(file), status); }
NAX_ENGINE bool status_of(const std::string& path, FileStatus& status) {
  const Handle opened(open_handle(path, read_attributes, open_existing, folders_too));
  return opened ? status_of_handle(opened.handle, status) : note_error();
}

NAX_ENGINE bool exists(const std::string& path) {
  return ::GetFileAttributesW(wide(path).c_str()) != no_attributes || note_error();
}
NAX_ENGINE bool may_write(const std::string& path) {
  return Handle(open_handle(path, generic_write, open_existing)) || note_error();
}

NAX_ENGINE void touch(int file) {
  FileTime now;
  ::GetSystemTimeAsFileTime(now);
  ::SetFileTime(handle_of(file), nullptr, nullptr, now);
}
// (A new file has the rights of its folder.)
NAX_ENGINE void take_after(int, const FileStatus&) {}

NAX_ENGINE std::string link_target(const std::string& path) {
  const Word attributes = ::GetFileAttributesW(wide(path).c_str());
  if (attributes == no_attributes || !(attributes & attribute_link)) return {};
  const Handle opened(open_handle(path, 0, open_existing, folders_too));
  wchar_t to[2080] = {};
  const Word most = sizeof to / sizeof *to;
  if (!opened || ::GetFinalPathNameByHandleW(opened.handle, to, most, 0) >= most) return {};
  return narrow(to);
}

NAX_ENGINE bool replace_file(const std::string& from, const std::string& to) {
  return ::MoveFileExW(wide(from).c_str(), wide(to).c_str(), move_replace | move_write_through) ||
         note_error();
}
NAX_ENGINE bool remove_file(const std::string& path) {
  return ::DeleteFileW(wide(path).c_str()) || note_error();
}
NAX_ENGINE bool make_folder(const std::string& path) {
  return ::CreateDirectoryW(wide(path).c_str(), nullptr) || note_error();
}

NAX_ENGINE bool names_in(const std::string& folder, std::vector<std::string>& names) {
  FindData found;
  const HandleValue search = ::FindFirstFileW(wide(folder + "/*").c_str(), found);
  if (search == no_handle) return note_error();
  do names.push_back(narrow(found.name));
  while (::FindNextFileW(search, found));
  const bool all = ::GetLastError() == no_more_files || note_error();
  ::FindClose(search);
  return all;
}

// Folders cannot be locked here: a hidden file in it is, which stays.
NAX_ENGINE int open_lock(const std::string& folder) {
  FileStatus status;
  if (!status_of(folder, status)) return -1;
  if (status.kind != FileKind::folder) return errno = ENOTDIR, -1;
  return descriptor_of(
      open_handle(folder + "/.lock", generic_read | generic_write, open_always, attribute_hidden), _O_RDWR);
}
NAX_ENGINE Lock try_lock(int lock) {
  Overlapped place;
  if (::LockFileEx(handle_of(lock), lock_exclusive | lock_at_once, 0, 1, 0, place)) return Lock::held;
  const Word error = ::GetLastError();
  return error == lock_violation || error == io_pending ? Lock::taken : Lock::unknown;
}
NAX_ENGINE void unlock(int lock) {
  Overlapped place;
  ::UnlockFileEx(handle_of(lock), 0, 1, 0, place);
}

NAX_ENGINE void* map_file(int file, std::size_t size) {
  const Handle mapping(::CreateFileMappingW(handle_of(file), nullptr, page_writecopy, 0, 0, nullptr));
  void* const address = mapping ? ::MapViewOfFile(mapping.handle, map_copy, 0, 0, size) : nullptr;
  if (!address) note_error();
  return address;
}
NAX_ENGINE void unmap_file(void* address, std::size_t) { ::UnmapViewOfFile(address); }
NAX_ENGINE void advise_random(void*, std::size_t) {}
NAX_ENGINE void advise_soon(void*, std::size_t) {}

NAX_ENGINE void* allocate_aligned(std::size_t align, std::size_t bytes) {
  return ::_aligned_malloc(bytes, align);
}
NAX_ENGINE void free_aligned(void* pointer) { ::_aligned_free(pointer); }
NAX_ENGINE void return_memory() { ::_heapmin(); }

NAX_ENGINE void* make_code(const void* code, std::size_t size) {
  void* const memory = ::VirtualAlloc(nullptr, size, commit_and_reserve, page_readwrite);
  if (!memory) return errno = ENOMEM, nullptr;
  std::memcpy(memory, code, size);
  Word before = 0;
  if (!::VirtualProtect(memory, size, page_execute_read, &before)) {
    ::VirtualFree(memory, 0, release_all);
    return errno = EACCES, nullptr;
  }
  ::FlushInstructionCache(::GetCurrentProcess(), memory, size);
  return memory;
}
NAX_ENGINE void free_code(void* code, std::size_t) { ::VirtualFree(code, 0, release_all); }

NAX_ENGINE bool allow_tiles() { return false; }

NAX_ENGINE std::int64_t process_id() { return ::GetCurrentProcessId(); }

NAX_ENGINE bool has_ended(std::int64_t process) {
  const Handle opened(::OpenProcess(synchronize, 0, static_cast<Word>(process)));
  if (!opened) return ::GetLastError() == invalid_parameter;
  return ::WaitForSingleObject(opened.handle, 0) == 0;
}

NAX_ENGINE std::string host_name() {
  wchar_t name[256] = {};
  Word size = sizeof name / sizeof *name;
  return ::GetComputerNameW(name, &size) ? narrow(name) : std::string();
}

NAX_ENGINE bool is_terminal(std::FILE* stream) { return ::_isatty(::_fileno(stream)) != 0; }

NAX_ENGINE int usable_cores() {
  unsigned long long own = 0, all = 0;
  // (Zero where the process's threads are in several groups of 64 processors.)
  if (!::GetProcessAffinityMask(::GetCurrentProcess(), &own, &all)) return 0;
  int count = 0;
  for (; own != 0; own &= own - 1) ++count;
  return count;
}

inline const Word first_thread = ::GetCurrentThreadId();
NAX_ENGINE bool is_main_thread() { return ::GetCurrentThreadId() == first_thread; }

NAX_ENGINE double thread_seconds() {
  FileTime made, ended, kernel, user;
  if (!::GetThreadTimes(::GetCurrentThread(), made, ended, kernel, user)) return 0;
  return 1e-7 * static_cast<double>(kernel.ticks() + user.ticks());
}

NAX_ENGINE std::tm utc(std::time_t time) {
  std::tm parts{};
  ::_gmtime64_s(&parts, &time);
  return parts;
}

NAX_ENGINE void around_fork(void (*)(), void (*)(), void (*)()) {}

#if defined(__GLIBCXX__) && defined(_GLIBCXX_HAS_GTHREADS)
// GCC's emulated thread_local variables live under a key of this kind. Where a destructor of another key
// makes them anew, they are destroyed once more.
NAX_ENGINE ThreadKey::ThreadKey(void (*at_end)(void*)) noexcept {
  __gthread_key_t key{};
  there_ = ::__gthread_key_create(&key, at_end) == 0;
  key_ = static_cast<unsigned long>(key);
}
NAX_ENGINE void ThreadKey::set(void* value) const noexcept {
  if (there_) ::__gthread_setspecific(static_cast<__gthread_key_t>(key_), value);
}
#else
// The value's callback gets it only where it is not null.
NAX_ENGINE ThreadKey::ThreadKey(void (*at_end)(void*)) noexcept {
  key_ = ::FlsAlloc(at_end);
  there_ = key_ != 0xffffffff;
}
NAX_ENGINE void ThreadKey::set(void* value) const noexcept {
  if (there_) ::FlsSetValue(key_, value);
}
#endif

NAX_ENGINE void* open_library(const std::string& name) {
  return reinterpret_cast<void*>(::LoadLibraryW(wide(name).c_str()));
}
NAX_ENGINE void* symbol_of(void* library, const char* name) {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HINSTANCE__*>(library), name));
}
NAX_ENGINE std::string library_error() { return "error " + std::to_string(::GetLastError()); }

}  // namespace detail::os
NAX_END
#endif
