// says: one array
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto losses = [](const Array<float>& x) { return std::vector{sum(x), sum(x * x)}; };
  auto gradient = grad(losses)(Array<float>{1, 2});
}
