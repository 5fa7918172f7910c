// Collectives beside computation: which stream waits for which, whatever the order of their work.

#include <barrier>
#include <latch>
#include <stdexcept>

#include "cuda/runtime/on_stand_in.hpp"
#include "nax/devices/cuda/device/streams.hpp"
#include "nccl/devices.hpp"

namespace overlap_test {
using namespace on_stand_in;
using nccl_devices::first_gpus, nccl_devices::With;
using A = Array<float>;

struct Overlap : OnStandIn {
  // The streams of the calling thread, a device's: where it computes, and where its collectives go.
  static cudaStream_t computing() {
    const nax::cuda::StreamInUse stream = nax::cuda::use(nax::detail::current_device);
    return stream;
  }
  static cudaStream_t communicating() {
    const nax::cuda::CommunicationScope scope(nax::detail::current_device);
    return computing();
  }
  // Reads an array in a thread of its own, whose stream waits for this array alone. (The thread ends after
  // `work`, since memory of the driver goes when it does, which waits for the card.)
  template <class Work>
  static std::vector<float> read_elsewhere(const A& x, const Work& work) {
    std::vector<float> values;
    std::latch read(1), over(1);
    std::thread reader([&] {
      nax::set_default_device(gpu());
      try {
        values = x.to_vector();
      } catch (const nax::Error& error) {
        ADD_FAILURE() << error.what();
      }
      read.count_down();
      over.wait();
    });
    read.wait();
    work();
    over.count_down();
    reader.join();
    return values;
  }
  template <class F>
  static auto on_two_cards(F f) {
    return nax::pmap(f, {.axis_name = "i", .devices = first_gpus(2)});
  }
};

// Work that does not read a collective's result does not wait for it.
TEST_F(Overlap, ResultsAreWaitedForWhereTheyAreRead) {
  const auto f = on_two_cards([](const A& x) {
    const A twice = x * 2.f;
    stand_in::hold(communicating());
    const A mean = nax::pmean(twice, "i");
    const A own = nax::sum(nax::square(x));
    EXPECT_EQ(own.item(), 5.f * x[0].item() * x[0].item());  // would wait for ever
    stand_in::release(communicating());
    return mean + own;
  });
  const A x = nax::broadcast_to(A{1, 3}.reshape({2, 1}), {2, 5}) + nax::zeros<float>({2, 5});
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    stand_in::seed(seed);
    EXPECT_EQ(f(x).to_vector(), (std::vector<float>{9, 9, 9, 9, 9, 49, 49, 49, 49, 49}));
  }
}

// The last layer's gradient is reduced while the first one's is yet to be computed.
TEST_F(Overlap, BucketsLeaveWhileBackwardGoesOn) {
  const With small("NAX_NCCL_BUCKET_MB", "0.0001");
  std::barrier both(2);
  const auto step = on_two_cards([&](const A& x) {
    // Between the two layers backward holds the stream on which it computes.
    const auto held = nax::custom_vjp([](const A& h) { return h; },
                                      [](const A& h) {
                                        return std::pair{h, h};
                                      },
                                      [&](const A&, const A& g) {
                                        nax::block_until_ready(g);
                                        stand_in::hold(computing());
                                        return std::tuple(A(g * 1.f));
                                      });
    const auto loss = [&](const std::pair<A, A>& w, const A& x) {
      return nax::sum(held(w.first * x) * w.second);
    };
    const A w = nax::full<float>({100}, 2.f);
    const auto gradients = nax::grad(loss)(std::pair{w, w}, x);
    const auto means = nax::pmean(gradients, "i");
    const auto go_on = [&] {
      both.arrive_and_wait();
      stand_in::release(computing());
    };
    EXPECT_EQ(read_elsewhere(means.second, go_on), std::vector<float>(100, 4.f));  // would wait for ever
    return means.first + means.second;
  });
  A x = nax::ones<float>({2, 100});
  x = nax::concatenate(std::vector<A>{nax::ones<float>({1, 100}), nax::full<float>({1, 100}, 3.f)});
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    stand_in::seed(seed);
    EXPECT_EQ(step(x).to_vector(), std::vector<float>(200, 8.f));
  }
}

// pmap returns when all is launched, and the next one is launched behind it.
TEST_F(Overlap, PmapReturnsWhileItsDevicesCompute) {
  cudaStream_t streams[2] = {};
  bool holds = true;
  const auto f = on_two_cards([&](const A& x) {
    const std::size_t card = nax::detail::current_device.ordinal;
    streams[card] = computing();
    if (holds) stand_in::hold(streams[card]);
    return A(nax::psum(x * 2.f, "i") + x);
  });
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    stand_in::seed(seed);
    holds = true;
    A y = f(A{1, 3});
    holds = false;
    for (int i = 0; i < 3; ++i) y = f(y);
    for (cudaStream_t stream : streams) stand_in::release(stream);
    EXPECT_EQ(y.to_vector(), (std::vector<float>{1249, 1251}));
  }
}

// A gradient that is written over after backward is reduced as it is then.
TEST_F(Overlap, MomentsEndWhereGradientsAreWrittenOver) {
  const With small("NAX_NCCL_BUCKET_MB", "0.0001");
  const auto step = on_two_cards([](const A& x) {
    auto g = nax::grad([](const std::pair<A, A>& w, const A& x) {
      return nax::sum(w.first * x) + nax::sum(nax::square(w.second) * x);
    })(std::pair{A(x * 1.f), A(x * 1.f)}, x);
    const void* const place = nax::detail::device_data(g.first);
    g.first *= 10.f;
    g.second *= 10.f;
    EXPECT_EQ(nax::detail::device_data(g.first), place);
    const auto means = nax::pmean(g, "i");
    return means.first + means.second;
  });
  const A x = nax::concatenate(std::vector<A>{nax::ones<float>({1, 100}), nax::full<float>({1, 100}, 3.f)});
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    stand_in::seed(seed);
    EXPECT_EQ(step(x).to_vector(), std::vector<float>(200, 10.f * (2 + 10)));
  }
}

// Devices whose programs compute their gradients in different orders pack them in one all the same.
TEST_F(Overlap, DevicesOfDifferentOrders) {
  const With small("NAX_NCCL_BUCKET_MB", "0.001");
  const auto step = on_two_cards([](const A& x) {
    const bool first = nax::axis_index("i").item() == 0;
    std::vector<A> w;
    for (int i = 0; i < 8; ++i) w.push_back(nax::full<float>({100 + i}, static_cast<float>(i)));
    const auto g = nax::grad([&](const std::vector<A>& w) {
      A total = nax::sum(w[0] * 0.f);
      for (std::size_t k = 0; k < w.size(); ++k) {
        const A& one = w[first ? k : w.size() - 1 - k];
        total = total + nax::sum(nax::square(one) * x[0]);
      }
      return total;
    })(w);
    const std::vector<A> means = nax::pmean(g, "i");
    A sums = nax::zeros<float>({8});
    for (int i = 0; i < 8; ++i)
      sums = sums.at(i).set(nax::mean(means[static_cast<std::size_t>(i)]) +
                            (means[static_cast<std::size_t>(i)].shape()[0] == 100 + i ? 0.f : 1e6f));
    return sums;
  });
  const A x = A{1, 3}.reshape({2, 1});
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    stand_in::seed(seed);
    const std::vector<float> got = step(x).to_vector();
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(got[i], 4.f * static_cast<float>(i % 8)) << i;
  }
}

// A step of training with several buckets, as all tests of faults take.
struct Training : Overlap {
  using Tree = std::vector<A>;
  const With small{"NAX_NCCL_BUCKET_MB", "0.0003"};
  const A x =
      nax::device_put(nax::sin(nax::arange<float>(2 * 4 * 16)), nax::devices("cpu")[0]).reshape({2, 4, 16});

  static Tree parameters() {
    Tree w;
    for (int i = 0; i < 4; ++i)
      w.push_back(nax::sin(nax::arange<float>(16 * 16) + static_cast<float>(i)).reshape({16, 16}));
    return w;
  }
  // `rank` throws in the backward pass of its second gradient, while the buckets of the first are on their
  // way.
  static Tree step(const Tree& w, const A& x, int thrower = -1) {
    return nax::pmap(
        [thrower](Tree w, const A& x) {
          const int rank = nax::axis_index("i").item();
          const auto watched = nax::custom_vjp([](const A& h) { return h; },
                                               [](const A& h) {
                                                 return std::pair{h, h};
                                               },
                                               [=](const A&, const A& g) {
                                                 if (thrower == rank) throw std::runtime_error("in backward");
                                                 return std::tuple(A(g * 1.f));
                                               });
          const auto loss = [](const Tree& w, const A& x) {
            A h = x;
            for (const A& one : w) h = nax::tanh(nax::matmul(h, one));
            return nax::mean(nax::square(h));
          };
          const Tree g = nax::pmean(nax::grad(loss)(w, x), "i");
          const Tree second =
              nax::grad([&](const Tree& w, const A& x) { return loss(w, watched(x * w[0][0])); })(w, x);
          for (std::size_t i = 0; i < w.size(); ++i) w[i] = w[i] - 0.1f * g[i] - 0.1f * second[i];
          return w;
        },
        {.in_axes = {nax::none, 0}, .axis_name = "i", .devices = first_gpus(2)})(w, x);
  }
  static std::vector<float> values(const Tree& w) {
    std::vector<float> all;
    for (const A& one : w)
      for (const float v : one.to_vector()) all.push_back(v);
    return all;
  }
};

TEST_F(Training, DevicesThatThrowInBackward) {
  const Tree w = parameters();
  const std::vector<float> want = values(step(w, x));
  const std::size_t before = nax::memory_stats(gpu(0)).in_use + nax::memory_stats(gpu(1)).in_use;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    stand_in::seed(seed);
    try {
      step(w, x, static_cast<int>(seed % 2));
      ADD_FAILURE() << "no error";
    } catch (const nax::DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("in backward"), std::string::npos) << error.what();
    }
    EXPECT_EQ(values(step(w, x)), want);
    EXPECT_EQ(nax::memory_stats(gpu(0)).in_use + nax::memory_stats(gpu(1)).in_use, before);
  }
}

// Each call of the runtime fails once: the step gets an error or its result, and the next one its result.
TEST_F(Training, FailuresOfAnyCall) {
  const Tree w = parameters();
  const std::vector<float> want = values(step(w, x));
  const std::size_t before = nax::memory_stats(gpu(0)).in_use + nax::memory_stats(gpu(1)).in_use;
  stand_in::fail_at(-1, cudaSuccess);
  step(w, x);
  const long calls = stand_in::calls();
  int threw = 0;
  for (long call = 0; call < calls; call += 1 + calls / 150) {
    stand_in::fail_at(call, call % 2 ? cudaErrorUnknown : cudaErrorMemoryAllocation);
    try {
      EXPECT_EQ(values(step(w, x)), want) << call;
    } catch (const nax::Error&) {
      ++threw;
    }
    stand_in::fail_at(-1, cudaSuccess);
    ASSERT_EQ(values(step(w, x)), want) << call;
  }
  EXPECT_GT(threw, 20);
  EXPECT_EQ(nax::memory_stats(gpu(0)).in_use + nax::memory_stats(gpu(1)).in_use, before);
}

}  // namespace overlap_test
