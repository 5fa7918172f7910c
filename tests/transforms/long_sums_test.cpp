#include "support/long_sums.hpp"

// Gradients of what was broadcast: sums of as many terms as there are copies.
namespace long_sums_test {

using namespace long_sums;
using nax::sum;

// The gradients of sum(x * leaf) and of sum((x * leaf) * 1), once along with the value and once by a node of
// its own: x summed over what the leaf lacks.
template <class Leaf>
void expect_gradient(const Leaf& leaf, const Array<float>& x, const Sums& want, Terms which,
                     const char* what) {
  const auto fused = nax::grad([&](const Array<float>& v) { return sum(x * v); });
  expect(fused(leaf).reshape({-1}), want, which, what);
  const auto apart = nax::grad([&](const Array<float>& v) {
    const Array<float> y = x * v;
    return sum(y);
  });
  expect(apart(leaf).reshape({-1}), want, which, what);
  const auto functions = nax::grad([&](const Array<float>& v) { return sum(nax::exp(v) * x); });
  expect(functions(leaf).reshape({-1}), want, which, what);
}

TEST(LongGradients, row) {
  for (const std::int64_t columns : {1, 10, 70}) {
    const std::int64_t rows = many / (columns == 1 ? 1 : 8) / columns;
    for (const Terms which : all_terms) {
      const Array<float> x = terms(which, {rows, columns});
      expect_gradient(nax::zeros<float>({columns}), x, sums_of(x, rows, columns, 0), which, "a row");
    }
  }
}

TEST(LongGradients, column) {
  const std::int64_t rows = 3, columns = many / 6;
  for (const Terms which : all_terms) {
    const Array<float> x = terms(which, {rows, columns});
    expect_gradient(nax::zeros<float>({rows, 1}), x, sums_of(x, rows, columns, 1), which, "a column");
  }
}

TEST(LongGradients, number) {
  for (const Terms which : all_terms) {
    const Array<float> x = terms(which, {many / 48, 48});
    expect_gradient(Array<float>(0.f), x, sums_of(x, 1, x.size(), 1), which, "a number");
    const Array<float> part = x(nax::ellipsis, nax::slice(0, 40));
    expect_gradient(Array<float>(0.f), part, sums_of(nax::copy(part), 1, part.size(), 1), which,
                    "a number, over part of the columns");
  }
}

}  // namespace long_sums_test
