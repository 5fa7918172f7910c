#pragma once

#include <bit>
#include <chrono>
#include <mutex>
#include <thread>

#include "nax/backend/cuda/runtime.hpp"
#include "nax/backend/cuda/staging.hpp"
#include "nax/core/accelerator.hpp"
#include "nax/core/per_thread.hpp"

// Each thread has a stream of its own on each device it uses.
//
// A device has 64 places for streams, and a stream's place is its bit in detail::Streams. A thread takes a
// place when it first uses the device and leaves it when it ends, once its stream has drained: a bit whose
// stream is gone stands for work that is done, so nobody must look for bits that are left in buffers and in
// cached blocks, and the next thread may take the place. The 65th thread shares a stream with another.
//
// Tables are never destroyed: arrays with static storage are freed, and threads end, at any time until the
// process does.
namespace nax::inline NAX_ABI::cuda {

using detail::Streams;

struct StreamPlace {
  cudaStream_t stream = nullptr;
  cudaEvent_t passed = nullptr;  // recorded, and waited for, under the table's mutex
  int threads = 0;
  Staging staging;
};

class DeviceStreams {
 public:
  static constexpr int places = 64;

  static DeviceStreams& of(Device device) {
    static DeviceStreams* const all = new DeviceStreams[static_cast<std::size_t>(device_count())];
    return all[device.ordinal];
  }

  StreamPlace& at(int place) { return places_[place]; }

  int enter(Device device) {
    select_card(device);
    const std::lock_guard lock(mutex_);
    int chosen = 0;
    for (int p = 1; p < places; ++p)
      if (places_[p].threads < places_[chosen].threads) chosen = p;
    StreamPlace& place = places_[chosen];
    if (!place.passed)
      check(cudaEventCreateWithFlags(&place.passed, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    if (!place.stream)
      check(cudaStreamCreateWithFlags(&place.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    ++place.threads;
    return chosen;
  }
  // At the end of a thread; the runtime may be gone.
  void leave(Device device, int number) noexcept {
    StreamPlace& place = places_[number];
    if (cudaSetDevice(card_of(device)) == cudaSuccess) cudaStreamSynchronize(place.stream);
    const std::lock_guard lock(mutex_);
    if (--place.threads > 0) return;
    place.staging.release();
    cudaStreamDestroy(std::exchange(place.stream, nullptr));
    cudaGetLastError();
  }

  // `waiter` goes on when the streams of these places have done what they have been given so far.
  void follow(Streams leaders, cudaStream_t waiter) {
    if (leaders == 0) return;
    const std::lock_guard lock(mutex_);
    for (; leaders != 0; leaders &= leaders - 1) {
      StreamPlace& place = places_[std::countr_zero(leaders)];
      if (!place.stream || place.stream == waiter) continue;
      check(cudaEventRecord(place.passed, place.stream), "cudaEventRecord");
      check(cudaStreamWaitEvent(waiter, place.passed, 0), "cudaStreamWaitEvent");
    }
  }

  // The host waits until these streams have done what they have been given.
  void drain(Streams streams) {
    const std::lock_guard lock(mutex_);
    for (; streams != 0; streams &= streams - 1)
      if (StreamPlace& place = places_[std::countr_zero(streams)]; place.stream)
        check(cudaStreamSynchronize(place.stream), "cudaStreamSynchronize");
  }

 private:
  std::mutex mutex_;
  StreamPlace places_[places];
};

// The calling thread's places, by device: 0 for none, otherwise one more than the place. Plain data, so that
// what runs while a thread ends still finds it.
inline thread_local constinit unsigned char thread_places[most_devices] = {};

struct LeaveStreams {
  ~LeaveStreams() {
    for (int d = 0; d < most_devices; ++d)
      if (const int place = std::exchange(thread_places[d], static_cast<unsigned char>(0))) {
        const Device device{Platform::cuda, static_cast<std::uint16_t>(d)};
        DeviceStreams::of(device).leave(device, place - 1);
      }
  }
};

[[gnu::cold, gnu::noinline]] inline void enter_stream(Device device) {
  detail::per_thread<LeaveStreams>();
  thread_places[device.ordinal] = static_cast<unsigned char>(DeviceStreams::of(device).enter(device) + 1);
}

// The calling thread's place on the device.
inline int place_on(Device device) {
  if (thread_places[device.ordinal] == 0) [[unlikely]]
    enter_stream(device);
  return thread_places[device.ordinal] - 1;
}
inline Streams stream_bit(Device device) { return Streams{1} << place_on(device); }

// Somebody who is asked, while this thread waits for a stream, whether that will end: collectives of several
// cards, one of which may fail. check() throws when it will not.
class StreamWatch {
 public:
  virtual void check() = 0;

 protected:
  ~StreamWatch() = default;
};
inline thread_local constinit StreamWatch* stream_watch = nullptr;

// Waits until all that the stream has been given is done. With a watch the thread asks instead of sleeping in
// the driver.
inline void wait_for(cudaStream_t stream) {
  if (!stream_watch) return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (long n = 0;; ++n) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) check(state, "cudaStreamQuery");
    stream_watch->check();
    if (n < 1000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// The calling thread's stream, the device's card made current.
inline cudaStream_t use(Device device) {
  select_card(device);
  return DeviceStreams::of(device).at(place_on(device)).stream;
}

}  // namespace nax::inline NAX_ABI::cuda
