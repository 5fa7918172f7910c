// says: write array(values)
#include <nax/nax.hpp>
#include <vector>

using namespace nax;

void mistake() {
  const Array<float> x = {1, 2};
  const std::vector<double> values = {1, 2};
  Array<float> y(values);
}
