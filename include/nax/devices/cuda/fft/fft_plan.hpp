#pragma once

#include <cufft.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "nax/devices/cuda/device/capture_gate.hpp"
#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/device/streams.hpp"

// Plans of cuFFT, kept by device and shape: making one takes milliseconds.
//
// A plan has tables on the card, and no work area: each call brings one from the device's memory. Threads
// share plans. Stream and work area are state of a plan, so they are set under its mutex before each call.
// A plan is destroyed when the cache has dropped it, no graph holds it, and the streams that used it have
// drained.
NAX_BEGIN
namespace cuda {

inline const char* fft_error_name(cufftResult code) {
  switch (code) {
#define NAX_FFT_ERROR(name) \
  case name:                \
    return #name
    NAX_FFT_ERROR(CUFFT_SUCCESS);
    NAX_FFT_ERROR(CUFFT_INVALID_PLAN);
    NAX_FFT_ERROR(CUFFT_ALLOC_FAILED);
    NAX_FFT_ERROR(CUFFT_INVALID_TYPE);
    NAX_FFT_ERROR(CUFFT_INVALID_VALUE);
    NAX_FFT_ERROR(CUFFT_INTERNAL_ERROR);
    NAX_FFT_ERROR(CUFFT_EXEC_FAILED);
    NAX_FFT_ERROR(CUFFT_SETUP_FAILED);
    NAX_FFT_ERROR(CUFFT_INVALID_SIZE);
    NAX_FFT_ERROR(CUFFT_UNALIGNED_DATA);
    NAX_FFT_ERROR(CUFFT_INVALID_DEVICE);
    NAX_FFT_ERROR(CUFFT_NO_WORKSPACE);
    NAX_FFT_ERROR(CUFFT_NOT_IMPLEMENTED);
    NAX_FFT_ERROR(CUFFT_NOT_SUPPORTED);
#undef NAX_FFT_ERROR
    default:  // versions of the toolkit differ in the rest
      return "cufftResult";
  }
}

// One call of cuFFT: `batch` transforms of length n, with strides in elements of each side.
struct FftShape {
  cufftType type;
  long long n, batch, from_axis, from_distance, to_axis, to_distance;

  using Key = std::array<long long, 7>;
  Key key() const { return {type, n, batch, from_axis, from_distance, to_axis, to_distance}; }
};

// Throws DeviceError naming the call, the library's code and the shape.
inline void check(cufftResult code, const char* call, const FftShape& shape) {
  if (code == CUFFT_SUCCESS) [[likely]]
    return;
  cudaGetLastError();  // or the next launch would report what cuFFT met
  raise<DeviceError>({call, ": ", fft_error_name(code), " (", std::to_string(static_cast<int>(code)),
                      "): ", shape.batch, " transforms of length ", shape.n});
}

class FftPlan {
 public:
  // Precondition: the device's card is current.
  FftPlan(Device device, const FftShape& shape) : device_(device), shape_(shape) {
    check(cufftCreate(&handle_), "cufftCreate", shape);
    try {
      check(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation", shape);
      cufftResult code = make();
      if (code == CUFFT_ALLOC_FAILED) {  // nax's pool may hold the memory
        detail::accelerator_of(device).release_cached_memory(device);
        code = make();
      }
      check(code, "cufftMakePlanMany64", shape);
    } catch (...) {
      destroy();
      throw;
    }
  }
  FftPlan(const FftPlan&) = delete;
  FftPlan& operator=(const FftPlan&) = delete;
  // The process may be ending, and the driver be gone.
  ~FftPlan() {
    std::optional<OnCard> on;
    try {
      DeviceStreams::of(device_).drain(device_, used_.load());
      on.emplace(device_);
    } catch (...) {
    }
    destroy();
  }

  // Transforms on the calling thread's stream. `inverse` counts for complex numbers on both sides. A
  // transform to real numbers destroys its operand.
  void run(const char* from, char* to, bool inverse) {
    const StreamInUse stream = use(device_);
    std::optional<Scratch> work;
    if (work_bytes_ > 0) work.emplace(device_, work_bytes_);
    if (!detail::graph_recording) used_ |= stream_bit(device_);
    const std::lock_guard lock(mutex_);
    check(cufftSetStream(handle_, stream), "cufftSetStream", shape_);
    if (work) check(cufftSetWorkArea(handle_, work->data()), "cufftSetWorkArea", shape_);
    execute(const_cast<char*>(from), to, inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
  }

 private:
  void destroy() noexcept {
    CaptureGate::alone([&] {
      if (cufftDestroy(handle_) != CUFFT_SUCCESS) cudaGetLastError();
    });
  }
  cufftResult make() {
    // With strides given, cuFFT asks that the extents it embeds lines in are not null.
    long long n = shape_.n;
    return cufftMakePlanMany64(handle_, 1, &n, &n, shape_.from_axis, shape_.from_distance, &n, shape_.to_axis,
                               shape_.to_distance, shape_.type, shape_.batch, &work_bytes_);
  }
  void execute(void* from, void* to, int direction) {
    using C = cufftComplex;
    using Z = cufftDoubleComplex;
    switch (shape_.type) {
      case CUFFT_C2C:
        return check(cufftExecC2C(handle_, static_cast<C*>(from), static_cast<C*>(to), direction),
                     "cufftExecC2C", shape_);
      case CUFFT_R2C:
        return check(cufftExecR2C(handle_, static_cast<float*>(from), static_cast<C*>(to)), "cufftExecR2C",
                     shape_);
      case CUFFT_C2R:
        return check(cufftExecC2R(handle_, static_cast<C*>(from), static_cast<float*>(to)), "cufftExecC2R",
                     shape_);
      case CUFFT_Z2Z:
        return check(cufftExecZ2Z(handle_, static_cast<Z*>(from), static_cast<Z*>(to), direction),
                     "cufftExecZ2Z", shape_);
      case CUFFT_D2Z:
        return check(cufftExecD2Z(handle_, static_cast<double*>(from), static_cast<Z*>(to)), "cufftExecD2Z",
                     shape_);
      case CUFFT_Z2D:
        return check(cufftExecZ2D(handle_, static_cast<Z*>(from), static_cast<double*>(to)), "cufftExecZ2D",
                     shape_);
    }
  }

  Device device_;
  FftShape shape_;
  cufftHandle handle_ = 0;
  std::size_t work_bytes_ = 0;
  std::mutex mutex_;
  std::atomic<Streams> used_{0};
};

// The plans of one device, at most `most` of them: the one that was asked for longest ago is dropped.
class FftPlans {
 public:
  static constexpr std::size_t most = 256;

  // Never destroyed, like the streams.
  static FftPlans& of(Device device) {
    static FftPlans* const all = new FftPlans[static_cast<std::size_t>(device_count())];
    return all[device.ordinal];
  }

  // A recording holds what it asks for as long as its graph. Precondition: the device's card is current.
  std::shared_ptr<FftPlan> plan(Device device, const FftShape& shape) {
    std::shared_ptr<FftPlan> found = known(shape);
    if (!found)
      found = added(shape, CaptureGate::alone([&] { return std::make_shared<FftPlan>(device, shape); }));
    if (detail::graph_recording) capture_holds->push_back(found);
    return found;
  }

 private:
  struct Kept {
    std::shared_ptr<FftPlan> plan;
    std::uint64_t asked;
  };
  std::shared_ptr<FftPlan> known(const FftShape& shape) {
    const std::lock_guard lock(mutex_);
    const auto at = plans_.find(shape.key());
    if (at == plans_.end()) return nullptr;
    at->second.asked = ++clock_;
    return at->second.plan;
  }
  // Of two threads that made the plan the first one's stays.
  std::shared_ptr<FftPlan> added(const FftShape& shape, std::shared_ptr<FftPlan> made) {
    std::shared_ptr<FftPlan> dropped;  // destroyed with nothing locked: it waits for streams
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = plans_.try_emplace(shape.key(), Kept{made, 0});
    at->second.asked = ++clock_;
    if (plans_.size() > most) {
      auto oldest = plans_.begin();
      for (auto p = plans_.begin(); p != plans_.end(); ++p)
        if (p->second.asked < oldest->second.asked) oldest = p;
      dropped = std::move(oldest->second.plan);
      plans_.erase(oldest);
      if (detail::graph_recording) capture_holds->push_back(std::move(dropped));
      return made;
    }
    return at->second.plan;
  }

  std::mutex mutex_;
  std::map<FftShape::Key, Kept> plans_;
  std::uint64_t clock_ = 0;
};

}  // namespace cuda
NAX_END
