// says: print its fields
#include <nax/nax.hpp>

using namespace nax;

struct Layer {
  Array<float> w, b;
};

void mistake() {
  const Layer layer;
  std::cout << layer;
}
