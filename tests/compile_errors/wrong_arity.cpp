// says: cannot be called
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto loss = [](const Array<float>& w, const Array<float>& x) { return sum(w * x); };
  auto gradient = grad(loss)(Array<float>{1, 2});
}
