#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "nax/collective/axis_environment.hpp"
#include "nax/collective/threads.hpp"
#include "nax/core/compiled_once.hpp"
#include "nax/core/devices.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/tape/tape.hpp"

// pmap's workers: one thread a device, which lives as long as the process and runs one program at a time. The
// caller waits, so that a worker may read what belongs to it: its vmaps, and its tape for telling captured
// arrays apart.
namespace nax::detail {

// A program for one device: called with its place along the mapped axis.
struct DeviceProgram {
  virtual ~DeviceProgram() = default;
  virtual void run(int rank) = 0;
};

class DeviceThread {
 public:
  explicit DeviceThread(Device device) : thread_([this, device] { work(device); }) {}
  ~DeviceThread() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
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
  void work(Device device) {
    current_device = device;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return program_ != nullptr || stop_; });
      if (!program_) return;
      lock.unlock();
      program_.load()->run(rank_);
      lock.lock();
      program_ = nullptr;
      changed_.notify_all();
      lock.unlock();  // the next program may come at once
      threads::wait_awake([&] { return program_.load(std::memory_order_relaxed) != nullptr; });
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<DeviceProgram*> program_{nullptr};  // changes under the mutex
  int rank_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

inline thread_local constinit bool on_device_thread = false;

class DeviceThreads {
 public:
  static DeviceThreads& instance() {
    static DeviceThreads threads;
    return threads;
  }

  // Runs `task(rank)` on each device at once, inside the named axis. What a device throws reaches the caller
  // as a DeviceError that names it; the other devices are released from any collective they wait in.
  NAX_COMPILED_ONCE void run(const std::vector<Device>& devices, const std::string& axis_name,
                             FunctionRef<void(int rank)> task) {
    if (on_device_thread)
      throw ValueError("pmap: a pmap inside a pmap has no devices left; use vmap for the inner axis");
    const int n = static_cast<int>(devices.size());
    // What the caller's stream still computes must be there before other streams read it.
    for (const Device device : devices)
      if (on_accelerator(device)) accelerator_of(device).synchronize(device);
    ThreadCommunicator communicator(n);
    struct Program final : DeviceProgram {
      FunctionRef<void(int)> task;
      ThreadCommunicator& communicator;
      const std::string& name;
      const std::vector<VmapFrame>& frames;
      int sweeping;
      const Tape* caller;
      int threads;
      std::vector<std::exception_ptr> errors;

      Program(FunctionRef<void(int)> t, ThreadCommunicator& c, const std::string& a, int n)
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
        vmap_stack().frames = frames;
        vmap_stack().sweeping = sweeping;
        device_axes().push_back({name, &communicator, rank});
        try {
          const ThreadLimit limit(threads);
          task(rank);
          if (on_accelerator(current_device)) accelerator_of(current_device).synchronize(current_device);
          communicator.leave();
        } catch (...) {
          errors[static_cast<std::size_t>(rank)] = std::current_exception();
          communicator.abort();
        }
        device_axes().pop_back();
        vmap_stack() = {};
        recording = {};
        on_device_thread = false;
      }
    } program(task, communicator, axis_name, n);

    {
      const std::lock_guard one_pmap_at_a_time(launch_);
      for (int rank = 0; rank < n; ++rank)
        thread_of(devices[static_cast<std::size_t>(rank)]).start(&program, rank);
      for (int rank = 0; rank < n; ++rank) thread_of(devices[static_cast<std::size_t>(rank)]).wait();
    }
    report(program.errors, devices, axis_name);
  }

 private:
  DeviceThread& thread_of(Device device) {
    auto& of_platform = threads_[static_cast<std::size_t>(device.platform)];
    if (device.ordinal >= of_platform.size()) of_platform.resize(device.ordinal + 1u);
    auto& thread = of_platform[device.ordinal];
    if (!thread) thread = std::make_unique<DeviceThread>(device);
    return *thread;
  }

  // The error of the device that failed first in the axis' order; those that were only released do not count.
  static void report(const std::vector<std::exception_ptr>& errors, const std::vector<Device>& devices,
                     const std::string& axis_name) {
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

  std::mutex launch_;
  std::vector<std::unique_ptr<DeviceThread>> threads_[platform_count];
};

}  // namespace nax::detail
