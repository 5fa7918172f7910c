// says: the arrays stand in braces: write f({a, b})
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  const Array<float> x = {1, 2};
  auto y = concatenate(x, x);
}
