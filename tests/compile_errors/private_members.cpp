// says: tree
#include <nax/nax.hpp>

using namespace nax;

class Layer {
 public:
  Layer() = default;
  Array<float> operator()(const Array<float>& x) const { return matmul(x, weights_); }

 private:
  Array<float> weights_ = ones<float>({2, 2});
};

void mistake() {
  auto loss = [](const Layer& layer, const Array<float>& x) { return sum(layer(x)); };
  auto gradient = grad(loss)(Layer(), Array<float>{1, 2});
}
