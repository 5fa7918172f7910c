#include <functional>

#include "nax/numpy/creation/creation.hpp"
#include "nccl/devices.hpp"

// Every collective on one to four GPUs against its result on a vmap's axis, for all types with a transfer of
// their own.
namespace nccl_devices::collectives_test {

// f(x, number of devices, whether axes are divided); erased, so that each map is compiled once a type.
template <class T, class R = T>
void same_as_vmap(const std::type_identity_t<std::function<Array<R>(const Array<T>&, int, bool)>>& f,
                  const Shape& shape, const char* what, double tolerance = 0) {
  for (int n = 1; n <= most_gpus(); ++n) {
    Shape whole = shape;
    whole.insert(0, n);
    for (int divide = 0; divide < 2; ++divide) {  // also where a visible axis counts the devices
      Shape mine = whole;
      if (mine.size() > 1) mine[1] = divide ? 2 * n : n;
      Array<float> numbers = arange<float>(static_cast<float>(Array<float>(zeros<float>(mine)).size()));
      const Array<T> x = (sin(numbers * 37.f) * 50.f).template astype<T>().reshape(mine);
      const Array<R> got = pmap([&](const Array<T>& x) { return f(x, n, divide == 1); },
                                {.axis_name = "i", .devices = first_gpus(n)})(x);
      const Array<R> want =
          vmap([&](const Array<T>& x) { return f(x, n, divide == 1); }, {.axis_name = "i"})(x);
      EXPECT_TRUE(compare::close(got, want, tolerance)) << what << " on " << n;
    }
  }
}

// Truth values are counted.
template <class T>
using sum_of_t = std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>;

template <class T>
class OfType : public testing::Test {};
using Types = testing::Types<bool, std::int16_t, bfloat16, float>;  // each has a way of its own
TYPED_TEST_SUITE(OfType, Types);

TYPED_TEST(OfType, AllReduce) {
  using A = Array<TypeParam>;
  const double rounding = sizeof(TypeParam) == 2 ? 2e-2 : 1e-6;
  same_as_vmap<TypeParam, sum_of_t<TypeParam>>([](const A& x, int, bool) { return psum(x, "i"); }, {3, 5},
                                               "psum", rounding);
  same_as_vmap<TypeParam>([](const A& x, int, bool) { return pmax(x, "i"); }, {3, 5}, "pmax");
  same_as_vmap<TypeParam>([](const A& x, int, bool) { return pmin(x, "i"); }, {3, 5}, "pmin");
  if constexpr (is_floating_v<TypeParam>)
    same_as_vmap<TypeParam>([](const A& x, int, bool) { return pmean(x, "i"); }, {3, 5}, "pmean", rounding);
}

TYPED_TEST(OfType, Moves) {
  using A = Array<TypeParam>;
  same_as_vmap<TypeParam>([](const A& x, int, bool) { return all_gather(x, "i"); }, {3, 5}, "all_gather");
  same_as_vmap<TypeParam>(
      [](const A& x, int, bool tiled) { return all_gather(x, "i", {.axis = 1, .tiled = tiled}); }, {3, 5},
      "all_gather");
  same_as_vmap<TypeParam>(
      [](const A& x, int, bool tiled) { return all_to_all(x, "i", 0, 1, {.tiled = tiled}); }, {3, 5},
      "all_to_all");
  same_as_vmap<TypeParam>(
      [](const A& x, int n, bool) {
        std::vector<std::pair<int, int>> cycle;
        for (int i = 0; i < n; ++i) cycle.emplace_back(i, (i + 1) % n);
        return ppermute(x, "i", cycle);
      },
      {3, 5}, "ppermute");
  same_as_vmap<TypeParam>(
      [](const A& x, int n, bool) {
        return ppermute(x, "i", {{0, n - 1}});
      },
      {3, 5}, "ppermute");
  same_as_vmap<TypeParam, sum_of_t<TypeParam>>(
      [](const A& x, int, bool tiled) {
        return psum_scatter(x, "i", {.scatter_dimension = 0, .tiled = tiled});
      },
      {3, 5}, "psum_scatter", sizeof(TypeParam) == 2 ? 2e-2 : 1e-6);
}

TEST(Nccl, KeepsNaNs) {
  if (most_gpus() < 2) GTEST_SKIP() << "takes 2 GPUs";
  const float nan = std::nanf("");
  const Array<float> x = {{1, nan}, {3, 4}};
  const auto greatest = pmap([](const Array<float>& x) { return pmax(x, "i"); },
                             {.axis_name = "i", .devices = first_gpus(2)})(x)
                            .to_vector();
  EXPECT_EQ(greatest[0], 3);
  EXPECT_TRUE(std::isnan(greatest[1]) && std::isnan(greatest[3]));
}

TEST(Nccl, SumsComplexNumbers) {
  if (most_gpus() < 2) GTEST_SKIP() << "takes 2 GPUs";
  using C = std::complex<float>;
  const Array<C> on_host(device_put(Array<C>{C(1, 2), C(3, 4)}, devices("cpu")[0]));
  const Array<C> x = device_put(on_host, devices("cuda")[0]);
  const Array<C> sum =
      pmap([](const Array<C>& x) { return psum(x, "i"); }, {.axis_name = "i", .devices = first_gpus(2)})(x);
  EXPECT_EQ(sum.to_vector()[1], (C{4, 6}));
}

// Buckets of any size make the same sums, bit for bit.
TEST(Nccl, Buckets) {
  if (most_gpus() < 4) GTEST_SKIP() << "takes 4 GPUs";
  using Tree = std::vector<std::pair<Array<float>, Array<double>>>;
  Tree tree;
  for (int i = 0; i < 12; ++i)
    tree.emplace_back(sin(arange<float>(4 * 3 * i).reshape({4, 3 * i})),
                      sin(arange<double>(4 * (i % 3)).reshape({4, i % 3})));
  const auto mean =
      pmap([](const Tree& tree) { return pmean(tree, "i"); }, {.axis_name = "i", .devices = first_gpus(4)});
  const Tree want = mean(tree);
  for (const char* megabytes : {"0", "0.0001", "0.0005", "0.002"}) {
    const With small("NAX_NCCL_BUCKET_MB", megabytes);
    const Tree got = mean(tree);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      EXPECT_EQ(got[i].first.to_vector(), want[i].first.to_vector());
      EXPECT_EQ(got[i].second.to_vector(), want[i].second.to_vector());
    }
  }
  const With in_memory("NAX_NCCL", "0");
  const Tree here = mean(tree);
  for (std::size_t i = 0; i < tree.size(); ++i)
    EXPECT_EQ(here[i].first.to_vector(), want[i].first.to_vector());
}

TEST(Nccl, RefusesSettingsThatAreNone) {
  if (most_gpus() < 2) GTEST_SKIP() << "takes 2 GPUs";
  const auto sum =
      pmap([](const Array<float>& x) { return psum(x, "i"); }, {.axis_name = "i", .devices = first_gpus(2)});
  for (const char* name : {"NAX_NCCL_BUCKET_MB", "NAX_COLLECTIVE_TIMEOUT_S"}) {
    const With wrong(name, "many");
    try {
      sum(Array<float>{1, 2});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::string(name) + ": must be a number"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(sum(Array<float>{1, 2}).to_vector(), (std::vector<float>{3, 3}));
}

}  // namespace nccl_devices::collectives_test
