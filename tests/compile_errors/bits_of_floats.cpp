// says: & | ^ ~ are for integers and truth values, not for floats: x^2 is square(x) or power(x, 2)
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  Array<float> x = {1, 2, 3};
  Array<float> y = x ^ 2;
}
