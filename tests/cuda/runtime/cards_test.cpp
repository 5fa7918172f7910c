#include "cuda/runtime/on_stand_in.hpp"
#include "nax/devices/cuda/device/runtime.hpp"

// Cards: reasons for which there are none, the one that is current, peers, and faults.
namespace cards_test {
using namespace on_stand_in;

struct CardsInUse : OnStandIn {
  // The card that f leaves current, where `card` was.
  template <class F>
  static int current_after(int card, const F& f) {
    EXPECT_EQ(cudaSetDevice(card), cudaSuccess);
    f();
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    cudaSetDevice(0);
    return current;
  }
};

std::string reason(int version, cudaError_t says) {
  stand_in::driver = {version, says};
  std::string text = nax::cuda::why_no_cards();
  stand_in::driver = {};
  return text;
}

TEST(Cards, SayWhyThereAreNone) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(reason(0, cudaErrorInsufficientDriver),
            "no NVIDIA driver is installed (there is no libcuda.so.1)");
  EXPECT_EQ(reason(12020, cudaErrorInsufficientDriver),
            "the NVIDIA driver is too old: it knows CUDA 12.2, this program needs 13.0");
  EXPECT_EQ(reason(13000, cudaErrorNoDevice), "the NVIDIA driver shows no card");
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  EXPECT_EQ(reason(13000, cudaErrorNoDevice), "the NVIDIA driver shows no card; CUDA_VISIBLE_DEVICES is '7'");
  EXPECT_EQ(reason(13000, cudaErrorUnknown),
            "cudaGetDeviceCount: cudaError: of the stand-in; CUDA_VISIBLE_DEVICES is '7'");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(CardsInUse, TheCurrentOneStays) {
  for (const int mine : {0, 1, 2}) {
    const Array<float> near = there(nax::arange<float>(6).reshape({2, 3}) + 1.f),
                       x = nax::device_put(near, gpu(1));
    EXPECT_EQ(current_after(mine, [&] { nax::eval(x + x); }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::device_put(x, gpu(0)).to_vector(); }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::zeros<float>({3}) + 1.f; }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::sort(nax::sum(x, {.axis = 0})); }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::fft::fft(near); }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::linalg::qr(x); }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::linalg::solve_triangular(nax::matmul(x, x.T()), x); }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::release_cached_memory(gpu(1)); }), mine);
    EXPECT_EQ(current_after(mine, [&] { nax::block_until_ready(x); }), mine);
    const auto f = nax::jit([](const Array<float>& v) { return Array<float>(v * 2.f); });
    for (int call = 0; call < 3; ++call) EXPECT_EQ(current_after(mine, [&] { f(x); }), mine);
    EXPECT_EQ(
        current_after(
            mine,
            [&] { nax::profiler::trace(testing::TempDir() + "cards.json", [&] { nax::eval(x * x); }); }),
        mine);
  }
}

// To make a card current that the process has not used would create a context there, which takes memory.
TEST_F(CardsInUse, GetNoContextsFromCallsOnOthers) {
  int other = -1;
  in_thread([&] {
    const nax::Array<float> x = there(nax::ones<float>({3}), 1);
    EXPECT_EQ(x.to_vector(), std::vector<float>(3, 1.f));
    cudaGetDevice(&other);
  });
  EXPECT_FALSE(stand_in::has_context(3));
}

TEST_F(CardsInUse, ReadTheirPeersWhereTheyCan) {
  stand_in::connect_peers(true);
  const auto twice = [] {
    nax::cuda::connect_cards(2, 3);
    nax::cuda::connect_cards(3, 2);
  };
  const long before = stand_in::peers_enabled();
  EXPECT_EQ(current_after(0, twice), 0);
  EXPECT_EQ(stand_in::peers_enabled(), before + 2);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const Array<float> x = there(nax::arange<float>(100), 1);
  EXPECT_EQ(nax::device_put(x, gpu(0)).to_vector(), nax::device_put(x, nax::devices("cpu")[0]).to_vector());
  stand_in::connect_peers(false);
}

// A kernel's fault is told by a later call, and by all after it.
TEST_F(CardsInUse, AreLostAfterAFault) {
  for (const long work : {0, 1, 3}) {
    const Array<float> x = there(nax::arange<float>(100));
    nax::block_until_ready(x);
    stand_in::fault_at(work, cudaErrorIllegalAddress);
    std::string said, again;
    try {
      Array<float> y = x;
      for (int i = 0; i < 5; ++i) y = Array<float>(y + 1.f);
      y.to_vector();
    } catch (const nax::DeviceError& error) {
      said = error.what();
    }
    try {
      Array<float>(x * 2.f).to_vector();
    } catch (const nax::DeviceError& error) {
      again = error.what();
    }
    for (const std::string& text : {said, again}) {
      EXPECT_NE(text.find("(700)"), std::string::npos) << text;
      EXPECT_NE(text.find("No GPU can be used by this process any more"), std::string::npos) << text;
    }
    stand_in::heal();
  }
  EXPECT_EQ(nax::sum(there(nax::ones<float>({10}))).item(), 10.f);
}

// Errors that other calls do not share leave the GPU usable.
TEST_F(CardsInUse, GoOnAfterErrorsOfOneCall) {
  const Array<float> x = there(nax::arange<float>(10));
  nax::block_until_ready(x);
  stand_in::fail_at(1, cudaErrorInvalidValue);
  try {
    for (int i = 0; i < 20; ++i) Array<float>(x + 1.f).to_vector();
    ADD_FAILURE() << "no call failed";
  } catch (const nax::DeviceError& error) {
    EXPECT_EQ(std::string(error.what()).find("any more"), std::string::npos) << error.what();
  }
  EXPECT_EQ(Array<float>(x * 1.f).to_vector(), x.to_vector());
}

}  // namespace cards_test
