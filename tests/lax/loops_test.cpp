// Loops and branches: forms of arguments, trees, lengths, texts of errors.

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"

namespace loops_test {
using namespace nax;
using F = Array<float>;

const auto add_up = [](const F& c, const F& x) { return std::pair{c + x, c * x}; };

TEST(Scan, StacksAndCarries) {
  auto [c, ys] = lax::scan(add_up, 1.0, F{1, 2, 3});
  EXPECT_EQ(c.item(), 7);
  EXPECT_EQ(ys.to_vector(), (std::vector<float>{1, 4, 12}));
  auto [d, zs] = lax::scan(add_up, 1.0, F{1, 2, 3}, {.reverse = true});
  EXPECT_EQ(zs.to_vector(), (std::vector<float>{6, 8, 3}));
  auto [n, counts] = lax::scan(
      [](const Array<int>& k) {
        return std::pair{k + 1, k};
      },
      0, none, {.length = 4});
  EXPECT_EQ(n.item(), 4);
  EXPECT_EQ(counts.to_vector(), (std::vector<int>{0, 1, 2, 3}));
  // f may take None for the rows of missing xs, as in JAX.
  EXPECT_EQ(lax::scan(
                [](const F& x, None) {
                  return std::pair{x * 2, none};
                },
                1.f, none, {.length = 3})
                .first.item(),
            8);
}

TEST(Scan, TreesOfAllKinds) {
  struct State {
    F position, speed;
    Array<int> steps;
  };
  const auto step = [](const State& s, const std::tuple<F, random::Key>& x) {
    const F push = std::get<0>(x) + 0 * random::normal<float>(std::get<1>(x), {2});
    return std::pair{State{s.position + s.speed, s.speed + push, s.steps + 1},
                     std::map<std::string, F>{{"p", s.position}}};
  };
  auto [s, ys] = lax::scan(step, State{F{0, 0}, F{1, 2}, 0},
                           std::tuple{ones<float>({3, 2}), random::split(random::key(0), 3)});
  EXPECT_EQ(s.steps.item(), 3);
  EXPECT_EQ(s.position.to_vector(), (std::vector<float>{6, 9}));
  EXPECT_EQ(ys.at("p").shape(), (Shape{3, 2}));
}

TEST(Scan, NoStepsHaveTheShapesOfSome) {
  auto [c, ys] = lax::scan(add_up, F{1, 2}, zeros<float>({0, 2}));
  EXPECT_EQ(c.to_vector(), (std::vector<float>{1, 2}));
  EXPECT_EQ(ys.shape(), (Shape{0, 2}));
  EXPECT_EQ(lax::map([](const F& x) { return sum(x); }, zeros<float>({0, 2})).shape(), (Shape{0}));
}

TEST(Scan, OutputsOfOtherAxesUnderVmap) {
  // The first step's output has no hidden axis, later ones have.
  const auto f = [](const F& xs) { return lax::scan(add_up, 1.f, xs).second; };
  const F batch = {{1, 2, 3}, {4, 5, 6}};
  const F all = vmap(f)(batch);
  EXPECT_EQ(F(all(1)).to_vector(), f(F{4, 5, 6}).to_vector());
}

TEST(Scan, ErrorsNameTheCause) {
  EXPECT_EQ(refusal<Error>([] { lax::scan(add_up, 1.f, F(1)); }),
            "scan: xs has an array of no axes; each must have a leading one");
  EXPECT_EQ(refusal<Error>([] {
              lax::scan(add_up, 1.f, F{1, 2}, {.length = 3});
            }),
            "scan: length is 3 but the leading axes of xs have 2 rows");
  EXPECT_EQ(refusal<Error>([] {
              lax::scan([](const F& c) { return std::pair{c, c}; }, 1.f, none);
            }),
            "scan: xs has no arrays and length is not given: how many steps?");
  EXPECT_EQ(refusal<Error>([] {
              lax::scan(add_up, 1.f, ones<float>({2, 3}));
            }),
            "scan: the body changes the shape of the carry (array 0): () in, (3,) out");
  EXPECT_EQ(refusal<Error>([] {
              lax::scan(
                  [](const F& c, const std::pair<F, F>&) {
                    return std::pair{c, c};
                  },
                  1.f, std::pair{F{1, 2}, F{1, 2, 3}});
            }),
            "scan: the leading axes of xs differ: shapes (2,) and (3,)");
  EXPECT_EQ(refusal<Error>([] { lax::scan(add_up, 1.f, F{1}, {.checkpoint = 0}); }),
            "scan: checkpoint must be true or at least 1 step, not 0");
}

TEST(Scan, CheckpointKeepsLittle) {
  const auto step = [](const F& c, const F& x) { return std::pair{sin(c * 0.5f + x), none}; };
  const auto f = [&](lax::CheckpointEvery every) {
    return grad([=](const F& xs) { return lax::scan(step, 1.f, xs, {.checkpoint = every}).first; })(
        linspace<float>(0, 1, 1000));
  };
  EXPECT_EQ(f(false).to_vector(), f(true).to_vector());
  EXPECT_EQ(f(false).to_vector(), f(1).to_vector());
  EXPECT_EQ(f(false).to_vector(), f(5000).to_vector());
}

TEST(Loops, TakeNumbersAndArraysAsBounds) {
  const auto body = [](int i, const F& c) { return c + static_cast<float>(i); };
  EXPECT_EQ(lax::fori_loop(2, 5, body, 0.0).item(), 9);
  EXPECT_EQ(lax::fori_loop(5, 2, body, 1.0).item(), 1);
  const auto array_body = [](const Array<int>& i, const F& c) { return c + i; };
  EXPECT_EQ(lax::fori_loop(2, 5, array_body, 0.0).item(), 9);
  EXPECT_EQ(lax::fori_loop(2, Array<int>(5), array_body, 0.0).item(), 9);
  const auto to = [&](const Array<int>& n) { return lax::fori_loop(0, n, array_body, 0.f); };
  EXPECT_EQ(vmap(to)(Array<int>{0, 1, 4}).to_vector(), (std::vector<float>{0, 0, 6}));
  EXPECT_EQ(lax::fori_loop(
                0, 3, [](auto i, auto c) { return c * 2 + i; }, F{1, 2})
                .to_vector(),
            (std::vector<float>{12, 20}));
}

TEST(Loops, ErrorsNameTheCause) {
  const auto forever = [](const F&) { return true; };
  EXPECT_EQ(refusal<Error>([&] {
              lax::while_loop(
                  forever,
                  [](const F& c) {
                    return stack({c, c});
                  },
                  1.f);
            }),
            "while_loop: the body changes the shape of the carry (array 0): () in, (2,) out");
  EXPECT_EQ(refusal<Error>([] {
              lax::while_loop([](const F& c) { return c > 0; }, [](const F& c) { return c; }, F{1, 2});
            }),
            "while_loop: the predicate must be a scalar, shape (2,)");
}

TEST(Branches, RunOneOrBoth) {
  int f_runs = 0, g_runs = 0;
  const auto f = [&](const F& x) { return ++f_runs, x + 1; };
  const auto g = [&](const F& x) { return ++g_runs, x - 1; };
  EXPECT_EQ(lax::cond(true, f, g, 1.f).item(), 2);
  EXPECT_EQ(lax::cond(F(0), f, g, 1.f).item(), 0);
  EXPECT_EQ(f_runs * 10 + g_runs, 11);
  EXPECT_EQ(vmap([&](const F& x) { return lax::cond(x > 2, f, g, x); })(F{1, 2, 3}).to_vector(),
            (std::vector<float>{0, 1, 4}));
  EXPECT_EQ(f_runs * 10 + g_runs, 22);
  EXPECT_EQ(lax::cond(
                true, [] { return F(1); }, [] { return F(2); })
                .item(),
            1);
}

TEST(Branches, AreTakenByNumber) {
  const auto pick = [](const auto& i) {
    return lax::switch_(i,
                        std::tuple{[](const F& x) { return x; }, [](const F& x) { return x * 2; },
                                   [](const F& x) { return x * 3; }},
                        1.f);
  };
  EXPECT_EQ(pick(1).item(), 2);
  EXPECT_EQ(pick(-7).item(), 1);
  EXPECT_EQ(pick(7).item(), 3);
  EXPECT_EQ(vmap([&](const Array<int>& i) { return pick(i); })(Array<int>{-1, 1, 2, 9}).to_vector(),
            (std::vector<float>{1, 2, 3, 3}));
  const std::vector<std::function<F(F)>> list{[](F x) { return x; }, [](F x) { return F(x * 5); }};
  EXPECT_EQ(lax::switch_(1, list, F(2)).item(), 10);
}

TEST(Branches, ErrorsNameTheCause) {
  const auto one = [](const F& x) { return x; };
  const auto two = [](const F& x) { return stack({x, x}); };
  EXPECT_EQ(refusal<Error>([&] {
              vmap([&](const F& x) { return lax::cond(x > 0, one, two, x); })(F{1, 2});
            }),
            "cond: the branches give different shapes: () and (2,)");
  EXPECT_EQ(refusal<Error>([&] {
              lax::cond(Array<bool>{true, false}, one, one, 1.f);
            }),
            "cond: the predicate must be a scalar, shape (2,)");
}

// A branch that is not taken adds nothing to a gradient, even if it is NaN.
TEST(Branches, KeepNaNsOut) {
  const auto f = [](const F& x) {
    return lax::cond(
        x > 0, [](const F& v) { return sqrt(v); }, [](const F& v) { return v * 0; }, x);
  };
  EXPECT_EQ(vmap(grad(f))(F{4, 0, -1}).to_vector(), (std::vector<float>{0.25f, 0, 0}));
}

TEST(Slices, AreMovedUntilTheyFit) {
  const F x = arange<float>(12).reshape({3, 4});
  EXPECT_EQ(lax::dynamic_slice(x, {Array<int>(5), 1}, {2, 2}).to_vector(), (std::vector<float>{5, 6, 9, 10}));
  const auto at = [&](const Array<int>& i) { return lax::dynamic_slice(x, {i, 0}, {1, 2}); };
  EXPECT_EQ(vmap(at)(Array<int>{0, -1, 1}).to_vector(), (std::vector<float>{0, 1, 8, 9, 4, 5}));
  const auto put = [&](const Array<int>& i) {
    return lax::dynamic_update_index_in_dim(zeros<float>({3}), F(7), i, 0);
  };
  EXPECT_EQ(vmap(put)(Array<int>{0, 2}).to_vector(), (std::vector<float>{7, 0, 0, 0, 0, 7}));
  EXPECT_EQ(lax::dynamic_index_in_dim(x, 1, 1, false).to_vector(), (std::vector<float>{1, 5, 9}));
  EXPECT_EQ(refusal<Error>([&] {
              lax::dynamic_slice(x, {0, 0}, {4, 1});
            }),
            "dynamic_slice: a slice of shape (4, 1) does not fit into shape (3, 4)");
  EXPECT_EQ(refusal<Error>([&] {
              lax::dynamic_slice(x, {0}, {1, 1});
            }),
            "dynamic_slice: needs one start and one size for each axis, got 1 and 2 for shape (3, 4)");
}

TEST(Sorting, OfPairs) {
  auto [k, v] = lax::sort_key_val(F{3, 1, 2}, Array<int>{0, 1, 2});
  EXPECT_EQ(k.to_vector(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(v.to_vector(), (std::vector<int>{1, 2, 0}));
}

}  // namespace loops_test
