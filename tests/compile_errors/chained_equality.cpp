// says: a == b == c compares truth values with c: write (a == b) & (b == c)
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<float> x = {1, 2, 3};
  Array<bool> same = x == x == 2;
}
