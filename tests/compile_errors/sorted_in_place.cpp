// says: arrays are values: write x = sort(x)
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  const Array<float> x = {1, 2};
  (x * 2).sort();
}
