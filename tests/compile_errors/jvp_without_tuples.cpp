// says: tuple
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto f = [](const Array<float>& x) { return x * x; };
  auto both = jvp(f, Array<float>{1, 2}, Array<float>{1, 0});
}
