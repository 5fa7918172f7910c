// says: returns nothing
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto show = [](const Array<float>& x) { (void)x; };
  auto result = vmap(show)(Array<float>{1, 2});
}
