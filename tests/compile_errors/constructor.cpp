// says: tree
#include <nax/nax.hpp>

using namespace nax;

struct Layer {
  Array<float> weights, bias;
  Layer(int in, int out) : weights(zeros<float>({in, out})), bias(zeros<float>({out})) {}
};

void mistake() {
  auto loss = [](const Layer& l, const Array<float>& x) { return sum(matmul(x, l.weights) + l.bias); };
  auto gradient = grad(loss)(Layer(2, 3), Array<float>{1, 2});
}
