// says: write x = x.at(i).set(value)
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<float> x = {1, 2, 3};
  x(slice(0, 2)) *= 2.f;
}
