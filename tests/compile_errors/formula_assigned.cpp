// says: write x = x.at(i).set(value)
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<float> x = {1, 2}, y = {3, 4};
  (x * y) = y * x;
}
