// says: cannot be called
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  int calls = 0;
  auto loss = [calls](const Array<float>& x) mutable { return ++calls, sum(x * x); };
  auto gradient = grad(loss)(Array<float>{1, 2});
}
