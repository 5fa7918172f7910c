#include "pmap/devices.hpp"

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/placement.hpp"
#include "nax/transform/vmap.hpp"
#include "support/with_threads.hpp"

// The devices, pmap's choice of them, and the layout of arguments and results.
namespace on_devices::devices_test {

TEST(Devices, AreFour) {
  EXPECT_EQ(device_count(), 4);
  ASSERT_EQ(devices().size(), 4u);
  EXPECT_EQ(to_string(devices()[3]), platform::is_cuda() ? "cuda:3" : "cpu:3");
  EXPECT_EQ(devices(platform::is_cuda() ? "cuda" : "cpu"), devices());
  EXPECT_EQ(to_string(devices("cpu")[3]), "cpu:3");
  EXPECT_EQ(default_device(), devices()[0]);
  EXPECT_EQ(A({1, 2}).device(), devices()[0]);
}

TEST(Devices, CountIsFixedByFirstUse) {
  EXPECT_EQ(device_count("cpu"), 4);
  EXPECT_EQ(text_of<ValueError>([] { set_cpu_device_count(2); }),
            "set_cpu_device_count: the devices are already in use; call it before anything asks for them");
  EXPECT_EQ(text_of<ValueError>([] { set_cpu_device_count(0); }),
            "set_cpu_device_count: the count must be between 1 and 256, not 0");
#ifdef NAX_CUDA_EMULATED
  const std::string there = "'cpu' and 'cuda'";
#else
  const std::string there = "'cpu'";
#endif
  EXPECT_EQ(text_of<ValueError>([] { devices("tpu"); }),
            "devices: no platform 'tpu' in this program; there is " + there);
  EXPECT_EQ(device_count(), 4);
}

const A x = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};

TEST(Pmap, EachOnItsDevice) {
  const auto where = pmap([](const Array<int>& i) {
    EXPECT_EQ(default_device(), devices()[static_cast<std::size_t>(i.item())]);
    return Array<int>(default_device().ordinal);
  })(Array<int>{0, 1, 2, 3});
  EXPECT_EQ(where.to_vector(), (std::vector<int>{0, 1, 2, 3}));
}

TEST(Pmap, FewerThanAllDevices) {
  EXPECT_TRUE(matches(pmap([](const A& row) { return sum(row); })(x), A{6, 15, 24}));
  EXPECT_TRUE(matches(pmap([](const A& row) { return sum(row); })(A{{1, 2}}), A{3}));
}

TEST(Pmap, MoreThanAllDevices) {
  EXPECT_EQ(text_of<ValueError>([] {
              pmap([](const A& a) { return a; })(A{1, 2, 3, 4, 5});
            }),
            std::string("pmap: the mapped axis has size 5, but the number of devices is 4; see ") +
                (platform::is_cuda() ? "NAX_CUDA_DEVICES" : "set_cpu_device_count"));
}

TEST(Pmap, AnAxisOfNoneIsRefused) {
  EXPECT_EQ(text_of<ValueError>([] {
              pmap([](const A& a) { return a; })(zeros<double>({0, 3}));
            }),
            "pmap: the mapped axis has size 0: there is nothing to run on any device");
}

TEST(Pmap, ChosenDevices) {
  const std::vector<Device> all = devices(), some = {all[3], all[1]};
  auto where = [](const A& a) { return a * 10 + default_device().ordinal; };
  EXPECT_TRUE(matches(pmap(where, {.devices = some})(A{1, 2}), A{13, 21}));
  EXPECT_TRUE(matches(pmap(where, {.devices = some})(A{1}), A{13}));
  EXPECT_NE(text_of<ValueError>([&] { pmap(where, {.devices = some})(A{1, 2, 3}); }), "");
  EXPECT_EQ(text_of<ValueError>([&] {
              pmap(where, {.devices = {all[1], all[1]}})(A{1, 2});
            }),
            "pmap: device cpu:1 is named twice");
  EXPECT_EQ(text_of<ValueError>([&] {
              pmap(where, {.devices = {all[1], {Platform::cpu, 9}}})(A{1, 2});
            }),
            "pmap: no device cpu:9 in this program");
}

TEST(Pmap, InAxes) {
  auto weighed = [](const A& x, const A& w) { return sum(x * w); };
  EXPECT_TRUE(matches(pmap(weighed, {.in_axes = {0, none}})(x, A{1, 10, 100}), A{321, 654, 987}));
  EXPECT_TRUE(matches(pmap(weighed, {.in_axes = {1, none}})(x, A{1, 10, 100}), A{741, 852, 963}));
  EXPECT_TRUE(matches(pmap(weighed, {.in_axes = {-1, 0}})(x, x),
                      A{30 + 0., 2 * 4 + 5 * 5 + 8 * 6., 3 * 7 + 6 * 8 + 9 * 9.}));
  EXPECT_EQ(text_of<ValueError>([&] {
              pmap(weighed)(x, A{1, 2});
            }),
            "pmap: the sizes of the mapped axes differ: argument 0 of shape (3, 3) has 3 along axis 0, "
            "argument 1 of shape "
            "(2,) has 2 along axis 0");
  EXPECT_TRUE(
      matches(pmap([](const A& x, const auto& s) { return sum(x) * s; }, {.in_axes = {0, none}})(x, 2),
              A{12, 30, 48}));
}

TEST(Pmap, OutAxes) {
  auto f = [](const A& row) { return std::pair(row * 2, std::tuple(sum(row), A(7.0))); };
  const auto [a, rest] = pmap(f, {.out_axes = {1, axes(0, none)}})(x);
  EXPECT_TRUE(matches(a, A{{2, 8, 14}, {4, 10, 16}, {6, 12, 18}}));
  EXPECT_TRUE(matches(std::get<0>(rest), A{6, 15, 24}));
  EXPECT_TRUE(matches(std::get<1>(rest), A(7.0)));
  EXPECT_TRUE(matches(pmap([](const A& row) { return row; }, {.out_axes = -1})(x),
                      A{{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}));
  EXPECT_TRUE(matches(grad([&](const A& x) {
                        return sum(pmap(f, {.out_axes = {1, axes(0, none)}})(x).first * x);
                      })(device_put(x, default_device())),
                      A{{4, 16, 28}, {8, 20, 32}, {12, 24, 36}}));
}

TEST(Pmap, Trees) {
  struct Layer {
    A w, b;
  };
  const std::vector<Layer> layers = {{A{1, 2}, A(3.0)}, {A{4, 5}, A(6.0)}};
  auto step = [](std::vector<Layer> layers, const A& x) {
    for (Layer& layer : layers) layer = {layer.w * x, layer.b + x};
    return layers;
  };
  const auto next = pmap(step, {.in_axes = {none, 0}})(layers, A{10, 100});
  EXPECT_TRUE(matches(next[1].w, A{{40, 50}, {400, 500}}));
  EXPECT_TRUE(matches(next[0].b, A{13, 103}));
}

TEST(Pmap, ThreadsAreSharedOut) {
  const WithThreads threads(8);
  const auto each = pmap([](const A&) { return Array<int>(available_threads()); })(A{1, 2, 3, 4});
  EXPECT_EQ(each.to_vector(), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(available_threads(), 8);
}

TEST(Pmap, InsideAPmapIsRefused) {
  auto inner = [](const A& x) { return pmap([](const A& y) { return y; })(x); };
  const std::string text = text_of<DeviceError>([&] { pmap(inner)(x); });
  EXPECT_NE(text.find("pmap: a pmap inside a pmap has no devices left; use vmap for the inner axis"),
            std::string::npos);
}

}  // namespace on_devices::devices_test
