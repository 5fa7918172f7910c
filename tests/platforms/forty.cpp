// Uses a little of everything: tests/zig.sh compares its output with Linux's, in forty.txt.
#include <cstdio>
#include <iostream>
#include <nax/nax.hpp>
#include <string>
#include <utility>

using namespace nax;

int main() {
  set_printoptions({.precision = 4});  // the last digits are rounded as compilers order sums
  const random::Key key = random::key(7);
  const Array<float> x = random::uniform<float>(key, {4, 3});
  std::cout << x << '\n' << random::normal<double>(key, {3}) << '\n' << random::permutation(key, 6) << '\n';

  auto loss = [](const Array<float>& w, const Array<float>& row) { return sum(square(tanh(w * row) - 1)); };
  const Array<float> w = {1, 2, 3};
  std::cout << vmap(grad(loss), {.in_axes = {none, 0}})(w, x) << '\n';
  auto step = jit([=](const Array<float>& v) { return v - 0.1f * grad(checkpoint(loss))(v, x[0]); });
  Array<float> v = w;
  for (int i = 0; i < 20; ++i) v = step(v);
  std::cout << v << '\n';

  const Array<double> at = {1, 2};
  std::cout << hessian([](const Array<double>& y) { return sum(exp(y)) * sum(y); })(at) << '\n';
  const Array<double> matrix = {{4, 1, 0}, {1, 3, 1}, {0, 1, 2}};
  std::cout << linalg::inv(matrix) << '\n' << sort(ravel(x)) << '\n' << abs(fft::fft(at)) << '\n';
  std::cout << half(1) / half(3) << ' ' << sum(arange<std::int64_t>(1000) * 1000000007) << '\n';

  save("forty.npy", x);
  savez_compressed("forty.npz", {{"a", matrix}, {"b", at}});
  std::cout << all(load<float>("forty.npy") == x) << ' ' << io::load_npz<double>("forty.npz").at("a") << '\n';
  for (const char* name : {"forty.npy", "forty.npz"}) std::remove(name);

  auto rows = data::from_arrays(std::pair{x, arange<int>(4)})
                  .shuffle({.key = key})
                  .map(
                      [](const Array<float>& row, const Array<int>& n) {
                        return std::pair{row * 2, n};
                      },
                      {.threads = 2})
                  .batch(2)
                  .prefetch(2);
  for (const auto& [batch, numbers] : rows) std::cout << sum(batch) << ' ' << numbers << '\n';
  try {
    std::cout << w + at << '\n';
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
