// says: give its class a friend tree_fields, or an operator ==
#include <nax/nax.hpp>

using namespace nax;

struct Layer {
  Array<float> weights;
  explicit Layer(int n) : weights(zeros<float>({n})) {}
};

void mistake() {
  auto f = jit([](const Layer& l, const Array<float>& x) { return Array<float>(x * l.weights); });
  auto y = f(Layer(3), Array<float>{1, 2, 3});
}
