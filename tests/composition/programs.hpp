#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/checkpoint.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jacobian.hpp"
#include "nax/transform/vmap.hpp"
#include "support/compare.hpp"

// The programs of tests/goldens/make_composition.py in C++, each a test of the same name. Bodies of their
// parts, and the cost of compiling their derivatives, are in programs_test.cpp.
namespace composition {

using namespace nax;
using A = Array<double>;

A wave(const A& x);                           // scalar to scalar
A bowl(const A& x);                           // vector to scalar, no zero mixed derivatives
A layer(const A& w, const A& x);              // (o, i), (i,) to (o,)
A energy(const A& w, const A& x);             // (o, i), (i,) to scalar
A error(const A& w, const A& x, const A& y);  // (i, o), (i,), (o,) to scalar
A scaled(const A& x);                         // sin; its custom_vjp says cos times 3
A weigh(const A& x, const A& y);              // x * y; custom_vjp: 0.5 g y, g sin(x)
A bent(const A& x);                           // tanh; its custom_jvp says 2 (1 - tanh^2)
A product(const A& x, const A& y);            // x * y; custom_jvp: 3 dx y + 5 x dy

// The recorded inputs and results of the program that has the test's name.
struct Composition : testing::Test {
  static std::string name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
  static A in(int i) {
    return compare::array_of<double>(golden::get("composition", name() + "/in" + std::to_string(i)));
  }
  static void expect(const A& result) { expect_record(result, "/out"); }
  template <class... Results>
  static void expect(const std::tuple<Results...>& results) {
    int i = 0;
    std::apply([&](const auto&... result) { (expect_record(result, "/out" + std::to_string(i++)), ...); },
               results);
  }
  static void expect(const std::pair<A, A>& results) { expect(std::tuple(results.first, results.second)); }

 private:
  static void expect_record(const A& result, const std::string& record) {
    EXPECT_TRUE(compare::close(result, golden::get("composition", name() + record), 1e-12))
        << name() << record;
  }
};

}  // namespace composition
