// NIST's 27 sets for nonlinear regression, from both starts, to the certified values.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nax/nax.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace nist_test {

using nax::none, nax::slice;
using Real = nax::Array<double>;
using Model = std::function<Real(const Real& x, const Real& b)>;

struct Set {
  std::string name;
  Real x, y;
  std::vector<double> start[2], certified, deviation;
  double rss = 0;
};

const std::vector<Set>& sets() {
  static const std::vector<Set> all = [] {
    std::vector<Set> sets;
    std::ifstream file(std::string(NAX_GOLDENS_DIR) + "/nist_regression.txt");
    EXPECT_TRUE(file) << "nist_regression.txt";
    std::string line;
    while (std::getline(file, line)) {
      if (line[0] == '#') continue;
      Set set{.name = line, .x = Real(), .y = Real(), .start = {}, .certified = {}, .deviation = {}};
      std::size_t parameters = 0, observations = 0, predictors = 0;
      file >> parameters >> observations >> predictors;
      const auto read = [&](std::vector<double>& to, std::size_t n) {
        to.resize(n);
        for (double& value : to) file >> value;
      };
      read(set.start[0], parameters);
      read(set.start[1], parameters);
      read(set.certified, parameters);
      read(set.deviation, parameters);
      file >> set.rss;
      std::vector<double> rows;
      read(rows, observations * (predictors + 1));
      const Real table = nax::array(rows, {observations, predictors + 1});
      set.y = table(nax::_, 0);
      set.x = predictors == 1 ? table(nax::_, 1) : Real(table(nax::_, slice(1, none)).T());
      sets.push_back(set);
      std::getline(file, line);
    }
    return sets;
  }();
  return all;
}

const std::map<std::string, Model>& models() {
  constexpr double pi = 3.141592653589793;
  static const Model growth = [](const Real& x, const Real& b) { return b(0) * (1. - exp(-b(1) * x)); };
  static const Model decay = [](const Real& x, const Real& b) { return exp(-b(0) * x) / (b(1) + b(2) * x); };
  static const Model lanczos = [](const Real& x, const Real& b) {
    return b(0) * exp(-b(1) * x) + b(2) * exp(-b(3) * x) + b(4) * exp(-b(5) * x);
  };
  static const Model gauss = [](const Real& x, const Real& b) {
    return b(0) * exp(-b(1) * x) + b(2) * exp(-square((x - b(3)) / b(4))) +
           b(5) * exp(-square((x - b(6)) / b(7)));
  };
  static const Model cubics = [](const Real& x, const Real& b) {
    return (b(0) + x * (b(1) + x * (b(2) + x * b(3)))) / (1. + x * (b(4) + x * (b(5) + x * b(6))));
  };
  static const std::map<std::string, Model> all{
      {"Misra1a", growth},
      {"BoxBOD", growth},
      {"Chwirut1", decay},
      {"Chwirut2", decay},
      {"Lanczos1", lanczos},
      {"Lanczos2", lanczos},
      {"Lanczos3", lanczos},
      {"Gauss1", gauss},
      {"Gauss2", gauss},
      {"Gauss3", gauss},
      {"Hahn1", cubics},
      {"Thurber", cubics},
      {"DanWood", [](const Real& x, const Real& b) { return b(0) * power(x, b(1)); }},
      {"Misra1b", [](const Real& x, const Real& b) { return b(0) * (1. - 1. / square(1. + b(1) * x / 2.)); }},
      {"Misra1c", [](const Real& x, const Real& b) { return b(0) * (1. - 1. / sqrt(1. + 2. * b(1) * x)); }},
      {"Misra1d", [](const Real& x, const Real& b) { return b(0) * b(1) * x / (1. + b(1) * x); }},
      {"Kirby2", [](const Real& x,
                    const Real& b) { return (b(0) + x * (b(1) + x * b(2))) / (1. + x * (b(3) + x * b(4))); }},
      {"Nelson", [](const Real& x, const Real& b) { return b(0) - b(1) * x(0) * exp(-b(2) * x(1)); }},
      {"MGH17",
       [](const Real& x, const Real& b) { return b(0) + b(1) * exp(-x * b(3)) + b(2) * exp(-x * b(4)); }},
      {"Roszman1",
       [=](const Real& x, const Real& b) { return b(0) - b(1) * x - arctan(b(2) / (x - b(3))) / pi; }},
      {"ENSO",
       [=](const Real& x, const Real& b) {
         const Real t = 2 * pi * x;
         return b(0) + b(1) * cos(t / 12.) + b(2) * sin(t / 12.) + b(4) * cos(t / b(3)) +
                b(5) * sin(t / b(3)) + b(7) * cos(t / b(6)) + b(8) * sin(t / b(6));
       }},
      {"MGH09",
       [](const Real& x, const Real& b) { return b(0) * (x * (x + b(1))) / (x * (x + b(2)) + b(3)); }},
      {"Rat42", [](const Real& x, const Real& b) { return b(0) / (1. + exp(b(1) - b(2) * x)); }},
      {"MGH10", [](const Real& x, const Real& b) { return b(0) * exp(b(1) / (x + b(2))); }},
      {"Eckerle4",
       [](const Real& x, const Real& b) { return b(0) / b(1) * exp(-0.5 * square((x - b(2)) / b(1))); }},
      {"Rat43",
       [](const Real& x, const Real& b) { return b(0) / power(1. + exp(b(1) - b(2) * x), 1. / b(3)); }},
      {"Bennett5", [](const Real& x, const Real& b) { return b(0) * power(b(1) + x, -1. / b(2)); }},
  };
  return all;
}

struct Digits {
  double parameters = 17, rss = 17;
};
double digits(double got, double want) {
  const double error = std::fabs(got / want - 1);
  return error <= 1 ? std::min(17., -std::log10(error + 1e-17)) : -1;  // (NaN: -1)
}

// The digits that a fit agrees with the certified values to.
Digits fit(const Set& set, int start, const char* method) {
  const Model& model = models().at(set.name);
  const Real y = set.name == "Nelson" ? Real(log(set.y)) : set.y;
  const auto found = nax::optimize::least_squares(
      [&](const Real& b) { return Real(model(set.x, b) - y); }, nax::array(set.start[start]),
      {.method = method, .x_scale = "jac", .ftol = 1e-15, .xtol = 1e-12, .gtol = 0, .max_nfev = 3000});
  Digits least;
  for (std::size_t i = 0; i < set.certified.size(); ++i)
    least.parameters =
        std::min(least.parameters, digits(found.x(static_cast<int>(i)).item(), set.certified[i]));
  least.rss = digits(2 * found.cost, set.rss);
  return least;
}

TEST(Nist, HasAllSets) { EXPECT_EQ(sets().size(), 27u); }

TEST(Nist, LevenbergMarquardtMeetsCertifiedValues) {
  for (const Set& set : sets())
    for (int start : {0, 1}) {
      const Digits got = fit(set, start, "lm");
      EXPECT_GT(got.parameters, 6) << set.name << " from start " << start + 1;
      // (Lanczos1's residuals are rounding errors.)
      EXPECT_GT(got.rss, set.name == "Lanczos1" ? -30 : 8) << set.name << " from start " << start + 1;
    }
}
TEST(Nist, TrustRegionReflectiveMeetsCertifiedValues) {
  for (const Set& set : sets())
    for (int start : {0, 1}) {
      const Digits got = fit(set, start, "trf");
      EXPECT_GT(got.parameters, 6) << set.name << " from start " << start + 1;
    }
}
TEST(Nist, DoglegMeetsCertifiedValuesFromTheNearerStart) {
  for (const Set& set : sets()) {
    const Digits got = fit(set, 1, "dogleg");
    EXPECT_GT(got.parameters, 6) << set.name;
  }
}

TEST(Nist, CurveFitGivesCertifiedDeviations) {
  for (const Set& set : sets()) {
    if (set.name == "Lanczos1") continue;  // exact data
    const Model& model = models().at(set.name);
    const Real y = set.name == "Nelson" ? Real(log(set.y)) : set.y;
    const auto [popt, pcov] = nax::optimize::curve_fit(model, set.x, y, nax::array(set.start[1]),
                                                       {.ftol = 1e-15, .xtol = 1e-12, .gtol = 0});
    for (std::size_t i = 0; i < set.deviation.size(); ++i) {
      const int k = static_cast<int>(i);
      EXPECT_NEAR(std::sqrt(pcov(k, k).item()) / set.deviation[i], 1, 1e-4) << set.name << " b" << i + 1;
    }
  }
}

}  // namespace nist_test
