#pragma once

#include <bit>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "nax/core/accelerator.hpp"
#include "nax/core/per_thread.hpp"
#include "nax/devices/cuda/device/runtime.hpp"
#include "nax/devices/cuda/device/staging.hpp"

// Each thread has a stream of its own on each device it uses, and another one for collectives
// (CommunicationScope), if it makes any.
//
// A device has 64 places for streams, and a stream's place is its bit in detail::Streams. A thread takes a
// place when it first uses the device and leaves it when it ends, once its stream has drained: a bit whose
// stream is gone stands for work that is done, so no search is needed for bits that are left in buffers and
// in cached blocks, and the next thread may take the place. The 65th thread shares a stream with another.
//
// Tables are never destroyed: arrays with static storage are freed, and threads end, at any time until the
// process does.
NAX_BEGIN
namespace cuda {

using detail::Streams;

// The work a stream had been given at some moment: done once the event is.
struct PlaceMark {
  cudaEvent_t event;
  int place;
  PlaceMark* next;
  std::uint64_t number = 0;  // of a moment that a thread has noted: they count up
};

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
    const OnCard on(device);
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

  // A list of marks of what these streams have been given so far. Takes the bits away from `streams` for
  // which nothing is left to wait but the marks: of streams that are gone, too. What the driver refuses is
  // left.
  PlaceMark* mark(Device device, Streams& streams) noexcept {
    PlaceMark* marks = nullptr;
    const std::lock_guard lock(mutex_);
    for (Streams rest = streams; rest != 0; rest &= rest - 1) {
      const int number = std::countr_zero(rest);
      if (places_[number].stream) {
        PlaceMark* const mark = spare_mark(device);
        if (!mark) break;
        mark->next = marks, mark->place = number, marks = mark;
        if (cudaEventRecord(mark->event, places_[number].stream) != cudaSuccess) {
          marks = mark->next, mark->next = spare_, spare_ = mark;
          cudaGetLastError();
          break;
        }
      }
      streams &= ~(Streams{1} << number);
    }
    return marks;
  }
  void give_back(PlaceMark* marks) noexcept {
    const std::lock_guard lock(mutex_);
    while (marks) {
      PlaceMark* const mark = std::exchange(marks, marks->next);
      mark->next = spare_, spare_ = mark;
    }
  }

  // The host waits until these streams have done what they have been given. (Never for the device: that would
  // end what other threads capture.)
  void drain(Device device, Streams streams);

 private:
  PlaceMark* spare_mark(Device device) noexcept {
    if (PlaceMark* const mark = spare_) return spare_ = mark->next, mark;
    PlaceMark* const mark = new (std::nothrow) PlaceMark{};
    try {
      const OnCard on(device);
      if (mark && cudaEventCreateWithFlags(&mark->event, cudaEventDisableTiming) == cudaSuccess) return mark;
    } catch (const DeviceError&) {
    }
    delete mark;
    cudaGetLastError();
    return nullptr;
  }

  std::mutex mutex_;
  StreamPlace places_[places];
  PlaceMark* spare_ = nullptr;
};

// The calling thread's places, by device: 0 for none, otherwise one more than the place. Plain data, so that
// what runs while a thread ends still finds it.
inline thread_local constinit unsigned char thread_places[most_devices] = {};
inline thread_local constinit unsigned char communication_places[most_devices] = {};

struct LeaveStreams {
  ~LeaveStreams() {
    for (int d = 0; d < most_devices; ++d)
      for (unsigned char* const places : {thread_places, communication_places})
        if (const int place = std::exchange(places[d], static_cast<unsigned char>(0))) {
          const Device device{Platform::cuda, static_cast<std::uint16_t>(d)};
          DeviceStreams::of(device).leave(device, place - 1);
        }
  }
};

[[gnu::cold, gnu::noinline]] inline void enter_stream(Device device, unsigned char* places = thread_places) {
  detail::per_thread<LeaveStreams>();
  places[device.ordinal] = static_cast<unsigned char>(DeviceStreams::of(device).enter(device) + 1);
}

inline thread_local constinit bool communicating = false;  // in a scope
// While it lives, the calling thread's stream on the device is its second one, where collectives go: what the
// thread launches, allocates and reads there then is in that stream's order. The two wait for each other as
// streams of two threads do.
class CommunicationScope {
 public:
  explicit CommunicationScope(Device device) : device_(device) {
    if (communication_places[device.ordinal] == 0) enter_stream(device, communication_places);
    exchange();
  }
  ~CommunicationScope() { exchange(); }
  CommunicationScope(const CommunicationScope&) = delete;
  CommunicationScope& operator=(const CommunicationScope&) = delete;

 private:
  void exchange() {
    std::swap(thread_places[device_.ordinal], communication_places[device_.ordinal]);
    communicating = !communicating;
  }
  const Device device_;
};
inline thread_local constinit std::uint64_t moments_noted = 0;

// The calling thread's place on the device.
inline int place_on(Device device) {
  if (thread_places[device.ordinal] == 0) [[unlikely]]
    enter_stream(device);
  return thread_places[device.ordinal] - 1;
}
inline Streams stream_bit(Device device) { return Streams{1} << place_on(device); }

// Hook polled during a stream wait; throws to abort it. For collectives of several cards, one of which may
// fail.
class StreamWatch {
 public:
  virtual void check() = 0;

 protected:
  ~StreamWatch() = default;
};
inline thread_local constinit StreamWatch* stream_watch = nullptr;

// Asks until it is done, and the watch in between and at the end: what ends a wait may be a collective that
// was aborted.
template <class Query>
void poll_watched(const Query& query, const char* call) {
  for (long n = 0;; ++n) {
    const cudaError_t state = query();
    if (state != cudaErrorNotReady) check(state, call);
    if (stream_watch) stream_watch->check();  // which may end the watch
    if (state == cudaSuccess) return;
    if (n < 1000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}
// Waits until all that the stream has been given is done. With a watch the thread asks instead of sleeping in
// the driver.
inline void wait_for(cudaStream_t stream) {
  if (!stream_watch) return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  poll_watched([stream] { return cudaStreamQuery(stream); }, "cudaStreamQuery");
}
inline void wait_for(const PlaceMark& mark) {
  if (!stream_watch) return check(cudaEventSynchronize(mark.event), "cudaEventSynchronize");
  poll_watched([&mark] { return cudaEventQuery(mark.event); }, "cudaEventQuery");
}

inline void DeviceStreams::drain(Device device, Streams streams) {
  const struct Marks {
    DeviceStreams& all;
    PlaceMark* first;
    ~Marks() { all.give_back(first); }
  } marks{*this, mark(device, streams)};
  for (const PlaceMark* m = marks.first; m; m = m->next) wait_for(*m);
  if (streams == 0) return;
  const std::lock_guard lock(mutex_);  // those that could not be marked
  for (; streams != 0; streams &= streams - 1)
    if (const StreamPlace& place = places_[std::countr_zero(streams)]; place.stream)
      check(cudaStreamSynchronize(place.stream), "cudaStreamSynchronize");
}

// A stream, and its card made current for as long as this lives.
class StreamInUse {
 public:
  StreamInUse(Device device, cudaStream_t stream) : on_(device), stream_(stream) {}
  operator cudaStream_t() const& { return stream_; }
  operator cudaStream_t() const&& = delete;  // the card would be current no longer

 private:
  const OnCard on_;
  cudaStream_t const stream_;
};

// The calling thread's stream in the device's table: where recordings are replayed.
inline StreamInUse table_stream(Device device) {
  return {device, DeviceStreams::of(device).at(place_on(device)).stream};
}

// The stream that the calling thread's recording captures: in no table, so that no other thread waits for it
// and is drawn into the capture.
inline thread_local constinit cudaStream_t capture_stream = nullptr;
// Holds for the graph of that recording what it uses and does not contain (plans of libraries).
inline thread_local constinit std::vector<std::shared_ptr<const void>>* capture_holds = nullptr;

// Where the calling thread's work on the device goes.
inline StreamInUse use(Device device) {
  if (!detail::graph_recording) [[likely]]
    return table_stream(device);
  detail::check_recorded_on(device);
  return {device, capture_stream};
}

}  // namespace cuda
NAX_END
