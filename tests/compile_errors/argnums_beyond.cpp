// says: argnums
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto loss = [](const Array<float>& x) { return sum(x * x); };
  auto gradient = grad<1>(loss)(Array<float>{1, 2});
}
