#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "nax/core/os/os.hpp"
#include "nax/formula/kernel.hpp"

// Memory for code: written first, then executable and never writable again.
NAX_BEGIN
namespace formula::jit {

// With NAX_JIT_PERF=1, tells `perf report` where the code lies.
inline void tell_perf(const void* code, std::size_t size, const char* name) {
  static const bool wanted = [] {
    const char* const text = std::getenv("NAX_JIT_PERF");
    return text != nullptr && std::strcmp(text, "1") == 0;
  }();
  if (!wanted) return;
  char path[64];
  std::snprintf(path, sizeof path, "/tmp/perf-%d.map", static_cast<int>(nax::detail::os::process_id()));
  if (std::FILE* const file = std::fopen(path, "a")) {
    std::fprintf(file, "%zx %zx %s\n", reinterpret_cast<std::size_t>(code), size, name);
    std::fclose(file);
  }
}

class Executable final : public Code {
 public:
  Executable(const void* code, std::size_t size)
      : memory_(nax::detail::os::make_code(code, size)), size_(size) {
    if (!memory_ && errno == ENOMEM) throw std::bad_alloc();
    if (!memory_) throw Error("formula: the system allows no code to be made at run time; say NAX_JIT=0");
    std::memcpy(&entry, &memory_, sizeof entry);
    tell_perf(memory_, size, "nax::formula");
  }
  ~Executable() override { nax::detail::os::free_code(memory_, size_); }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

 private:
  void* memory_;
  std::size_t size_;
};

}  // namespace formula::jit
NAX_END
