#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

#include "fuses.hpp"

// The passes over a recorded program, by its text.
namespace passes_test {
using namespace nax;
using F = Array<float>;

TEST(Passes, ComputeOnceWhatIsEqualAndDropWhatIsNotNeeded) {
  const auto f = [](const F& x) {
    const F a = exp(x), b = exp(x);  // equal
    const F unused = tanh(a);
    return F(F(a + 1.f) * F(b + 1.f));
  };
  EXPECT_EQ(make_program(f)(F{1, 2}).text(), fuses() ? "program(a: float32[2]):\n"
                                                       "  b: float32[2] = fused{exp add multiply}(a)\n"
                                                       "  return b\n"
                                                     : "program(a: float32[2]):\n"
                                                       "  b: float32[2] = exp(a)\n"
                                                       "  c: float32[2] = add(b, 1)\n"
                                                       "  d: float32[2] = multiply(c, c)\n"
                                                       "  return d\n");
  // Other numbers are another computation.
  const auto g = [](const F& x) { return F(F(x + 1.f) * F(x + 2.f)); };
  EXPECT_EQ(make_program(g)(F{1, 2}).size(), fuses() ? 1u : 3u);
  EXPECT_EQ(F(jit(g)(F{1, 2})).to_vector(), (std::vector<float>{6, 12}));
}

TEST(Passes, MapsPrintTheirFormulas) {
  const auto of = [](const auto& f) {
    const std::string text = make_program(f)(F{{1, 2}}).text();
    const std::size_t from = text.find(" = ") + 3;
    return text.substr(from, text.find('\n', from) - from);
  };
  EXPECT_EQ(of([](const F& x) { return F(tanh(2.f * x) + exp(x)); }), "add(tanh(multiply(2, a)), exp(a))");
  EXPECT_EQ(of([](const F& x) { return F(x * 0.5f); }), "multiply(a, 0.5)");
  EXPECT_EQ(of([](const F& x) { return F(exp(x)); }), "exp(a)");
  EXPECT_EQ(of([](const F& x) { return F(x - x.T()); }), "subtract(a, a)");
  EXPECT_EQ(of([](const F& x) { return sum(tanh(x) * 2.f, {.axis = 1}); }), "sum(multiply(tanh(a), 2))");
  EXPECT_EQ(of([](const F& x) { return Array<int>(x.astype<int>() + 1); }),
            fuses() ? "fused{astype add}(a)" : "astype(a)");
}

TEST(Passes, ComputeConstantsBeforehand) {
  const auto f = [](const F& x) { return grad([&](const F& y) { return mean(square(y)); })(x); };
  EXPECT_EQ(make_program(f)(F{1, 2, 3, 4}).text(),
            "program(a: float32[4]):\n"
            "  b: float32[4] = square_gradient(a, 0.25)\n"
            "  return b\n");
  EXPECT_EQ(make_program([](const F& x) {
              return std::pair{x, F(F{1, 2} * 3.f)};
            })(F{1})
                .text(),
            "program(a: float32[1]):\n"
            "  return a, const:float32[2]\n");
}

TEST(Passes, ArraysShareMemory) {
  const auto chain = [](int steps) {
    return make_program([steps](const F& x) {
             F y = x;
             for (int i = 0; i < steps; ++i) y = matmul(y, x);
             return F(y + 1.f);
           })(ones<float>({32, 32}))
        .temporary_bytes();
  };
  EXPECT_EQ(chain(3), chain(30));
  EXPECT_LE(chain(30), 3u * (32 * 32 * 4 + 128));
  // Element by element, in place.
  const auto maps = make_program([](const F& x) {
    F y = x;
    for (int i = 0; i < 10; ++i) y = sin(y);
    return F(matmul(y, x));
  })(ones<float>({32, 32}));
  EXPECT_LE(maps.temporary_bytes(), 32u * 32 * 4 + 128);
}

TEST(Passes, NamesWhatCannotBeRecorded) {
  try {
    make_program([](const F& x) { return F(x * x.item()); })(F(1.f));
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("reads an array's elements"), std::string::npos) << error.what();
  }
}

}  // namespace passes_test
