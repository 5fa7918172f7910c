#include "faults/every_allocation.hpp"

namespace transforms_test {

using namespace faults;
using F = Array<float>;

const F w = {{.1f, .2f, .3f}, {.4f, .5f, .6f}};
const F b = {.1f, -.2f, .3f};
const F xs = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};

auto loss = [](const F& w, const F& b, const F& x) { return mean(square(tanh(matmul(x, w) + b) * 2.f + b)); };
auto single = [](const F& x) { return sum(sin(x) * exp(x) / (1.f + x * x)); };

TEST(Faults, Expression) {
  fail_each_allocation([] { return found(F(exp(w) * b + w / (1.f + w)), F(sum(w * b, {.axis = 0}))); });
}
TEST(Faults, Grad) {
  fail_each_allocation([] {
    const auto [dw, db] = grad<0, 1>(loss)(w, b, xs);
    return found(dw, db);
  });
}
TEST(Faults, GradOfStepsThatAreKept) {
  fail_each_allocation([] {
    return found(grad([](const F& x) {
      F y = x;
      for (int i = 0; i < 50; ++i) y = sin(y) + y * x;
      return F(sum(y));
    })(b));
  });
}
TEST(Faults, GradOfScalars) {
  fail_each_allocation([] {
    return found(grad([](const F& x) {
      F y = x;
      for (int i = 0; i < 100; ++i) y = y * .5f + sin(x);
      return y;
    })(F(.5f)));
  });
}
TEST(Faults, GradOfGrad) {
  fail_each_allocation([] { return found(grad([](const F& x) { return F(sum(grad(single)(x) * x)); })(b)); });
}
TEST(Faults, ManyAxes) {
  fail_each_allocation([] {
    const F x = reshape(arange(64.f), {2, 2, 1, 2, 2, 1, 2, 2});
    return found(grad([](const F& x) {
      F y = transpose(x, {7, 6, 5, 4, 3, 2, 1, 0});
      y = y * y;
      return F(sum(exp(y * .001f) * transpose(x)));
    })(x));
  });
}
TEST(Faults, Vmap) {
  fail_each_allocation([] {
    return found(vmap([](const F& x) { return matmul(x, w) + b; })(xs), vmap(grad(single))(xs),
                 vmap([](const F& x) { return vmap([&](const F& y) { return x * y; })(b); })(xs));
  });
}
TEST(Faults, Hessian) {
  fail_each_allocation([] { return found(hessian(single)(b)); });
}
TEST(Faults, Jacobians) {
  fail_each_allocation([] {
    auto f = [](const F& x) { return sin(x) * sum(x); };
    return found(jacfwd(f)(b), jacrev(f)(b), jvp(f, std::tuple{b}, std::tuple{b}).second);
  });
}
TEST(Faults, Checkpoint) {
  fail_each_allocation([] {
    return found(grad([](const F& w) {
      return F(sum(checkpoint([w](const F& x) { return tanh(matmul(x, w)); })(xs)));
    })(w));
  });
}
TEST(Faults, CustomRules) {
  fail_each_allocation([] {
    auto clip = custom_vjp([](const F& x) { return x; },
                           [](const F& x) {
                             return std::pair{x, std::tuple{}};
                           },
                           [](const std::tuple<>&, const F& g) { return std::tuple{minimum(g, 1.f)}; });
    return found(grad([&](const F& x) { return F(sum(clip(x) * x)); })(b));
  });
}
TEST(Faults, Pullback) {
  fail_each_allocation([] {
    auto [y, pullback] = vjp([](const F& x) { return sin(x) * x; }, b);
    const auto [first] = pullback(y);
    const auto [second] = pullback(first);
    return found(first, second);
  });
}
TEST(Faults, CollectivesOfVmap) {
  fail_each_allocation([] {
    auto f = [](const F& x) {
      return std::tuple{psum(x, "i"), all_gather(x, "i"), ppermute(x, "i", {{0, 1}, {1, 0}}), pmax(x, "i")};
    };
    const auto [a, c, d, e] = vmap(f, {.axis_name = "i"})(xs);
    return found(a, c, d, e);
  });
}
TEST(Faults, OptimiserStep) {
  fail_each_allocation([] {
    const auto opt = optim::adam(1e-2);
    F p = w;
    auto state = opt.init(p);
    for (int i = 0; i < 2; ++i) {
      const F g = grad(loss)(p, b, xs);
      std::tie(p, state) = optim::step(opt, g, std::move(state), std::move(p));
    }
    return found(p);
  });
}
TEST(Faults, MemoryOfTransforms) {
  const F x = broadcast_to(F{.5f, .25f}, {300, 2});
  fail_each_step_of_memory([&] {
    const auto [dw, db] = grad<0, 1>(loss)(w, b, x);
    return found(dw, db, F(sum(vmap(grad(single))(x))),
                 F(sum(hessian(single)(reshape(x, {-1})(slice(0, 40))))));
  });
}

}  // namespace transforms_test
