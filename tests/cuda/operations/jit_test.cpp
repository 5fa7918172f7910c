#include "nax/transform/jit.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "nax/core/device_memory.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/indexing/placement.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/logsumexp.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/parallel/pmap.hpp"
#include "nax/random/continuous.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jacobian.hpp"
#include "operations/launches.hpp"
#include "support/refusal.hpp"

// Graphs of launches, recorded and replayed on the emulated GPU.
namespace jit_test {
using namespace nax;
using F = Array<float>;

Device gpu() { return devices("cuda")[0]; }
F there(const F& x) { return device_put(x, gpu()); }
std::vector<float> host(const F& x) { return x.to_vector(); }
// A card's first call of a signature is not recorded.
int calls_to_record() { return detail::accelerator_of(gpu()).graphs().wants_plain_call() ? 2 : 1; }

struct Params {
  F w, b;
};
F loss(const Params& p, const F& x, const F& y) {
  const F logits = matmul(tanh(matmul(x, p.w) + p.b), p.w);
  return -mean(sum((logits - logsumexp(logits, {.axis = -1, .keepdims = true})) * y, {.axis = -1}));
}
std::pair<Params, F> step(Params p, const F& x, const F& y) {
  const auto [value, g] = value_and_grad(loss)(p, x, y);
  return {Params{p.w - 0.1f * g.w, p.b - 0.1f * g.b}, value};
}
Params initial() { return {there(random::normal(random::key(1), {8, 8})), there(zeros<float>({8}))}; }

TEST(Jit, GivesTheSameResults) {
  const F x = there(random::normal(random::key(0), {4, 6})),
          y = there(random::normal(random::key(2), {6, 4}));
  int calls = 0;
  const auto f = [&](const F& a, const F& b) {
    ++calls;
    const F c = matmul(a, b);
    return std::pair{F(exp(c) / 2 + sort(c)), F(sum(c * c, {.axis = 0}))};
  };
  const auto expected = f(x, y);
  calls = 0;
  const auto fast = jit(f);
  for (int i = 0; i < 5; ++i) {
    const auto [p, q] = fast(x, y);
    EXPECT_EQ(p.device(), gpu());
    EXPECT_EQ(p.data()[1], host(expected.first)[1]);
    EXPECT_EQ(host(p), host(expected.first));
    EXPECT_EQ(host(q), host(expected.second));
  }
  EXPECT_EQ(calls, calls_to_record());
  // Other elements, other shapes.
  EXPECT_EQ(host(fast(F(x * 2.f), y).first), host(f(F(x * 2.f), y).first));
  calls = 0;
  const F wide = there(random::normal(random::key(3), {6, 9}));
  EXPECT_EQ(host(fast(x, wide).second), host(f(x, wide).second));
  EXPECT_EQ(calls, 2);
}

TEST(Jit, ResultsLastWhileTheyAreHeld) {
  const auto fast = jit([](const F& x) { return F(x * 2.f + 1.f); });
  std::vector<F> kept;
  for (int i = 0; i < 9; ++i) kept.push_back(fast(there(full({3}, static_cast<float>(i)))));
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(host(kept[static_cast<std::size_t>(i)]),
              std::vector<float>(3, 2.f * static_cast<float>(i) + 1));
  // They outlive the jitted function, too.
  std::optional<F> last;
  {
    const auto brief = jit([](const F& x) { return F(x + 1.f); });
    last = brief(there(ones<float>({5})));
  }
  EXPECT_EQ(host(*last + 1.f), std::vector<float>(5, 3.f));
  // A result may be an argument, or a constant.
  const F constant = there(arange<float>(3));
  const auto given = jit([=](const F& x) { return std::tuple{x, constant, F(x + constant)}; });
  for (int i = 0; i < 4; ++i) {
    const auto [same, c, sum] = given(there(full({3}, static_cast<float>(i))));
    EXPECT_EQ(host(same), std::vector<float>(3, static_cast<float>(i)));
    EXPECT_EQ(host(c), host(constant));
    EXPECT_EQ(sum(2).item(), static_cast<float>(i) + 2);
  }
}

TEST(Jit, ATrainingStepIsOneLaunch) {
  const F x = there(random::normal(random::key(5), {16, 8})), y = there(full({16, 8}, 0.125f));
  Params slow = initial(), p = initial();
  const auto fast = jit(step, {.donate_argnums = {0}});
  F value, expected;
  for (int i = 0; i < 3; ++i) std::tie(p, value) = fast(p, x, y);  // until memory use is stable
  const std::size_t allocations = memory_stats(gpu()).allocations;
  expect_launches(20, [&] {
    for (int i = 0; i < 20; ++i) std::tie(p, value) = fast(p, x, y);
  });
  EXPECT_EQ(memory_stats(gpu()).allocations, allocations);
  for (int i = 0; i < 23; ++i) std::tie(slow, expected) = step(slow, x, y);
  EXPECT_EQ(host(p.w), host(slow.w));
  EXPECT_EQ(host(p.b), host(slow.b));
  EXPECT_EQ(value.item(), expected.item());
}

TEST(Jit, ComposesWithTransforms) {
  const auto f = [](const F& x) { return F(sum(exp(x) * x)); };
  const auto fast = jit(f);
  const F x = there(F{0.5f, -1.f, 2.f}), xs = there(F{{0.5f, -1.f}, {2.f, 0.f}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(host(grad(fast)(x)), host(grad(f)(x)));
    EXPECT_EQ(host(jit(grad(f))(x)), host(grad(f)(x)));
    EXPECT_EQ(host(vmap(fast)(xs)), host(vmap(f)(xs)));
    EXPECT_EQ(host(jit(vmap(grad(fast)))(xs)), host(vmap(grad(f))(xs)));
    const auto slopes = [](const auto& g) { return [=](const F& v) { return F(sum(grad(g)(v))); }; };
    EXPECT_EQ(host(grad(jit(slopes(fast)))(x)), host(grad(slopes(f))(x)));
    EXPECT_EQ(host(jit(hessian(fast))(x)), host(hessian(f)(x)));
    EXPECT_EQ(host(jit(jit(f))(x)), host(f(x)));
  }
}

TEST(Jit, ComposesWithPmap) {
  const auto f = [](const F& x) { return F(x / psum(x, "i")); };
  const auto local = [](const F& x) { return F(tanh(x) * 2.f); };
  const F xs = F{{1, 2}};
  const PmapOptions options = {.axis_name = "i", .devices = {gpu()}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(host(pmap(jit(f), options)(xs)), host(pmap(f, options)(xs)));
    EXPECT_EQ(host(pmap(jit(local), options)(xs)), host(pmap(local, options)(xs)));
    EXPECT_EQ(host(jit(pmap(local, options))(xs)), host(pmap(local, options)(xs)));
    EXPECT_EQ(host(jit(pmap(local, options))(there(xs))), host(pmap(local, options)(xs)));
  }
}

TEST(Jit, TellsCallsApart) {
  int calls = 0;
  const auto power = [&](const F& x, int n, const std::string& how) {
    ++calls;
    F y = x;
    for (int i = 1; i < n; ++i) y = how == "add" ? F(y + x) : F(y * x);
    return y;
  };
  const auto fast = jit(power, {.static_argnums = {1, 2}});
  const F x = there(F{2.f, 3.f});
  const std::string add = "add", multiply = "multiply";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(host(fast(x, 3, multiply)), (std::vector<float>{8, 27}));
    EXPECT_EQ(host(fast(x, 2, multiply)), (std::vector<float>{4, 9}));
    EXPECT_EQ(host(fast(x, 3, add)), (std::vector<float>{6, 9}));
  }
  EXPECT_EQ(calls, 3 * calls_to_record());
  // Numbers become arrays where they may, and do not tell calls apart.
  calls = 0;
  const auto scaled = jit([&](const F& v, const F& by) {
    ++calls;
    return F(v * by);
  });
  for (float by : {1.f, 2.f, 3.f}) EXPECT_EQ(host(scaled(x, by)), (std::vector<float>{2 * by, 3 * by}));
  EXPECT_EQ(calls, calls_to_record());
  // Trees of one type but of different lengths.
  calls = 0;
  const auto total = jit([&](const std::vector<F>& list) {
    ++calls;
    F sum = list[0];
    for (std::size_t i = 1; i < list.size(); ++i) sum = sum + list[i];
    return sum;
  });
  for (int i = 0; i < 2; ++i)
    for (std::size_t n : {1u, 2u, 3u})
      EXPECT_EQ(total(std::vector<F>(n, x))(0).item(), 2.f * static_cast<float>(n));
  EXPECT_EQ(calls, 3 * calls_to_record());
  // The oldest of more than 64 kinds goes.
  calls = 0;
  const auto kinds = jit([&](const F& v) {
    ++calls;
    return F(v + 1.f);
  });
  for (int round = 0; round < 2; ++round)
    for (int n = 1; n <= 65; ++n) EXPECT_EQ(kinds(there(zeros<float>({n}))).size(), n);
  EXPECT_EQ(calls, 130);
}

TEST(Jit, TellsStaticFieldsApart) {
  struct Module {
    F w;
    tree::Static<double> power;
    tree::Static<std::function<F(const F&)>> activation;
  };
  int calls = 0;
  const auto fast = jit([&](const Module& m) {
    ++calls;
    return m.activation(m.w) * *m.power;
  });
  const Module a{there({1, 2}), 2, [](const F& x) { return F(x * x); }};
  Module b = a, c = a;
  b.power = 2 + 1e-9;  // prints alike
  c.activation = [](const F& x) { return F(-x); };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(host(fast(a)), (std::vector<float>{2, 8}));
    EXPECT_EQ(host(fast(b)), (std::vector<float>{2, 8}));
    EXPECT_EQ(host(fast(c)), (std::vector<float>{-2, -4}));
  }
  EXPECT_EQ(calls, 3 * calls_to_record());  // one recording each: copies of a function are equal
}

TEST(Jit, TakesKeysAndConstants) {
  const Device before = default_device();
  const F x = there(ones<float>({3}));
  set_default_device(gpu());
  const auto f = [](const random::Key& key, const F& v) {
    const auto [a, b] = random::split(key);
    return F(v + random::normal(a, {3}) * random::uniform(b, {3}) + F{1, 2, 3});
  };
  const auto fast = jit(f);
  for (int seed = 0; seed < 4; ++seed)
    EXPECT_EQ(host(fast(random::key(seed), x)), host(f(random::key(seed), x)));
  set_default_device(before);
}

TEST(Jit, RefusesByName) {
  const F x = there(F{1.f, 2.f});
  const auto reads = jit([](const F& v) {
    if (sum(v).item() > 0) return F(v * 2.f);
    return v;
  });
  for (int i = 1; i < calls_to_record(); ++i) EXPECT_EQ(host(reads(x)), (std::vector<float>{2, 4}));
  EXPECT_EQ(refusal<Error>([&] { reads(x); }).substr(0, 43), "jit: the function reads values on the host ");
  EXPECT_EQ(host(F(x + 1.f)), (std::vector<float>{2, 3}));          // all is as it was
  EXPECT_EQ(host(reads(F{1.f, 2.f})), (std::vector<float>{2, 4}));  // allowed on the CPU
  EXPECT_EQ(refusal<Error>([&] { jit([](const F& v) { return v; }, {.static_argnums = {2}})(x); }),
            "jit: static_argnums 2 is out of range for 1 arguments");
  EXPECT_EQ(refusal<Error>([&] { jit([](const F& v) { return v; }, {.static_argnums = {0}})(x); }),
            "jit: the static argument 0 holds an array, which is not compared by value");
  EXPECT_EQ(
      refusal<Error>([&] { jit([](const F& v, const std::string&) { return v; })(x, std::string("a")); }),
      "jit: argument 1 is no tree of arrays; name it in static_argnums");
  EXPECT_EQ(refusal<Error>([&] {
              jit([](const F& v, int) { return v; }, {.static_argnums = {1}, .donate_argnums = {1}})(x, 1);
            }),
            "jit: argument 1 is both static and donated");
  // Exceptions of f reach the caller, and the next call records again.
  int calls = 0;
  const auto second = jit([&](const F& v) {
    if (++calls == 1) throw ValueError("first");
    return F(v * 3.f);
  });
  EXPECT_EQ(refusal<Error>([&] { second(x); }), "first");
  EXPECT_EQ(host(second(x)), (std::vector<float>{3, 6}));
}

// Computes on the arguments' device, as without jit; mixed devices throw f's error.
TEST(Jit, KeepsDevicesAndErrors) {
  const auto f = [](const F& a, const F& b) { return F(a * 2.f + b); };
  const F x{1, 2}, y = there(x), two = 2.f;
  const auto fast = jit(f);
  for (const Device where : {devices("cpu")[0], gpu()}) {
    const Device before = default_device();
    set_default_device(where);
    EXPECT_EQ(fast(x, x).device(), x.device());
    EXPECT_EQ(fast(y, y).device(), y.device());
    EXPECT_EQ(fast(y, two).device(), f(y, two).device());
    EXPECT_EQ(host(fast(y, two)), (std::vector<float>{4, 6}));
    EXPECT_EQ(refusal<DeviceError>([&] { fast(x, y); }), refusal<DeviceError>([&] { f(x, y); }));
    EXPECT_EQ(refusal<DeviceError>([&] { fast(y, x); }), refusal<DeviceError>([&] { f(y, x); }));
    set_default_device(before);
  }
}

TEST(Jit, ManyCallsOfChangingShapes) {
  const auto f = [](const F& a, const F& b) { return F(matmul(a, b) + sum(a)); };
  const auto fast = jit(f);
  std::mt19937 random(7);
  std::vector<F> kept(3);
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t m = 1 + random() % 4, k = 1 + random() % 4, n = 1 + random() % 5;
    F a = there(full({m, k}, static_cast<float>(random() % 16))),
      b = there(full({k, n}, static_cast<float>(random() % 16)));
    F result = fast(a, b);
    ASSERT_EQ(host(result), host(f(a, b)));
    kept[random() % 3] = result;
  }
}

}  // namespace jit_test
