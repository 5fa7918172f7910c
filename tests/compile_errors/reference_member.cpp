// says: a struct with a const member or a reference is no tree
#include <nax/nax.hpp>

using namespace nax;

struct Layer {
  Array<float>& weights;
  Array<float> bias;
};

void mistake() {
  Array<float> weights = {1, 2};
  auto loss = [](const Layer& layer) { return sum(layer.weights * layer.bias); };
  auto gradient = grad(loss)(Layer{weights, {3, 4}});
}
