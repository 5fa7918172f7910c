#include <iostream>
#include <nax/nax.hpp>

int main() {
  const auto slope = nax::grad([](const nax::Array<double>& x) { return nax::sum(x * x); });
  std::cout << slope(nax::Array<double>{1, 2, 3}) << '\n';
}
