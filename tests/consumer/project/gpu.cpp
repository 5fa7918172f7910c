#include <nax/nax.hpp>

// Runs on a GPU if there is one; otherwise the test is that the program builds.
int main() {
  if (nax::device_count("cuda") == 0) return 0;
  const auto x = nax::device_put(nax::Array<float>{1, 2, 3}, nax::devices("cuda")[0]);
  return nax::sum(x * x).item() == 14 ? 0 : 1;
}
