#include <gtest/gtest.h>

#include <nax/nax.hpp>

// Costs of a program: operations with floating numbers, and bytes.
namespace costs_test {
using namespace nax;
using F = Array<float>;

template <class Function, class... A>
double flops(const Function& f, const A&... a) {
  return make_program(f)(a...).flops();
}

TEST(Costs, ExpressionsCountEachFunctionOnceAnElement) {
  const F x = ones<float>({5, 7}), y = ones<float>({7});
  EXPECT_EQ(flops([](const F& a) { return F(exp(a)); }, x), 35);
  EXPECT_EQ(flops([](const F& a, const F& b) { return F(tanh(a * b) + 1.f); }, x, y), 3 * 35);
  EXPECT_EQ(flops([](const F& a) { return F(a.T()); }, x), 0);
  EXPECT_EQ(flops([](const F& a) { return sum(a); }, x), 35);
  EXPECT_EQ(flops([](const F& a) { return sum(square(a)); }, x), 2 * 35);
  EXPECT_EQ(flops([](const F& a) { return F(exp(exp(a)) * exp(exp(a))); }, x), 5 * 35);
  // Steps that compute the same, or nothing that is needed, are not there.
  EXPECT_EQ(flops(
                [](const F& a) {
                  const F one = exp(a), again = exp(a), unused = tanh(one);
                  return F(one * again);
                },
                x),
            2 * 35);
}

TEST(Costs, Gradients) {
  const F x = ones<float>({6});
  EXPECT_EQ(flops([](const F& a) { return grad([](const F& b) { return sum(tanh(b)); })(a); }, x), 2 * 6);
}

TEST(Costs, Products) {
  const F a = ones<float>({3, 4}), b = ones<float>({4, 5}), batch = ones<float>({2, 3, 4});
  const auto product = [](const F& p, const F& q) { return matmul(p, q); };
  EXPECT_EQ(flops(product, a, b), 2 * 3 * 4 * 5);
  EXPECT_EQ(flops(product, batch, b), 2 * 2 * 3 * 4 * 5);
  const auto slopes = [&](const F& p, const F& q) {
    return grad<0, 1>([&](const F& u, const F& v) { return sum(product(u, v)); })(p, q);
  };
  // Two products, and nothing else: the value is not needed.
  EXPECT_GE(flops(slopes, a, b), 2 * 2 * 3 * 4 * 5);
  EXPECT_LE(flops(slopes, a, b), 3 * 2 * 3 * 4 * 5);
  EXPECT_EQ(flops(
                [](const F& x, const F& w) {
                  return lax::conv(x, w, {1, 1}, "VALID");
                },
                ones<float>({2, 3, 6, 6}), ones<float>({4, 3, 3, 3})),
            2. * (2 * 4 * 4 * 4) * (3 * 9));
}

TEST(Costs, LoopsCountTheirTurns) {
  const F x = ones<float>({8});
  EXPECT_EQ(flops(
                [](const F& a) {
                  return lax::scan(
                             [](const F& c) {
                               return std::pair{F(sin(c) * 2.f), none};
                             },
                             a, none, {.length = 100})
                      .first;
                },
                x),
            100 * 2 * 8);
  const auto unknown = [](const F& a) {
    return lax::while_loop([](const F& c) { return sum(c) < 100.f; }, [](const F& c) { return F(c * 2.f); },
                           a);
  };
  EXPECT_EQ(flops(unknown, x), (8 + 1) + 8);
}

TEST(Costs, BytesAreReadAndWrittenStepByStep) {
  const F x = ones<float>({5, 7}), y = ones<float>({7});
  EXPECT_EQ(make_program([](const F& a) { return F(exp(a)); })(x).bytes(), 2 * 35 * 4);
  EXPECT_EQ(make_program([](const F& a, const F& b) { return F(a * b); })(x, y).bytes(), (35 + 7 + 35) * 4);
  EXPECT_EQ(make_program([](const F& a) { return sum(a); })(x).bytes(), (35 + 1) * 4);
  EXPECT_EQ(make_program([](const F& a) { return a; })(x).bytes(), 0);
}

}  // namespace costs_test
