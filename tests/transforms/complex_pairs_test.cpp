#include <gtest/gtest.h>

#include <functional>
#include <nax/nax.hpp>

// Forward mode of fused complex expressions, whose differential is a dz + b conj(dz): pairs of complex
// operations, outer(inner(z, w), z), each pair one expression. One of both has a differential of each kind (a
// or b zero, a real value, two operands), the other is any operation. Against differences along 1 and i, and
// against reverse mode.
namespace transforms::complex_pairs {

using nax::Array;
using Z = std::complex<double>;
using Complex = Array<Z>;
using Real = Array<double>;
using Function = std::function<Complex(const Complex&, const Complex&)>;

// `of(e, z)` is an expression of e, and of z where the operation takes two.
template <class Of>
struct Operation {
  const char* name;
  Of of;
};
template <class Of>
Operation(const char*, Of) -> Operation<Of>;

#define NAX_OF_ONE(f)                                        \
  Operation {                                                \
#f, [](const auto& e, const auto&) { return nax::f(e); } \
  }
#define NAX_OF_TWO(f)                                  \
  Operation {                                          \
#f, [](const auto& e, const auto& z) { return f; } \
  }

const auto kinds = std::tuple{NAX_OF_ONE(conjugate), NAX_OF_ONE(real),  NAX_OF_ONE(abs),
                              NAX_OF_TWO(e* z),      NAX_OF_TWO(z / e), NAX_OF_TWO(nax::power(e, z)),
                              NAX_OF_ONE(exp)};
const auto others = std::tuple{NAX_OF_ONE(imag),
                               NAX_OF_ONE(angle),
                               NAX_OF_ONE(negative),
                               NAX_OF_ONE(square),
                               NAX_OF_ONE(reciprocal),
                               NAX_OF_ONE(nan_to_num),
                               NAX_OF_ONE(sign),
                               NAX_OF_TWO(e + z),
                               NAX_OF_TWO(e - z),
                               NAX_OF_TWO(z - e),
                               NAX_OF_TWO(e / z),
                               NAX_OF_TWO(nax::power(z, e)),
                               NAX_OF_TWO(nax::where(nax::abs(e) > .8, e, z)),
                               NAX_OF_ONE(expm1),
                               NAX_OF_ONE(log),
                               NAX_OF_ONE(log1p),
                               NAX_OF_ONE(log2),
                               NAX_OF_ONE(log10),
                               NAX_OF_ONE(sqrt),
                               NAX_OF_ONE(sin),
                               NAX_OF_ONE(cos),
                               NAX_OF_ONE(tan),
                               NAX_OF_ONE(arcsin),
                               NAX_OF_ONE(arccos),
                               NAX_OF_ONE(arctan),
                               NAX_OF_ONE(sinh),
                               NAX_OF_ONE(cosh),
                               NAX_OF_ONE(tanh),
                               NAX_OF_ONE(arcsinh),
                               NAX_OF_ONE(arccosh),
                               NAX_OF_ONE(arctanh)};
#undef NAX_OF_ONE
#undef NAX_OF_TWO

// A fused expression's value, complex whatever its type is. The conversion is an operation of its own.
template <nax::Expression E>
Complex computed(const E& e) {
  const auto y = nax::detail::evaluate(e);
  if constexpr (nax::is_complex_v<typename E::value_type>)
    return y;
  else
    return y.template astype<Z>();
}

struct Pair {
  std::string name;
  bool differentiable;
  Function f;
};
std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  const auto pair = [&](const auto& outer, const auto& inner) {
    const bool smooth = std::string(outer.name) != "sign" && std::string(inner.name) != "sign";
    pairs.push_back({std::string(outer.name) + ", e = " + inner.name, smooth,
                     [outer, inner](const Complex& z, const Complex& w) {
                       return computed(outer.of(inner.of(z, w), z));
                     }});
  };
  const auto each = [](const auto& operations, const auto& f) {
    std::apply([&](const auto&... one) { (f(one), ...); }, operations);
  };
  each(kinds, [&](const auto& kind) {
    each(kinds, [&](const auto& inner) { pair(kind, inner); });
    each(others, [&](const auto& one) { pair(kind, one), pair(one, kind); });
  });
  return pairs;
}
const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = all_pairs();
  return all;
}

const Complex z0 = {Z(.3, .6), Z(-.7, .4), Z(1.3, -.5)}, w0 = {Z(-.4, .25), Z(.5, .9), Z(-1.1, .3)};

Complex jvp_of(const Function& f, const Complex& dz, const Complex& dw) {
  return nax::jvp(f, std::tuple{z0, w0}, std::tuple{dz, dw}).second;
}
Complex directions(Z d) { return nax::full_like(z0, d); }

// Elements at which a function has no value, or too close to a kink, are passed over: the differences there
// with another step do not agree. Returns how many were compared.
int compare(const std::string& name, const Complex& got, const std::function<Complex(double)>& at) {
  const Complex fine = (at(1e-5) - at(-1e-5)) / 2e-5, coarse = (at(2e-5) - at(-2e-5)) / 4e-5;
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    const Z want = fine(i).item(), is = got(i).item();
    if (!(std::abs(want - coarse(i).item()) < 1e-6 * (1 + std::abs(want)))) continue;
    ++count;
    EXPECT_LT(std::abs(is - want), 1e-6 * (1 + std::abs(want))) << name << ": " << is << ", not " << want;
  }
  return count;
}

void expect_near(const std::string& name, const Real& got, const Real& want) {
  for (int i = 0; i < 3; ++i) {
    const double w = want(i).item();
    if (std::isfinite(w)) {
      EXPECT_NEAR(got(i).item(), w, 1e-9 * (1 + std::abs(w))) << name;
    }
  }
}

TEST(ComplexPairs, JvpAgreesWithDifferences) {
  const Complex none = directions(0);
  int count = 0, all = 0;
  for (const auto& [name, differentiable, pair] : pairs()) {
    if (!differentiable) continue;
    const auto& f = pair;  // lambdas of clang 14 hold no structured bindings
    for (const Z d : {Z(1), Z(0, 1)}) {
      count += compare(name + " along z", jvp_of(f, directions(d), none),
                       [&](double h) { return f(z0 + h * d, w0); });
      count += compare(name + " along w", jvp_of(f, none, directions(d)),
                       [&](double h) { return f(z0, w0 + h * d); });
      all += 6;
    }
  }
  EXPECT_GT(count, all * 9 / 10);
}

// <g, J t> = <J^T g, t>, the product of complex numbers being the real part of theirs.
TEST(ComplexPairs, JvpIsTheTransposeOfVjp) {
  const Complex dz = {Z(1, 2), Z(.5, -1), Z(-1, .3)}, dw = {Z(.2, -.7), Z(2, 1), Z(0, 1)},
                g = {Z(1, -1), Z(.3, 2), Z(-2, .1)};
  for (const auto& [name, differentiable, f] : pairs()) {
    const auto [of_z, of_w] = nax::vjp(f, z0, w0).second(g);
    const Real back = nax::real(of_z * dz + of_w * dw), on = nax::real(g * jvp_of(f, dz, dw));
    expect_near(name, on, back);
  }
}

// Everything that pushes: linearize, vmap over points and over directions, jacfwd.
TEST(ComplexPairs, AllForwardTransformsAgree) {
  const Complex d = {Z(1, 2), Z(.5, -1), Z(-1, .3)}, none = directions(0);
  for (const auto& [name, differentiable, f] : pairs()) {
    const auto same = [&name = name](const Complex& got, const Complex& want, const char* what) {
      EXPECT_TRUE(nax::all(nax::isclose(got, want, {.rtol = 1e-12, .atol = 1e-12, .equal_nan = true})).item())
          << name << " by " << what << ": " << got << ", not " << want;
    };
    const auto of_z = [f = f](const Complex& z) { return f(z, w0); };
    const auto push = [&](const Complex& z, const Complex& t) {
      return nax::jvp(of_z, std::tuple{z}, std::tuple{t}).second;
    };
    const Complex want = push(z0, d);
    same(nax::linearize(of_z, z0).second(d), want, "linearize");
    const auto point = [f = f](const Complex& z, const Complex& w, const Complex& t) {
      return nax::jvp([&](const Complex& z) { return f(z, w); }, std::tuple{z}, std::tuple{t}).second;
    };
    same(nax::vmap(point)(z0, w0, d), want, "vmap");
    const auto along = [&](const Complex& t) { return push(z0, t); };
    same(nax::vmap(along)(nax::stack({d, Complex(d * 2)}))(0), want, "vmap over tangents");
  }
}

// Second derivatives of real functions, forward over reverse.
TEST(ComplexPairs, HessiansAgreeWithDifferences) {
  int count = 0, all = 0;
  for (const auto& [name, differentiable, f] : pairs()) {
    if (!differentiable) continue;
    // Of x along 1 + i: parts of z that move together.
    const auto value = [f = f](const Real& x) {
      return nax::sum(nax::imag(f(z0 + x * Z(1, 1), w0 - x * Z(.5, 1))));
    };
    const auto slope = nax::grad(value);
    const Real x0 = {0, 0, 0};
    const Real forward = nax::jvp(slope, std::tuple{x0}, std::tuple{nax::ones_like(x0)}).second;
    const auto at = [&](double h) { return Complex(slope(x0 + h).astype<Z>()); };
    count += compare("hessian of " + name, forward.astype<Z>(), at);
    all += 3;
    const Real diagonal = nax::diag(Real(nax::hessian(value)(x0)));
    expect_near("hessian of " + name, diagonal, forward);
  }
  EXPECT_GT(count, all * 8 / 10);
}

}  // namespace transforms::complex_pairs
