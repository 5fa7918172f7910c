#include <nax/nax.hpp>

float slope(float at);

int main() {
  float total = nax::sum(nax::Array<float>{1, 2, 3}).item();
  return total == 6 && slope(3) == 6 ? 0 : 1;
}
