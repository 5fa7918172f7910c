// Random programs of a dozen functions over operands of random shapes that broadcast, are permuted and
// strided. Each undergoes all checks of a row. The seed is fixed, and a failing program is printed.

#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/logsumexp.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "table/harness.hpp"

namespace programs_test {
using namespace table;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::size_t>((state_ >> 33) % n);
  }

 private:
  std::uint64_t state_;
};

// One step: a function of two values that are there, and what it is called. Values stay small, so that
// differences tell the derivatives.
struct Step {
  const char* name;
  Real (*f)(const Real& x, const Real& y);
};

// An axis of x, chosen by the shape alone.
int last(const Real& x) { return x.ndim() - 1; }
Real two_axes(const Real& x) { return x.ndim() < 2 ? nax::expand_dims(x, 0).reshape({1, -1}) : x; }

const Step kSteps[] = {
    {"x * y", [](const Real& x, const Real& y) -> Real { return x * y; }},
    {"x - y / 2", [](const Real& x, const Real& y) -> Real { return x - y * 0.5; }},
    {"sin(x) + y", [](const Real& x, const Real& y) -> Real { return nax::sin(x) + y; }},
    {"tanh(x * y)", [](const Real& x, const Real& y) -> Real { return nax::tanh(x * y); }},
    {"exp(-x * x)", [](const Real& x, const Real&) -> Real { return nax::exp(-(x * x)); }},
    {"x / (1 + y * y)", [](const Real& x, const Real& y) -> Real { return x / (1.0 + y * y); }},
    {"where(x > y, x, tanh(y))",
     [](const Real& x, const Real& y) -> Real { return nax::where(x > y, x, nax::tanh(y)); }},
    {"x.T()", [](const Real& x, const Real&) -> Real { return x.T(); }},
    {"x(..., ::-1)",
     [](const Real& x, const Real&) -> Real { return x.ndim() == 0 ? x : nax::flip(x, {.axis = -1}); }},
    {"x(::2)",
     [](const Real& x, const Real&) -> Real { return x.ndim() == 0 ? x : x(nax::slice(nax::_, nax::_, 2)); }},
    {"mean(x, axis 0, keepdims) * y",
     [](const Real& x, const Real& y) -> Real {
       return x.ndim() == 0 ? x : Real(nax::mean(x, {.axis = 0, .keepdims = true}) * y);
     }},
    {"logsumexp(x, axis -1, keepdims) - x",
     [](const Real& x, const Real&) -> Real {
       return x.ndim() == 0 ? x : Real(nax::logsumexp(x, {.axis = last(x), .keepdims = true}) - x);
     }},
    {"sum(x * y)", [](const Real& x, const Real& y) -> Real { return nax::tanh(nax::sum(x * y) * 0.25); }},
    {"matmul(x, x.T) / 4",
     [](const Real& x, const Real&) -> Real {
       const Real m = two_axes(x);
       return nax::matmul(m, nax::matrix_transpose(m)) * 0.25;
     }},
    {"concatenate({x, x}) / 2",
     [](const Real& x, const Real&) -> Real {
       return x.ndim() == 0 ? x : Real(nax::concatenate({x, x}, {.axis = -1}) * 0.5);
     }},
};

bool fits(const nax::Shape& a, const nax::Shape& b) {
  for (std::size_t i = 1; i <= a.size() && i <= b.size(); ++i) {
    const std::int64_t p = a[a.size() - i], q = b[b.size() - i];
    if (p != q && p != 1 && q != 1) return false;
  }
  return true;
}

// A step and the places of its operands among the operands and the results so far.
struct Line {
  std::size_t step, x, y;
};
struct Program {
  std::vector<Operand> operands;
  std::vector<Line> lines;
  std::string text;
};

Real run(const std::vector<Line>& lines, const Operands& operands) {
  Operands values = operands;
  for (const Line& line : lines) values.push_back(kSteps[line.step].f(values[line.x], values[line.y]));
  return values.back();
}

// Shapes are found by running it: lines whose shapes do not fit are drawn anew.
Program draw(std::uint64_t seed) {
  Random random(seed);
  Program program;
  const nax::Shape whole = {2, 3, 2};
  Operands values;
  const std::size_t operands = 1 + random.below(2);
  for (std::size_t k = 0; k < operands; ++k) {
    nax::Shape shape(whole.begin() + static_cast<std::ptrdiff_t>(random.below(4)), whole.end());
    for (std::int64_t& extent : shape)
      if (random.below(4) == 0) extent = 1;
    program.operands.push_back({shape, -1, 1});
    program.text += nax::to_string(shape) + " ";
    values.push_back(nax::full<double>(shape, 0.5));
  }
  while (program.lines.size() < 5) {
    Line line{random.below(std::size(kSteps)), random.below(values.size()), random.below(values.size())};
    if (random.below(2)) line.x = values.size() - 1;  // mostly a chain
    if (!fits(values[line.x].shape(), values[line.y].shape())) continue;
    const Real next = kSteps[line.step].f(values[line.x], values[line.y]);
    if (next.size() > 40 || next.ndim() > 4) continue;
    program.text += "; " + std::string(kSteps[line.step].name) + " of " + std::to_string(line.x) + ", " +
                    std::to_string(line.y);
    program.lines.push_back(line);
    values.push_back(next);
  }
  return program;
}

TEST(Programs, DrawnAtRandom) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    const Program program = draw(seed);
    SCOPED_TRACE("program " + std::to_string(seed) + ": " + program.text);
    Row row{"program" + std::to_string(seed),
            [&](const Operands& x) { return run(program.lines, x); },
            {program.operands}};
    row.difference = 1e-5;
    EXPECT_NO_THROW(check(row));
  }
}

}  // namespace programs_test
