#include <gtest/gtest.h>

#include <map>
#include <nax/nax.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace conversions {
using namespace nax;

using Single = Array<float>;
using Double = Array<double>;
using Formula = decltype(exp(Double()));

template <class To, class From>
constexpr bool converts =
    std::is_constructible_v<To, From> || std::is_convertible_v<From, To> || std::is_assignable_v<To&, From>;

// Arrays and expressions of another element type, in every value category.
static_assert(!converts<Single, Double>);
static_assert(!converts<Single, Double&>);
static_assert(!converts<Single, const Double&>);
static_assert(!converts<Single, const Double>);
static_assert(!converts<Single, Formula>);
static_assert(!converts<Single, const Formula&>);
static_assert(!converts<Double, Single>);
static_assert(!converts<Array<int>, Array<bool>>);
static_assert(!converts<Array<std::complex<float>>, Single>);
// A handle, whose elements may be of any type.
static_assert(!converts<Single, ArrayBase>);
static_assert(!converts<Single, const ArrayBase&>);
// Through the standard library's types.
static_assert(!std::is_constructible_v<std::optional<Single>, Double>);
static_assert(!std::is_constructible_v<std::pair<Single, Single>, Double, Double>);
static_assert(!std::is_constructible_v<std::tuple<Single, int>, std::tuple<Double, int>>);
static_assert(!std::is_convertible_v<std::pair<Double, int>, std::pair<Single, int>>);
static_assert(!std::is_constructible_v<Single, std::optional<Double>>);

static_assert(converts<Single, Single>);
static_assert(converts<Double, Formula>);
static_assert(std::is_convertible_v<Single&, ArrayBase>);
static_assert(std::is_nothrow_move_constructible_v<Single> && std::is_nothrow_move_assignable_v<Single>);
static_assert(std::is_swappable_v<Single>);

const char* taken(const Single&) { return "float"; }
const char* taken(const Double&) { return "double"; }

TEST(Conversions, OverloadsByElementTypeStayUnambiguous) {
  const Single x = {1, 2};
  const Double y = {1, 2};
  EXPECT_STREQ(taken(x), "float");
  EXPECT_STREQ(taken(y), "double");
  EXPECT_STREQ(taken(x * 2), "float");
  EXPECT_STREQ(taken(exp(y)), "double");
  const std::variant<Single, Double> held = y;
  EXPECT_EQ(held.index(), 1u);
}

TEST(Conversions, AstypeConverts) {
  const Double wide = {1.5, -2};
  const Single narrow = wide.astype<float>();
  EXPECT_EQ(narrow.to_vector(), (std::vector<float>{1.5f, -2}));
  std::vector<Array<int>> places;
  places.emplace_back(argmax(wide));
  EXPECT_EQ(places[0].item(), 0);
}

std::tuple<Single, Single> both() { return {Single{1, 2}, Single{3}}; }
struct State {
  Single x, y;
};

TEST(Assignments, ToVariablesMembersAndElementsOfVectors) {
  Single a, b;
  std::tie(a, b) = both();
  EXPECT_EQ(a.to_vector(), (std::vector<float>{1, 2}));
  auto [c, d] = both();
  c = d;
  std::swap(a, b);
  EXPECT_EQ(a.item(), 3);
  std::vector<Single> list(2);
  list[0] = a;
  list.front() += 1.f;
  EXPECT_EQ(list[0].item(), 4);
  State state{a, b};
  state = State{b, a};
  state.x *= 2.f;
  EXPECT_EQ(state.x.to_vector(), (std::vector<float>{2, 4}));
  std::map<std::string, Single> named;
  named["w"] = a;
  std::optional<Single> maybe;
  maybe = b;
  *maybe = a + 1;
  EXPECT_EQ(maybe->item(), 4);
  (a = b) += 1.f;
  EXPECT_EQ(a.to_vector(), (std::vector<float>{2, 3}));
  auto formula = a * 2;
  formula = b * 2;
  EXPECT_EQ(formula.eval().to_vector(), (std::vector<float>{2, 4}));
}

}  // namespace conversions
