#include "nax/transform/jit.hpp"
#include "transforms/arrays.hpp"

// Forms of grad and value_and_grad: the arguments and results they accept.
namespace transforms::grad_test {

A cube(const A& x) { return sum(x * x * x); }

TEST(Grad, OfAnArray) { EXPECT_TRUE(matches(grad(cube)(A{1, 2, 3}), A{3, 12, 27})); }

TEST(Grad, ValueAndGrad) {
  const auto [value, g] = value_and_grad(cube)(A{1, 2, 3});
  EXPECT_TRUE(matches(value, A(36.0)));
  EXPECT_TRUE(matches(g, A{3, 12, 27}));
}

TEST(Grad, NumbersBecomeArrays) {
  const Array<float> g = grad([](const Array<float>& x) { return x * x; })(0.75f);
  EXPECT_EQ(g.ndim(), 0);
  EXPECT_EQ(g.item(), 1.5f);
  EXPECT_EQ(grad([](const Array<float>& x) { return x * x; })(0.75).item(), 1.5f);
  const auto both = grad<0, 1>([](const auto& x, const auto& y) { return x * x * y; })(3.f, 4);
  EXPECT_EQ(std::get<0>(both).item(), 24.f);
  static_assert(std::is_same_v<decltype(std::get<1>(both)), const Array<int>&>);
  EXPECT_EQ(std::get<1>(both).item(), 0);  // a number of an integer type is a constant
}

TEST(Grad, OfOnePairOrTuple) {
  const auto of_pair = grad([](const std::pair<A, A>& p) { return sum(p.first * p.second * p.second); })(
      std::pair{A{1, 2}, A{3, 4}});
  static_assert(std::is_same_v<decltype(of_pair), const std::pair<A, A>>);
  EXPECT_TRUE(matches(of_pair.first, A{9, 16}));
  EXPECT_TRUE(matches(of_pair.second, A{6, 16}));
  using One = std::tuple<A>;
  const auto of_one = grad([](const One& t) { return cube(std::get<0>(t)); })(One(A{1, 2}));
  static_assert(std::is_same_v<decltype(of_one), const One>);
  EXPECT_TRUE(matches(std::get<0>(of_one), A{3, 12}));
  // The function's results keep their form, too.
  const auto nested = vmap([](const A& x) { return std::make_tuple(std::pair{x, x * 2}); })(A{1, 2});
  static_assert(std::is_same_v<decltype(nested), const std::tuple<std::pair<A, A>>>);
  EXPECT_TRUE(matches(std::get<0>(nested).second, A{2, 4}));
  const auto aux =
      grad([](const A& x) { return std::pair(sum(x), std::make_tuple(One(x))); })(A{1, 2}).second;
  static_assert(std::is_same_v<decltype(aux), const std::tuple<One>>);
}

TEST(Grad, Argnums) {
  auto f = [](const A& x, const A& y, const A& z) { return sum(x * y * y + z); };
  const A x = {1, 2}, y = {3, 4}, z = {5, 6};
  EXPECT_TRUE(matches(grad<1>(f)(x, y, z), A{6, 16}));
  EXPECT_TRUE(matches(grad<-1>(f)(x, y, z), A{1, 1}));
  const auto [gz, gx] = grad<2, 0>(f)(x, y, z);
  EXPECT_TRUE(matches(gz, A{1, 1}));
  EXPECT_TRUE(matches(gx, A{9, 16}));
  const auto [value, g] = value_and_grad<0, 1>(f)(x, y, z);
  EXPECT_TRUE(matches(value, A(52.0)));
  EXPECT_TRUE(matches(std::get<0>(g), A{9, 16}));
  EXPECT_TRUE(matches(std::get<1>(g), A{6, 16}));
}

TEST(Grad, SameArrayTwice) {
  const A x = {1, 2};
  const auto [a, b] = grad<0, 1>([](const A& a, const A& b) { return sum(a * b * b); })(x, x);
  EXPECT_TRUE(matches(a, A{1, 4}));
  EXPECT_TRUE(matches(b, A{2, 8}));
}

TEST(Grad, UnusedArgumentHasZeros) {
  EXPECT_TRUE(
      matches(grad<1>([](const A& x, const A&) { return sum(x); })(A{1, 2}, A{{3}, {4}}), A{{0}, {0}}));
  EXPECT_TRUE(matches(grad([](const A&) { return A(1.0); })(A{1, 2}), A{0, 0}));
}

TEST(Grad, Aux) {
  auto f = [](const A& x) { return std::pair(sum(x * x), x + 1); };  // both are expressions or arrays
  const auto [g, aux] = grad(f)(A{1, 2});
  EXPECT_TRUE(matches(g, A{2, 4}));
  EXPECT_TRUE(matches(aux, A{2, 3}));
  const auto [out, g2] = value_and_grad(f)(A{1, 2});
  EXPECT_TRUE(matches(out.first, A(5.0)));
  EXPECT_TRUE(matches(out.second, A{2, 3}));
  EXPECT_TRUE(matches(g2, A{2, 4}));
}

TEST(Grad, AuxUnderJitAndVmap) {
  auto f = [](const A& x) { return std::pair(sum(x * x), x + 1); };
  const A x = {1, 2}, xs = {{1, 2}, {3, 4}};
  const auto [g, aux] = jit(grad(f))(x);
  EXPECT_TRUE(matches(g, A{2, 4}));
  EXPECT_TRUE(matches(aux, A{2, 3}));
  const auto [out, g2] = jit(value_and_grad(f))(x);
  EXPECT_TRUE(matches(out.first, A(5.0)));
  EXPECT_TRUE(matches(out.second, A{2, 3}));
  EXPECT_TRUE(matches(g2, A{2, 4}));
  const auto [gs, auxes] = vmap(grad(f))(xs);
  EXPECT_TRUE(matches(gs, A(2 * xs)));
  EXPECT_TRUE(matches(auxes, A(xs + 1)));
  const auto [outs, gs2] = jit(vmap(value_and_grad(f)))(xs);
  EXPECT_TRUE(matches(outs.first, A{5, 25}));
  EXPECT_TRUE(matches(outs.second, A(xs + 1)));
  EXPECT_TRUE(matches(gs2, A(2 * xs)));
  // Of a derivative's aux a derivative.
  const auto [h, inner] = grad([&](const A& y) {
    const auto [g, aux] = grad(f)(y);
    return std::pair(A(sum(g * aux)), aux);
  })(x);
  EXPECT_TRUE(matches(h, A{6, 10}));
  EXPECT_TRUE(matches(inner, A{2, 3}));
}

TEST(Grad, AuxIsAnyTree) {
  struct Stats {
    A hidden;
    int steps;
  };
  auto f = [](const A& x) { return std::pair(sum(x * x), std::tuple(Stats{x * 2, 7}, std::vector<A>{x})); };
  const auto [g, aux] = grad(f)(A{1, 2});
  EXPECT_TRUE(matches(g, A{2, 4}));
  EXPECT_TRUE(matches(std::get<0>(aux).hidden, A{2, 4}));
  EXPECT_TRUE(matches(std::get<1>(aux)[0], A{1, 2}));
}

TEST(Grad, ExpressionsAreArrays) {
  EXPECT_TRUE(matches(grad([](const A& x) { return x * x * 3; })(A(2.0)), A(12.0)));
  const auto [y, rest] =
      value_and_grad([](const A& x) { return std::pair(sin(x), std::tuple(x * 2, x)); })(A(0.0)).first;
  EXPECT_TRUE(matches(y, A(0.0)));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(std::get<0>(rest))>, A>);
}

struct Layer {
  A w, b;
};
struct Model {
  std::vector<Layer> layers;
  Array<int> step;
  std::pair<A, std::map<std::string, A>> rest;
  float rate = 0.5f;  // static: carried along
  int depth = 3;
};

TEST(Grad, Trees) {
  const Model model = {
      {{A{1, 2}, A{3}}, {A{4, 5}, A{6}}}, Array<int>(9), {A(2.0), {{"a", A{7}}, {"b", A{8}}}}, 0.5f, 2};
  auto loss = [](const Model& m) {
    A total = A(0.0);
    for (const Layer& layer : m.layers) total = total + sum(layer.w * layer.w) + sum(layer.b);
    return (total * m.rest.first + sum(m.rest.second.at("b"))) * static_cast<double>(m.rate) * m.depth;
  };
  const auto [value, g] = value_and_grad(loss)(model);
  EXPECT_TRUE(matches(value, A(118.0)));
  EXPECT_TRUE(matches(g.layers[1].w, A{16, 20}));
  EXPECT_TRUE(matches(g.layers[0].b, A{2}));
  EXPECT_TRUE(matches(g.rest.first, A(55.0)));
  EXPECT_TRUE(matches(g.rest.second.at("a"), A{0}));
  EXPECT_TRUE(matches(g.rest.second.at("b"), A{1}));
  EXPECT_EQ(g.step.item(), 0);
  EXPECT_EQ(g.rate, 0.f);
  EXPECT_EQ(g.depth, 0);
}

TEST(Grad, IntegerArraysAreConstants) {
  struct Batch {
    A x;
    Array<int> label;
  };
  const auto g = grad([](const Batch& b) { return sum(b.x * b.label); })(Batch{A{1, 2}, Array<int>{3, 4}});
  EXPECT_TRUE(matches(g.x, A{3, 4}));
  EXPECT_EQ(g.label.to_vector(), (std::vector<int>{0, 0}));
}

TEST(Grad, ControlFlowOnValues) {
  auto f = [](const A& x) -> A {
    A y = x;
    while (y.item() < 100) y = y * 2;
    if (y.item() > 120) return y * 3;
    return -y;
  };
  EXPECT_TRUE(matches(grad(f)(A(4.0)), A(96.0)));
  EXPECT_TRUE(matches(grad(f)(A(7.0)), A(-16.0)));
}

TEST(Grad, Refusals) {
  EXPECT_EQ(text_of<ShapeError>([] {
              grad([](const A& x) { return x * 2; })(A{1, 2, 3});
            }),
            "grad: the function must return a scalar, got shape (3,)");
  EXPECT_EQ(text_of<ShapeError>([] {
              value_and_grad([](const A& x) { return x * 2; })(A{{1, 2}});
            }),
            "value_and_grad: the function must return a scalar, got shape (1, 2)");
  EXPECT_EQ(text_of<TypeError>([] {
              grad([](const Array<int>& x) { return sum(x * 1.f); })(Array<int>{1, 2});
            }),
            "grad: the arguments chosen by argnums hold no array of a floating type");
  EXPECT_TRUE(matches(grad(cube)(A{1, 2, 3}), A{3, 12, 27}));
}

// The derivative of a cast uses no operand; none of its bytes are read in the cotangent's place.
TEST(Grad, OfCastsToNarrowerTypes) {
  const Array<float> w = astype<float>(arange<double>(61));
  const auto f = [&](const A& x) {
    const Array<float> y = x.astype<float>();
    const Array<float> z = y * w;
    return A(sum(Array<float>(z * w)).astype<double>());
  };
  EXPECT_TRUE(matches(grad(f)(ones<double>({61})), square(arange<double>(61))));
}

}  // namespace transforms::grad_test
