// Problems of Hock and Schittkowski (Test Examples for Nonlinear Programming Codes, 1981), to their published
// minima.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nax/nax.hpp>
#include <string>
#include <vector>

namespace hock_schittkowski_test {

using Real = nax::Array<double>;

// A number that computes at once: few types, quickly compiled.
struct Number {
  Real value;
  Number(double v) : value(v) {}
  Number(Real v) : value(std::move(v)) {}
};
Number operator+(const Number& a, const Number& b) { return Real(a.value + b.value); }
Number operator-(const Number& a, const Number& b) { return Real(a.value - b.value); }
Number operator*(const Number& a, const Number& b) { return Real(a.value * b.value); }
Number operator/(const Number& a, const Number& b) { return Real(a.value / b.value); }
Number operator-(const Number& a) { return Real(-a.value); }
Number exp(const Number& a) { return Real(nax::exp(a.value)); }
Number log(const Number& a) { return Real(nax::log(a.value)); }
Number sin(const Number& a) { return Real(nax::sin(a.value)); }
Number cos(const Number& a) { return Real(nax::cos(a.value)); }
Number p2(const Number& a) { return a * a; }
Number p3(const Number& a) { return a * a * a; }
Number p4(const Number& a) { return p2(p2(a)); }
Number p6(const Number& a) { return p2(p3(a)); }

// The elements of x by the numbers of the book, from 1 on.
struct Elements {
  std::vector<Number> all;
  explicit Elements(const Real& x) {
    for (int i = 0; i < x.size(); ++i) all.push_back(Real(x(i)));
  }
  const Number& operator()(int i) const { return all[static_cast<std::size_t>(i - 1)]; }
};
using X = const Elements&;
using Numbers = std::vector<Number>;

struct Problem {
  int number;
  std::vector<double> start;
  double minimum;
  std::function<Number(X)> f;
  std::function<Numbers(X)> inequalities, equalities;  // >= 0, = 0
  std::vector<double> lower, upper;
  double local = minimum;  // where SciPy's SLSQP and trust-constr end, a local minimum
};

constexpr double inf = std::numeric_limits<double>::infinity();
const double root2 = std::sqrt(2.), root3 = std::sqrt(3.);

Number banana(X x) { return 100 * p2(x(2) - p2(x(1))) + p2(1 - x(1)); }
Number product(X x) {
  Number all = x(1);
  for (std::size_t i = 1; i < x.all.size(); ++i) all = all * x.all[i];
  return all;
}
Numbers of_78(X x) {
  return {p2(x(1)) + p2(x(2)) + p2(x(3)) + p2(x(4)) + p2(x(5)) - 10, x(2) * x(3) - 5 * x(4) * x(5),
          p3(x(1)) + p3(x(2)) + 1};
}

const std::vector<Problem>& problems() {
  static const std::vector<Problem> list{
      {6,
       {-1.2, 1},
       0,
       [](X x) { return p2(1 - x(1)); },
       {},
       [](X x) { return Numbers{10 * (x(2) - p2(x(1)))}; },
       {},
       {}},
      {7,
       {2, 2},
       -root3,
       [](X x) { return log(1 + p2(x(1))) - x(2); },
       {},
       [](X x) { return Numbers{p2(1 + p2(x(1))) + p2(x(2)) - 4}; },
       {},
       {}},
      {8,
       {2, 1},
       -1,
       [](X x) { return 0 * x(1) - 1; },
       {},
       [](X x) {
         return Numbers{p2(x(1)) + p2(x(2)) - 25, x(1) * x(2) - 9};
       },
       {},
       {}},
      {9,
       {0, 0},
       -0.5,
       [](X x) { return sin(M_PI / 12 * x(1)) * cos(M_PI / 16 * x(2)); },
       {},
       [](X x) { return Numbers{4 * x(1) - 3 * x(2)}; },
       {},
       {}},
      {10,
       {-10, 10},
       -1,
       [](X x) { return x(1) - x(2); },
       [](X x) { return Numbers{-3 * p2(x(1)) + 2 * x(1) * x(2) - p2(x(2)) + 1}; },
       {},
       {},
       {}},
      {11,
       {4.9, 0.1},
       -8.498464223,
       [](X x) { return p2(x(1) - 5) + p2(x(2)) - 25; },
       [](X x) { return Numbers{x(2) - p2(x(1))}; },
       {},
       {},
       {}},
      {12,
       {0, 0},
       -30,
       [](X x) { return 0.5 * p2(x(1)) + p2(x(2)) - x(1) * x(2) - 7 * x(1) - 7 * x(2); },
       [](X x) { return Numbers{25 - 4 * p2(x(1)) - p2(x(2))}; },
       {},
       {},
       {}},
      {14,
       {2, 2},
       9 - 2.875 * std::sqrt(7.),
       [](X x) { return p2(x(1) - 2) + p2(x(2) - 1); },
       [](X x) { return Numbers{1 - 0.25 * p2(x(1)) - p2(x(2))}; },
       [](X x) { return Numbers{x(1) - 2 * x(2) + 1}; },
       {},
       {}},
      {15,
       {-2, 1},
       306.5,
       banana,
       [](X x) {
         return Numbers{x(1) * x(2) - 1, x(1) + p2(x(2))};
       },
       {},
       {-inf, -inf},
       {0.5, inf}},
      {16,
       {-2, 1},
       0.25,
       banana,
       [](X x) {
         return Numbers{x(1) + p2(x(2)), p2(x(1)) + x(2)};
       },
       {},
       {-0.5, -inf},
       {0.5, 1},
       23.1446610590},
      {18,
       {2, 2},
       5,
       [](X x) { return 0.01 * p2(x(1)) + p2(x(2)); },
       [](X x) {
         return Numbers{x(1) * x(2) - 25, p2(x(1)) + p2(x(2)) - 25};
       },
       {},
       {2, 0},
       {50, 50}},
      {19,
       {20.1, 5.84},
       -6961.813881,
       [](X x) { return p3(x(1) - 10) + p3(x(2) - 20); },
       [](X x) {
         return Numbers{p2(x(1) - 5) + p2(x(2) - 5) - 100, 82.81 - p2(x(2) - 5) - p2(x(1) - 6)};
       },
       {},
       {13, 0},
       {100, 100}},
      {20,
       {-2, 1},
       81.5 - 25 * root3,
       banana,
       [](X x) {
         return Numbers{x(1) + p2(x(2)), p2(x(1)) + x(2), p2(x(1)) + p2(x(2)) - 1};
       },
       {},
       {-0.5, -inf},
       {0.5, inf},
       40.1987291},
      {21,
       {-1, -1},
       -99.96,
       [](X x) { return 0.01 * p2(x(1)) + p2(x(2)) - 100; },
       [](X x) { return Numbers{10 * x(1) - x(2) - 10}; },
       {},
       {2, -50},
       {50, 50}},
      {22,
       {2, 2},
       1,
       [](X x) { return p2(x(1) - 2) + p2(x(2) - 1); },
       [](X x) {
         return Numbers{2 - x(1) - x(2), x(2) - p2(x(1))};
       },
       {},
       {},
       {}},
      {23,
       {3, 1},
       2,
       [](X x) { return p2(x(1)) + p2(x(2)); },
       [](X x) {
         return Numbers{x(1) + x(2) - 1, p2(x(1)) + p2(x(2)) - 1, 9 * p2(x(1)) + p2(x(2)) - 9,
                        p2(x(1)) - x(2), p2(x(2)) - x(1)};
       },
       {},
       {-50, -50},
       {50, 50}},
      {24,
       {1, 0.5},
       -1,
       [](X x) { return (p2(x(1) - 3) - 9) * p3(x(2)) / (27 * root3); },
       [](X x) {
         return Numbers{x(1) / root3 - x(2), x(1) + root3 * x(2), 6 - x(1) - root3 * x(2)};
       },
       {},
       {0, 0},
       {inf, inf}},
      {26,
       {-2.6, 2, 2},
       0,
       [](X x) { return p2(x(1) - x(2)) + p4(x(2) - x(3)); },
       {},
       [](X x) { return Numbers{(1 + p2(x(2))) * x(1) + p4(x(3)) - 3}; },
       {},
       {}},
      {27,
       {2, 2, 2},
       0.04,
       [](X x) { return 0.01 * p2(x(1) - 1) + p2(x(2) - p2(x(1))); },
       {},
       [](X x) { return Numbers{x(1) + p2(x(3)) + 1}; },
       {},
       {}},
      {28,
       {-4, 1, 1},
       0,
       [](X x) { return p2(x(1) + x(2)) + p2(x(2) + x(3)); },
       {},
       [](X x) { return Numbers{x(1) + 2 * x(2) + 3 * x(3) - 1}; },
       {},
       {}},
      {29,
       {1, 1, 1},
       -16 * root2,
       [](X x) { return -product(x); },
       [](X x) { return Numbers{48 - p2(x(1)) - 2 * p2(x(2)) - 4 * p2(x(3))}; },
       {},
       {},
       {}},
      {30,
       {1, 1, 1},
       1,
       [](X x) { return p2(x(1)) + p2(x(2)) + p2(x(3)); },
       [](X x) { return Numbers{p2(x(1)) + p2(x(2)) - 1}; },
       {},
       {1, -10, -10},
       {10, 10, 10}},
      {31,
       {1, 1, 1},
       6,
       [](X x) { return 9 * p2(x(1)) + p2(x(2)) + 9 * p2(x(3)); },
       [](X x) { return Numbers{x(1) * x(2) - 1}; },
       {},
       {-10, 1, -10},
       {10, 10, 1}},
      {32,
       {0.1, 0.7, 0.2},
       1,
       [](X x) { return p2(x(1) + 3 * x(2) + x(3)) + 4 * p2(x(1) - x(2)); },
       [](X x) { return Numbers{6 * x(2) + 4 * x(3) - p3(x(1)) - 3}; },
       [](X x) { return Numbers{1 - x(1) - x(2) - x(3)}; },
       {0, 0, 0},
       {inf, inf, inf}},
      {34,
       {0, 1.05, 2.9},
       -std::log(std::log(10.)),
       [](X x) { return -x(1); },
       [](X x) {
         return Numbers{x(2) - exp(x(1)), x(3) - exp(x(2))};
       },
       {},
       {0, 0, 0},
       {100, 100, 10}},
      {35,
       {0.5, 0.5, 0.5},
       1. / 9,
       [](X x) {
         return 9 - 8 * x(1) - 6 * x(2) - 4 * x(3) + 2 * p2(x(1)) + 2 * p2(x(2)) + p2(x(3)) +
                2 * x(1) * x(2) + 2 * x(1) * x(3);
       },
       [](X x) { return Numbers{3 - x(1) - x(2) - 2 * x(3)}; },
       {},
       {0, 0, 0},
       {inf, inf, inf}},
      {36,
       {10, 10, 10},
       -3300,
       [](X x) { return -product(x); },
       [](X x) { return Numbers{72 - x(1) - 2 * x(2) - 2 * x(3)}; },
       {},
       {0, 0, 0},
       {20, 11, 42}},
      {37,
       {10, 10, 10},
       -3456,
       [](X x) { return -product(x); },
       [](X x) {
         return Numbers{72 - x(1) - 2 * x(2) - 2 * x(3), x(1) + 2 * x(2) + 2 * x(3)};
       },
       {},
       {0, 0, 0},
       {42, 42, 42}},
      {39,
       {2, 2, 2, 2},
       -1,
       [](X x) { return -x(1); },
       {},
       [](X x) {
         return Numbers{x(2) - p3(x(1)) - p2(x(3)), p2(x(1)) - x(2) - p2(x(4))};
       },
       {},
       {}},
      {40,
       {0.8, 0.8, 0.8, 0.8},
       -0.25,
       [](X x) { return -product(x); },
       {},
       [](X x) {
         return Numbers{p3(x(1)) + p2(x(2)) - 1, p2(x(1)) * x(4) - x(3), p2(x(4)) - x(2)};
       },
       {},
       {}},
      {41,
       {2, 2, 2, 2},
       52. / 27,
       [](X x) { return 2 - x(1) * x(2) * x(3); },
       {},
       [](X x) { return Numbers{x(1) + 2 * x(2) + 2 * x(3) - x(4)}; },
       {0, 0, 0, 0},
       {1, 1, 1, 2}},
      {42,
       {1, 1, 1, 1},
       28 - 10 * root2,
       [](X x) { return p2(x(1) - 1) + p2(x(2) - 2) + p2(x(3) - 3) + p2(x(4) - 4); },
       {},
       [](X x) {
         return Numbers{x(1) - 2, p2(x(3)) + p2(x(4)) - 2};
       },
       {},
       {}},
      {43,
       {0, 0, 0, 0},
       -44,
       [](X x) {
         return p2(x(1)) + p2(x(2)) + 2 * p2(x(3)) + p2(x(4)) - 5 * x(1) - 5 * x(2) - 21 * x(3) + 7 * x(4);
       },
       [](X x) {
         return Numbers{8 - p2(x(1)) - p2(x(2)) - p2(x(3)) - p2(x(4)) - x(1) + x(2) - x(3) + x(4),
                        10 - p2(x(1)) - 2 * p2(x(2)) - p2(x(3)) - 2 * p2(x(4)) + x(1) + x(4),
                        5 - 2 * p2(x(1)) - p2(x(2)) - p2(x(3)) - 2 * x(1) + x(2) + x(4)};
       },
       {},
       {},
       {}},
      {48,
       {3, 5, -3, 2, -2},
       0,
       [](X x) { return p2(x(1) - 1) + p2(x(2) - x(3)) + p2(x(4) - x(5)); },
       {},
       [](X x) {
         return Numbers{x(1) + x(2) + x(3) + x(4) + x(5) - 5, x(3) - 2 * (x(4) + x(5)) + 3};
       },
       {},
       {}},
      {51,
       {2.5, 0.5, 2, -1, 0.5},
       0,
       [](X x) { return p2(x(1) - x(2)) + p2(x(2) + x(3) - 2) + p2(x(4) - 1) + p2(x(5) - 1); },
       {},
       [](X x) {
         return Numbers{x(1) + 3 * x(2) - 4, x(3) + x(4) - 2 * x(5), x(2) - x(5)};
       },
       {},
       {}},
      {60,
       {2, 2, 2},
       0.03256820025,
       [](X x) { return p2(x(1) - 1) + p2(x(1) - x(2)) + p4(x(2) - x(3)); },
       {},
       [](X x) { return Numbers{x(1) * (1 + p2(x(2))) + p4(x(3)) - 4 - 3 * root2}; },
       {-10, -10, -10},
       {10, 10, 10}},
      {61,
       {0, 0, 0},
       -143.6461422,
       [](X x) { return 4 * p2(x(1)) + 2 * p2(x(2)) + 2 * p2(x(3)) - 33 * x(1) + 16 * x(2) - 24 * x(3); },
       {},
       [](X x) {
         return Numbers{3 * x(1) - 2 * p2(x(2)) - 7, 4 * x(1) - p2(x(3)) - 11};
       },
       {},
       {}},
      {63,
       {2, 2, 2},
       961.7151721,
       [](X x) { return 1000 - p2(x(1)) - 2 * p2(x(2)) - p2(x(3)) - x(1) * x(2) - x(1) * x(3); },
       {},
       [](X x) {
         return Numbers{8 * x(1) + 14 * x(2) + 7 * x(3) - 56, p2(x(1)) + p2(x(2)) + p2(x(3)) - 25};
       },
       {0, 0, 0},
       {inf, inf, inf}},
      {64,
       {1, 1, 1},
       6299.842428,
       [](X x) { return 5 * x(1) + 50000 / x(1) + 20 * x(2) + 72000 / x(2) + 10 * x(3) + 144000 / x(3); },
       [](X x) { return Numbers{1 - 4 / x(1) - 32 / x(2) - 120 / x(3)}; },
       {},
       {1e-5, 1e-5, 1e-5},
       {300, 300, 300}},
      {65,
       {-5, 5, 0},
       0.9535288567,
       [](X x) { return p2(x(1) - x(2)) + p2(x(1) + x(2) - 10) / 9 + p2(x(3) - 5); },
       [](X x) { return Numbers{48 - p2(x(1)) - p2(x(2)) - p2(x(3))}; },
       {},
       {-4.5, -4.5, -5},
       {4.5, 4.5, 5}},
      {66,
       {0, 1.05, 2.9},
       0.5181632741,
       [](X x) { return 0.2 * x(3) - 0.8 * x(1); },
       [](X x) {
         return Numbers{x(2) - exp(x(1)), x(3) - exp(x(2))};
       },
       {},
       {0, 0, 0},
       {100, 100, 10}},
      {71,
       {1, 5, 5, 1},
       17.0140173,
       [](X x) { return x(1) * x(4) * (x(1) + x(2) + x(3)) + x(3); },
       [](X x) { return Numbers{product(x) - 25}; },
       [](X x) { return Numbers{p2(x(1)) + p2(x(2)) + p2(x(3)) + p2(x(4)) - 40}; },
       {1, 1, 1, 1},
       {5, 5, 5, 5}},
      {72,
       {1, 1, 1, 1},
       727.67937,
       [](X x) { return 1 + x(1) + x(2) + x(3) + x(4); },
       [](X x) {
         return Numbers{0.0401 - 4 / x(1) - 2.25 / x(2) - 1 / x(3) - 0.25 / x(4),
                        0.010085 - 0.16 / x(1) - 0.36 / x(2) - 0.64 / x(3) - 0.64 / x(4)};
       },
       {},
       {0.001, 0.001, 0.001, 0.001},
       {4e5, 3e5, 2e5, 1e5}},
      {76,
       {0.5, 0.5, 0.5, 0.5},
       -4.681818181,
       [](X x) {
         return p2(x(1)) + 0.5 * p2(x(2)) + p2(x(3)) + 0.5 * p2(x(4)) - x(1) * x(3) + x(3) * x(4) - x(1) -
                3 * x(2) + x(3) - x(4);
       },
       [](X x) {
         return Numbers{5 - x(1) - 2 * x(2) - x(3) - x(4), 4 - 3 * x(1) - x(2) - 2 * x(3) + x(4),
                        x(2) + 4 * x(3) - 1.5};
       },
       {},
       {0, 0, 0, 0},
       {inf, inf, inf, inf}},
      {77,
       {2, 2, 2, 2, 2},
       0.24150513,
       [](X x) { return p2(x(1) - 1) + p2(x(1) - x(2)) + p2(x(3) - 1) + p4(x(4) - 1) + p6(x(5) - 1); },
       {},
       [](X x) {
         return Numbers{p2(x(1)) * x(4) + sin(x(4) - x(5)) - 2 * root2,
                        x(2) + p4(x(3)) * p2(x(4)) - 8 - root2};
       },
       {},
       {}},
      {78, {-2, 1.5, 2, -1, -1}, -2.91970041, product, {}, of_78, {}, {}},
      {79,
       {2, 2, 2, 2, 2},
       0.0787768209,
       [](X x) {
         return p2(x(1) - 1) + p2(x(1) - x(2)) + p2(x(2) - x(3)) + p4(x(3) - x(4)) + p4(x(4) - x(5));
       },
       {},
       [](X x) {
         return Numbers{x(1) + p2(x(2)) + p3(x(3)) - 2 - 3 * root2, x(2) - p2(x(3)) + x(4) + 2 - 2 * root2,
                        x(1) * x(5) - 2};
       },
       {},
       {}},
      {80,
       {-2, 2, 2, -1, -1},
       0.0539498478,
       [](X x) { return exp(product(x)); },
       {},
       of_78,
       {-2.3, -2.3, -3.2, -3.2, -3.2},
       {2.3, 2.3, 3.2, 3.2, 3.2}},
      {81,
       {-2, 2, 2, -1, -1},
       0.0539498478,
       [](X x) { return exp(product(x)) - 0.5 * p2(p3(x(1)) + p3(x(2)) + 1); },
       {},
       of_78,
       {-2.3, -2.3, -3.2, -3.2, -3.2},
       {2.3, 2.3, 3.2, 3.2, 3.2}},
      {100,
       {1, 2, 0, 4, 0, 1, 1},
       680.6300573,
       [](X x) {
         return p2(x(1) - 10) + 5 * p2(x(2) - 12) + p4(x(3)) + 3 * p2(x(4) - 11) + 10 * p6(x(5)) +
                7 * p2(x(6)) + p4(x(7)) - 4 * x(6) * x(7) - 10 * x(6) - 8 * x(7);
       },
       [](X x) {
         return Numbers{127 - 2 * p2(x(1)) - 3 * p4(x(2)) - x(3) - 4 * p2(x(4)) - 5 * x(5),
                        282 - 7 * x(1) - 3 * x(2) - 10 * p2(x(3)) - x(4) + x(5),
                        196 - 23 * x(1) - p2(x(2)) - 6 * p2(x(6)) + 8 * x(7),
                        -4 * p2(x(1)) - p2(x(2)) + 3 * x(1) * x(2) - 2 * p2(x(3)) - 5 * x(6) + 11 * x(7)};
       },
       {},
       {},
       {}},
      {113,
       {2, 3, 5, 5, 1, 2, 7, 3, 6, 10},
       24.3062091,
       [](X x) {
         return p2(x(1)) + p2(x(2)) + x(1) * x(2) - 14 * x(1) - 16 * x(2) + p2(x(3) - 10) + 4 * p2(x(4) - 5) +
                p2(x(5) - 3) + 2 * p2(x(6) - 1) + 5 * p2(x(7)) + 7 * p2(x(8) - 11) + 2 * p2(x(9) - 10) +
                p2(x(10) - 7) + 45;
       },
       [](X x) {
         return Numbers{105 - 4 * x(1) - 5 * x(2) + 3 * x(7) - 9 * x(8),
                        -10 * x(1) + 8 * x(2) + 17 * x(7) - 2 * x(8),
                        8 * x(1) - 2 * x(2) - 5 * x(9) + 2 * x(10) + 12,
                        -3 * p2(x(1) - 2) - 4 * p2(x(2) - 3) - 2 * p2(x(3)) + 7 * x(4) + 120,
                        -5 * p2(x(1)) - 8 * x(2) - p2(x(3) - 6) + 2 * x(4) + 40,
                        -0.5 * p2(x(1) - 8) - 2 * p2(x(2) - 4) - 3 * p2(x(5)) + x(6) + 30,
                        -p2(x(1)) - 2 * p2(x(2) - 2) + 2 * x(1) * x(2) - 14 * x(5) + 6 * x(6),
                        3 * x(1) - 6 * x(2) - 12 * p2(x(9) - 8) + 7 * x(10)};
       },
       {},
       {},
       {}},
  };
  return list;
}

TEST(Minimize, ReachesTheMinimaOfHockAndSchittkowski) {
  for (const Problem& p : problems()) {
    const auto all = [](const std::function<Numbers(X)>& c, const Real& x) {
      std::vector<Real> values;
      for (const Number& each : c(Elements(x))) values.push_back(each.value);
      return Real(nax::stack(values));
    };
    std::vector<nax::optimize::Constraint> constraints;
    if (p.inequalities)
      constraints.push_back({"ineq", [&](const Real& x) { return all(p.inequalities, x); }});
    if (p.equalities) constraints.push_back({"eq", [&](const Real& x) { return all(p.equalities, x); }});
    const auto found =
        nax::optimize::minimize([&](const Real& x) { return p.f(Elements(x)).value; }, nax::asarray(p.start),
                                {.bounds = {p.lower, p.upper}, .constraints = constraints});
    EXPECT_TRUE(found.success) << p.number << ": " << found.message;
    EXPECT_LE(found.maxcv, 1e-7) << p.number;
    EXPECT_LE(found.nit, 100) << p.number;
    const bool local = found.fun.item() > p.minimum + 1;
    EXPECT_NEAR(found.fun.item(), local ? p.local : p.minimum, 1e-6 * std::max(1., std::abs(p.minimum)))
        << p.number << " in " << found.nit << " steps";
  }
}

}  // namespace hock_schittkowski_test
