#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/devices.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/thread_pool-inl.hpp"
#include "nax/parallel/axis_environment.hpp"
#include "nax/parallel/device_threads.hpp"
#include "nax/parallel/threads.hpp"
#include "nax/tape/sweep.hpp"

// pmap's workers: one thread a device, which lives as long as the process and runs one program at a time. The
// caller waits, so that a worker may read what belongs to it: its vmaps, and its tape for telling captured
// arrays apart. Callers on several threads have a crew of workers each: one may wait for the other, as a
// device's program does for a thread that it has started.
//
// Nothing of this is ever destroyed, so that destructors of static objects may call pmap. A child of fork()
// has none of the threads, and begins with crews of its own.
NAX_BEGIN
namespace detail {

// A program for one device: called with its place along the mapped axis.
struct DeviceProgram {
  virtual ~DeviceProgram() = default;
  virtual void run(int rank) = 0;
};

class DeviceThread {
 public:
  explicit DeviceThread(Device device) : name_(to_string(device)) {
    std::thread([this, device] { work(device); }).detach();
  }
  void start(DeviceProgram* program, int rank) {
    {
      const std::lock_guard lock(mutex_);
      program_ = program;
      rank_ = rank;
    }
    changed_.notify_all();
  }
  void wait() {
    threads::wait_awake([&] { return program_.load(std::memory_order_relaxed) == nullptr; });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return program_ == nullptr; });
  }

 private:
  void work(Device device);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<DeviceProgram*> program_{nullptr};  // changes under the mutex
  int rank_ = 0;
  const std::string name_;
};

// A thread for each device that one of its programs has run on.
class DeviceCrew {
 public:
  // Throws DeviceError where the system has no thread for one of them; nothing runs then.
  void hire(const std::vector<Device>& devices);
  // On devices that have been hired for.
  void run(const std::vector<Device>& devices, DeviceProgram& program) {
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
      thread_of(devices[rank]).start(&program, static_cast<int>(rank));
    for (const Device device : devices) thread_of(device).wait();
  }
  DeviceCrew* next = nullptr;  // of those that are free

 private:
  DeviceThread& thread_of(Device device) {
    return *threads_[static_cast<std::size_t>(device.platform)][device.ordinal];
  }
  std::vector<std::unique_ptr<DeviceThread>> threads_[platform_count];
};

class DeviceThreads {
 public:
  static DeviceThreads& instance() { return *of_this_process(); }

  void run(const RunOn& where, FunctionRef<void(int rank)> task);

 private:
  class OnLoan {
   public:
    explicit OnLoan(DeviceThreads& from) : from_(from), crew_(from.take()) {}
    ~OnLoan() { from_.put(crew_); }
    OnLoan(const OnLoan&) = delete;
    OnLoan& operator=(const OnLoan&) = delete;
    DeviceCrew* operator->() const { return crew_; }

   private:
    DeviceThreads& from_;
    DeviceCrew* const crew_;
  };
  // The crew that was given back last, or a new one.
  DeviceCrew* take() {
    const std::lock_guard lock(mutex_);
    if (!free_) return new DeviceCrew;
    return std::exchange(free_, free_->next);
  }
  void put(DeviceCrew* crew) {
    const std::lock_guard lock(mutex_);
    crew->next = std::exchange(free_, crew);
  }
  static DeviceThreads*& of_this_process() {
    static DeviceThreads* here = [] {
      at_fork(nullptr, nullptr, begin_anew);
      return new DeviceThreads;
    }();
    return here;
  }
  // In a child of fork(): the crews are still there, but for their threads.
  static void begin_anew() {
    auto* const fresh = new DeviceThreads;
    fresh->left_behind_ = std::exchange(of_this_process(), fresh);
  }

  // The error of the device that failed first in the axis' order; those that were only released do not count.
  static void report(const std::vector<std::exception_ptr>& errors, const std::vector<Device>& devices,
                     const std::string& axis_name);

  std::mutex mutex_;
  DeviceCrew* free_ = nullptr;
  DeviceThreads* left_behind_ = nullptr;  // by the process that forked this one
};

NAX_ENGINE void DeviceThread::work(Device device) {
  current_device = device;
  profile::name_thread(name_.c_str());
  const unsigned generation = process_generation.load(std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return program_ != nullptr; });
    lock.unlock();
    program_.load()->run(rank_);
    // The program may return in a child that it has forked, where no thread waits for it.
    if (process_generation.load(std::memory_order_relaxed) != generation) return;
    lock.lock();
    program_ = nullptr;
    changed_.notify_all();
    lock.unlock();  // the next program may come at once
    threads::wait_awake([&] { return program_.load(std::memory_order_relaxed) != nullptr; });
    lock.lock();
  }
}

NAX_ENGINE void DeviceCrew::hire(const std::vector<Device>& devices) {
  for (const Device device : devices) {
    auto& of_platform = threads_[static_cast<std::size_t>(device.platform)];
    if (device.ordinal >= of_platform.size()) of_platform.resize(device.ordinal + 1u);
    auto& thread = of_platform[device.ordinal];
    if (thread) continue;
    try {
      thread = std::make_unique<DeviceThread>(device);
    } catch (const std::system_error& error) {
      raise<DeviceError>({"pmap: the system has no thread for device ", device, ": ", error.what()});
    }
  }
}

NAX_ENGINE void DeviceThreads::report(const std::vector<std::exception_ptr>& errors,
                                      const std::vector<Device>& devices, const std::string& axis_name) {
  std::exception_ptr aborted;
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    if (!errors[rank]) continue;
    const std::string where = "pmap: device " + to_string(devices[rank]) +
                              (axis_name.empty() ? "" : " along axis '" + axis_name + "'") + ": ";
    try {
      std::rethrow_exception(errors[rank]);
    } catch (const MeetingAborted&) {
      aborted = errors[rank];
    } catch (const std::exception& error) {
      std::throw_with_nested(DeviceError(where + error.what()));
    } catch (...) {
      std::throw_with_nested(DeviceError(where + "an exception that is no std::exception"));
    }
  }
  if (aborted) std::rethrow_exception(aborted);
}

NAX_ENGINE void DeviceThreads::run(const RunOn& where, FunctionRef<void(int rank)> task) {
  const auto& [devices, axis_name, everywhere] = where;
  if (on_device_thread)
    throw ValueError("pmap: a pmap inside a pmap has no devices left; use vmap for the inner axis");
  const int n = static_cast<int>(devices.size());
  ThreadCommunicator here(n, &devices);
  std::unique_ptr<Communicator> library;
  if (!axis_name.empty() && everywhere && process_provider)
    library = process_provider->connect(devices, axis_name, here);
  else if (!axis_name.empty() && nccl_provider)
    library = nccl_provider->connect(devices, here, nullptr);
  Communicator& communicator = library ? *library : here;
  struct Program final : DeviceProgram {
    FunctionRef<void(int)> task;
    Communicator& communicator;
    const std::string& name;
    const std::vector<VmapFrame>& frames;
    int sweeping;
    const Tape* caller;
    int threads;
    std::vector<std::exception_ptr> errors;

    Program(FunctionRef<void(int)> t, Communicator& c, const std::string& a, int n)
        : task(t),
          communicator(c),
          name(a),
          frames(vmap_stack().frames),
          sweeping(vmap_stack().sweeping),
          caller(recording.tape),
          threads(std::max(1, num_threads() / n)),
          errors(static_cast<std::size_t>(n)) {}

    void run(int rank) override {
      on_device_thread = true;
      recording = {nullptr, caller};
      try {
        vmap_stack().frames = frames;
        vmap_stack().sweeping = sweeping;
        device_axes().push_back({name, &communicator, communicator.first() + rank, rank == 0});
        gradients_meet = communicator.overlaps();
        const ThreadLimit limit(threads);
        task(rank);
        communicator.finish(communicator.first() + rank);
        communicator.leave(communicator.first() + rank);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        communicator.abort(error.what());
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        communicator.abort("an exception that is no std::exception");
      }
      device_axes().clear();
      gradients_meet = false;
      vmap_stack() = {};
      recording = {};
      on_device_thread = false;
    }
  } program(task, communicator, axis_name, n);

  {
    const OnLoan crew(*this);
    crew->hire(devices);
    crew->run(devices, program);
  }
  report(program.errors, devices, axis_name);
  communicator.end(axis_name);
}

NAX_ENGINE void run_on_devices(const RunOn& where, FunctionRef<void(int rank)> task) {
  DeviceThreads::instance().run(where, task);
}

}  // namespace detail
NAX_END
