// Fields that are no arrays: part of a tree's structure, carried along by transforms, compared, saved.

#include "nax/tree/static.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace static_test {
using namespace nax;
using F = Array<float>;

enum class Kind { relu, tanh };
struct Model {
  F w;
  tree::Static<std::string> name;
  tree::Static<Kind> kind;
  tree::Static<std::function<F(const F&)>> activation;
  tree::Static<int> layers = 2;
  tree::Static<std::unique_ptr<int>> handle;
};

Model model(const char* name = "first") {
  Model m;
  m.w = {1, 2};
  m.name = name;
  m.kind = Kind::tanh;
  m.activation = [](const F& x) { return x * x; };
  return m;
}

std::string text(const auto& x) {
  std::ostringstream out;
  out << x;
  return std::move(out).str();
}
std::string file(const char* name) { return testing::TempDir() + "nax_static_" + name; }

TEST(Static, ReadsLikeItsValue) {
  const Model m = model();
  EXPECT_EQ(*m.name, "first");
  EXPECT_EQ(m.name->size(), 5u);
  EXPECT_TRUE(m.name == "first" && m.kind == Kind::tanh && m.layers == 2 && 3 != m.layers);
  EXPECT_EQ(m.layers + 1, 3);
  EXPECT_EQ(text(m.name), "first");
  const std::string& same = m.name;
  EXPECT_EQ(same, "first");
  EXPECT_EQ(m.activation(F{3}).item(), 9);
}

TEST(Static, BelongsToTheStructure) {
  const Model m = model();
  EXPECT_EQ(text(tree::structure(m)), "{*, 'first', 1, static, 2, static}");
  EXPECT_EQ(tree::leaves(m).size(), 1u);
  EXPECT_EQ(tree::structure(m), tree::structure(tree::map([](const F& x) { return 2 * x; }, m)));
  EXPECT_FALSE(tree::structure(m) == tree::structure(model()));  // another function
  Model other = m;
  other.name = "second";
  EXPECT_FALSE(tree::structure(m) == tree::structure(other));
  other = m;
  other.kind = Kind::relu;
  EXPECT_FALSE(tree::structure(m) == tree::structure(other));
  // Numbers whose texts are equal
  using D = tree::Static<double>;
  EXPECT_EQ(text(tree::structure(D(0.1))), text(tree::structure(D(0.1 + 1e-12))));
  EXPECT_FALSE(tree::structure(D(0.1)) == tree::structure(D(0.1 + 1e-12)));
  const auto [leaves, definition] = tree::flatten(m);
  EXPECT_EQ(*tree::unflatten(definition, leaves).name, "first");
}

TEST(Static, TreesThatDifferAreRefused) {
  const Model m = model();
  Model other = m;
  other.name = "second";
  EXPECT_EQ(refusal<ValueError>([&] { tree::map([](const F& a, const F& b) { return a + b; }, m, other); }),
            "tree::map: the trees differ at .name: 'first' against 'second' (tree 1 and tree 2)");
}

TEST(Static, GoesThroughTransforms) {
  const auto loss = [](const Model& m, const F& x) { return sum(m.activation(m.w) * x) * *m.layers; };
  const Model m = model(), g = grad(loss)(m, F{3, 4});
  EXPECT_EQ(g.w.to_vector(), (std::vector<float>{12, 32}));
  EXPECT_EQ(*g.name, "first");
  EXPECT_EQ(vmap(loss, {.in_axes = {none, 0}})(m, F{{1, 0}, {0, 1}}).to_vector(), (std::vector<float>{2, 8}));
  EXPECT_EQ(jit(grad(loss))(m, F{3, 4}).w.to_vector(), g.w.to_vector());
  const auto [h, name, kind, activation, layers, handle] = hessian(loss)(m, F{3, 4});
  EXPECT_EQ(h.w.to_vector(), (std::vector<float>{12, 0, 0, 16}));
  EXPECT_EQ(*name, "first");
  const auto opt = optim::adam(0.1);
  const auto [updates, state] = opt.update(g, opt.init(m), m);
  EXPECT_EQ(*optim::apply_updates(m, updates).name, "first");
}

struct Saved {
  F w;
  tree::Static<std::string> name, empty;
  tree::Static<Kind> kind;
  tree::Static<double> rate = 0.5;
  tree::Static<std::function<void()>> hook;
};

TEST(Static, IsSavedAndCompared) {
  const std::string path = file("model.npz");
  const Saved saved{{1, 2}, "first", {}, Kind::tanh, 0.1, [] {}};
  io::save(path, saved);
  Saved same{{}, "first", {}, Kind::tanh, 0.1, {}};
  io::load(path, same);
  EXPECT_EQ(same.w.to_vector(), (std::vector<float>{1, 2}));
  const auto says = [&](Saved other) { return refusal<IoError>([&] { io::load(path, other); }); };
  const std::string load = "load: '" + path + "' ";
  EXPECT_EQ(says({{}, "other", {}, Kind::tanh, 0.1, {}}), load + "(name) is 'first', the tree has 'other'");
  EXPECT_EQ(says({{}, "first", "x", Kind::tanh, 0.1, {}}), load + "(empty) is '', the tree has 'x'");
  EXPECT_EQ(says({{}, "first", {}, Kind::relu, 0.1, {}}), load + "(kind) is 1, the tree has 0");
  EXPECT_EQ(says({{}, "first", {}, Kind::tanh, 0.5, {}}), load + "(rate) is 0.1, the tree has 0.5");
  struct Plain {
    F w;
  } plain;
  EXPECT_EQ(refusal<IoError>([&] { io::load(path, plain); }), load + "has empty, which the tree has not");
  io::save(file("plain.npz"), Plain{{1, 2}});
  EXPECT_EQ(refusal<IoError>([&] { io::load(file("plain.npz"), same); }),
            "load: '" + file("plain.npz") + "' has no array named name");
}

}  // namespace static_test
