// Trees in parts: partition and combine, parts by selector and path, one vector and back; all under grad.

#include "nax/tree/partition.hpp"

#include <gtest/gtest.h>

#include <string>

#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace partition_test {
using namespace nax;
using F = Array<float>;
using Values = std::vector<float>;

struct Layer {
  F w, b;
};
struct Net {
  std::vector<Layer> layers;
  F head;
  float rate = 2;
  tree::Static<std::string> name = "net";
};
Net net() { return {{{{{1, 2}, {3, 4}}, {5, 6}}, {{{-1, 1}, {2, 0}}, {1, 2}}}, {3, 1}, 2, "net"}; }
F loss(const Net& n, const F& x) {
  F h = x;
  for (const Layer& l : n.layers) h = tanh(matmul(h, l.w) * 0.1f + l.b * 0.1f);
  return sum(h * n.head) * n.rate;
}
const auto in_head = [](const std::string& path, const auto&) { return path == ".head"; };
const F x = {0.5, -1};

TEST(Partition, CombinesToTheTree) {
  const auto [head, others] = tree::partition(net(), in_head);
  static_assert(std::is_same_v<decltype(head), const Net>);
  EXPECT_EQ(head.head.to_vector(), (Values{3, 1}));
  EXPECT_EQ(head.layers[0].w.shape(), (Shape{0}));
  EXPECT_EQ(others.head.shape(), (Shape{0}));
  EXPECT_EQ(others.layers[1].b.to_vector(), (Values{1, 2}));
  EXPECT_EQ(head.rate + others.rate, 4);
  for (const Net& whole : {tree::combine(head, others), tree::combine(others, head)}) {
    EXPECT_EQ(whole.layers[0].w.to_vector(), (Values{1, 2, 3, 4}));
    EXPECT_EQ(whole.head.to_vector(), (Values{3, 1}));
  }
  const auto [matrices, vectors] = tree::partition(net(), [](const auto& leaf) {
    if constexpr (is_array_v<decltype(leaf)>)
      return leaf.ndim() == 2;
    else
      return false;
  });
  EXPECT_EQ(matrices.head.size() + vectors.layers[0].w.size(), 0);
  const auto [biases, rest] =
      tree::partition(vectors, [](const std::string& path, const auto&) { return path.ends_with(".b"); });
  EXPECT_EQ(loss(tree::combine(biases, matrices, rest), x).item(), loss(net(), x).item());
}

TEST(Partition, TrainsAPart) {
  auto [head, frozen] = tree::partition(net(), in_head);
  const auto of_parts = [](const Net& part, const Net& fixed, const F& v) {
    return loss(tree::combine(part, fixed), v);
  };
  const Net all = grad(loss)(net(), x), g = grad(of_parts)(head, frozen, x);
  EXPECT_EQ(g.head.to_vector(), all.head.to_vector());
  EXPECT_EQ(g.layers[0].w.shape(), (Shape{0}));
  EXPECT_EQ(jit(grad(of_parts))(head, frozen, x).head.to_vector(), g.head.to_vector());
  const F xs = {{0.5, -1}, {1, 2}};
  const Net each = vmap(grad(of_parts), {.in_axes = {none, none, 0}})(head, frozen, xs);
  EXPECT_EQ(F(each.head(0)).to_vector(), g.head.to_vector());

  const auto opt = optim::chain(optim::clip_by_global_norm(1.0), optim::adamw(0.1));
  auto state = opt.init(head);
  const float before = of_parts(head, frozen, x).item();
  for (int i = 0; i < 5; ++i) {
    auto [updates, next] = opt.update(grad(of_parts)(head, frozen, x), state, head);
    head = optim::apply_updates(head, updates);
    state = next;
  }
  EXPECT_LT(of_parts(head, frozen, x).item(), before);
  EXPECT_EQ(tree::combine(head, frozen).layers[0].w.to_vector(), net().layers[0].w.to_vector());
}

TEST(TreeAt, BySelector) {
  const Net n = net();
  EXPECT_EQ(tree::at(n, &Net::head).get().to_vector(), (Values{3, 1}));
  EXPECT_EQ(tree::at(n, &Net::head).set(F{7}).head.to_vector(), (Values{7}));
  const auto first = [](auto& t) -> auto& { return t.layers[0].b; };
  EXPECT_EQ(tree::at(n, first).apply([](const F& b) { return 2 * b; }).layers[0].b.to_vector(),
            (Values{10, 12}));
  EXPECT_EQ(n.layers[0].b.to_vector(), (Values{5, 6}));
  const auto two = [](Net& t) { return std::tie(t.head, t.layers[1].b); };
  const Net swapped = tree::at(n, two).set(std::tuple{F{1, 2}, F{3, 1}});
  EXPECT_EQ(swapped.head.to_vector(), (Values{1, 2}));
  EXPECT_EQ(std::get<1>(tree::at(swapped, two).get()).to_vector(), (Values{3, 1}));
  EXPECT_EQ(tree::at(n, two).apply([](const F& v) { return -v; }).head.to_vector(), (Values{-3, -1}));
  const auto through = [&](const F& head) { return loss(tree::at(n, &Net::head).set(head), x); };
  EXPECT_EQ(grad(through)(n.head).to_vector(), grad(loss)(n, x).head.to_vector());
}

TEST(TreeAt, ByPath) {
  const Net n = net();
  EXPECT_EQ(tree::at(n, ".layers[1].b").get<F>().to_vector(), (Values{1, 2}));
  EXPECT_EQ(tree::at(n, ".layers[1].b").set(F{9}).layers[1].b.to_vector(), (Values{9}));
  EXPECT_EQ(tree::at(n, ".rate").set(5).rate, 5);
  EXPECT_EQ(refusal<ValueError>([&] { tree::at(n, ".tail"); }),
            "tree::at: no leaf at '.tail'; there are .layers[0].w, .layers[0].b, .layers[1].w, .layers[1].b, "
            ".head, .rate");
  EXPECT_EQ(refusal<TypeError>([&] {
              tree::at(n, ".rate").set(F{1, 2});
            }),
            "tree::at: the leaf at '.rate' is of another type");
}

TEST(Ravel, RoundTrips) {
  struct Mixed {
    Array<int> k;
    F w;
    Array<double> d;
    int number = 3;
  };
  const auto [flat, unravel] = tree::ravel(Mixed{{1, 2}, {{0.5}, {-1}}, 4.0, 7});
  static_assert(std::is_same_v<decltype(flat), const Array<double>>);
  EXPECT_EQ(flat.to_vector(), (std::vector<double>{1, 2, 0.5, -1, 4}));
  const Mixed back = unravel(2.0 * flat);
  EXPECT_EQ(back.k.to_vector(), (std::vector<int>{2, 4}));
  EXPECT_EQ(back.w.shape(), (Shape{2, 1}));
  EXPECT_EQ(back.d.item(), 8);
  EXPECT_EQ(back.number, 7);
  EXPECT_EQ(refusal<ShapeError>([unravel = unravel] {
              unravel(Array<double>{1, 2});
            }),
            "tree::ravel: the tree has 5 elements, the vector shape (2,)");
  EXPECT_EQ(tree::ravel(std::tuple<>()).first.size(), 0);
  EXPECT_EQ(tree::ravel(F(3)).second(F{4}).shape(), Shape{});
}

TEST(Ravel, IsDifferentiableAndBatches) {
  const auto [flat, unravel] = tree::ravel(net());
  EXPECT_EQ(flat.size(), 14);
  const auto of_vector = [unravel = unravel](const F& v) { return loss(unravel(v), x); };
  const F slope = grad(of_vector)(flat);
  EXPECT_EQ(slope.to_vector(), tree::ravel(grad(loss)(net(), x)).first.to_vector());
  const auto squares = [](const Net& n) {
    const F v = tree::ravel(n).first;
    return sum(v * v);
  };
  EXPECT_EQ(grad(squares)(net()).head.to_vector(), (Values{6, 2}));
  EXPECT_EQ(hessian(of_vector)(flat).shape(), (Shape{14, 14}));
  EXPECT_TRUE(allclose(jacfwd(of_vector)(flat), slope));
  const F batch = stack({flat, 2.f * flat});
  EXPECT_TRUE(allclose(vmap(grad(of_vector))(batch)(1), grad(of_vector)(2.f * flat)));
  const Net nets = vmap(unravel)(batch);
  EXPECT_EQ(nets.layers[0].w.shape(), (Shape{2, 2, 2}));
  const F both = vmap([](const Net& n) { return tree::ravel(n).first; })(nets);
  EXPECT_EQ(both.to_vector(), batch.to_vector());
}

}  // namespace partition_test
