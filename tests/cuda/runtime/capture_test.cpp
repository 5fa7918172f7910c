// jit while other threads use the device.

#include <atomic>
#include <future>

#include "cuda/runtime/on_stand_in.hpp"

namespace capture_test {
using namespace on_stand_in;

struct Capture : OnStandIn {};

std::vector<float> values(const Array<float>& x) { return x.to_vector(); }

// Calls `meanwhile` while a function is recorded, and compares what the recording computes.
template <class F>
void record_and_call(const Array<float>& x, const F& meanwhile) {
  int calls = 0;  // the second is recorded
  const auto f = nax::jit([&](const Array<float>& v) {
    const Array<float> w = v * 2.f;
    if (++calls == 2) meanwhile();
    return Array<float>(w + 1.f);
  });
  for (int call = 0; call < 3; ++call) {
    const Array<float> in = x + static_cast<float>(call);
    std::vector<float> want = in.to_vector();
    for (float& value : want) value = value * 2 + 1;
    EXPECT_EQ(f(in).to_vector(), want);
  }
  EXPECT_EQ(calls, 2);
}

// The other thread waits for the recording thread's stream, and must not join the capture.
TEST_F(Capture, OtherThreadsReadWhatTheThreadHasComputed) {
  const Array<float> x = there(nax::arange<float>(100)), y = x * 3.f;
  std::vector<float> seen;
  record_and_call(x, [&] { in_thread([&] { seen = Array<float>(y + 1.f).to_vector(); }); });
  EXPECT_EQ(seen, values(nax::arange<float>(100) * 3.f + 1.f));
}

// Blocks that the recording thread has freed.
TEST_F(Capture, OtherThreadsTakeBlocksOfTheThread) {
  const Array<float> x = there(nax::arange<float>(100));
  { const Array<float> freed = there(nax::ones<float>({150'000})) * 2.f; }
  std::vector<float> seen;
  record_and_call(x, [&] {
    in_thread([&] { seen = Array<float>(there(nax::ones<float>({150'000})) + 1.f).to_vector(); });
  });
  EXPECT_EQ(seen, std::vector<float>(150'000, 2.f));
}

TEST_F(Capture, OtherThreadsReleaseMemory) {
  const Array<float> x = there(nax::arange<float>(100));
  { const Array<float> freed = there(nax::ones<float>({150'000})) * 2.f; }
  record_and_call(x, [&] { in_thread([] { nax::release_cached_memory(gpu()); }); });
}

TEST_F(Capture, TheThreadItselfReleasesMemory) {
  const Array<float> x = there(nax::arange<float>(100));
  { const Array<float> freed = there(nax::ones<float>({150'000})) * 2.f; }
  record_and_call(x, [] { nax::release_cached_memory(gpu()); });
}

TEST_F(Capture, OtherThreadsDropJittedFunctions) {
  const Array<float> x = there(nax::arange<float>(100));
  record_and_call(x, [&] {
    in_thread([&] {
      const auto g = nax::jit([](const Array<float>& v) { return Array<float>(v - 1.f); });
      for (int call = 0; call < 2; ++call) EXPECT_EQ(g(x).to_vector(), values(nax::arange<float>(100) - 1.f));
    });
  });
}

// To destroy a handle of cuBLAS or cuSOLVER would end the recording.
TEST_F(Capture, OtherThreadsEndThatHaveHandles) {
  const Array<float> x = there(nax::arange<float>(100));
  std::promise<void> solved, ends;
  std::thread other([&] {
    in_thread([&] {
      const Array<float> a = there(nax::eye<float>(4) * 2.f), b = there(nax::ones<float>({4}));
      EXPECT_EQ(nax::linalg::solve(a, b).to_vector(), std::vector<float>(4, .5f));
      solved.set_value();
      ends.get_future().wait();
    });
  });
  solved.get_future().wait();
  record_and_call(x, [&] {
    ends.set_value();
    other.join();
  });
}

TEST_F(Capture, HandlesAreMadeWhileNoOtherThreadRecords) {
  using nax::cuda::CaptureGate;
  std::atomic<bool> records{true};
  std::thread other;
  {
    const CaptureGate::Recording recording;
    other =
        std::thread([&] { CaptureGate::alone([&] { CaptureGate::alone([&] { EXPECT_FALSE(records); }); }); });
    records = false;
  }
  other.join();
}

// Handles, plans and modules of kernels are made outside of captures.
TEST_F(Capture, FollowsAPlainCallOfEachKind) {
  int plain = 0, captured = 0;
  const auto f = nax::jit([&](const Array<float>& v) {
    ++(nax::detail::graph_recording ? captured : plain);
    return nax::linalg::solve(v, nax::ones<float>({v.shape(0)}));
  });
  for (const std::int64_t n : {2, 3})
    for (int call = 0; call < 4; ++call)
      EXPECT_EQ(f(there(nax::eye<float>(n) * 2.f)).to_vector(),
                std::vector<float>(static_cast<std::size_t>(n), .5f));
  EXPECT_EQ(plain, 2);
  EXPECT_EQ(captured, 2);
}

// Of more threads than there are streams some share one, but each has handles of its own.
TEST_F(Capture, FollowsAPlainCallOfEachThread) {
  constexpr int count = 66;
  std::atomic<int> plain{0};
  const auto f = nax::jit([&](const Array<float>& v) {
    if (!nax::detail::graph_recording) ++plain;
    return nax::linalg::solve(v, nax::ones<float>({2}));
  });
  std::promise<void> end;
  const std::shared_future<void> ends = end.get_future().share();
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    std::promise<void> called;
    threads.emplace_back([&] {
      nax::set_default_device(gpu());
      for (int call = 0; call < 2; ++call)
        EXPECT_EQ(f(there(nax::eye<float>(2) * 2.f)).to_vector(), std::vector<float>(2, .5f));
      called.set_value();
      ends.wait();
    });
    called.get_future().wait();
  }
  end.set_value();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain, count);
}

// A second recording at the same time, on a thread of its own.
TEST_F(Capture, ThreadsRecordAtATime) {
  const Array<float> x = there(nax::arange<float>(100));
  record_and_call(x, [&] { in_thread([&] { record_and_call(x, [] {}); }); });
}

// An exception during a recording leaves the device usable.
TEST_F(Capture, EndsWithTheFunctionsError) {
  const Array<float> x = there(nax::arange<float>(100));
  const stand_in::Live before = stand_in::live();
  const auto f = nax::jit([](const Array<float>& v) { return Array<float>(v * v(1).item()); });
  EXPECT_EQ(f(x).to_vector(), values(nax::arange<float>(100)));
  EXPECT_THROW(f(x), nax::DeviceError);
  EXPECT_EQ(stand_in::live().streams, before.streams);
  EXPECT_EQ(stand_in::live().graphs, before.graphs);
  EXPECT_EQ(Array<float>(x + 1.f).to_vector(), values(nax::arange<float>(100) + 1.f));
}

// ---- memory

TEST_F(Capture, TakesMemoryFromThePool) {
  stand_in::card_bytes(std::size_t{32} << 20);
  nax::release_cached_memory(gpu());
  const Array<float> x = there(nax::arange<float>(100));
  { const Array<float> cached = there(nax::ones<float>({6 << 20})); }  // 24 of 32 megabytes, freed
  const auto f = nax::jit([](const Array<float>& v) {
    return nax::sum(nax::broadcast_to(v, {30'000, 100}) * 2.f + nax::ones<float>({30'000, 100}));
  });
  for (int call = 0; call < 2; ++call) EXPECT_EQ(f(x).item(), 4950.f * 2 * 30'000 + 3'000'000);
}

// Eight kinds of calls, of six megabytes each, on a card of 32.
TEST_F(Capture, RecordingsAreDroppedWhenMemoryRunsOut) {
  stand_in::card_bytes(std::size_t{32} << 20);
  nax::release_cached_memory(gpu());
  const auto f = nax::jit([](const Array<float>& v) { return Array<float>(v * 2.f); });
  for (int round = 0; round < 2; ++round)
    for (std::int64_t kind = 0; kind < 8; ++kind) {
      const std::int64_t n = 750'000 + kind;
      for (int call = 0; call < 2; ++call)
        EXPECT_EQ(nax::sum(f(nax::ones<float>({n}))).item(), 2.f * static_cast<float>(n));
    }
}

TEST_F(Capture, RecordingsAreAsLargeAsWhatTheyCompute) {
  const Array<float> x = there(nax::arange<float>(100));
  const std::size_t before = nax::memory_stats(gpu()).in_use;
  const auto f = nax::jit([](const Array<float>& v) { return Array<float>(v + 1.f); });
  for (int call = 0; call < 2; ++call) f(x);
  EXPECT_LE(nax::memory_stats(gpu()).in_use, before + (std::size_t{128} << 10));
}

TEST_F(Capture, CachesAreBounded) {
  nax::set_jit_cache(std::size_t{3} << 20);
  const std::size_t before = nax::memory_stats(gpu()).in_use;
  const auto f = nax::jit([](const Array<float>& v) { return Array<float>(v + 1.f); });
  for (std::int64_t kind = 0; kind < 8; ++kind) {
    for (int call = 0; call < 2; ++call) f(nax::ones<float>({100'000 + kind}));
    EXPECT_LE(nax::memory_stats(gpu()).in_use, before + (std::size_t{3} << 20));
  }
  nax::set_jit_cache(std::size_t{1} << 30);
}

// ---- several devices

TEST_F(Capture, IsOfOneDevice) {
  const Array<float> x = there(nax::arange<float>(100)), y = there(nax::ones<float>({100}), 1);
  const auto f = nax::jit([&](const Array<float>& v) {
    return std::pair{Array<float>(v + 1.f), Array<float>(y * 2.f)};
  });
  for (int call = 0; call < 3; ++call) {
    const auto [a, b] = f(x);
    EXPECT_EQ(a.to_vector(), values(nax::arange<float>(100) + 1.f));
    EXPECT_EQ(b.to_vector(), std::vector<float>(100, 2.f));
    EXPECT_EQ(b.device(), gpu(1));
    EXPECT_EQ(stand_in::card_of(nax::detail::device_data(b)), 1);
  }
  const auto g =
      nax::jit([&](const Array<float>& v) { return Array<float>(v + nax::device_put(y * 3.f, gpu())); });
  for (int call = 0; call < 3; ++call) EXPECT_EQ(g(x).to_vector(), values(nax::arange<float>(100) + 3.f));
}

}  // namespace capture_test
