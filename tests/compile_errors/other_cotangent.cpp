// says: the cotangent or tangent must be a tree like
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto f = [](const Array<float>& x) { return std::pair{x * 2, sum(x)}; };
  auto [y, pullback] = vjp(f, Array<float>{1, 2});
  auto gradient = pullback(Array<float>{1, 2});
}
