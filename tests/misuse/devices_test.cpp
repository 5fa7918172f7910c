#include "nax/core/devices.hpp"

#include <cstdio>
#include <cstdlib>

#include "misuse/misuse.hpp"
#include "nax/core/allocator.hpp"

// A program that links nax::cuda on a machine without a card.
namespace misuse_devices_test {

using namespace nax;

class NoCards final : public detail::Accelerator {
 public:
  int count() override { return 0; }
  std::string why_none() override { return "no NVIDIA driver is installed"; }
  void* allocate(Device, std::size_t) override { return nullptr; }
  void deallocate(Device, void*, std::size_t, detail::Streams) noexcept override {}
  detail::Streams stream(Device) override { return 0; }
  void join(Device, detail::Streams) override {}
  void copy_to_device(Device, void*, const void*, std::size_t) override {}
  void copy_to_host(Device, void*, const void*, std::size_t) override {}
  void copy_between(Device, void*, Device, const void*, std::size_t) override {}
  void clear(Device, void*, std::size_t) override {}
  void synchronize(Device) override {}
  MemoryStats memory_stats(Device) override { return {}; }
  void release_cached_memory(Device) override {}
  detail::GraphMaker& graphs() override { std::abort(); }
};

template <class F>
void print_error_of(F f) {
  try {
    f();
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

TEST(Devices, WithoutACardNameTheReason) {
  EXPECT_EXIT(  // the platform stays in its process
      {
        static NoCards none;
        detail::provide_accelerator(Platform::cuda, none);
        print_error_of([] { (void)devices("cuda")[0]; });
        print_error_of([] { (void)local_devices("cuda")[0]; });
        std::_Exit(device_count("cuda") + local_device_count("cuda"));
      },
      testing::ExitedWithCode(0),
      "devices: no device of 'cuda': no NVIDIA driver is installed\n"
      "local_devices: no device of 'cuda': no NVIDIA driver is installed\n");
}

}  // namespace misuse_devices_test
