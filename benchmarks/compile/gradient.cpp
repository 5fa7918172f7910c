// The five-line gradient: the least compile time of a program that differentiates.
#include <nax/nax.hpp>
int main() {
  const nax::Array<double> x = {1, 2, 3};
  const auto slope = nax::grad([](const nax::Array<double>& x) { return nax::sum(nax::tanh(x) * x); })(x);
  return slope(0).item() > 0 ? 0 : 1;
}
