// Places are int32: arrays whose places do not fit are refused, before any memory is taken.

#include <gtest/gtest.h>

#include "nax/numpy.hpp"

namespace places_test {
using namespace nax;

constexpr std::int64_t most = INT32_MAX;

template <class F>
void expect_refused(const std::string& function, const F& f) {
  try {
    f();
    ADD_FAILURE() << function << " gives places that int32 does not hold";
  } catch (const ValueError& e) {
    EXPECT_EQ(std::string(e.what()).rfind(function + ": places are int32", 0), 0u) << e.what();
  }
}

TEST(Places, BeyondInt32AreRefused) {
  const auto x = broadcast_to(Array<std::int8_t>(std::int8_t{1}), {most + 11});
  const auto rows = broadcast_to(Array<float>(1.f), {2, most + 11});
  const auto mask = broadcast_to(Array<bool>(true), {1, most + 11});
  expect_refused("argmax", [&] { argmax(x); });
  expect_refused("argmin", [&] { argmin(x); });
  expect_refused("argmax", [&] { argmax(rows, {.axis = 1}); });
  expect_refused("argmin", [&] { argmin(rows); });
  expect_refused("nonzero", [&] { nonzero(mask); });
  expect_refused("nonzero", [&] { nonzero<2>(mask); });
  expect_refused("where", [&] { where(mask); });
  expect_refused("argwhere", [&] { argwhere(mask); });
  expect_refused("flatnonzero", [&] { flatnonzero(mask); });
  expect_refused("searchsorted", [&] { searchsorted(x, Array<std::int8_t>(std::int8_t{2})); });
  expect_refused("argsort", [&] { argsort(x); });
  expect_refused("argpartition", [&] { argpartition(x, 3); });
  expect_refused("top_k", [&] { top_k(rows, 3); });
}

TEST(Places, GuardBeginsBehindInt32) {
  EXPECT_NO_THROW(detail::check_places("argmax", most));
  EXPECT_THROW(detail::check_places("argmax", most + 1), ValueError);
}

}  // namespace places_test
