// says: write x = full(x.shape(), value)
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  const Array<float> x = {1, 2};
  x.fill(1);
}
