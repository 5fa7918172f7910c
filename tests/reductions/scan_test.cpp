// Products, running sums, variances and places: values against JAX's, derivatives against finite differences.

#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/prod.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/transform/grad.hpp"
#include "reductions/check.hpp"

namespace scan_test {

using A = nax::Array<double>;
using nax::none;

TEST(ScanGolden, Values) {
  const auto in = [](const std::string& name) { return check::input<double>(name + "/in0"); };
  for (const auto& [tag, axis] :
       {std::pair<const char*, nax::Axis>{"", none}, {".axis=0", 0}, {".axis=-1", -1}}) {
    const std::string d = std::string(tag) + "/f64";
    check::expect("cumsum" + d, nax::cumsum(in("cumsum" + d), {.axis = axis}));
    check::expect("cumprod" + d, nax::cumprod(in("cumprod" + d), {.axis = axis}));
  }
  check::expect("prod.axis=(0,2)/f64", nax::prod(in("prod.axis=(0,2)/f64"), {.axis = {0, 2}}));
  check::expect(
      "prod.axis=1.initial=2.where/f64",
      nax::prod(
          in("prod.axis=1.initial=2.where/f64"),
          {.axis = 1, .initial = 2, .where = check::input<bool>("prod.axis=1.initial=2.where/f64/in1")}));
  check::expect("var.axis=0.ddof=1/f64", nax::var(in("var.axis=0.ddof=1/f64"), {.axis = 0, .ddof = 1}));
  check::expect("std.axis=(-1,0).keepdims/f64",
                nax::std(in("std.axis=(-1,0).keepdims/f64"), {.axis = {-1, 0}, .keepdims = true}));
  check::expect("var.axis=1.where/f64",
                nax::var(in("var.axis=1.where/f64"),
                         {.axis = 1, .where = check::input<bool>("var.axis=1.where/f64/in1")}));
  check::expect("var.empty.axis=0/f64", nax::var(in("var.empty.axis=0/f64"), {.axis = 0}));
  for (const char* tag : {"argmax", "argmax.nan", "argmin", "argmin.nan"}) {
    const std::string name = std::string(tag) + "/f64";
    check::expect(name, tag[3] == 'm' && tag[4] == 'a' ? nax::argmax(in(name)) : nax::argmin(in(name)));
  }
  check::expect("argmax.axis=0/f64", nax::argmax(in("argmax.axis=0/f64"), {.axis = 0}));
  check::expect("argmax.ties/f64", nax::argmax(in("argmax.ties/f64"), {.axis = 1}));
  check::expect("argmin.axis=-1.keepdims/f64",
                nax::argmin(in("argmin.axis=-1.keepdims/f64"), {.axis = -1, .keepdims = true}));
}

// The gradient of sum(w * f(x)) against differences, and the gradient of its weighted sum.
template <class F>
void differentiate(const F& f, const A& x, const A& w, const A& v) {
  const auto loss = [&](const A& a) { return nax::sum(f(a) * w); };
  const auto slope = [&](const A& a) { return nax::sum(nax::grad(loss)(a) * v); };
  const auto held = [&](const auto& value, const A& gradient) {
    constexpr double h = 1e-6;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      std::vector<double> up = x.to_vector(), down = up;
      up[i] += h;
      down[i] -= h;
      const auto at = [&](const std::vector<double>& values) {
        A a = nax::copy(x);
        std::copy(values.begin(), values.end(), nax::detail::elements<double>(a));
        return value(a).item();
      };
      EXPECT_NEAR(gradient.to_vector()[i], (at(up) - at(down)) / (2 * h), 2e-5) << i;
    }
  };
  held(loss, nax::grad(loss)(x));
  held(slope, nax::grad(slope)(x));
}

TEST(ScanGradient, AtZeros) {
  const A x = {{1.5, 0, -2}, {0, 0.5, 0}}, v = {{0.3, -1, 2}, {1, 0.7, -0.2}};
  differentiate([](const A& a) { return nax::prod(a, {.axis = 1}); }, x, A{2, -1}, v);
  differentiate([](const A& a) { return nax::prod(a); }, x, A(1.5), v);
  differentiate([](const A& a) { return nax::cumprod(a, {.axis = 1}); }, x, v, v);
  differentiate([](const A& a) { return nax::cumsum(a * a, {.axis = 0}); }, x, v, v);
  differentiate([](const A& a) { return nax::var(a, {.axis = 1}); }, x, A{2, -1}, v);
}

}  // namespace scan_test
