#pragma once

#include <gtest/gtest.h>

#include "formula/formulas.hpp"
#include "nax/expr/evaluation/kernels.hpp"
#include "nax/expr/expressions/formula.hpp"
#include "nax/nax.hpp"

// Compares the kernels that are compiled for one operation with its formulas, value and vjp, by every way.
namespace rules_of_formulas {

using namespace formulas;
using nax::Array;

inline constexpr std::int64_t length = 77;

// Numbers of all sizes, or numbers in the domain of every function.
enum class Range { all, tame };
template <class T>
std::vector<std::vector<T>> columns(std::size_t count, Range range) {
  std::vector<std::vector<T>> result;
  std::mt19937_64 random(7);
  for (std::size_t k = 0; k < count; ++k) {
    result.push_back(numbers<T>(length, 100 + k));
    if (range == Range::tame) {
      for (T& x : result.back()) x = std::uniform_real_distribution<T>(T(0.1), T(0.9))(random);
    }
  }
  return result;
}

template <class T>
void expect_same(const Formula& f, const std::vector<std::vector<T>>& inputs,
                 const std::vector<std::vector<T>>& expected, const char* what) {
  for (const Machine machine : machines()) {
    auto results = results_of(Kernel(lowered(f, false), machine), inputs, length);
    for (auto& result : results) result.pop_back();
    EXPECT_EQ(difference(expected, results), "") << what << ", " << name(machine) << "\n" << f.text();
  }
}
template <class T>
void expect_close(const Formula& f, const std::vector<std::vector<T>>& inputs,
                  const std::vector<std::vector<T>>& expected, const char* what) {
  const T most = std::is_same_v<T, float> ? T(2e-5) : T(1e-13);
  for (const Machine machine : machines()) {
    const auto results = results_of(Kernel(f, machine), inputs, length);
    for (std::size_t k = 0; k < expected.size(); ++k)
      for (std::size_t i = 0; i < expected[k].size(); ++i)
        if (const T a = expected[k][i], b = results[k][i]; a - a == 0) {
          EXPECT_NEAR(a, b, most * std::max(T(1), std::abs(a))) << what << ", " << name(machine) << "\n"
                                                                << f.text();
        }
  }
}

template <class E>
void check(const E& e) {
  using C = nax::detail::packet_element_t<E>;
  constexpr int leaves = nax::detail::Tree<E>::leaves;
  const char* const name = E::rule::name;
  const nax::detail::Parts<E> parts(e);
  for (const Range range : {Range::all, Range::tame}) {
    auto inputs = columns<C>(leaves + 1, range);
    for (int l = 0; l < leaves; ++l)
      if (parts.leaves[l]->dtype() == nax::DType::boolean)
        for (C& x : inputs[static_cast<std::size_t>(l)]) x = x > 0 ? C(1) : C(0);
    const void* in[leaves == 0 ? 1 : leaves];
    for (int l = 0; l < leaves; ++l) in[l] = inputs[static_cast<std::size_t>(l)].data();

    std::vector<std::vector<C>> values(1, std::vector<C>(length));
    nax::detail::forward_kernel<E>(&parts.constants, in, values[0].data(), length);
    std::vector<std::vector<C>> operands(inputs.begin(), inputs.begin() + leaves);
    for (int k = 0; k < nax::detail::Tree<E>::constants; ++k) {
      C number;
      std::memcpy(&number, parts.constants.slots[k].bytes, sizeof number);
      operands.push_back({number});
    }
    const Formula f = nax::detail::formula_of(e);
    expect_same(f, operands, values, name);
    if (range == Range::tame) expect_close(f, operands, values, name);

    if constexpr (nax::detail::Carries<E>::value) {
      std::vector<std::vector<C>> shares;
      void* to[leaves] = {};
      for (int l = 0; l < leaves; ++l)
        if (nax::detail::carries_leaf<E>(l)) shares.emplace_back(length);
      for (int l = 0, k = 0; l < leaves; ++l)
        if (nax::detail::carries_leaf<E>(l)) to[l] = shares[static_cast<std::size_t>(k++)].data();
      nax::detail::pull_kernel<E>(&parts.constants, in, inputs.back().data(), to, 0, nullptr, length);
      const Formula pull = nax::detail::pull_formula_of(e);
      operands.push_back(inputs.back());
      expect_same(pull, operands, shares, (std::string("vjp of ") + name).c_str());
      if (range == Range::tame) expect_close(pull, operands, shares, (std::string("vjp of ") + name).c_str());
    }
  }
}

template <class T>
Array<T> leaf() {
  return nax::ones<T>({1});
}
template <class Rule>
void check_1() {
  check(nax::detail::make_expr<Rule>(leaf<float>()));
  check(nax::detail::make_expr<Rule>(leaf<double>()));
}
template <class Rule>
void check_2() {
  check(nax::detail::make_expr<Rule>(leaf<float>(), leaf<float>()));
  check(nax::detail::make_expr<Rule>(leaf<double>(), leaf<double>()));
}
template <class Rule>
void check_4() {
  check(nax::detail::make_expr<Rule>(leaf<float>(), leaf<float>(), leaf<float>(), leaf<float>()));
  check(nax::detail::make_expr<Rule>(leaf<double>(), leaf<double>(), leaf<double>(), leaf<double>()));
}
template <class Rule>
void check_3() {
  check(nax::detail::make_expr<Rule>(leaf<float>(), leaf<float>(), leaf<float>()));
  check(nax::detail::make_expr<Rule>(leaf<double>(), leaf<double>(), leaf<double>()));
}

}  // namespace rules_of_formulas
