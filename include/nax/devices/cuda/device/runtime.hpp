#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "nax/core/device.hpp"
#include "nax/core/error.hpp"
#include "nax/devices/cuda/device/device_count.hpp"

// Calls of the CUDA runtime, and the cards it knows.
//
// NAX_CUDA_DEVICES in the environment asks for more devices (or fewer) than there are cards: device i
// computes on card i modulo their number, so that several virtual devices may share one.
NAX_BEGIN
namespace cuda {

// Errors of a kernel or the card after which every call of the process fails: an uncorrectable ECC error, and
// 700 to 719 (illegal addresses and instructions, time-outs, failed assertions, launch failures) but for
// those of launches' arguments and of peers.
constexpr bool is_sticky(cudaError_t code) {
  const int number = static_cast<int>(code);
  return number == 214 || number == 700 || number == 702 || number == 710 || (number >= 714 && number <= 719);
}
[[noreturn, gnu::cold]] inline void throw_cuda_error(cudaError_t code, const char* call) {
  raise<DeviceError>({call, ": ", cudaGetErrorName(code), " (", std::to_string(static_cast<int>(code)),
                      "): ", cudaGetErrorString(code),
                      is_sticky(code) ? ". No GPU can be used by this process any more" : ""});
}
// Throws DeviceError naming the call and the runtime's code and text.
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) [[likely]]
    return;
  cudaGetLastError();  // or the next launch would report it once more
  throw_cuda_error(code, call);
}

// A machine without a card or without a driver has none.
inline int card_count() {
  static const int count = [] {
    int n = 0;
    if (cudaGetDeviceCount(&n) == cudaSuccess) return n;
    cudaGetLastError();
    return 0;
  }();
  return count;
}

// Says why card_count() is 0.
inline std::string why_no_cards() {
  int cards = 0, driver = 0, runtime = 0;
  const cudaError_t code = cudaGetDeviceCount(&cards);
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) runtime = 0;
  cudaGetLastError();
  const auto text = [](int version) {
    return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
  };
  if (driver == 0) return "no NVIDIA driver is installed (there is no libcuda.so.1)";
  if (code == cudaErrorInsufficientDriver)
    return "the NVIDIA driver is too old: it knows CUDA " + text(driver) + ", this program needs " +
           text(runtime);
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string hidden =
      visible ? std::string("; CUDA_VISIBLE_DEVICES is '") + visible + "'" : std::string();
  if (code == cudaErrorNoDevice || code == cudaSuccess) return "the NVIDIA driver shows no card" + hidden;
  return std::string("cudaGetDeviceCount: ") + cudaGetErrorName(code) + ": " + cudaGetErrorString(code) +
         hidden;
}
inline int device_count() {
  static const int count =
      card_count() == 0 ? 0 : requested_devices().value_or(std::min(card_count(), most_devices));
  return count;
}
inline int card_of(Device device) { return device.ordinal % card_count(); }

// Whether the process has used the card (has a context there): to make a card current would create one.
inline bool is_in_use(int card) {
  static std::atomic<std::uint64_t> known = 0;
  const std::uint64_t bit = std::uint64_t{1} << (card & 63);
  if (known.load(std::memory_order_relaxed) & bit) return true;
  using State = int (*)(int, unsigned*, int*);  // of the driver, which is not linked
  static const State state = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult said{};
    return cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &found, 7000, cudaEnableDefault,
                                            &said) == cudaSuccess
               ? reinterpret_cast<State>(found)
               : nullptr;
  }();
  unsigned flags = 0;
  int active = 0;
  if (!state || state(card, &flags, &active) != 0 || active == 0) return false;
  known.fetch_or(bit, std::memory_order_relaxed);
  return true;
}

// Makes the device's card the one that this thread's calls of the runtime mean, for as long as it lives. Then
// the program's choice holds again, if the process has used that card.
class OnCard {
 public:
  explicit OnCard(Device device) {
    const int card = card_of(device);
    int current = -1;
    check(cudaGetDevice(&current), "cudaGetDevice");
    if (current == card) return;
    if (is_in_use(current)) before_ = current;
    check(cudaSetDevice(card), "cudaSetDevice");
  }
  ~OnCard() {
    if (before_ >= 0 && cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
  }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;

 private:
  int before_ = -1;
};

}  // namespace cuda
NAX_END
