#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "nax/core/layout.hpp"
#include "nax/transform/axes.hpp"
#include "table/harness.hpp"

// Shared by the sources of the harness: points, comparison, and the checks.
namespace table {

using nax::Dims;
using Numbers = std::vector<double>;

// Splitmix64: the same points for a row on every machine.
class Random {
 public:
  explicit Random(const std::string& seed) {
    for (const char c : seed) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

Real array_of(const Dims& shape, const Numbers& numbers);
Real array_of(const Operand& operand, Random& random);
Operands point(const std::vector<Operand>& operands, Random& random);
// Numbers in [-1, 1] of the same shapes.
Operands like(const Operands& x, Random& random);

// |got - want| <= tolerance * (1 + |want|); NaN is NaN.
void expect_close(const char* what, const Real& got, const Real& want, double tolerance);
void expect_close(const char* what, const Operands& got, const Operands& want, double tolerance);
constexpr double kExact = 1e-11;

// The transforms, each instantiated for one type of function.
using Vectors = std::function<Operands(const Operands&)>;
Operands gradient(const Function& f, const Operands& x, const Real& w);  // of sum(f(x) * w)
Real mapped(const Function& f, const Operands& x, const std::vector<nax::Axes>& axes, int out);
Operands mapped(const Vectors& f, const Operands& x, const std::vector<nax::Axes>& axes);
// The derivative of <gradient, v>.
Operands second(const Function& f, const Operands& x, const Real& w, const Operands& v);

void check_derivatives(const Row& row, const Operands& x, Random& random);
void check_vmap(const Row& row, const std::vector<Operand>& operands, Random& random);
void check_layouts(const Row& row, const Operands& x, Random& random);
void check_records(const Row& row);
// `other`: a second point, of the same shapes.
void check_jit(const Row& row, const Operands& x, const Operands& other, Random& random);

}  // namespace table
