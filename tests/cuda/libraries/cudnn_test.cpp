#include "cuda/runtime/cudnn.hpp"

#include "cuda/runtime/on_stand_in.hpp"
#include "operations/both_devices.hpp"

// Calls of cuDNN, on its stand-in. (The tests of convolutions run with it, too.)
namespace cudnn_test {

using namespace nax;
using both_devices::expect_near, both_devices::waves;
using A = Array<float>;
using cudnn_stand_in::Kernels;

class DefaultDevice {
 public:
  explicit DefaultDevice(Device device) : before_(detail::current_device) { set_default_device(device); }
  DefaultDevice(const DefaultDevice&) = delete;
  DefaultDevice& operator=(const DefaultDevice&) = delete;
  ~DefaultDevice() { set_default_device(before_); }

 private:
  Device before_;
};

class Cudnn : public on_stand_in::OnStandIn {
 protected:
  ~Cudnn() override {
    cudnn_stand_in::kernels = Kernels::all;
    set_matmul_precision("float32");
  }
  template <class T>
  static Array<T> numbers(const Shape& shape, int seed) {
    const int n = static_cast<int>(detail::count_elements("numbers", shape));
    return device_put(
        Array<T>(sin(device_put(waves(n), host()) * 5 + static_cast<float>(seed)).template astype<T>())
            .reshape(shape),
        gpu());
  }
  static Device host() { return devices("cpu")[0]; }
  template <class F>
  static long convolutions(const F& f) {
    const long before = cudnn_stand_in::convolutions;
    f();
    return cudnn_stand_in::convolutions - before;
  }
  // Value and gradients of both operands, against the host's; how many convolutions cuDNN computes.
  template <class T>
  static void expect_convolutions(long expected, const Shape& x_shape, const Shape& w_shape,
                                  const nn::ConvOptions& options, double tolerance) {
    SCOPED_TRACE(to_string(x_shape) + " and " + to_string(w_shape));
    const auto of = [&](const Array<T>& x, const Array<T>& w) {
      const DefaultDevice there(x.device());
      const auto loss = [&](const Array<T>& x, const Array<T>& w) {
        const Array<T> y = nn::conv(x, w, options);
        return Array<T>(sum(y * y));
      };
      return std::tuple_cat(std::tuple{Array<T>(nn::conv(x, w, options))}, grad<0, 1>(loss)(x, w));
    };
    const Array<T> x = numbers<T>(x_shape, 1), w = numbers<T>(w_shape, 2);
    const auto on_host = of(device_put(x, host()), device_put(w, host()));
    EXPECT_EQ(convolutions([&] {
                const auto actual = of(x, w);
                expect_near(std::get<0>(actual), std::get<0>(on_host), tolerance);
                expect_near(std::get<1>(actual), std::get<1>(on_host), tolerance);
                expect_near(std::get<2>(actual), std::get<2>(on_host), tolerance);
              }),
              expected);
  }
};

// Two forward, one for each gradient.
TEST_F(Cudnn, ComputesConvolutionsOfAllRanksAndTypes) {
  const nn::ConvOptions same, strided{.strides = {2, 1}, .padding = "VALID", .kernel_dilation = {1, 2}};
  expect_convolutions<float>(4, {2, 9, 3}, {3, 3, 4}, same, 1e-4);
  expect_convolutions<float>(4, {2, 7, 6, 3}, {3, 3, 3, 4}, strided, 1e-4);
  expect_convolutions<float>(4, {1, 4, 3, 5, 2}, {3, 1, 3, 2, 3}, same, 1e-4);
  expect_convolutions<double>(4, {2, 7, 6, 3}, {3, 3, 3, 4}, same, 1e-11);
  expect_convolutions<half>(4, {2, 4, 4, 3}, {3, 3, 3, 2}, same, 3e-2);
  expect_convolutions<bfloat16>(4, {2, 4, 4, 3}, {3, 3, 3, 2}, same, 2e-1);
}
TEST_F(Cudnn, ComputesGroups) {
  for (const std::int64_t groups : {2, 4})
    expect_convolutions<float>(4, {2, 5, 4, 4}, {3, 3, 4 / groups, 8},
                               {.padding = "SAME", .feature_group_count = groups}, 1e-4);
}
// Even windows, strides that leave a rest, and cuts: x is copied into padding of its own.
TEST_F(Cudnn, PadsWhereTheSidesDiffer) {
  expect_convolutions<float>(4, {2, 5, 6, 3}, {2, 4, 3, 4}, {}, 1e-4);
  expect_convolutions<float>(4, {1, 8, 7, 2}, {3, 3, 2, 3}, {.strides = {2, 2}}, 1e-4);
  expect_convolutions<float>(4, {1, 6, 6, 2}, {2, 2, 2, 2}, {.padding = {{-1, 2}, {1, -2}}}, 1e-4);
  expect_convolutions<float>(4, {1, 6, 2}, {2, 2, 2}, {.padding = {{0, 3}}}, 1e-4);
  // No output reads an element.
  expect_convolutions<float>(4, {1, 2, 2}, {2, 2, 2}, {.padding = {{-2, 5}}}, 1e-4);
}
TEST_F(Cudnn, TransposesWhereTheInputIsDilated) {
  expect_convolutions<float>(4, {2, 4, 5, 3}, {3, 3, 3, 4}, {.input_dilation = {2, 1}}, 1e-4);
  expect_convolutions<float>(
      4, {2, 4, 5, 4}, {2, 3, 2, 6},
      {.padding = {{1, 2}, {0, 1}}, .input_dilation = {2, 3}, .feature_group_count = 2}, 1e-4);
  expect_convolutions<double>(4, {1, 4, 2}, {3, 2, 3}, {.padding = {{4, 0}}, .input_dilation = {2}}, 1e-11);
}
TEST_F(Cudnn, LeavesWhatItLacksToOwnKernels) {
  expect_convolutions<float>(0, {2, 4, 5, 3}, {1, 1, 3, 4}, {}, 1e-4);  // one product
  expect_convolutions<float>(0, {2, 4, 5, 3}, {2, 2, 3, 4}, {.strides = {2, 1}, .input_dilation = {2, 1}},
                             1e-4);
  expect_convolutions<float>(0, {0, 4, 5, 3}, {2, 2, 3, 4}, {}, 1e-4);
  for (const Kernels kernels : {Kernels::none, Kernels::none_runs}) {
    cudnn_stand_in::kernels = kernels;
    const std::int64_t n = kernels == Kernels::none ? 3 : 4;  // plans are kept
    expect_convolutions<float>(0, {n, 4, 5, 3}, {3, 3, 3, 4}, {}, 1e-4);
    expect_convolutions<double>(0, {n, 4, 5, 3}, {3, 2, 3, 4}, {}, 1e-11);
    expect_convolutions<half>(0, {n, 4, 4, 3}, {3, 3, 3, 2}, {}, 3e-2);
    expect_convolutions<bfloat16>(0, {n, 4, 4, 3}, {3, 3, 3, 2}, {.feature_group_count = 1}, 2e-1);
    expect_convolutions<half>(0, {n, 4, 4, 3}, {3, 3, 1, 3}, {.feature_group_count = 3}, 3e-2);
  }
}
TEST_F(Cudnn, TakesDeterministicKernelsOfBoundedMemory) {
  cudnn_stand_in::kernels = Kernels::in_order;
  expect_convolutions<float>(4, {5, 4, 5, 3}, {3, 3, 3, 4}, {}, 1e-4);
}
TEST_F(Cudnn, MultipliesFloatInFullUnlessToldOtherwise) {
  const auto compute = [&]<class T>(std::type_identity<T>) {
    nn::conv(numbers<T>({2, 5, 5, 2}, 1), numbers<T>({3, 3, 2, 3}, 2)).to_vector();
    return cudnn_stand_in::in_full;
  };
  EXPECT_TRUE(compute(std::type_identity<float>()));
  EXPECT_FALSE(compute(std::type_identity<half>()));
  set_matmul_precision("tensorfloat32");
  EXPECT_FALSE(compute(std::type_identity<float>()));
  set_matmul_precision("float32");
  EXPECT_TRUE(compute(std::type_identity<float>()));
}
// Weights of a vmap of their own are convolved one by one, and what they share is added up.
TEST_F(Cudnn, AddsToWeightsThatExamplesShare) {
  const A x = numbers<float>({3, 2, 5, 4, 2}, 1), w = numbers<float>({3, 3, 3, 2, 3}, 2);
  const auto of = [](const A& x, const A& w) {
    const DefaultDevice there(x.device());
    return grad([&](const A& w) {
      return A(sum(vmap([](const A& x, const A& w) { return A(sum(square(nn::conv(x, w)))); })(x, w)));
    })(w);
  };
  expect_near(of(x, w), of(device_put(x, host()), device_put(w, host())), 1e-4);
}
TEST_F(Cudnn, IsRecordedInGraphs) {
  const auto f = jit([](const A& x, const A& w) { return A(tanh(nn::conv(x, w))); });
  const A w = numbers<float>({3, 3, 2, 3}, 2);
  for (int k = 0; k < 4; ++k) {
    const A x = numbers<float>({2, 5, 4, 2}, k);
    expect_near(f(x, w), A(tanh(nn::conv(device_put(x, host()), device_put(w, host())))), 1e-5);
  }
}
// The card on which a convolution runs need not be the one that is current.
TEST_F(Cudnn, RunsOnEveryCard) {
  in_thread([] {
    const A x = numbers<float>({2, 5, 4, 2}, 1), w = numbers<float>({3, 3, 2, 3}, 2);
    const auto net = [](const A& x, const A& w) { return A(matmul(nn::conv(x, w), A(w(0, 0)).T())); };
    const A expected = net(device_put(x, host()), device_put(w, host()));
    for (const int card : {1, 0, 1}) {
      const auto f = jit(net);
      for (int call = 0; call < 3; ++call)
        expect_near(f(device_put(x, gpu(card)), device_put(w, gpu(card))), expected, 1e-4);
    }
  });
}
// Descriptors go with the thread; its handle is the next thread's.
TEST_F(Cudnn, GivesItsObjectsBackWithTheThread) {
  const auto convolve = [] {
    in_thread([] {
      nn::conv(numbers<float>({2, 5, 5, 2}, 1), numbers<float>({3, 3, 2, 3}, 2)).to_vector();
      EXPECT_GT(cudnn_stand_in::live_objects, 0);
    });
  };
  convolve();
  const long before = cudnn_stand_in::live_objects;
  convolve();
  EXPECT_EQ(cudnn_stand_in::live_objects, before);
}

}  // namespace cudnn_test
