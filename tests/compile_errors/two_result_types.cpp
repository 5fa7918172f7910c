// says: inconsistent types
#include <nax/nax.hpp>

using namespace nax;

void mistake() {
  auto relu = [](const auto& x) {
    if (x.item() > 0) return x;
    return -x;
  };
  auto gradient = grad(relu)(Array<float>(1));
}
