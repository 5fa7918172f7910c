#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nax/core/profile.hpp"
#include "nax/devices/cuda/device/streams.hpp"

// The card's times of operations, for a profile: an event before and one after, in the order of the stream.
// The card's clock and the host's meet in one event a trace and device, which the host waits for.
NAX_BEGIN
namespace cuda {

// Events with times, which are used again.
class TimedEvents {
 public:
  static TimedEvents& of(Device device) {  // never destroyed, like the streams
    static TimedEvents* const all = new TimedEvents[static_cast<std::size_t>(device_count())];
    return all[device.ordinal];
  }
  struct Origin {
    cudaEvent_t event = nullptr;
    std::int64_t host = 0;
    unsigned trace = 0;
  };
  // The card is the current one.
  cudaEvent_t take() {
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        cudaEvent_t const event = spare_.back();
        spare_.pop_back();
        return event;
      }
    }
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDefault), "cudaEventCreateWithFlags");
    return event;
  }
  void give_back(cudaEvent_t event) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      spare_.push_back(event);
    } catch (...) {
      cudaEventDestroy(event);
    }
  }
  // Of the trace that is being taken.
  std::shared_ptr<const Origin> origin(Device device, cudaStream_t stream) {
    const std::lock_guard lock(origin_mutex_);
    const unsigned trace = nax::detail::profile::traces.load();
    if (origin_ && origin_->trace == trace) return origin_;
    const std::shared_ptr<Origin> made(new Origin{take(), 0, trace}, [device](Origin* origin) {
      of(device).give_back(origin->event);
      delete origin;
    });
    check(cudaEventRecord(made->event, stream), "cudaEventRecord");
    check(cudaEventSynchronize(made->event), "cudaEventSynchronize");
    made->host = nax::detail::profile::now();
    return origin_ = made;
  }

 private:
  std::mutex mutex_, origin_mutex_;
  std::vector<cudaEvent_t> spare_;
  std::shared_ptr<const Origin> origin_;
};

class StreamTimes final : public nax::detail::profile::DeviceTimes {
 public:
  StreamTimes(Device device, const StreamInUse& stream) : device_(device), stream_(stream) {
    TimedEvents& events = TimedEvents::of(device);
    origin_ = events.origin(device, stream_);
    begin_ = events.take();
    try {
      end_ = events.take();
      check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
    } catch (...) {
      give_back();
      throw;
    }
  }
  ~StreamTimes() override { give_back(); }
  StreamTimes(const StreamTimes&) = delete;
  StreamTimes& operator=(const StreamTimes&) = delete;

  void end() noexcept override {
    ended_ = cudaEventRecord(end_, stream_) == cudaSuccess;
    if (!ended_) cudaGetLastError();
  }
  bool read(std::int64_t& begin, std::int64_t& end) noexcept override {
    float before = 0, during = 0;
    if (!ended_ || cudaEventSynchronize(end_) != cudaSuccess ||
        cudaEventElapsedTime(&before, origin_->event, begin_) != cudaSuccess ||
        cudaEventElapsedTime(&during, begin_, end_) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    begin = origin_->host + static_cast<std::int64_t>(static_cast<double>(before) * 1e6);
    end = begin + static_cast<std::int64_t>(static_cast<double>(during) * 1e6);
    return true;
  }

 private:
  void give_back() noexcept {
    for (cudaEvent_t const event : {begin_, end_})
      if (event) TimedEvents::of(device_).give_back(event);
  }

  const Device device_;
  cudaStream_t const stream_;
  std::shared_ptr<const TimedEvents::Origin> origin_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  bool ended_ = false;
};

// Null while a graph is recorded, which has no time yet, and where the driver refuses: a trace then lacks
// times.
inline std::shared_ptr<nax::detail::profile::DeviceTimes> time_stream(Device device) noexcept {
  if (nax::detail::graph_recording) return nullptr;
  try {
    const StreamInUse stream = use(device);
    return std::make_shared<StreamTimes>(device, stream);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace cuda
NAX_END
