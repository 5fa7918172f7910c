#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <nax/nax.hpp>
#include <optional>
#include <thread>

// jit on the CPU: the functions that are recorded, and those that are called directly.
namespace recording_test {
using namespace nax;
using F = Array<float>;

void expect_near(const F& a, const F& b, float within = 1e-5f) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], within * (1 + std::abs(y[i])));
}

TEST(Recording, CallsTheFunctionOnceForAllCallsOfAKind) {
  int calls = 0;
  const auto f = [&](const F& x) { return ++calls, F(tanh(x * 2.f) + x); };
  const auto plain = [](const F& x) { return F(tanh(x * 2.f) + x); };
  const auto fast = jit(f);
  for (const F& x : {F{1, 2, 3}, F{-1, 0, 5}, F{.5f, .25f, 7}}) expect_near(fast(x), plain(x), 0);
  EXPECT_EQ(calls, 1);
  fast(F{1, 2});  // other shapes
  fast(F{{1, 2, 3}});
  fast(F(1.f));
  EXPECT_EQ(calls, 4);
  const F wide = {{1, 2, 3}, {4, 5, 6}};
  expect_near(fast(F(wide(_, 1))), plain(F(wide(_, 1))), 0);  // a view, of a shape that is known
  expect_near(fast(wide.T()), plain(wide.T()), 0);
  EXPECT_EQ(calls, 5);
}

TEST(Recording, ResultsOwnTheirMemory) {
  const auto fast = jit([](const F& x) { return std::pair{F(x + 1.f), x}; });
  const F x = {1, 2}, y = {3, 4};
  const auto [a, same] = fast(x);
  const auto [b, other] = fast(y);
  EXPECT_EQ(a.to_vector(), (std::vector<float>{2, 3}));
  EXPECT_EQ(b.to_vector(), (std::vector<float>{4, 5}));
  EXPECT_EQ(same.to_vector(), x.to_vector());
  EXPECT_EQ(other.to_vector(), y.to_vector());
  EXPECT_EQ(a.device(), x.device());
  F changed = same;
  changed += 1.f;
  EXPECT_EQ(x(0).item(), 1);
  // Views of results, and one result twice.
  const auto parts = jit([](const F& v) {
    const F w = exp(v);
    return std::tuple{F(w(slice(1, none))), w, F(w(slice(none, none, -1))), w.reshape({1, -1})};
  });
  const F v = {0, 1, 2};
  const F w = exp(v);
  for (int i = 0; i < 2; ++i) {
    const auto [tail, all, back, row] = parts(v);
    EXPECT_EQ(tail.to_vector(), F(w(slice(1, none))).to_vector());
    EXPECT_EQ(all.to_vector(), w.to_vector());
    EXPECT_EQ(back.to_vector(), F(w(slice(none, none, -1))).to_vector());
    EXPECT_EQ(row.shape(), (Shape{1, 3}));
  }
}

TEST(Recording, CapturedArraysAreConstants) {
  F w = {{1, 2}, {3, 4}};
  F b = {5, 6};
  const auto fast = jit([&](const F& x) { return F(matmul(x, w) + b); });
  const F x = {{1, 1}};
  EXPECT_EQ(fast(x).to_vector(), (std::vector<float>{9, 12}));
  w = w + 1.f;
  b += 100.f;
  EXPECT_EQ(fast(x).to_vector(), (std::vector<float>{9, 12}));
  // Also arrays that the function makes, and results independent of arguments.
  const auto made = jit([](const F& x) {
    const F c = {1, 2, 3};
    return std::tuple{F(x * c), c, F(c + 1.f), zeros<float>({2}), F(x * arange<float>(3))};
  });
  for (int i = 0; i < 2; ++i) {
    const auto [xc, c, c1, z, xa] = made(F{1, 1, 2});
    EXPECT_EQ(xc.to_vector(), (std::vector<float>{1, 2, 6}));
    EXPECT_EQ(c.to_vector(), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(c1.to_vector(), (std::vector<float>{2, 3, 4}));
    EXPECT_EQ(z.to_vector(), (std::vector<float>{0, 0}));
    EXPECT_EQ(xa.to_vector(), (std::vector<float>{0, 1, 4}));
  }
}

TEST(Recording, NumbersAreDataWhereTheyBecomeArrays) {
  int calls = 0;
  const auto fast = jit([&](const F& x, const F& by) { return ++calls, F(x * by); });
  EXPECT_EQ(fast(F{1, 2}, 2).to_vector(), (std::vector<float>{2, 4}));
  EXPECT_EQ(fast(F{1, 2}, 3.f).to_vector(), (std::vector<float>{3, 6}));
  EXPECT_EQ(calls, 1);
}

struct Layer {
  F w, b;
};

TEST(Recording, TreesAreToldApart) {
  int calls = 0;
  const auto total = [&](const std::vector<Layer>& layers) {
    ++calls;
    F sum = 0.f;
    for (const Layer& l : layers) sum = sum + nax::sum(l.w) + nax::sum(l.b);
    return sum;
  };
  const auto fast = jit(total);
  const Layer one{ones<float>({2, 2}), ones<float>({2})};
  EXPECT_EQ(fast(std::vector{one}).item(), 6);
  EXPECT_EQ(fast(std::vector{one, one}).item(), 12);
  EXPECT_EQ(fast(std::vector{one}).item(), 6);
  EXPECT_EQ(calls, 2);
  // An optional, and the keys of a map.
  const auto maybe = jit([&](const std::optional<F>& x, const std::map<std::string, F>& y) {
    ++calls;
    return F((x ? *x : F(0.f)) + y.begin()->second);
  });
  calls = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(maybe(std::optional<F>(1.f), std::map<std::string, F>{{"a", 2.f}}).item(), 3);
    EXPECT_EQ(maybe(std::optional<F>(), std::map<std::string, F>{{"a", 2.f}}).item(), 2);
    EXPECT_EQ(maybe(std::optional<F>(), std::map<std::string, F>{{"b", 2.f}}).item(), 2);
  }
  EXPECT_EQ(calls, 3);
  // Members that are numbers.
  struct Step {
    F x;
    int n;
  };
  const auto power = jit([&](const Step& s) {
    ++calls;
    F y = 1.f;
    for (int i = 0; i < s.n; ++i) y = y * s.x;
    return y;
  });
  calls = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(power(Step{2.f, 3}).item(), 8);
    EXPECT_EQ(power(Step{2.f, 4}).item(), 16);
  }
  EXPECT_EQ(calls, 2);
  // A function whose every call has another kind is not recorded again and again.
  calls = 0;
  for (int n = 0; n < 300; ++n) EXPECT_EQ(power(Step{1.f, n}).item(), 1);
  EXPECT_LT(calls, 340);
}

TEST(Recording, DrawsDependOnTheKey) {
  const auto f = [](const random::Key& key, const F& x) {
    const auto [a, b] = random::split(key);
    return F(x + random::uniform(a, {3}) * random::normal(random::fold_in(b, 7), {3}));
  };
  const auto fast = jit(f);
  const F x = {1, 2, 3};
  for (int seed : {0, 1, 2, 0})
    EXPECT_EQ(fast(random::key(seed), x).to_vector(), f(random::key(seed), x).to_vector());
}

template <class Function>
void expect_recorded(const Function& f, const F& x, const F& y) {
  int calls = 0;
  const auto counted = [&](const F& v) { return ++calls, f(v); };
  const auto fast = jit(counted);
  for (const F& v : {x, y, x}) expect_near(fast(v), f(v), 1e-5f);
  EXPECT_EQ(calls, 1);
}

TEST(Recording, HoldsLinearAlgebra) {
  const F x = {{4, 1}, {1, 3}}, y = {{5, 2}, {2, 4}}, b = {1, 2};
  expect_recorded([&](const F& v) { return linalg::solve(v, b); }, x, y);
  expect_recorded([&](const F& v) { return linalg::solve_triangular(v, b, {.lower = true}); }, x, y);
  expect_recorded([](const F& v) { return F(linalg::inv(v) + linalg::det(v)); }, x, y);
  expect_recorded([](const F& v) { return linalg::slogdet(v).logabsdet; }, x, y);
  expect_recorded([](const F& v) { return linalg::cholesky(v); }, x, y);
  expect_recorded([](const F& v) { return linalg::qr(v).R; }, x, y);
  expect_recorded([](const F& v) { return F(linalg::eigh(v).eigenvalues + linalg::svd(v).S); }, x, y);
  expect_recorded([&](const F& v) { return grad([](const F& a) { return linalg::det(a); })(v); }, x, y);
  const auto loss = [&](const F& a) { return sum(square(linalg::solve(a, b))); };
  expect_recorded([&](const F& v) { return grad(loss)(v); }, x, y);
  // A singular matrix, which the recorded one was not.
  const auto det_grad = grad([](const F& a) { return linalg::det(a); });
  expect_near(jit(det_grad)(F{{1, 2}, {2, 4}}), F{{4, -2}, {-2, 1}});
}

TEST(Recording, HoldsCountsAndDraws) {
  const F x = {0, 2, 2, 5, 1}, y = {3, 3, 0, 1, 9};
  expect_recorded([](const F& v) { return F(bincount(v.astype<int>(), {.length = 4}).astype<float>()); }, x,
                  y);
  const auto weighed = [](const F& v) { return bincount(v.astype<int>(), v, {.length = 4}); };
  expect_recorded(weighed, x, y);
  expect_recorded(
      [](const F& v) {
        const Array<int> bins = {0, 1, 1, 0, 3};
        return grad([&](const F& w) { return sum(square(bincount(bins, w, {.length = 3}))); })(v);
      },
      x, y);
  EXPECT_THROW(jit(weighed)(F{-1, 0}), ValueError);
  const auto fast = jit(weighed);
  fast(F{1, 0});
  EXPECT_THROW(fast(F{-1, 0}), ValueError);  // also when replayed
  const F rates = x + 1.f, other = y + 20.f;
  const random::Key key = random::key(3);
  expect_recorded([&](const F& v) { return random::gamma(key, v); }, rates, other);
  expect_recorded([&](const F& v) { return random::poisson(key, v).astype<float>(); }, rates, other);
  expect_recorded([&](const F& v) { return random::binomial(key, v, F{.5f}); }, rates, other);
  expect_recorded([&](const F& v) { return random::permutation(key, v); }, x, y);
  const auto shuffle = [](const random::Key& k) { return random::permutation(k, 7); };
  const auto replayed = jit(shuffle);
  for (int seed : {0, 1, 2})
    EXPECT_EQ(replayed(random::key(seed)).to_vector(), shuffle(random::key(seed)).to_vector());
}

template <class Function>
void expect_plain(const Function& f, const F& x, const F& y) {
  int calls = 0;
  const auto counted = [&](const F& v) { return ++calls, f(v); };
  const auto fast = jit(counted);
  for (const F& v : {x, y, x}) expect_near(fast(v), f(v), 1e-6f);
  EXPECT_EQ(calls, 4);  // one recording was discarded
}

TEST(Recording, FunctionsThatReadElementsAreCalledDirectly) {
  const F x = {{2, 1}, {1, 3}}, y = {{5, 2}, {2, 4}};
  expect_plain([](const F& v) { return v(0, 0).item() > 3 ? F(v * 2.f) : v; }, x, y);
  expect_plain([](const F& v) { return v(0, 0) > 3.f ? F(v * 2.f) : v; }, x, y);
  expect_plain([](const F& v) { return F(v.data()[0] * v); }, x, y);
  expect_plain([](const F& v) { return F(v(Array<bool>(v > 1.5f))); }, x, y);
  expect_plain([](const F& v) { return F(ravel(v)(Array<bool>(ravel(v) > 1.5f))); }, x, y);
  expect_plain([](const F& v) { return linalg::expm(v); }, x, y);
  expect_plain([](const F& v) { return F(bincount(v.astype<int>()(0)).astype<float>()); }, x, y);
  expect_plain([](const F& v) { return F(static_cast<float>(v.to_vector().size()) * v); }, x, y);
  expect_plain([](const F& v) { return unique(v); }, x, y);
  // Also if the function catches the error and throws another one.
  expect_plain(
      [](const F& v) {
        try {
          return F(v * v(0, 0).item());
        } catch (const std::exception&) {
          return zeros<float>({7});
        }
      },
      x, y);
}

TEST(Recording, IndicesOutOfRangeAreFound) {
  const F table = {1, 2, 3};
  const auto fast = jit([&](const F& t, const Array<int>& i) { return F(t(i) * 2.f); });
  EXPECT_EQ(fast(table, Array<int>{0, -1}).to_vector(), (std::vector<float>{2, 6}));
  EXPECT_EQ(fast(table, Array<int>{2, 1}).to_vector(), (std::vector<float>{6, 4}));
  EXPECT_THROW(fast(table, Array<int>{0, 3}), IndexError);
  EXPECT_EQ(fast(table, Array<int>{1, 1}).to_vector(), (std::vector<float>{4, 4}));
}

TEST(Recording, ErrorsReachTheCaller) {
  const auto fast = jit([](const F& x, const F& y) { return F(x + y); });
  EXPECT_THROW(fast(F{1, 2}, F{1, 2, 3}), ShapeError);
  EXPECT_THROW(fast(F{1, 2}, F{1, 2, 3}), ShapeError);
  EXPECT_EQ(fast(F{1, 2}, F{1, 2}).to_vector(), (std::vector<float>{2, 4}));
}

TEST(Recording, AnEscapedArrayHasNoElements) {
  F left;
  const auto fast = jit([&](const F& x) { return left = F(x * 2.f), F(x + 1.f); });
  fast(F{1, 2});
  EXPECT_THROW(left.to_vector(), DeviceError);
  EXPECT_THROW(F(left + 1.f).to_vector(), DeviceError);
}

TEST(Recording, MemoryComesFromTheAllocator) {
  const F x = linspace<float>(0, 1, 1 << 18);
  const auto f = [](const F& v) { return F(cumsum(sort(F(-cumsum(sort(v)))))(slice(0, 4))); };
  const auto fast = jit(f);
  const std::size_t temporary = make_program(f)(x).temporary_bytes();
  ASSERT_GE(temporary, x.nbytes());
  const std::size_t before = memory_stats().in_use;
  const F kept = fast(x);
  EXPECT_GE(memory_stats().in_use, before + temporary);
  release_cached_memory();
  const MemoryStats now = memory_stats();
  const auto again = jit([=](const F& v) { return F(f(v) + 1.f); });
  set_memory_limit(now.in_use + now.cached + x.nbytes() / 2);
  EXPECT_THROW(again(x), Error);
  set_memory_limit(0);
  expect_near(again(x), F(kept + 1.f), 1e-6f);
}

TEST(Recording, ComposesWithTransforms) {
  const auto f = [](const F& x) { return sum(exp(x) * x); };
  const auto fast = jit(f);
  const F x = {0.5f, -1, 2}, other = {1, 2, 3}, xs = {{0.5f, -1}, {2, 0}};
  expect_near(grad(fast)(x), grad(f)(x));
  expect_near(hessian(fast)(x), hessian(f)(x));
  expect_near(vmap(fast)(xs), vmap(f)(xs));
  const auto slope = jit(grad(f));
  const auto curve = jit(hessian(f));
  const auto each = jit(vmap(grad(f)));
  const auto outer = jit([&](const F& v) { return F(fast(v) + slope(v)); });  // jit within jit
  for (const F& v : {x, other}) {
    expect_near(slope(v), grad(f)(v));
    expect_near(curve(v), hessian(f)(v));
    expect_near(outer(v), F(f(v) + grad(f)(v)));
  }
  for (const F& v : {xs, F(xs + 1.f)}) expect_near(each(v), vmap(grad(f))(v));
  const auto push = jit([&](const F& v, const F& t) { return jvp(f, std::tuple{v}, std::tuple{t}).second; });
  expect_near(push(x, other), jvp(f, std::tuple{x}, std::tuple{other}).second);
  // The tangent of a root at 0 is infinite; that of 0 is 0 all the same.
  const auto root = [](const F& v, const F& t) {
    return jvp([](const F& u) { return F(sqrt(u)); }, std::tuple{v}, std::tuple{t}).second;
  };
  const auto fast_root = jit(root);
  for (const F& at : {F{1, 4}, F{0, 4}})
    EXPECT_EQ(fast_root(at, F{0, 1}).to_vector(), root(at, F{0, 1}).to_vector());
}

TEST(Recording, ThreadsCallOneProgram) {
  const auto f = [](const F& x) { return F(matmul(x, x.T()) + sum(x)); };
  const auto fast = jit(f);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const F x = full<float>({3, 5}, static_cast<float>(t * 100 + i));
        if (fast(x).to_vector() != f(x).to_vector()) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace recording_test
