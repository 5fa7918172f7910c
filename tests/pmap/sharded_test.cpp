#include "nax/core/allocator.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "pmap/devices.hpp"

// Results stay on the devices that computed them, and donated arguments give up their memory.
namespace on_devices::sharded_test {

// Where the shards of a result of pmap lie. (A GPU's address is read off the buffer: asking for it would
// count as a use of the elements by this thread, which prevents overwriting them.)
std::vector<const void*> addresses(const A& a) {
  std::vector<const void*> all;
  if (auto* source = detail::shards_of(a))
    for (const auto& shard : source->shards()) {
      const void* const there = detail::ArrayAccess::buffer(shard)->address;
      all.push_back(there ? there : detail::device_data(shard));
    }
  return all;
}

TEST(Sharded, ResultsFeedTheNextPmapWithoutCopy) {
  const A x = pmap([](const A& row) { return row * 2; })(ones<double>({4, 1000}));
  const std::vector<const void*> shards = addresses(x);
  ASSERT_EQ(shards.size(), 4u);
  std::vector<const void*> seen(4);
  pmap([&](const A& row, const Array<int>& i) {
    seen[static_cast<std::size_t>(i.item())] = detail::device_data(row);
    return sum(row);
  })(x, Array<int>{0, 1, 2, 3});
  EXPECT_EQ(seen, shards);
  EXPECT_EQ(addresses(x), shards);
}

TEST(Sharded, IsAnArrayLikeAnyOther) {
  const A x = pmap([](const A& row) { return row * 2; })(A{{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(to_string(x.shape()), "(3, 2)");
  EXPECT_TRUE(matches(x, A{{2, 4}, {6, 8}, {10, 12}}));
  EXPECT_TRUE(matches(x + 1, A{{3, 5}, {7, 9}, {11, 13}}));
  EXPECT_TRUE(matches(x(1), A{6, 8}));
  EXPECT_TRUE(matches(x(_, -1), A{4, 8, 12}));
  EXPECT_TRUE(matches(sum(x, {.axis = 0}), A{18, 24}));
  EXPECT_TRUE(matches(grad([](const A& x) { return sum(x * x); })(x), A{{4, 8}, {12, 16}, {20, 24}}));
  EXPECT_TRUE(matches(pmap([](const A& column) { return sum(column); }, {.in_axes = 1})(x), A{18, 24}));
}

TEST(Sharded, DonatedArgumentsAreReused) {
  auto step = [](A x) {
    x = x + 1;
    return x;
  };
  A x = pmap([](const A& row) { return row * 2; })(ones<double>({4, 1000}));
  const std::vector<const void*> shards = addresses(x);
  x = pmap(step)(std::move(x));
  EXPECT_EQ(addresses(x), shards);
  EXPECT_TRUE(matches(x, full<double>({4, 1000}, 3.0)));
  // An lvalue is kept, and the result has memory of its own.
  const A y = pmap(step)(x);
  EXPECT_TRUE(matches(x, full<double>({4, 1000}, 3.0)));
  EXPECT_TRUE(matches(y, full<double>({4, 1000}, 4.0)));
  // Another handle shares it: no elements change.
  const A other = x;
  const A z = pmap(step)(std::move(x));
  EXPECT_TRUE(matches(other, full<double>({4, 1000}, 3.0)));
  EXPECT_TRUE(matches(z, full<double>({4, 1000}, 4.0)));
}

TEST(Sharded, DonationHoldsNoMemory) {
  struct Layer {
    A w, b;
  };
  auto step = [](std::vector<Layer> p, const A& g) {
    for (Layer& layer : p) layer.w = layer.w - 0.5 * g, layer.b = layer.b - sum(g);
    return p;
  };
  const A g = ones<double>({4, 5000});
  auto p = pmap(step, {.in_axes = {none, 0}})(std::vector<Layer>{{ones<double>({5000}), A(1.0)}}, g);
  const std::size_t before = memory_stats().in_use;
  reset_peak_memory();
  for (int i = 0; i < 5; ++i) p = pmap(step)(std::move(p), g);
  EXPECT_EQ(memory_stats().in_use, before);
  EXPECT_LT(memory_stats().peak, before + 4 * 5000 * 8);
  EXPECT_TRUE(matches(p[0].w(3)(slice(0, 2)), A{-2, -2}));
}

}  // namespace on_devices::sharded_test
