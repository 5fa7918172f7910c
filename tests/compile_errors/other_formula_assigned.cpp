// says: declare it as an Array
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<float> x = {1, 2};
  auto y = x * 2;
  y = x + 1;
}
