// says: the function returns a number, which has no derivative
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto norm = [](const Array<float>& x) { return sum(x * x).item(); };
  auto slopes = jacfwd(norm)(Array<float>{1, 2});
}
