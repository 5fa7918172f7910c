// says: elements of another type: x.astype<T>()
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<double> wide = {1, 2};
  Array<float> narrow = wide;
}
