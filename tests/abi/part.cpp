// Compiled once for any processor and once for more instructions, as two files of one program: PART is the
// function's name.
#include <nax/nax.hpp>
#include <sstream>
#include <string>
#include <vector>

#define NAME_(part, name) part##_##name
#define NAME(part, name) NAME_(part, name)
std::string PART();
int NAME(PART, threads)(int count);

namespace {

using nax::Array;

struct Layer {
  Array<float> w, b;
};

auto loss = [](const std::vector<Layer>& layers, const Array<float>& x) {
  Array<float> y = x;
  for (const Layer& layer : layers) y = nax::tanh(nax::matmul(y, layer.w) + layer.b);
  return nax::mean(nax::square(y));
};

}  // namespace

// Kernels, products, factors, sorting, random numbers and transforms, on numbers whose digits do not hang on
// rounding.
std::string PART() {
  std::ostringstream out;
  const Array<float> x = nax::linspace<float>(-1, 1, 64 * 48).reshape({64, 48});
  const std::vector<Layer> layers = {
      {0.1f * nax::random::normal<float>(nax::random::key(0), {48, 32}), nax::zeros<float>({32})}};
  const auto [value, gradient] = nax::value_and_grad(loss)(layers, x);
  out << nax::round(value * 1e4f) << ' ' << nax::round(nax::sum(gradient[0].b) * 1e3f) << '\n';
  out << nax::vmap([](const Array<float>& row) { return nax::argmax(nax::sin(7 * row)); })(
             x[nax::slice(0, 4)])
      << '\n';
  out << nax::round(nax::pmap([](const Array<float>& row) { return nax::psum(nax::sum(row * row), "i"); },
                              {.axis_name = "i"})(x[nax::slice(0, 1)]))
      << '\n';
  const Array<double> a = nax::eye<double>(40) * 3.0 + 1.0;
  out << nax::round(nax::sum(nax::linalg::solve(a, nax::ones<double>({40}))) * 1e6) << ' '
      << nax::round(nax::linalg::slogdet(a).logabsdet * 1e6) << '\n';
  out << nax::sort(nax::remainder(nax::arange<std::int32_t>(300) * 37, 300))[nax::slice(0, 5)] << ' '
      << nax::round(nax::cumsum(nax::ones<float>({1000}))[-1]) << '\n';
  out << nax::hessian([](const Array<double>& v) { return nax::sum(v * v * v); })(Array<double>{1, 2})
      << '\n';
  return out.str();
}

// Sets the number of threads where `count` is not 0, uses some, and returns how many there are.
int NAME(PART, threads)(int count) {
  if (count > 0) nax::set_num_threads(count);
  nax::parallel_for(64, 1, [](std::int64_t, std::int64_t) {});
  return nax::num_threads();
}
