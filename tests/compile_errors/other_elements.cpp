// says: cannot be called
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto loss = [](const Array<float>& x) { return sum(x * x); };
  auto gradient = grad(loss)(Array<int>{1, 2});
}
