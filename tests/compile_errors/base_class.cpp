// says: a struct with a base class
#include <nax/nax.hpp>

using namespace nax;

struct Named {
  tree::Static<std::string> name;
};
struct Layer : Named {
  Array<float> weights;
};

void mistake() {
  auto norm = [](const Layer& l) { return sum(l.weights * l.weights); };
  auto gradient = grad(norm)(Layer{{"first"}, ones<float>({2, 2})});
}
