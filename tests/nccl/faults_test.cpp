#include "nax/devices/nccl/emulated/faults.hpp"

#include <atomic>
#include <random>
#include <thread>

#include "nax/core/device_memory.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nccl/devices.hpp"

// A step of training in which NCCL fails at any call: the caller gets an exception within the time limit, and
// the next step succeeds.
namespace nccl_devices::faults_test {

using A = Array<float>;
using nax::cuda::emulated_nccl::Fault;
using nax::cuda::emulated_nccl::Faults;
using nax::cuda::emulated_nccl::live_communicators;

struct Step {
  A w, loss, shifted;
};

// All kinds of messages, one after another.
Step step(const A& w, const A& x) {
  return pmap(
      [](const A& w, const A& x) {
        auto loss = [](const A& w, const A& x) { return mean(square(sin(matmul(x, w)))); };
        auto [value, g] = value_and_grad(loss)(w, x);
        const auto [mean_g, mean_value] = pmean(std::pair{g, value}, "devices");
        const A everyone = all_gather(mean_g * 2.f, "devices");
        const A shifted = ppermute(mean_g, "devices", {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
        const A part = psum_scatter(everyone, "devices");
        const A swapped = all_to_all(everyone, "devices", 0, 0);
        return Step{w - 0.1f * mean_g, mean_value, shifted + part + sum(swapped) + pmax(value, "devices")};
      },
      {.in_axes = {none, 0}, .axis_name = "devices", .devices = first_gpus(4)})(w, x);
}

class NcclFaults : public testing::Test {
 protected:
  const A w = sin(arange<float>(6)), x = sin(arange<float>(4 * 5 * 6)).reshape({4, 5, 6});

  std::size_t in_use() const {
    std::size_t bytes = 0;
    for (const Device device : devices("cuda")) bytes += memory_stats(device).in_use;
    return bytes;
  }
  // Returns the text of the step's exception: collectives may fail when pmap has returned, and then who waits
  // for the devices is told.
  std::string failure() const {
    try {
      step(w, x).shifted.to_vector();
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(NcclFaults, LaunchesThatBlockAreRefused) {
  std::string text;
  {
    const With blocking("CUDA_LAUNCH_BLOCKING", "1");
    text = failure();
  }
  EXPECT_NE(text.find("NCCL's collectives never end with CUDA_LAUNCH_BLOCKING=1"), std::string::npos) << text;
  EXPECT_EQ(failure(), "");
}

TEST_F(NcclFaults, Anywhere) {
  const With soon("NAX_COLLECTIVE_TIMEOUT_S", "0.15");
  const std::vector<float> want = step(w, x).shifted.to_vector(), parameters = step(w, x).w.to_vector();
  Faults& faults = Faults::instance();
  faults.disarm();
  step(w, x);
  const long calls = faults.calls(), operations = faults.operations();
  ASSERT_GT(calls, 40);
  ASSERT_EQ(operations, 4 * 6);
  const std::size_t before = in_use();
  const int communicators = live_communicators;

  std::mt19937 random(7);
  const Fault kinds[] = {Fault::error, Fault::error, Fault::async_error, Fault::stuck, Fault::dead};
  for (int i = 0; i < 240; ++i) {
    const Fault fault = kinds[i % 5];
    const long at =
        static_cast<long>(random() % static_cast<unsigned long>(fault == Fault::error ? calls : operations));
    const int code = 1 + static_cast<int>(random() % 6);
    faults.arm(fault, at, code);
    const auto began = std::chrono::steady_clock::now();
    const std::string text = failure();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    ASSERT_TRUE(faults.struck()) << i;
    faults.disarm();
    ASSERT_NE(text, "") << "fault " << static_cast<int>(fault) << " at " << at;
    ASSERT_EQ(text.find("pmap: device cuda:"), 0u) << text;
    ASSERT_NE(text.find(" along axis 'devices': "), std::string::npos) << text;
    ASSERT_NE(text.find(" of 4), shape"), std::string::npos) << text;
    ASSERT_LT(took.count(), 10) << text;
    const Step next = step(w, x);
    ASSERT_EQ(next.shifted.to_vector(), want) << text;
    ASSERT_EQ(next.w.to_vector(), parameters) << text;
  }
  EXPECT_EQ(in_use(), before);
  EXPECT_EQ(live_communicators, communicators);
  EXPECT_EQ(nax::cuda::emulated_nccl::lone_aborts, 0);
}

// All ranks of a collective in one group, though two threads map over the same devices at a time: all devices
// get the collectives of both in one order.
TEST_F(NcclFaults, OneGroupLaunchesAllRanks) {
  using nax::cuda::emulated_nccl::launched_groups, nax::cuda::emulated_nccl::partial_groups;
  const std::vector<float> want = step(w, x).shifted.to_vector();
  const long groups = launched_groups, partial = partial_groups;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      set_default_device(devices("cuda")[0]);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(step(w, x).shifted.to_vector(), want);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(partial_groups, partial);
  EXPECT_EQ(launched_groups, groups + 2 * 5 * 6);
}

// Room for results is made before the devices agree: one that has no memory holds up no kernel of the others.
TEST_F(NcclFaults, AllocatesBeforeAgreeing) {
  std::atomic<std::size_t> allocated[3] = {};
  EXPECT_THROW(pmap(
                   [&](const A& x) {
                     const auto i = static_cast<std::size_t>(axis_index("i").item());
                     const Device device = first_gpus(3)[i];
                     const A mine = i == 2 ? A(zeros<float>({4})) : A(zeros<float>({3}));
                     const std::size_t before = memory_stats(device).allocations;
                     try {
                       return sum(psum(mine, "i")) + x;
                     } catch (const Error&) {
                       allocated[i] = memory_stats(device).allocations - before;
                       throw;
                     }
                   },
                   {.axis_name = "i", .devices = first_gpus(3)})(A{1, 2, 3}),
               Error);
  EXPECT_GE(allocated[0], 1u);
  EXPECT_GE(allocated[1], 1u);
}

// While the communicators are being made.
TEST_F(NcclFaults, AtTheStart) {
  const With soon("NAX_COLLECTIVE_TIMEOUT_S", "0.15");
  auto sum = [&](int n) {
    return pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i", .devices = [&] {
                                                            std::vector<Device> all = first_gpus(4);
                                                            std::rotate(all.begin(), all.begin() + n,
                                                                        all.end());
                                                            return all;
                                                          }()})(A{1, 2, 3, 4});
  };
  const int communicators = live_communicators;
  Faults& faults = Faults::instance();
  for (int at = 0; at < 7; ++at) {
    faults.arm(Fault::error, at, 2);
    try {
      sum(1);
      ADD_FAILURE() << at;
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("unhandled system error (2)"), std::string::npos)
          << error.what();
    }
    faults.disarm();
    EXPECT_EQ(live_communicators, communicators) << at;
  }
  EXPECT_EQ(sum(1).to_vector(), (std::vector<float>{10, 10, 10, 10}));
}

TEST_F(NcclFaults, NameWhatHappened) {
  const With soon("NAX_COLLECTIVE_TIMEOUT_S", "0.1");
  auto text = [&](Fault fault) {
    Faults::instance().arm(fault, 1, 2);
    try {
      pmap(
          [](const A& x) {
            return psum(std::pair{x, sum(x)}, "i").first;
          },
          {.axis_name = "i", .devices = first_gpus(2)})(A{{1, 2, 3}, {4, 5, 6}})
          .to_vector();
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i", .devices = first_gpus(2)})(A{1, 2});
  const std::string stuck = text(Fault::stuck);
  EXPECT_NE(stuck.find(" of 2), shapes (3,), (): not done after 0.1 seconds "
                       "(NAX_COLLECTIVE_TIMEOUT_S)"),
            std::string::npos)
      << stuck;
  const std::string wrong = text(Fault::async_error);
  EXPECT_NE(wrong.find("shapes (3,), (): ncclCommGetAsyncError: unhandled system error (2): a fault on the "
                       "device"),
            std::string::npos)
      << wrong;
  const std::string dead = text(Fault::dead);
  EXPECT_NE(dead.find("remote process exited or there was a network error (6): a rank is gone"),
            std::string::npos)
      << dead;
  Faults::instance().disarm();
}

// Differences between devices are found before NCCL is called.
TEST_F(NcclFaults, MismatchesAreFoundBefore) {
  auto failure_of = [&](auto f) {
    try {
      pmap(f, {.axis_name = "i", .devices = first_gpus(3)})(A{1, 2, 3});
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i", .devices = first_gpus(3)})(A{1, 2, 3});
  const long before = nax::cuda::emulated_nccl::launched_groups;
  const auto here = [] { return axis_index("i").item(); };
  EXPECT_NE(failure_of([&](const A& x) {
              return sum(psum(here() == 1 ? zeros<float>({4}) : zeros<float>({3}), "i")) + x;
            }).find("psum: shapes differ between devices: (3,) on device 0, (4,) on device 1"),
            std::string::npos);
  EXPECT_NE(failure_of([&](const A& x) {
              return here() == 2 ? pmax(x, "i") : psum(x, "i");
            }).find("device 0 is in psum, device 2 in pmax"),
            std::string::npos);
  EXPECT_NE(failure_of([&](const A& x) {
              return here() == 2 ? x : psum(x, "i");
            }).find("psum: a device returned while others wait"),
            std::string::npos);
  EXPECT_EQ(nax::cuda::emulated_nccl::launched_groups, before);
}

}  // namespace nccl_devices::faults_test
