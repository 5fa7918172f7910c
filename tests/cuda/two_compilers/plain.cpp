// Compiled as C++: the kernels of what it shares with the other file come from there, whatever the order of
// linking.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "two_compilers/program.hpp"

namespace {

using nax::Array;

constexpr int skipped = 77;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}
bool alike(const Array<float>& a, const Array<float>& b) {
  const std::vector<float> x = a.to_vector(), y = b.to_vector();
  bool close = x.size() == y.size();
  for (std::size_t i = 0; close && i < x.size(); ++i)
    close = std::abs(x[i] - y[i]) <= 1e-5f * (1 + std::abs(y[i]));
  return close;
}

void expect_no_kernel(const Array<float>& x) {
  try {
    const Array<float> y = nax::sinh(x) + nax::cos(x) * 3.f;
  } catch (const nax::DeviceError& error) {
    std::printf("%s\n", error.what());
    const std::string_view text = error.what();
    expect(text.substr(0, 4) == "add:", "the error names the function");
    expect(text.find("(.cu)") != text.npos, "the error says what to do");
    return;
  }
  expect(false, "an expression that no file has kernels for throws");
}

}  // namespace

int main() {
  using Shared = decltype(shared_expression(std::declval<Array<float>>()));
  expect(nax::cuda::expression_kernels<Shared>.forward, "the shared expression has a kernel");
  expect(nax::cuda::expression_kernels<Shared>.pull, "its derivative has a kernel");
  using Plain = decltype(nax::sinh(std::declval<Array<float>>()));
  expect(!nax::cuda::expression_kernels<Plain>.forward, "what only this file sees has none");

  if (nax::device_count("cuda") == 0) {
    std::printf("skipped: this machine has no GPU; the kernels were found\n");
    return skipped;
  }
  const auto devices = nax::devices("cuda");
  const Array<float> here = nax::linspace<float>(-2, 2, 1001), there = nax::device_put(here, devices[0]);
  const auto back = [](const Array<float>& x) { return nax::device_put(x, nax::devices()[0]); };
  expect(shared_step(there).device() == devices[0], "a result lies where its operands do");
  expect(alike(back(shared_step(there)), shared_step(here)), "the plain file's call");
  expect(alike(back(step_with_kernels(there)), shared_step(here)), "the other file's call");
  expect(alike(back(shared_gradient(there)), shared_gradient(here)), "the plain file's gradient");
  expect(alike(back(gradient_with_kernels(there)), shared_gradient(here)), "the other file's gradient");
  expect_no_kernel(there);
  std::printf("passed\n");
}
