// says: write sum(x).item()
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  const Array<float> x = {1, 2};
  float total = sum(x);
}
