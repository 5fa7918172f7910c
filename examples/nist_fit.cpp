// Two of NIST's nonlinear regressions: the parameters, their standard errors, and the certified ones beside
// them.
#include <cstdio>
#include <nax/nax.hpp>

using nax::Array;

namespace {

template <class Model>
void fit(const char* name, const Model& model, const Array<double>& x, const Array<double>& y,
         const Array<double>& start, const Array<double>& certified) {
  const auto [p, covariance] =
      nax::optimize::curve_fit(model, x, y, start, {.ftol = 1e-15, .xtol = 1e-12, .gtol = 0});
  const Array<double> error = nax::sqrt(nax::diagonal(covariance));
  std::printf("%s\n", name);
  for (int i = 0; i < p.size(); ++i)
    std::printf("  b%d  %17.10e +- %9.3e  certified %17.10e\n", i + 1, p(i).item(), error(i).item(),
                certified(i).item());
}

}  // namespace

int main() {
  fit(
      "Misra1a: b1 (1 - exp(-b2 x))",
      [](const auto& x, const auto& b) { return b(0) * (1. - exp(-b(1) * x)); },
      Array<double>{77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1,
                    760},
      Array<double>{10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47,
                    81.78},
      Array<double>{500, 0.0001}, Array<double>{2.3894212918e2, 5.5015643181e-4});
  fit(
      "Rat43: b1 / (1 + exp(b2 - b3 x))^(1 / b4)",
      [](const auto& x, const auto& b) { return b(0) / power(1. + exp(b(1) - b(2) * x), 1. / b(3)); },
      nax::arange<double>(1, 16),
      Array<double>{16.08, 33.83, 65.80, 97.20, 191.55, 326.20, 386.87, 520.53, 590.03, 651.92, 724.93,
                    699.56, 689.96, 637.56, 717.41},
      Array<double>{100, 10, 1, 1},
      Array<double>{6.9964151270e2, 5.2771253025, 7.5962938329e-1, 1.2792483859});
}
