// says: a struct with a const member or a reference is no tree
#include <nax/nax.hpp>

using namespace nax;

struct Layer {
  const Array<float> weights;
  Array<float> bias;
};

void mistake() {
  auto loss = [](const Layer& layer) { return sum(layer.weights * layer.bias); };
  auto gradient = grad(loss)(Layer{{1, 2}, {3, 4}});
}
