// says: must be of a floating type
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto count = [](const Array<float>& x) { return sum(x > 0); };
  auto gradient = grad(count)(Array<float>{1, 2});
}
