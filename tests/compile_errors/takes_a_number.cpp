// says: takes a number
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto square = [](double x) { return x * x; };
  auto slope = grad(square)(3.0);
}
