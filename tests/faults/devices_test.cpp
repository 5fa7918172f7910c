#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "faults/every_allocation.hpp"

namespace devices_test {

using namespace faults;
using F = Array<float>;

const F x = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};

TEST(Faults, Pmap) {
  fail_each_allocation([] { return found(pmap([](const F& x) { return sin(x) * 2.f; })(x)); });
}
TEST(Faults, PmapInsideVmap) {
  fail_each_allocation([] {
    auto f = [](const F& y) {
      return pmap([](const F& a, const F& b) { return psum(a * b, "i"); },
                  {.in_axes = {0, none}, .axis_name = "i"})(x, y);
    };
    return found(vmap(f)(x));
  });
}
TEST(Faults, CollectivesOfPmap) {
  fail_each_allocation([] {
    auto f = [](const F& x) {
      return std::tuple{psum(std::vector{x, F(x * x)}, "i"),
                        pmean(x, "i"),
                        all_gather(x, "i"),
                        psum_scatter(x, "i"),
                        all_to_all(x, "i", 0, 0),
                        pmin(x, "i"),
                        ppermute(x, "i", {{0, 1}, {1, 0}})};
    };
    const auto [a, b, c, d, e, g, h] = pmap(f, {.axis_name = "i"})(x);
    return found(a[0], a[1], b, c, d, e, g, h);
  });
}
auto loss = [](const F& x) {
  return F(sum(pmap([](const F& x) { return psum(sin(x), "i") * x; }, {.axis_name = "i"})(x)));
};
TEST(Faults, GradOfPmap) {
  fail_each_allocation([] { return found(grad(loss)(x)); });
}
TEST(Faults, GradOfGradOfPmap) {
  const F two = x(slice(0, 2));
  fail_each_allocation(
      [&] { return found(grad([](const F& x) { return F(sum(grad(loss)(x) * x)); })(two)); });
}
TEST(Faults, TrainingOverDevices) {
  fail_each_allocation([] {
    const auto opt = optim::sgd(.1);
    auto loss = [](const F& w, const F& x) { return mean(square(matmul(x, w))); };
    auto step = [=](F w, auto state, const F& x) {
      return optim::value_and_step(opt, loss, {.axis_name = "i"})(std::move(w), std::move(state), x);
    };
    F w = device_put_replicated(F(reshape(arange(32.f), {4, 8}) * .01f), devices());
    auto state = device_put_replicated(opt.init(F(zeros<float>({4, 8}))), devices());
    F value;
    std::tie(value, w, state) =
        pmap(step, {.axis_name = "i"})(std::move(w), std::move(state), reshape(x, {4, 1, 4}));
    return found(value, w);
  });
}
// Products of large weights, which the devices compute together.
TEST(Faults, WaitingProductsOverDevices) {
  fail_each_allocation([] {
    const auto opt = optim::sgd(.1);
    auto loss = [](const F& w, const F& x) { return mean(square(matmul(x, w))); };
    auto step = [=](F w, auto state, const F& x) {
      return optim::value_and_step(opt, loss, {.axis_name = "i"})(std::move(w), std::move(state), x);
    };
    F w = device_put_replicated(F(full({256, 256}, .01f)), devices());
    auto state = device_put_replicated(opt.init(F(zeros<float>({256, 256}))), devices());
    F value;
    std::tie(value, w, state) =
        pmap(step, {.axis_name = "i"})(std::move(w), std::move(state), ones<float>({4, 8, 256}));
    return found(value, F(sum(w, {.axis = {1, 2}})));
  });
}
TEST(Faults, DeviceThatThrows) {
  fail_each_allocation([] {
    try {
      pmap(
          [](const F& x) -> F { return axis_index("i").item() == 2 ? throw ValueError("no") : psum(x, "i"); },
          {.axis_name = "i"})(x);
    } catch (const DeviceError& error) {
      if (std::string(error.what()).find("bad_alloc") != std::string::npos) throw;
      return std::string(error.what());
    }
    return std::string("it did not throw");
  });
}
TEST(Faults, MemoryOfPmap) {
  fail_each_step_of_memory([] {
    const F y = broadcast_to(x, {4, 40, 4, 4});
    return found(F(sum(pmap([](const F& x) { return psum(sin(x), "i") * x; },
                            {.axis_name = "i"})(transpose(y, {2, 0, 1, 3})))));
  });
}

// In children of this process, which have no threads yet.
TEST(Faults, ThreadsOfDevices) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "its children may not start threads";
#endif
  for (int n = 0; n < 4; ++n) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      const auto sums = [] {
        return found(pmap([](const F& x) { return psum(x, "i"); }, {.axis_name = "i"})(x));
      };
      fail_thread(n);
      try {
        sums();
      } catch (const DeviceError& error) {
        const std::string want = "pmap: the system has no thread for device cpu:" + std::to_string(n) + ": ";
        const F sum = nax::sum(x, {.axis = 0});
        _exit(error.what() == want + std::strerror(EAGAIN) && sums() == found(broadcast_to(sum, {4, 4})) ? 0
                                                                                                         : 1);
      }
      _exit(2);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "thread " << n;
  }
}

}  // namespace devices_test
