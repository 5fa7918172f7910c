// Forward mode through functions of custom_vjp is refused wherever they stand: a call that holds one, or
// takes its result, refuses as the function itself does.

#include <gtest/gtest.h>

#include <functional>
#include <nax/nax.hpp>
#include <string>
#include <utility>
#include <vector>

#include "transforms/arrays.hpp"

namespace transforms::no_tangent_test {

namespace optimize = nax::optimize;
namespace integrate = nax::integrate;
using Function = std::function<A(const A&)>;
constexpr const char* refusal =
    "custom_vjp: the function has no forward-mode derivative; define custom_jvp instead";

const auto own =
    custom_vjp([](const A& x) { return sin(x); }, [](const A& x) { return std::pair(sin(x), x); },
               [](const A& x, const A& g) { return std::tuple(g * cos(x)); });
const auto as_before = custom_jvp([](const A& x) { return A(2. * x); },
                                  [](const std::tuple<A>& x, const std::tuple<A>& t) {
                                    return std::pair(A(2. * std::get<0>(x)), A(2. * std::get<0>(t)));
                                  });
const auto doubled =
    custom_vjp([](const A& x) { return A(2. * x); }, [](const A& x) { return std::pair(A(2. * x), x); },
               [](const A&, const A& g) { return std::tuple(A(2. * g)); });

// Functions of sums over own(x), each by another call.
std::vector<std::pair<const char*, Function>> programs() {
  const auto rows = [](const A& x) { return A(stack({x, A(2. * x)})); };
  return {
      {"scan, the function",
       [=](const A& x) {
         return A(lax::scan(
                      [](const A& h, const A& r) {
                        return std::pair{A(own(h) + r), h};
                      },
                      x, rows(x))
                      .first);
       }},
      {"scan, xs",
       [=](const A& x) {
         return A(lax::scan(
                      [](const A& h, const A& r) {
                        return std::pair{A(h + r), h};
                      },
                      zeros_like(x), rows(own(x)))
                      .first);
       }},
      {"scan, ys",
       [=](const A& x) {
         return A(sum(lax::scan(
                          [](const A& h, const A& r) {
                            return std::pair{A(h * r), A(own(h))};
                          },
                          x, rows(x))
                          .second));
       }},
      {"scan, carry",
       [=](const A& x) {
         return A(lax::scan(
                      [](const A& h, const A& r) {
                        return std::pair{A(h * r), h};
                      },
                      A(own(x)), rows(ones_like(x)))
                      .first);
       }},
      {"fori_loop",
       [](const A& x) {
         return A(lax::fori_loop(
             0, 3, [](auto, const A& h) { return A(own(h)); }, x));
       }},
      {"fori_loop, carry",
       [](const A& x) {
         return A(lax::fori_loop(
             0, 3, [](auto, const A& h) { return A(2. * h); }, A(own(x))));
       }},
      {"while_loop",
       [](const A& x) {
         return A(lax::while_loop([](const A& h) { return all(h < 5.); },
                                  [](const A& h) { return A(own(h) + 1.5 * h); }, x));
       }},
      {"map", [=](const A& x) { return A(lax::map([](const A& r) { return A(own(r)); }, rows(x))); }},
      {"map, xs",
       [=](const A& x) { return A(lax::map([](const A& r) { return A(2. * r); }, rows(own(x)))); }},
      {"cond",
       [](const A& x) {
         return A(lax::cond(
             all(x < 5.), [](const A& h) { return A(own(h)); }, [](const A& h) { return A(h + 0.); }, x));
       }},
      {"checkpoint", [](const A& x) { return A(checkpoint([](const A& h) { return A(2. * own(h)); })(x)); }},
      {"checkpoint, argument",
       [](const A& x) { return A(checkpoint([](const A& h) { return A(2. * h); })(A(own(x)))); }},
      {"custom_jvp", [](const A& x) { return A(as_before(A(own(x)))); }},
      {"custom_vjp", [](const A& x) { return A(doubled(A(own(x)))); }},
      {"custom_root",
       [](const A& x) {
         const A shift = own(x);
         return A(lax::custom_root([=](const A& y) { return A(y - shift); }, zeros_like(x),
                                   [=](const auto&, const A& y) { return A(y + stop_gradient(shift)); },
                                   [](const auto& g, const A& y) { return A(y / g(ones_like(y))); }));
       }},
      {"custom_linear_solve",
       [](const A& x) {
         return A(lax::custom_linear_solve([](const A& y) { return A(2. * y); }, A(own(x)),
                                           [](const auto&, const A& b) { return A(b / 2.); },
                                           {.symmetric = true}));
       }},
      {"root, args",
       [](const A& x) {
         return A(optimize::root([](const A& y, const A& p) { return A(y * y * y - p); }, A{1, 1},
                                 {.args = A(own(x))})
                      .x);
       }},
      {"split", [](const A& x) { return A(split(A(own(x)), 2)[1] * 2.); }},
      {"pmap, argument",
       [](const A& x) {
         return A(pmap([](const A& h) { return A(2. * h); })(A(own(x).reshape({1, 2}))));
       }},
      {"solve_ivp, checkpoint",
       [](const A& x) {
         return A(
             integrate::solve_ivp([](double, const A& y) -> A { return -y; }, {0, 1}, A(own(x)),
                                  {.rtol = 1e-10, .atol = 1e-12, .t_eval = {1}, .gradient = "checkpoint"})
                 .y);
       }},
  };
}

TEST(NoTangent, CallsRefuseWhatTheFunctionItselfRefuses) {
  const A x{.7, .9}, t{1, 1};
  EXPECT_EQ(text_of<TypeError>([&] { jvp(own, std::tuple{x}, std::tuple{t}); }), refusal);
  for (const auto& [name, f] : programs()) {
    const auto total = [&f = f](const A& at) { return A(sum(f(at))); };
    EXPECT_EQ(text_of<TypeError>([&] { jvp(total, std::tuple{x}, std::tuple{t}); }), refusal) << name;
    EXPECT_EQ(text_of<TypeError>([&] { jacfwd(total)(x); }), refusal) << name;
    EXPECT_EQ(text_of<TypeError>([&] { linearize(total, x).second(t); }), refusal) << name;
    EXPECT_EQ(text_of<TypeError>([&] { jit([&](const A& at) { return A(jacfwd(total)(at)); })(x); }), refusal)
        << name;
    // The gradient, and tangents that do not come by the function.
    const double h = 1e-6, slope = (total(A{.7 + h, .9}).item() - total(A{.7 - h, .9}).item()) / (2 * h);
    EXPECT_NEAR(A(grad(total)(x))(0).item(), slope, 1e-7) << name;
    const auto beside = [&](const A& at) { return A(sum(at * total(x))); };
    EXPECT_NEAR(jvp(beside, std::tuple{x}, std::tuple{t}).second.item(), 2 * total(x).item(), 1e-12) << name;
  }
}

// Where a device refuses, the error says which.
TEST(NoTangent, PmapRefusesByDevice) {
  const auto f = [](const A& x) {
    return A(pmap([](const A& h) { return A(own(h)); })(A(x.reshape({1, 2}))));
  };
  const std::string text = text_of<DeviceError>([&] { jvp(f, std::tuple{A{.7, .9}}, std::tuple{A{1, 1}}); });
  EXPECT_NE(text.find(refusal), std::string::npos) << text;
}

// A linearised function is swept several times: what it refused once it may serve later.
TEST(NoTangent, CallsThatDoNotDependOnTheFunctionKeepTheirTangents) {
  const auto f = [](const A& x) {
    const A y = checkpoint([](const A& h) { return A(3. * h); })(x);
    const A z = checkpoint([](const A& h) { return A(own(h)); })(x);
    return A(sum(y) + sum(stop_gradient(z)));
  };
  EXPECT_EQ(jvp(f, std::tuple{A{1, 2}}, std::tuple{A{1, 1}}).second.item(), 6);
}

}  // namespace transforms::no_tangent_test
