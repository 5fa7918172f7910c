// says: an operation changes no array: its result is a new one
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<float> x = {1, 2};
  sort(x);
}
