// says: the axis is an option: write x.f({.axis = 0})
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  const Array<float> x = {1, 2};
  auto total = x.sum(0);
}
