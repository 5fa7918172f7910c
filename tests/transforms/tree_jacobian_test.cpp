// Jacobians and Hessians of functions between trees: trees of trees. Each block is compared with the Jacobian
// of the function of that one array.

#include <map>
#include <optional>

#include "nax/nax.hpp"
#include "transforms/arrays.hpp"

namespace tree_jacobian {
using namespace nax;
using D = Array<double>;

struct Layer {
  D w, b;
};
using Net = std::vector<Layer>;
struct Result {
  D y;
  std::vector<D> parts;
  Array<int> count;
  double scale = 2;
};

Net net() { return {{{{0.5, -1}, {2, 0.25}}, {0.1, 0.2}}, {{{1.5}, {-0.5}}, {0.3}}}; }
const D x = {1, 2};

D predict(const Net& n) { return matmul(tanh(matmul(x, n[0].w) + n[0].b), n[1].w) + n[1].b; }
D loss(const Net& n) { return sum(predict(n) * predict(n)); }
Result both(const Net& n) { return {predict(n), {n[0].w * n[0].b, sum(n[1].w)}, Array<int>{1, 2}, 3}; }

// One of the four arrays of a net.
D& array_of(Net& n, int which) {
  Layer& layer = n[static_cast<std::size_t>(which / 2)];
  return which % 2 == 0 ? layer.w : layer.b;
}
template <class F>
auto of_array(const F& f, int which) {
  return [=](const D& v) {
    Net n = net();
    array_of(n, which) = v;
    return f(n);
  };
}
D at(int which) {
  Net n = net();
  return array_of(n, which);
}

bool same(const D& a, const D& b) { return a.shape() == b.shape() && allclose(a, b).item(); }

// A net of blocks against jacobians with regard to each of its arrays.
template <class F>
void expect_blocks(Net blocks, const F& f) {
  ASSERT_EQ(blocks.size(), 2u);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(same(array_of(blocks, i), jacrev(of_array(f, i))(at(i)))) << i;
}

template <class J>
void expect_both(const J& jacobian) {
  const auto [y, parts, count, scale] = jacobian(both)(net());
  expect_blocks(y, predict);
  expect_blocks(parts.at(0), [](const Net& n) { return n[0].w * n[0].b; });
  expect_blocks(parts.at(1), [](const Net& n) { return sum(n[1].w); });
  EXPECT_EQ(count[1].w.shape(), (Shape{2, 2, 1}));
  EXPECT_EQ(sum(abs(count[0].w)).item(), 0);
  EXPECT_TRUE(same(scale[0].w, zeros<double>({2, 2})));
}

TEST(TreeJacobian, StructsAndVectorsGiveTreesOfTrees) {
  expect_both([](auto f) { return jacrev(f); });
  expect_both([](auto f) { return jacfwd(f); });
  expect_both([](auto f) { return jacobian(f); });
}

TEST(TreeJacobian, HessianOfANet) {
  const std::vector<std::tuple<Net, Net>> h = hessian(loss)(net());
  const auto forward = jacfwd(jacrev(loss))(net());
  for (int i = 0; i < 4; ++i) {
    // d loss / d array i, as a function of the whole net
    const auto slope = [=](const Net& n) {
      Net g = grad(loss)(n);
      return array_of(g, i);
    };
    const auto layer = static_cast<std::size_t>(i / 2);
    expect_blocks(i % 2 == 0 ? std::get<0>(h[layer]) : std::get<1>(h[layer]), slope);
    expect_blocks(i % 2 == 0 ? std::get<0>(forward[layer]) : std::get<1>(forward[layer]), slope);
  }
}

TEST(TreeJacobian, HessianOfAStruct) {
  const auto f = [](const Layer& l) { return sum(l.w * l.w * l.b); };
  const auto [w, b] = hessian(f)(Layer{{1, 2}, {3, 4}});
  EXPECT_TRUE(same(w.w, D{{6, 0}, {0, 8}}));
  EXPECT_TRUE(same(w.b, D{{2, 0}, {0, 4}}));
  EXPECT_TRUE(same(b.w, D{{2, 0}, {0, 4}}));
  EXPECT_TRUE(same(b.b, zeros<double>({2, 2})));
  const auto batched = vmap(hessian(f))(Layer{{{1, 2}, {5, 6}}, {{3, 4}, {7, 8}}});
  EXPECT_TRUE(same(std::get<0>(batched).w, D{{{6, 0}, {0, 8}}, {{14, 0}, {0, 16}}}));
}

TEST(TreeJacobian, MapsOptionalsAndArraysOfArrays) {
  using Named = std::map<std::string, D>;
  const auto f = [](const Named& m) {
    return std::pair{Named{{"sum", m.at("a") + sum(m.at("b"))}},
                     std::array<std::optional<D>, 2>{std::optional<D>(m.at("a") * m.at("a")), std::nullopt}};
  };
  const Named m = {{"a", {1, 2}}, {"b", {3, 4, 5}}};
  const auto check = [](const auto& j) {
    EXPECT_TRUE(same(j.first.at("sum").at("a"), eye<double>(2)));
    EXPECT_TRUE(same(j.first.at("sum").at("b"), ones<double>({2, 3})));
    EXPECT_TRUE(same(j.second[0]->at("a"), D{{2, 0}, {0, 4}}));
    EXPECT_FALSE(j.second[1].has_value());
  };
  check(jacrev(f)(m));
  check(jacfwd(f)(m));
}

TEST(TreeJacobian, MixedElementsAndStaticParts) {
  struct Mixed {
    Array<float> w;
    Array<int> n;
    D d;
    float rate = 0;
  };
  const Mixed m{{1, 2}, {3}, {4, 5}, 0.5f};
  const auto f = [](const Mixed& p) { return p.d * p.w * p.rate; };
  const auto check = [](const Mixed& j) {
    EXPECT_EQ(j.w.to_vector(), (std::vector<float>{2, 0, 0, 2.5f}));
    EXPECT_EQ(j.n.shape(), (Shape{2, 1}));
    EXPECT_TRUE(same(j.d, D{{0.5, 0}, {0, 1}}));
    EXPECT_EQ(j.rate, 0);
  };
  check(jacrev(f)(m));
  check(jacfwd(f)(m));
}

}  // namespace tree_jacobian
