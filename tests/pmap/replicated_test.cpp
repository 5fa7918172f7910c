#include "nax/parallel/replicated.hpp"

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"
#include "pmap/devices.hpp"

// device_put_replicated: a copy on each device, where pmap finds it.
namespace on_devices::replicated_test {

TEST(Replicated, HasACopyOnEachDevice) {
  struct Layer {
    A w;
    Array<int> steps;
    float scale;
  };
  const Layer one{{{1, 2}, {3, 4}}, {5, 6, 7}, 0.5f};
  for (int count : {1, 3, 4}) {
    auto some = devices();
    some.resize(static_cast<std::size_t>(count));
    const Layer all = device_put_replicated(one, some);
    EXPECT_TRUE(matches(all.w, stack(std::vector(static_cast<std::size_t>(count), one.w))));
    EXPECT_EQ(to_string(all.steps.shape()), "(" + std::to_string(count) + ", 3)");
    EXPECT_EQ(all.steps(-1, 2).item(), 7);
    EXPECT_EQ(all.scale, 0.5f);
    for (int d = 0; d < count; ++d)
      EXPECT_EQ(detail::shards_of(all.w)->shards()[static_cast<std::size_t>(d)].device(),
                some[static_cast<std::size_t>(d)]);
  }
  EXPECT_TRUE(
      matches(device_put_replicated(one.w.T() * 2, devices()), stack(std::vector(4, A(one.w.T() * 2)))));
  EXPECT_TRUE(matches(device_put_replicated(A(3), devices()), A{3, 3, 3, 3}));
  EXPECT_EQ(to_string(device_put_replicated(zeros<double>({0, 2}), devices()).shape()), "(4, 0, 2)");
}

TEST(Replicated, IsOverwrittenByTheFirstStep) {
  A x = device_put_replicated(ones<double>({1000}), devices());
  const auto places = [](const A& all) {
    std::vector<const void*> found;
    for (const ArrayBase& shard : detail::shards_of(all)->shards())
      found.push_back(detail::ArrayAccess::buffer(shard).get());
    return found;
  };
  const auto before = places(x);
  x = pmap([](A row) {
    row = row + 1;
    return row;
  })(std::move(x));
  EXPECT_EQ(places(x), before);
  EXPECT_TRUE(matches(x, full<double>({4, 1000}, 2.0)));
}

TEST(Replicated, IsDifferentiable) {
  const A x = {1, 2, 3}, w = arange<double>(12).reshape({4, 3});
  const auto f = [=](const A& x) { return sum(device_put_replicated(x * x, devices()) * w); };
  const auto same = [=](const A& x) { return sum(stack(std::vector(4, A(x * x))) * w); };
  EXPECT_TRUE(matches(grad(f)(x), grad(same)(x)));
  EXPECT_TRUE(matches(jvp(f, std::tuple{x}, std::tuple{w(1)}).second,
                      jvp(same, std::tuple{x}, std::tuple{w(1)}).second));
  EXPECT_TRUE(matches(grad([=](const A& x) { return sum(grad(f)(x) * x); })(x),
                      grad([=](const A& x) { return sum(grad(same)(x) * x); })(x)));
  EXPECT_TRUE(matches(vmap(grad(f))(w), vmap(grad(same))(w)));
}

TEST(Replicated, ErrorsNameTheArgument) {
  const A x = {1, 2};
  EXPECT_EQ(text_of<ValueError>([&] { device_put_replicated(x, {}); }),
            "device_put_replicated: devices is empty");
  auto unknown = devices();
  unknown[1].ordinal = 99;
  EXPECT_EQ(text_of<ValueError>([&] { device_put_replicated(x, unknown); }),
            "device_put_replicated: no device cpu:99 in this program");
  const Device one = devices()[1];
  EXPECT_EQ(text_of<ValueError>([&] {
              device_put_replicated(x, {one, one});
            }),
            "device_put_replicated: device cpu:1 is named twice");
}

}  // namespace on_devices::replicated_test
