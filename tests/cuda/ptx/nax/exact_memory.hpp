#pragma once

#include <gtest/gtest.h>

#include "cuda/ptx/hook.hpp"
#include "nax/core/accelerator.hpp"
#include "nax/core/allocator.hpp"

// nax's device, with the bounds of each array told to the interpreter: a kernel that leaves its operands for
// others of the pool is at fault.
namespace exact_memory {

class ExactMemory final : public nax::detail::Accelerator {
 public:
  using Device = nax::Device;
  using Streams = nax::detail::Streams;
  explicit ExactMemory(Accelerator& of) : of_(of) {}

  int count() override { return of_.count(); }
  void* allocate(Device device, std::size_t bytes) override {
    void* const memory = of_.allocate(device, bytes);
    ptx::array_begins(memory, bytes);
    return memory;
  }
  void deallocate(Device device, void* memory, std::size_t bytes, Streams used) noexcept override {
    ptx::array_ends(memory);
    of_.deallocate(device, memory, bytes, used);
  }
  Streams stream(Device device) override { return of_.stream(device); }
  void join(Device device, Streams others) override { of_.join(device, others); }
  void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) override {
    of_.copy_to_device(device, to, from, bytes);
  }
  void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) override {
    of_.copy_to_host(device, to, from, bytes);
  }
  void copy_between(Device to_device, void* to, Device from_device, const void* from,
                    std::size_t bytes) override {
    of_.copy_between(to_device, to, from_device, from, bytes);
  }
  void clear(Device device, void* memory, std::size_t bytes) override { of_.clear(device, memory, bytes); }
  void synchronize(Device device) override { of_.synchronize(device); }
  nax::MemoryStats memory_stats(Device device) override { return of_.memory_stats(device); }
  void release_cached_memory(Device device) override { of_.release_cached_memory(device); }
  nax::detail::GraphMaker& graphs() override { return of_.graphs(); }

 private:
  Accelerator& of_;
};

// Installs this device in nax, and fails each test in which a kernel had a fault, or no kernel ran though one
// should.
class Watch final : public testing::EmptyTestEventListener {
 public:
  void OnTestProgramStart(const testing::UnitTest&) override {
    using namespace nax;
    ptx::checks().global_races = true;
    static ExactMemory exact(*detail::accelerators[static_cast<int>(Platform::cuda)]);
    detail::provide_accelerator(Platform::cuda, exact);
  }
  void OnTestEnd(const testing::TestInfo&) override {
    for (const std::string& fault : ptx::take_faults()) ADD_FAILURE() << fault;
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    std::printf("%llu launches, %llu instructions\n", static_cast<unsigned long long>(ptx::counts().launches),
                static_cast<unsigned long long>(ptx::counts().steps));
  }
};
inline const bool watching = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Watch);
  return true;
}();

}  // namespace exact_memory
