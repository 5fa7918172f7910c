// The gradient of every example's own loss, from a loss written for one example: vmap(grad(loss)). Private
// learning needs it: it clips each example's gradient before it averages.
#include <iomanip>
#include <iostream>
#include <nax/nax.hpp>

using nax::Array, nax::none;

struct Network {
  Array<float> w1, b1, w2;
};

// One example: x has shape (4,), y is a number.
Array<float> loss(const Network& net, const Array<float>& x, const Array<float>& y) {
  const Array<float> hidden = nax::tanh(nax::matmul(x, net.w1) + net.b1);
  return nax::square(nax::dot(hidden, net.w2) - y);
}

int main() {
  namespace random = nax::random;
  const auto keys = random::split(random::key(0), 4);
  const Network net{random::normal<float>(keys[0], {4, 8}), nax::zeros<float>({8}),
                    random::normal<float>(keys[1], {8})};
  const auto xs = random::normal<float>(keys[2], {6, 4});
  const auto ys = random::normal<float>(keys[3], {6});

  // The network is the same for all, the examples differ: every field of the result has one gradient a row.
  const auto gradients = nax::vmap(nax::grad(loss), {.in_axes = {none, 0, 0}})(net, xs, ys);
  std::cout << "w1 " << net.w1.shape() << ", its gradients " << gradients.w1.shape() << '\n';

  // A loop gives equal gradients.
  float difference = 0;
  for (int i = 0; i < 6; ++i) {
    const auto one = nax::grad(loss)(net, xs(i), ys(i));
    difference = std::max(difference, nax::max(nax::abs(one.w1 - gradients.w1(i))).item());
  }
  std::cout << "largest difference from a loop: " << (difference < 1e-5f ? "below 1e-5" : "too much") << '\n';

  // Private learning: every gradient is cut to length 1 before the mean is taken. Written for one, mapped
  // over all.
  const auto length = [](const Network& g) {
    const auto add_squares = [](const auto& sum, const Array<float>& leaf) {
      return sum + nax::sum(leaf * leaf);
    };
    return nax::sqrt(nax::tree::reduce(add_squares, g, 0.f));
  };
  const auto clip = [&](const Network& g) {
    const Array<float> factor = nax::minimum(1.f, 1 / length(g));
    return nax::tree::map([&](const auto& leaf) { return leaf * factor; }, g);
  };
  const Array<float> before = nax::vmap(length)(gradients);
  const auto clipped = nax::vmap(clip)(gradients);
  const Array<float> after = nax::vmap(length)(clipped);
  const auto mean = nax::tree::map([](const auto& leaf) { return nax::mean(leaf, {.axis = 0}); }, clipped);

  std::cout << "lengths " << nax::round(before, {.decimals = 2}) << "\nclipped "
            << nax::round(after, {.decimals = 2}) << "\nlength of their mean "
            << nax::round(length(mean), {.decimals = 2}) << '\n';
}
