// Streams, blocks that go from one to another, and calls that fail.

#include <latch>

#include "cuda/runtime/on_stand_in.hpp"

namespace order_test {
using namespace on_stand_in;

struct Order : OnStandIn {};

// Uploads of one thread, computations of another: a block that has been freed and is taken again waits for
// what used it, and not for what was launched since.
TEST_F(Order, UploadsDoNotWaitForLaterKernels) {
  nax::release_cached_memory(gpu());
  // Small blocks of the other thread's stream: it would else take one that `mine` has used.
  in_thread([&] {
    std::vector<Array<float>> some;
    for (int i = 0; i < 8; ++i) some.push_back(there(nax::zeros<float>({10})));
  });
  constexpr std::int64_t n = 100'000;
  Array<float> batch;
  Array<float> kept = there(nax::zeros<float>({10}));
  const nax::cuda::StreamInUse mine = nax::cuda::use(gpu());
  in_thread([&] { batch = there(nax::ones<float>({n})); });
  const Array<float> total = nax::sum(batch);
  const void* const block = nax::detail::device_data(batch);
  batch = Array<float>();  // freed: both streams have used it
  EXPECT_EQ(total.item(), static_cast<float>(n));
  stand_in::hold(mine);
  kept = kept + 1.f;  // launched after, and not done for long
  in_thread([&] {
    batch = there(nax::full<float>({n}, 2.f));
    EXPECT_EQ(nax::detail::device_data(batch), block);
    EXPECT_EQ(batch.to_vector()[7], 2.f);  // would wait for ever
    stand_in::release(mine);
  });
  EXPECT_EQ(kept.to_vector(), std::vector<float>(10, 1.f));
}

// Reads at indices return while the stream is held: the next wait has the error.
TEST_F(Order, ReadsAtIndicesDoNotWait) {
  const Array<float> x = there(nax::arange<float>(6));
  const Array<int> places = nax::device_put(Array<int>{1, 9}, gpu());
  const nax::cuda::StreamInUse mine = nax::cuda::use(gpu());
  stand_in::hold(mine);
  const Array<float> y = x(places);  // would wait for ever
  stand_in::release(mine);
  try {
    nax::block_until_ready(y);
    ADD_FAILURE() << "no error";
  } catch (const nax::IndexError& error) {
    EXPECT_EQ(std::string(error.what()).find("index: index 9 is out of bounds for axis 0 with size 6; found"),
              0u)
        << error.what();
  }
  EXPECT_EQ(y.to_vector(), (std::vector<float>{1, 0}));
}

// A pipeline's upload is computed with while the next is on its way.
TEST_F(Order, UploadsAreWaitedForOneByOne) {
  std::latch uploaded(1), computed(1);
  Array<float> first;
  std::thread uploads([&] {
    const auto upload = [](float value) {
      const Array<float> host = nax::device_put(nax::full<float>({70'000}, value), nax::devices("cpu")[0]);
      return nax::detail::typed<float>(nax::data::detail::place_array(host, {gpu()}, false));
    };
    first = upload(1);
    nax::block_until_ready(first);
    const nax::cuda::StreamInUse mine = nax::cuda::use(gpu());
    stand_in::hold(mine);
    const Array<float> second = upload(2);
    uploaded.count_down();
    computed.wait();
    stand_in::release(mine);
  });
  uploaded.wait();
  EXPECT_EQ(nax::sum(first).item(), 70'000.f);  // would wait for ever
  computed.count_down();
  uploads.join();
}

// For any order of the streams' work.
TEST_F(Order, BlocksAreReusedAfterTheirLastUse) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    stand_in::seed(seed);
    Array<float> x = there(nax::ones<float>({5'000}));
    std::vector<Array<float>> sums;
    for (int k = 0; k < 6; ++k) {
      Array<float> y = x * static_cast<float>(k);
      in_thread([&] {
        sums.push_back(nax::sum(y));
        Array<float> z = y + 1.f;
        y = Array<float>();
        sums.push_back(nax::sum(z));
      });
      in_thread([&] { there(nax::zeros<float>({5'000})) * 5.f; });
    }
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_EQ(sums[2 * k].item(), 5'000.f * static_cast<float>(k));
      EXPECT_EQ(sums[2 * k + 1].item(), 5'000.f * static_cast<float>(k + 1));
    }
  }
}

// Each call of the runtime fails once: the program gets an error or its result, and works afterwards.
TEST_F(Order, FailuresOfAnyCall) {
  const auto program = [] {
    Array<float> x = there(nax::arange<float>(80'000)), y = x * 2.f;
    in_thread([&] { y = y + there(nax::ones<float>({80'000})); });
    const auto f =
        nax::jit([&](const Array<float>& v) { return Array<float>(v - y + nax::ones<float>({80'000})); });
    f(x);
    return std::vector<float>(f(x).to_vector());
  };
  program();
  stand_in::fail_at(-1, cudaSuccess);
  program();
  const long calls = stand_in::calls();
  const stand_in::Live before = stand_in::live();
  int threw = 0;
  for (long call = 0; call < calls; call += 1 + calls / 200) {
    stand_in::fail_at(call, call % 2 ? cudaErrorUnknown : cudaErrorMemoryAllocation);
    try {
      program();
    } catch (const nax::DeviceError&) {
      ++threw;
    }
    stand_in::fail_at(-1, cudaSuccess);
  }
  EXPECT_GT(threw, 10);
  EXPECT_EQ(stand_in::live().graphs, before.graphs);
  EXPECT_EQ(stand_in::live().streams, before.streams);
  std::vector<float> want(80'000);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = -static_cast<float>(i);
  EXPECT_EQ(program(), want);
}

}  // namespace order_test
