// says: InAxes
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto f = [](const std::pair<Array<float>, Array<float>>& p) { return p.first * p.second; };
  auto mapped = vmap(f, {.in_axes = {{0, none}}});
}
