#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "pmap/devices.hpp"

// A device that fails: the caller gets the error at once, no device hangs, and the next call works.
namespace on_devices::failures {

struct Broken : std::runtime_error {
  Broken() : std::runtime_error("it broke") {}
};

const A x = {1, 2, 3, 4};

void still_works() {
  ASSERT_TRUE(
      matches(pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i"})(x), A{10, 10, 10, 10}));
}

int here() { return axis_index("i").item(); }

template <class F>
std::string failure(F f) {
  return text_of<DeviceError>([&] { pmap(f, {.axis_name = "i"})(x); });
}

TEST(Failure, NamesDeviceAxisAndText) {
  auto f = [](const A& x) -> A {
    if (here() == 2) throw Broken();
    return x;
  };
  EXPECT_EQ(failure(f), "pmap: device cpu:2 along axis 'i': it broke");
  still_works();
}

TEST(Failure, AnAxisWithoutNameIsNotNamed) {
  auto f = [](const A& x) -> A { return x(0).item() == 2 ? throw Broken() : x; };
  EXPECT_EQ(text_of<DeviceError>([&] { pmap(f)(A{{0}, {1}, {2}, {3}}); }), "pmap: device cpu:2: it broke");
  still_works();
}

TEST(Failure, TheOriginalIsNested) {
  auto f = [](const A& x) -> A {
    if (here() == 1) throw Broken();
    return psum(x, "i");
  };
  bool found = false;
  try {
    pmap(f, {.axis_name = "i"})(x);
  } catch (const DeviceError& error) {
    try {
      std::rethrow_if_nested(error);
    } catch (const Broken&) {
      found = true;
    }
  }
  EXPECT_TRUE(found);
  still_works();
}

TEST(Failure, ErrorsOfNaxAndOthers) {
  EXPECT_EQ(failure([](const A& x) -> A {
              return here() == 3 ? A(x + A{1, 2}).reshape({3}) : x;
            }).substr(0, 36),
            "pmap: device cpu:3 along axis 'i': r");
  EXPECT_EQ(failure([](const A& x) -> A { return here() == 0 ? throw 5 : x; }),
            "pmap: device cpu:0 along axis 'i': an exception that is no std::exception");
  still_works();
}

TEST(Failure, OnTheDevicesThatWereChosen) {
  auto f = [](const A& x) -> A { return here() == 1 ? throw Broken() : psum(x, "i"); };
  const std::vector<Device> all = devices();
  EXPECT_EQ(text_of<DeviceError>([&] {
              pmap(f, {.axis_name = "i", .devices = {all[0], all[3]}})(A{1, 2});
            }),
            "pmap: device cpu:3 along axis 'i': it broke");
}

TEST(Failure, BetweenTwoCollectives) {
  for (int i = 0; i < 200; ++i) {
    const int who = i % 4;
    auto f = [who](const A& x) -> A {
      const A y = psum(x, "i");
      if (here() == who) throw Broken();
      return psum(y, "i");
    };
    ASSERT_EQ(failure(f), "pmap: device cpu:" + std::to_string(who) + " along axis 'i': it broke");
    if (i % 20 == 0) still_works();
  }
  still_works();
}

TEST(Failure, AllAtOnce) {
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(failure([](const A&) -> A { throw Broken(); }), "pmap: device cpu:0 along axis 'i': it broke");
  still_works();
}

TEST(Failure, ADeviceReturnsEarly) {
  for (int i = 0; i < 200; ++i) {
    const int who = i % 4;
    const std::string text = failure([who](const A& x) -> A { return here() == who ? x : psum(x, "i"); });
    ASSERT_NE(text.find("psum: a device returned while others wait for it in this collective"),
              std::string::npos)
        << text;
    const std::string late = failure([who](const A& x) -> A {
      const A y = psum(x, "i");
      return here() == who ? y : psum(y, "i");
    });
    ASSERT_NE(late.find("psum: a device returned while others wait for it in this collective"),
              std::string::npos)
        << late;
  }
  still_works();
}

TEST(Failure, DifferentShapes) {
  for (int i = 0; i < 200; ++i) {
    const std::string text = failure([](const A& x) {
      return sum(psum(here() == 1 ? A{1, 2} : A{1, 2, 3} * x, "i"));
    });
    ASSERT_NE(text.find("psum: shapes differ between devices: (3,) on device 0, (2,) on device 1"),
              std::string::npos)
        << text;
  }
  still_works();
}

TEST(Failure, DifferentTypes) {
  for (int i = 0; i < 200; ++i) {
    const std::string text = failure([](const A& x) {
      if (here() == 1) return psum(Array<float>{1, 2}, "i").astype<double>();
      return psum(x * A{1, 2}, "i");
    });
    ASSERT_NE(text.find("psum: types differ between devices: float64 on device 0, float32 on device 1"),
              std::string::npos)
        << text;
    const std::string gathered = failure([](const A& x) {
      if (here() == 3) return all_gather(Array<int>(1), "i").astype<double>();
      return all_gather(x, "i");
    });
    ASSERT_NE(
        gathered.find("all_gather: types differ between devices: float64 on device 0, int32 on device 3"),
        std::string::npos)
        << gathered;
  }
  still_works();
}

TEST(Failure, DifferentPermutations) {
  for (int i = 0; i < 200; ++i) {
    const std::string text = failure([](const A& x) { return ppermute(x, "i", {{0, here() == 2 ? 1 : 3}}); });
    ASSERT_NE(
        text.find("ppermute: devices differ: device 0 is in ppermute, (0, 3), device 2 in ppermute, (0, 1)"),
        std::string::npos)
        << text;
  }
  still_works();
}

TEST(Failure, PermutationsAreComparedWithoutTheirOrder) {
  const A y = pmap(
      [](const A& x) {
        if (here() == 1) return A(ppermute(x, "i", {{3, 0}, {1, 2}, {0, 1}}));
        return A(ppermute(x, "i", {{0, 1}, {1, 2}, {3, 0}}));
      },
      {.axis_name = "i"})(x);
  ASSERT_TRUE(matches(y, A{4, 1, 2, 0}));
}

TEST(Failure, DifferentAxes) {
  for (int i = 0; i < 200; ++i) {
    const std::string text = failure([](const A& x) {
      return all_gather(x * ones<double>({2, 2}), "i", {.axis = here() == 1 ? 1 : 0});
    });
    ASSERT_NE(
        text.find(
            "all_gather: devices differ: device 0 is in all_gather, along axis 0, device 1 in all_gather, "
            "along axis 1"),
        std::string::npos)
        << text;
  }
  still_works();
}

TEST(Failure, MeanAndSum) {
  for (int i = 0; i < 50; ++i) {
    const std::string text = failure([](const A& x) { return here() == 2 ? pmean(x, "i") : psum(x, "i"); });
    ASSERT_NE(text.find("psum: device 0 is in psum, device 2 in pmean"), std::string::npos) << text;
  }
  still_works();
}

TEST(Failure, DifferentCollectives) {
  for (int i = 0; i < 200; ++i) {
    const std::string text = failure([](const A& x) { return here() == 2 ? pmax(x, "i") : psum(x, "i"); });
    ASSERT_NE(text.find("psum: device 0 is in psum, device 2 in pmax"), std::string::npos) << text;
  }
  still_works();
}

TEST(Failure, ResultsOfDifferentShapes) {
  const std::string text = text_of([&] {
    pmap([](const A& x) { return here() == 1 ? A{1, 2} : A{1, 2, 3} * x; }, {.axis_name = "i"})(x);
  });
  EXPECT_EQ(text, "pmap: results differ between devices: shape (3,) on device 0, (2,) on device 1");
  const std::string lengths = text_of([&] {
    pmap([](const A& x) { return std::vector<A>(here() == 3 ? 1 : 2, x); }, {.axis_name = "i"})(x);
  });
  EXPECT_EQ(lengths, "pmap: results differ between devices: 2 arrays on device 0, 1 on device 3");
  still_works();
}

TEST(Failure, UnderGrad) {
  auto bad = [](const A& x) -> A { return here() == 2 ? throw Broken() : psum(x * x, "i"); };
  auto loss = [&](const A& x) { return sum(pmap(bad, {.axis_name = "i"})(x)); };
  EXPECT_EQ(text_of<DeviceError>([&] { grad(loss)(x); }), "pmap: device cpu:2 along axis 'i': it broke");
  EXPECT_FALSE(detail::recording.tape);
  still_works();
}

TEST(Failure, NamesThatDoNotExist) {
  const std::string text = failure([](const A& x) { return psum(x, "j"); });
  EXPECT_EQ(text,
            "pmap: device cpu:0 along axis 'i': psum: no mapped axis is named 'j' here; give vmap or pmap "
            "around it that axis_name");
  EXPECT_EQ(text_of<ValueError>([] { psum(x, "i"); }),
            "psum: no mapped axis is named 'i' here; give vmap or pmap around it that axis_name");
  still_works();
}

TEST(Failure, CallersOfTwoThreads) {  // one pmap at a time; each gets its own error
  auto work = [&](bool fail, bool& right) {
    for (int i = 0; i < 50; ++i) {
      auto f = [fail](const A& x) -> A { return fail && here() == 1 ? throw Broken() : psum(x, "i"); };
      if (failure(f) != (fail ? "pmap: device cpu:1 along axis 'i': it broke" : "")) right = false;
    }
  };
  bool a = true, b = true;
  std::thread one([&] { work(true, a); }), two([&] { work(false, b); });
  one.join();
  two.join();
  EXPECT_TRUE(a);
  EXPECT_TRUE(b);
}

// Devices that wait for another one name it in their error.
TEST(Failure, NamesADeviceThatIsStuck) {
  setenv("NAX_COLLECTIVE_TIMEOUT_S", "0.05", 1);
  testing::internal::CaptureStderr();
  const A sum = pmap(
      [](const A& x) {
        const int rank = here();
        if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return psum(x, "i");
      },
      {.axis_name = "i"})(x);
  const std::string text = testing::internal::GetCapturedStderr();
  unsetenv("NAX_COLLECTIVE_TIMEOUT_S");
  EXPECT_TRUE(matches(sum, A{10, 10, 10, 10}));
  EXPECT_EQ(text,
            "nax: psum: " + to_string(devices()[2]) +
                " has not come after 0.05 seconds (NAX_COLLECTIVE_TIMEOUT_S); the other devices wait for "
                "it\n");
}

}  // namespace on_devices::failures
