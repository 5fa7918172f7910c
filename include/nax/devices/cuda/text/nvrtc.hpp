#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "nax/core/error.hpp"
#include "nax/core/os/os.hpp"

// NVRTC, CUDA's compiler as a library. It is opened when it is first needed, so that programs start without
// it, and needs no card. Its few functions are declared here: no header of the toolkit is read.
NAX_BEGIN
namespace cuda {

class Nvrtc {
 public:
  // Throws DeviceError where no libnvrtc is found. NAX_NVRTC in the environment names the file.
  static const Nvrtc& get() {
    static const Nvrtc nvrtc;
    return nvrtc;
  }
  static bool is_present() {
    try {
      get();
      return true;
    } catch (const DeviceError&) {
      return false;
    }
  }

  // As in "13.0".
  std::string version() const {
    int major = 0, minor = 0;
    check(version_(&major, &minor), "nvrtcVersion");
    return std::to_string(major) + "." + std::to_string(minor);
  }
  // A card's architecture (90 for compute capability 9.0) as an option: sm_90, or, where this NVRTC does not
  // know it, compute_N of the latest before it, whose PTX the driver compiles.
  std::string architecture_for(int card) const {
    int count = 0;
    check(count_architectures_(&count), "nvrtcGetNumSupportedArchs");
    std::vector<int> known(static_cast<std::size_t>(count));
    check(list_architectures_(known.data()), "nvrtcGetSupportedArchs");
    int best = 0;
    for (int one : known) {
      if (one == card) return "sm_" + std::to_string(card);
      if (one < card) best = std::max(best, one);
    }
    if (best == 0)
      raise<DeviceError>({"NVRTC: version ", version(), " compiles for no card as old as compute capability ",
                          card / 10, ".", card % 10});
    return "compute_" + std::to_string(best);
  }

  // Options that give each operation of a text its own rounding.
  static constexpr const char* options[] = {"--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true",
                                            "--prec-sqrt=true"};

  // A cubin for sm_N, PTX for compute_N. Throws DeviceError with NVRTC's messages.
  std::string compile(const std::string& text, const std::string& architecture) const {
    ++compiled();
    const Program program(*this, text);
    const std::string target = "--gpu-architecture=" + architecture;
    std::vector<const char*> all(std::begin(options), std::end(options));
    all.push_back(target.c_str());
    const int result = compile_(program.handle, static_cast<int>(all.size()), all.data());
    if (result != 0)
      raise<DeviceError>({"NVRTC: a text does not compile for ", architecture, ": ", text_of(result), "\n",
                          log_of(program.handle)});
    const bool virtual_code = architecture.starts_with("compute_");
    std::size_t bytes = 0;
    check((virtual_code ? ptx_size_ : cubin_size_)(program.handle, &bytes), "nvrtcGetCUBINSize");
    std::string image(bytes, '\0');
    check((virtual_code ? ptx_ : cubin_)(program.handle, image.data()), "nvrtcGetCUBIN");
    return image;
  }

  // How many texts the process has compiled, rather than found in a cache.
  static std::atomic<int>& compiled() {
    static std::atomic<int> count{0};
    return count;
  }

 private:
  using Handle = void*;
  template <class... A>
  using Function = int (*)(A...);

  struct Program {
    Handle handle = nullptr;
    const Nvrtc& nvrtc;
    Program(const Nvrtc& n, const std::string& text) : nvrtc(n) {
      nvrtc.check(nvrtc.create_(&handle, text.c_str(), "nax_formula.cu", 0, nullptr, nullptr),
                  "nvrtcCreateProgram");
    }
    ~Program() { nvrtc.destroy_(&handle); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
  };

  Nvrtc() {
    open();
    find(version_, "nvrtcVersion");
    find(count_architectures_, "nvrtcGetNumSupportedArchs");
    find(list_architectures_, "nvrtcGetSupportedArchs");
    find(create_, "nvrtcCreateProgram");
    find(destroy_, "nvrtcDestroyProgram");
    find(compile_, "nvrtcCompileProgram");
    find(cubin_size_, "nvrtcGetCUBINSize");
    find(cubin_, "nvrtcGetCUBIN");
    find(ptx_size_, "nvrtcGetPTXSize");
    find(ptx_, "nvrtcGetPTX");
    find(log_size_, "nvrtcGetProgramLogSize");
    find(log_, "nvrtcGetProgramLog");
    find(error_text_, "nvrtcGetErrorString");
  }
  // (It stays open: its threads may outlive main.)
  void open() {
    std::vector<std::string> names;
    if (const char* const given = std::getenv("NAX_NVRTC"))
      names.push_back(given);
    else
      names = {
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so",
#if defined(NAX_NVRTC_LIBRARY)
        NAX_NVRTC_LIBRARY,
#endif
        "/usr/local/cuda/lib64/libnvrtc.so"
      };
    std::string why;
    for (const std::string& name : names) {
      library_ = detail::os::open_library(name);
      if (library_) return;
      why += (why.empty() ? "" : "; ") + detail::os::library_error();
    }
    raise<DeviceError>(
        {"NVRTC: libnvrtc is not found, which compiles expressions that no CUDA file (.cu) has; "
         "NAX_NVRTC names its file: ",
         why});
  }
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(detail::os::symbol_of(library_, name));
    if (!function) raise<DeviceError>({"NVRTC: the library has no function ", name});
  }
  std::string text_of(int result) const { return error_text_(result); }
  void check(int result, const char* call) const {
    if (result != 0) raise<DeviceError>({call, ": ", text_of(result)});
  }
  std::string log_of(Handle program) const {
    std::size_t bytes = 0;
    if (log_size_(program, &bytes) != 0 || bytes == 0) return {};
    std::string log(bytes, '\0');
    if (log_(program, log.data()) != 0) return {};
    log.resize(bytes - 1);
    return log;
  }

  void* library_ = nullptr;
  Function<int*, int*> version_ = nullptr;
  Function<int*> count_architectures_ = nullptr, list_architectures_ = nullptr;
  Function<Handle*, const char*, const char*, int, const char* const*, const char* const*> create_ = nullptr;
  Function<Handle*> destroy_ = nullptr;
  Function<Handle, int, const char* const*> compile_ = nullptr;
  Function<Handle, std::size_t*> cubin_size_ = nullptr, ptx_size_ = nullptr, log_size_ = nullptr;
  Function<Handle, char*> cubin_ = nullptr, ptx_ = nullptr, log_ = nullptr;
  const char* (*error_text_)(int) = nullptr;
};

}  // namespace cuda
NAX_END
