// Compiled by a C++ compiler alone, as all files of its program; prints the same on the CPU and on a GPU.
#include <iostream>

#include "nax/nax.hpp"

int main(int count, char** arguments) {
  using namespace nax;
  set_printoptions({.precision = 5});  // the CPU's kernel rounds a product and a sum apart
  const Device device = devices(count > 1 ? arguments[1] : "cpu")[0];
  const Array<float> x = device_put(linspace<float>(-2, 2, 7), device), y = x * x;
  const Array<float> z = tanh(x) * y + 1;
  std::cout << z << '\n' << grad([&](const Array<float>& v) { return sum(tanh(v) * y + 1); })(x) << '\n';
}
