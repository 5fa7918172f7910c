// A function for one signal, run on a batch by vmap: the first example of JAX's tutorial on it.
#include <iostream>
#include <nax/nax.hpp>
#include <vector>

using nax::Array, nax::slice;

int main() {
  // Written for one x and one w, with an ordinary loop.
  auto convolve = [](const Array<float>& x, const Array<float>& w) {
    std::vector<Array<float>> output;
    for (int i = 1; i < x.shape(0) - 1; ++i) output.push_back(nax::dot(x(slice(i - 1, i + 2)), w));
    return nax::array(output);
  };

  auto xs = nax::arange<float>(50).reshape({-1, 5});
  auto w = Array<float>{3, 1, 3};
  auto ws = nax::stack(std::vector(10, w));

  // Ten signals, each with its own filter: the loop still runs three times, not thirty.
  std::cout << nax::vmap(convolve)(xs, ws) << '\n';
}
