// says: nax::tree::Static
#include <nax/nax.hpp>

using namespace nax;

struct Layer {
  std::string name;
  Array<float> weights;
};

void mistake() {
  auto loss = [](const Layer& l, const Array<float>& x) { return sum(matmul(x, l.weights)); };
  auto gradient = grad(loss)(Layer{"first", ones<float>({2, 2})}, Array<float>{1, 2});
}
