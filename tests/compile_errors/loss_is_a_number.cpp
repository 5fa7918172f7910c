// says: the function returns a number, which has no derivative
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto loss = [](const Array<float>& x) { return sum(x * x).item(); };
  auto gradient = grad(loss)(Array<float>{1, 2});
}
