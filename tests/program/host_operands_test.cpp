#include <gtest/gtest.h>

#include <functional>
#include <nax/nax.hpp>
#include <string>
#include <tuple>
#include <vector>

// Cotangents, tangents and primals of the host that meet recorded arrays: numbers, literals, captured arrays.
namespace host_operands_test {
using namespace nax;
using D = Array<double>;
using Arrays = std::vector<D>;
using Function = std::function<D(const D&)>;
using Program = std::function<Arrays(const D&)>;

Arrays both(const std::pair<D, D>& x) { return {x.first, x.second}; }

void expect_near(const Arrays& a, const Arrays& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].shape(), b[k].shape()) << what;
    const auto x = a[k].to_vector(), y = b[k].to_vector();
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], y[i], 1e-11 * (1 + std::abs(y[i]))) << what << ' ' << k << ' ' << i;
  }
}
// f's own numbers, out of one recording.
void expect_recorded(const Program& f, const D& x, const std::string& what = {}) {
  int calls = 0;
  const auto fast = jit([&](const D& v) { return ++calls, f(v); });
  const D y = x * 1.25 + 0.125;
  for (const D& v : {x, y, x}) expect_near(fast(v), f(v), what);
  EXPECT_EQ(calls, 1) << what;
}

const D x2{1, 2}, c2{0.3, -0.4};

TEST(HostOperands, CotangentsAndTangentsThatAreNumbers) {
  const auto loss = [](const D& x) { return D(sum(sin(x) * x)); };
  const auto map = [](const D& x) { return D(sin(x) * x); };
  expect_recorded([=](const D& x) -> Arrays { return {std::get<0>(vjp(loss, x).second(1.0))}; }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {std::get<0>(vjp(loss, x).second(D(2.0)))}; }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {std::get<0>(vjp(map, x).second(D{2, 3}))}; }, x2);
  expect_recorded([=](const D& x) { return both(jvp(map, std::tuple{x}, std::tuple{1.0})); }, D(3.0));
  expect_recorded([=](const D& x) { return both(jvp(map, std::tuple{x}, std::tuple{D{1, 3}})); }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {linearize(map, x).second(1.0)}; }, D(3.0));
  expect_recorded([=](const D& x) -> Arrays { return {linearize(map, x).second(c2)}; }, x2);
}

TEST(HostOperands, DirectionsOfHessians) {
  const auto loss = [](const D& x) { return D(sum(sin(x) * x)); };
  const auto slope = [=](const D& x) { return grad(loss)(x); };
  expect_recorded([=](const D& x) { return both(jvp(slope, std::tuple{x}, std::tuple{c2})); }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {std::get<0>(vjp(slope, x).second(c2))}; }, x2);
  expect_recorded(
      [=](const D& x) -> Arrays { return {grad([=](const D& v) { return sum(slope(v) * c2); })(x)}; }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {hessian(loss)(x)}; }, x2);
}

TEST(HostOperands, MappedPullbacks) {
  const auto map = [](const D& x) { return D(sin(x) * x); };
  expect_recorded(
      [=](const D& x) -> Arrays {
        const auto pull = vjp(map, x).second;
        return {std::get<0>(vmap([&](const D& g) { return pull(g); })(eye<double>(2)))};
      },
      x2);
  expect_recorded(
      [=](const D& x) -> Arrays {
        const auto push = linearize(map, x).second;
        return {vmap([&](const D& t) { return push(t); })(eye<double>(2))};
      },
      x2);
}

TEST(HostOperands, PrimalsOfTheHost) {
  const auto loss = [](const D& x) { return D(sum(sin(x) * x)); };
  const auto map = [](const D& x) { return D(sin(x) * x); };
  const auto product = [](const D& a, const D& b) { return D(sum(a * sin(b))); };
  const D h{3, 4};
  expect_recorded([=](const D& x) { return both(jvp(map, std::tuple{h}, std::tuple{x})); }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {std::get<0>(vjp(map, h).second(x))}; }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {D(x * grad(loss)(h))}; }, x2);
  const auto near = [=](const D& x) { return [=](const D& y) { return D(sum(sin(y) * x)); }; };
  expect_recorded([=](const D& x) -> Arrays { return {grad(near(x))(h)}; }, x2);
  expect_recorded([=](const D& x) -> Arrays { return {std::get<0>(vjp(near(x), h).second(1.0))}; }, x2);
  expect_recorded([=](const D& x) { return both(jvp(near(x), std::tuple{h}, std::tuple{c2})); }, x2);
  expect_recorded([=](const D& x) { return both(jvp(product, std::tuple{x, h}, std::tuple{c2, c2})); }, x2);
  expect_recorded(
      [=](const D& x) -> Arrays {
        const auto [a, b] = vjp(product, x, h).second(2.0);
        return {a, b};
      },
      x2);
  // Views and copies that are one number everywhere.
  const D wide = reshape(arange<double>(6), {2, 3}), turned = wide.T();
  expect_recorded(
      [=](const D& x) -> Arrays {
        return {std::get<0>(vjp(map, x).second(turned)),
                std::get<0>(vjp(map, x).second(broadcast_to(D(0.5), {3, 2})))};
      },
      D{{1, 2}, {3, 4}, {5, 6}});
}

// All ways of each operation: what of the primal, the cotangent and the tangent is recorded.
TEST(HostOperands, EachOperation) {
  const D y{{.3, 1, -2}, {2, .1, .7}}, h{{1, 2, 3}, {4, 5, 6}};
  const std::vector<std::pair<std::string, Function>> operations = {
      {"map", [](const D& x) { return D(sin(x) * x); }},
      {"sum", [](const D& x) { return sum(x, {.axis = 0}); }},
      {"mean", [](const D& x) { return mean(x); }},
      {"prod", [](const D& x) { return prod(x, {.axis = 1}); }},
      {"max", [](const D& x) { return max(x, {.axis = 1}); }},
      {"sort", [](const D& x) { return sort(x); }},
      {"cumsum", [](const D& x) { return cumsum(x, {.axis = 1}); }},
      {"cumprod", [](const D& x) { return cumprod(x, {.axis = 1}); }},
      {"transpose", [](const D& x) { return D(x.T()); }},
      {"gather",
       [](const D& x) {
         return D(x(Array<int>{1, 0, 1}));
       }},
      {"slice", [](const D& x) { return D(x(0)); }},
      {"concatenate",
       [=](const D& x) {
         return concatenate({x, h});
       }},
      {"stack",
       [=](const D& x) {
         return stack({h, x});
       }},
      {"where", [=](const D& x) { return D(where(x > 0.2, x * x, h * x)); }},
      {"set", [](const D& x) { return D(x.at(0).set(1.)); }},
      {"add", [](const D& x) { return D(x.at(0).add(x(1))); }},
      {"logsumexp", [](const D& x) { return logsumexp(x, {.axis = 1}); }},
      {"std", [](const D& x) { return nax::std(x); }},
      {"matmul", [](const D& x) { return matmul(x, x.T()); }},
      {"matmul with one of the host", [=](const D& x) { return matmul(x, h.T()); }},
      {"einsum", [=](const D& x) { return einsum("ij,kj->ik", x, h); }},
      {"pad", [](const D& x) { return pad(x, 1); }},
      {"power", [](const D& x) { return D(power(abs(x) + 1., 2.5)); }},
      {"maximum", [=](const D& x) { return D(maximum(x, h - 3.)); }},
      {"take",
       [](const D& x) {
         return take(x, Array<int>{4, 2, 2});
       }},
      {"float", [](const D& x) { return D(x.astype<float>().astype<double>() * x); }},
      {"convolve", [=](const D& x) { return convolve(x(0), h(0)); }},
      {"median", [](const D& x) { return median(x); }},
      {"interp",
       [](const D& x) {
         return interp(x, D{-3, 0, 3}, D{1, 2, 5});
       }},
      {"scan", [=](const D& x) {
         return lax::scan(
                    [&](const D& c) {
                      return std::pair{D(sin(c) * x + h), none};
                    },
                    x, none, {.length = 40})
             .first;
       }}};
  for (const auto& [name, f] : operations) {
    const Shape shape = f(y).shape();
    const D g = full<double>(shape, 0.75);
    expect_recorded([&](const D& x) -> Arrays { return {std::get<0>(vjp(f, x).second(g))}; }, y,
                    name + ": vjp");
    expect_recorded([&](const D& x) -> Arrays { return {std::get<0>(vjp(f, h).second(D(f(x) * 0. + .7)))}; },
                    y, name + ": vjp at the host's");
    if (name == "scan") continue;  // tangents of scans are recorded turn by turn, by a second call
    expect_recorded([&](const D& x) { return both(jvp(f, std::tuple{x}, std::tuple{h})); }, y,
                    name + ": jvp");
    expect_recorded([&](const D& x) { return both(jvp(f, std::tuple{h}, std::tuple{x})); }, y,
                    name + ": jvp at the host's");
    const auto slope = [&](const D& x) { return grad([&](const D& v) { return D(sum(sin(f(v)))); })(x); };
    expect_recorded([&](const D& x) { return both(jvp(slope, std::tuple{x}, std::tuple{h})); }, y,
                    name + ": Hessian");
  }
}

TEST(HostOperands, InBodiesOfLoopsAndBranches) {
  const auto slope = [](const D& v) {
    return D(std::get<0>(vjp([](const D& x) { return D(sum(sin(x) * x)); }, v).second(1.0)));
  };
  const auto push = [](const D& v) {
    return jvp([](const D& x) { return D(sin(x) * x); }, std::tuple{v}, std::tuple{c2}).second;
  };
  expect_recorded(
      [=](const D& x) -> Arrays {
        return {lax::scan(
                    [&](const D& c) {
                      return std::pair{D(c - 0.1 * slope(c)), push(c)};
                    },
                    x, none, {.length = 40})
                    .first};
      },
      x2);
  expect_recorded(
      [=](const D& x) -> Arrays {
        return {lax::while_loop([](const D& c) { return sum(c * c) < 100.0; },
                                [=](const D& c) { return D(c * 1.5 + 0.01 * slope(c) + 0.01 * push(c)); },
                                x)};
      },
      x2);
  expect_recorded([=](const D& x) -> Arrays { return {lax::cond(sum(x) > 0.0, slope, push, x)}; }, x2);
  const auto shaped = eval_shape([=](const D& x) { return D(slope(x) + push(x)); }, x2);
  EXPECT_EQ(shaped.shape(), Shape({2}));
}

TEST(HostOperands, RulesOfTheUsersOwn) {
  const auto rule =
      custom_vjp([](const D& x) { return D(sum(x * x)); },
                 [](const D& x) {
                   return std::pair{D(sum(x * x)), D(x)};
                 },
                 [](const D& x, const D&) { return std::tuple{D(full<double>(x.shape(), 3.0))}; });
  expect_recorded([=](const D& x) -> Arrays { return {grad([=](const D& v) { return rule(sin(v)); })(x)}; },
                  x2);
  const auto cube_root = [](const D& a) {
    const auto f = [=](const D& x) { return D(x * x * x - a); };
    const auto solve = [](const auto& g, D x) {
      for (int i = 0; i < 40; ++i) {
        auto [value, slope] = jvp(g, std::tuple{x}, std::tuple{1.0});
        x = x - value / slope;
      }
      return x;
    };
    return lax::custom_root(f, D(1.0), solve, [](const auto& g, const D& y) { return D(y / g(D(1.0))); });
  };
  expect_recorded([=](const D& x) -> Arrays { return {cube_root(x)}; }, D(8.0));
  expect_recorded([=](const D& x) -> Arrays { return {grad(cube_root)(x)}; }, D(8.0));
  expect_recorded([=](const D& x) -> Arrays { return {grad(grad(cube_root))(x)}; }, D(8.0));
}

}  // namespace host_operands_test
