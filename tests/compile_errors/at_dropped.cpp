// says: at(...) changes nothing by itself: a = a.at(...).set(v)
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<float> x = {1, 2};
  x.at(0);
}
