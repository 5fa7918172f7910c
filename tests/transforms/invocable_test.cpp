// Transformed functions satisfy std::is_invocable, const or not, and may be passed as any function.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "nax/nax.hpp"
#include "transforms/arrays.hpp"

namespace invocable {
using namespace nax;
using F = Array<float>;

const auto square = [](const F& x) { return x * x; };
const auto loss = [](const F& x) { return sum(x * x); };
[[maybe_unused]] const auto by_two = [](const F& x, const F& y) { return sum(x * y); };

[[maybe_unused]] const auto forward = [](const F& x) { return std::pair{square(x), x}; };
[[maybe_unused]] const auto backward = [](const F& x, const F& g) { return std::tuple{2 * x * g}; };
[[maybe_unused]] const auto jvp_rule = [](const auto& f) {
  return [=](const auto& x, const auto& dx) {
    return std::pair{f(std::get<0>(x)), std::get<0>(x) * std::get<0>(dx)};
  };
};

template <class G, class... X>
constexpr bool takes = std::is_invocable_v<G, X...>&& std::is_invocable_v<const G, X...>&&
    std::is_invocable_v<G&, X...>&& std::is_invocable_v<const G&, const X&...>;
template <class G, class... X>
constexpr bool refuses = !std::is_invocable_v<G, X...> && !std::is_invocable_v<const G&, const X&...>;

// Takes an array and nothing else.
template <class G>
constexpr bool takes_an_array() {
  return takes<G, F> && refuses<G> && refuses<G, F, F> && refuses<G, Array<int>> && refuses<G, std::string> &&
         refuses<G, std::unique_ptr<int>> && refuses<G, int[3]> && refuses<G, std::vector<bool>>;
}
static_assert(takes_an_array<decltype(checkpoint(square))>());
static_assert(takes_an_array<decltype(jit(square))>());
static_assert(takes_an_array<decltype(vmap(square))>());
static_assert(takes_an_array<decltype(pmap(square))>());
static_assert(takes_an_array<decltype(vectorize(square))>());
static_assert(takes_an_array<decltype(grad(loss))>());
static_assert(takes_an_array<decltype(value_and_grad(loss))>());
static_assert(takes_an_array<decltype(jacrev(square))>());
static_assert(takes_an_array<decltype(jacfwd(square))>());
static_assert(takes_an_array<decltype(jacobian(square))>());
static_assert(takes_an_array<decltype(hessian(loss))>());
static_assert(takes_an_array<decltype(custom_vjp(square, forward, backward))>());
static_assert(takes_an_array<decltype(custom_jvp(square, jvp_rule(square)))>());
static_assert(takes_an_array<decltype(vmap(grad(jit(checkpoint(loss)))))>());
static_assert(takes_an_array<decltype(grad(custom_jvp(loss, jvp_rule(loss))))>());

// A number becomes an array; a loss must be one, and floating.
static_assert(takes<decltype(grad(loss)), float> && takes<decltype(vmap(square)), int>);
static_assert(refuses<decltype(grad([](const F& x) { return x > 0; })), F>);
static_assert(refuses<decltype(grad([](const F& x) { return std::vector{sum(x)}; })), F>);
static_assert(refuses<decltype(grad([](double x) { return x * x; })), double>);
static_assert(refuses<decltype(vmap([](const F&) {})), F>);
static_assert(refuses<decltype(vmap(vmap([](const F&) {}))), F>);
static_assert(refuses<decltype(vmap(grad([](const F& x) { return std::vector{sum(x)}; }))), F>);

// argnums
static_assert(takes<decltype(grad<1>(by_two)), F, F> && refuses<decltype(grad<2>(by_two)), F, F>);
static_assert(takes<decltype(grad<-1>(by_two)), F, F> && refuses<decltype(grad<-3>(by_two)), F, F>);

struct Based : std::pair<F, F> {};
[[maybe_unused]] const auto of_based = [](const Based& b) { return sum(b.first); };
static_assert(refuses<decltype(grad(of_based)), Based>);

// Pullbacks and pushforwards.
[[maybe_unused]] const auto two = [](const F& x) { return std::pair{x * 2.f, sum(x)}; };
using Pull = decltype(vjp(two, F()).second);
static_assert(takes<Pull, std::pair<F, F>> && takes<Pull, std::pair<F, float>>);
static_assert(refuses<Pull, F> && refuses<Pull> && refuses<Pull, std::tuple<F, F, F>>);
static_assert(refuses<Pull, std::pair<F, Array<std::complex<float>>>> && refuses<Pull, std::string>);
using Push = decltype(linearize(by_two, F(), F()).second);
static_assert(takes<Push, F, F> && takes<Push, F, float> && refuses<Push, F> &&
              refuses<Push, F, std::string>);

template <class G, class... X>
concept HasVjp = requires(const G& g, const X&... x) {
  vjp(g, x...);
  linearize(g, x...);
  jvp(g, std::tuple<X...>(x...), std::tuple<X...>(x...));
};
static_assert(HasVjp<decltype(by_two), F, F> && !HasVjp<decltype(by_two), F>);

using Step = decltype(optim::value_and_step(optim::sgd(0.1), by_two));
using State = decltype(optim::sgd(0.1).init(F()));
static_assert(takes<Step, F, State, F> && refuses<Step, F, State> && refuses<Step, F> && refuses<Step>);

F cumulative(const auto& step) { return lax::scan(step, F(1), F{1, 2, 3}).second; }

TEST(Invocable, ScanTakesTransformedBodies) {
  const auto body = [](const F& c, const F& x) { return std::pair{c * x + 1, c + x}; };
  const F want = cumulative(body);
  EXPECT_EQ(cumulative(checkpoint(body)).to_vector(), want.to_vector());
  EXPECT_EQ(cumulative(jit(body)).to_vector(), want.to_vector());
  EXPECT_EQ(cumulative(jit(checkpoint(body))).to_vector(), want.to_vector());
  const auto rule = [=](const auto& p, const auto& t) { return jvp(body, p, t); };
  EXPECT_EQ(cumulative(custom_jvp(body, rule)).to_vector(), want.to_vector());
  const auto total = [](const auto& step) {
    return grad([=](const F& xs) {
      auto [c, ys] = lax::scan(step, F(1), xs);
      return c + sum(ys);
    })(F{1, 2, 3});
  };
  EXPECT_EQ(total(checkpoint(body)).to_vector(), total(body).to_vector());

  // Rows of a batch, and a body without rows.
  auto [c, ys] = lax::scan(vmap(body), F{1, 2}, F{{1, 2}, {3, 4}});
  EXPECT_EQ(c.to_vector(), (std::vector<float>{7, 21}));
  const auto alone = [](const F& c) { return std::pair{c * 2, c}; };
  EXPECT_EQ(lax::scan(checkpoint(alone), F(1), none, {.length = 3}).first.item(), 8);
  EXPECT_EQ(lax::scan(jit(alone), 1.f, none, {.length = 3}).first.item(), 8);
}

TEST(Invocable, LoopsAndBranchesTakeTransformedFunctions) {
  const F xs = {{1, 2}, {3, 4}};
  const std::vector<float> want = {5, 25};
  EXPECT_EQ(lax::map(jit(loss), xs).to_vector(), want);
  EXPECT_EQ(lax::map(checkpoint(loss), xs).to_vector(), want);
  EXPECT_EQ(lax::map(grad(loss), xs, {.batch_size = 1}).to_vector(), (std::vector<float>{2, 4, 6, 8}));
  const auto small = [](const F& c) { return c < 100; };
  const auto twice = [](const F& c) { return c * 2; };
  EXPECT_EQ(lax::while_loop(jit(small), checkpoint(twice), 1.f).item(), 128);
  EXPECT_EQ(lax::fori_loop(0, 3, jit([](const Array<int>& i, const F& c) { return c + i; }), 1.f).item(), 4);
  EXPECT_EQ(lax::cond(true, grad(loss), jit(twice), F(3)).item(), 6);
  EXPECT_EQ(lax::switch_(1, std::tuple{jit(twice), grad(loss), checkpoint(twice)}, F(3)).item(), 6);
}

TEST(Invocable, AStdFunctionHoldsOne) {
  const std::function<F(const F&)> slope = grad(loss);
  EXPECT_EQ(slope(F{1, 2}).to_vector(), (std::vector<float>{2, 4}));
}

}  // namespace invocable
