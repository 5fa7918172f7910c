#pragma once

#include "nax/parallel/device_threads.hpp"

NAX_BEGIN
namespace detail {

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

}  // namespace detail
NAX_END
