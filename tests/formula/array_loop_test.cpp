#include "nax/formula/array_loop.hpp"

#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>
#include <vector>

#include "formulas.hpp"

// A formula over operands of random layouts, whose results are stored or reduced, is what plain loops give.
namespace array_loop_test {
using namespace nax::formula;
using nax::Dims;
using nax::DType;
namespace cpu = nax::cpu;
namespace loops = nax::loops;

struct Case {
  Dims shape;
  std::vector<Dims> inputs;  // strides
  Dims stored, reduced;
};

std::int64_t size_of(const Dims& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}
std::int64_t place(const Dims& shape, const Dims& strides, std::int64_t i) {
  std::int64_t at = 0;
  for (std::size_t axis = shape.size(); axis-- > 0; i /= shape[axis]) at += i % shape[axis] * strides[axis];
  return at;
}
// Strides of a dense array without some axes, its axes in any order.
Dims strides_of(const Dims& shape, std::mt19937& random, unsigned gone, bool row_major) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) order[axis] = order.size() - 1 - axis;
  if (!row_major) std::shuffle(order.begin(), order.end(), random);
  Dims strides(shape.size(), 0);
  std::int64_t next = 1;
  for (const std::size_t axis : order)
    if (!(gone >> axis & 1)) strides[axis] = next, next *= shape[axis];
  return strides;
}
Case random_case(unsigned seed) {
  std::mt19937 random(seed);
  constexpr std::int64_t extents[] = {1, 2, 3, 5, 16, 40, 70, 300};
  Case c;
  const std::size_t rank = random() % 5;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t most = seed % 16 == 0 ? 400000 : 6000, left = most / size_of(c.shape);
    std::int64_t d = extents[random() % std::size(extents)];
    if (seed % 16 == 0 && axis == 0) d = 140 + 4000 * (random() % 2);
    c.shape.push_back(std::max<std::int64_t>(1, std::min(d, left)));
  }
  for (int i = 0; i < 3; ++i)
    c.inputs.push_back(strides_of(c.shape, random, random() % 3 == 0 ? random() : 0u, random() % 3 > 0));
  c.stored = strides_of(c.shape, random, 0, true);
  c.reduced = strides_of(c.shape, random, random(), true);
  return c;
}

template <class T>
void check(unsigned seed) {
  cpu::provide_reducer<cpu::reduce_op::Max<T>, T>();
  const Case c = random_case(seed);
  constexpr DType type = formulas::type_of<T>;
  Recorder recorder(type);
  const auto x = Symbol<T>::input(0), y = Symbol<T>::input(1), z = Symbol<T>::input(2);
  const Formula f = recorder.finish({(x * y).at, (x * y + z).at, (x * y + z).at});
  const std::int64_t n = size_of(c.shape);
  std::vector<std::vector<T>> in;
  for (unsigned i = 0; i < 3; ++i) {
    in.emplace_back(static_cast<std::size_t>(n));
    std::mt19937 random(seed + i);
    for (T& value : in.back()) value = static_cast<T>(static_cast<int>(random() % 17) - 8) / 4;
  }
  const auto value = [&](std::size_t i, std::int64_t at) {
    return static_cast<double>(in[i][static_cast<std::size_t>(place(c.shape, c.inputs[i], at))]);
  };
  std::vector<double> stored(static_cast<std::size_t>(n)), sums(stored.size()), most(stored.size(), -1e30);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::size_t to = static_cast<std::size_t>(place(c.shape, c.reduced, i));
    stored[static_cast<std::size_t>(i)] = value(0, i) * value(1, i);
    sums[to] += stored[static_cast<std::size_t>(i)] + value(2, i);
    most[to] = std::max(most[to], stored[static_cast<std::size_t>(i)] + value(2, i));
  }
  std::vector<loops::Operand> operands;
  for (const Dims& strides : c.inputs) operands.push_back({nullptr, strides});
  for (const Dims& strides : {c.stored, c.reduced, c.reduced}) operands.push_back({nullptr, strides});
  for (const Machine machine : formulas::machines()) {
    const Kernel kernel(f, machine);
    const ArrayLoop loop(kernel, c.shape, operands,
                         {&cpu::reducer_for(loops::ReduceKind::sum, type, type),
                          &cpu::reducer_for(loops::ReduceKind::max, type, type)});
    std::vector<T> product(stored.size()), sum(stored.size()), largest(stored.size());
    char* at[6];
    for (std::size_t i = 0; i < 3; ++i) {
      at[i] = reinterpret_cast<char*>(in[i].data());
      const auto [first, bytes] = loop.reach(i);
      EXPECT_EQ(first, 0);
      EXPECT_LE(bytes, n * static_cast<std::int64_t>(sizeof(T)));
    }
    at[3] = reinterpret_cast<char*>(product.data()), at[4] = reinterpret_cast<char*>(sum.data());
    at[5] = reinterpret_cast<char*>(largest.data());
    loop.run(at);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      ASSERT_EQ(product[i], stored[i]) << seed << ' ' << formulas::name(machine) << ' ' << i;
      if (most[i] == -1e30) continue;  // no result
      ASSERT_NEAR(sum[i], sums[i], 1e-6 * static_cast<double>(n)) << seed << ' ' << formulas::name(machine);
      ASSERT_EQ(largest[i], most[i]) << seed << ' ' << formulas::name(machine) << ' ' << i;
    }
    // The map alone.
    Formula map = f;
    map.results.resize(2);
    const Kernel maps(map, machine);
    std::vector<loops::Operand> all(operands.begin(), operands.begin() + 4);
    all.push_back(all.back());
    at[4] = reinterpret_cast<char*>(sum.data());
    ArrayLoop(maps, c.shape, all).run(at);
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_EQ(sum[static_cast<std::size_t>(i)], stored[static_cast<std::size_t>(i)] + value(2, i)) << seed;
  }
}
TEST(ArrayLoop, GivesWhatPlainLoopsGive) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    check<float>(seed);
    check<double>(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace array_loop_test
