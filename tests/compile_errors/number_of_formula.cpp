// says: write (x + y).item()
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  const Array<float> x = {1, 2};
  double total = x(0) + x(1);
}
