#include <gtest/gtest.h>

#include <cstdlib>

#include "formula/formulas.hpp"

// Random formulas have equal bits block by block and by the machine code of each processor.
namespace fuzz_test {

using namespace formulas;

template <class T>
void compare_ways(int count, std::uint64_t first_seed) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    std::mt19937_64 random(seed);
    const int inputs = 1 + static_cast<int>(random() % 5);
    // Some formulas are too large for the registers.
    const int steps = 1 + static_cast<int>(random() % (random() % 8 == 0 ? 150 : 24));
    const Formula f = random_formula<T>(seed, inputs, steps);
    const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 70);
    std::vector<std::vector<T>> operands;
    for (int k = 0; k < inputs; ++k)
      operands.push_back(numbers<T>(random() % 4 == 0 ? 1 : static_cast<std::size_t>(n), random()));
    std::vector<std::vector<T>> expected;
    for (const Machine machine : machines()) {
      const Kernel kernel(f, machine);
      const auto results = results_of(kernel, operands, n);
      if (machine == Machine::none) expected = results;
      const std::string text = difference(expected, results);
      ASSERT_EQ(text, "") << name(machine) << ", seed " << seed << ", n " << n << "\n"
                          << kernel.lowered().text();
    }
  }
}
int count() {
  const char* const text = std::getenv("NAX_FUZZ_FORMULAS");
  return text == nullptr ? 500 : std::atoi(text);
}

TEST(FormulaFuzz, FloatsHaveTheSameBitsByEveryWay) { compare_ways<float>(count(), 1); }
TEST(FormulaFuzz, DoublesHaveTheSameBitsByEveryWay) { compare_ways<double>(count(), 1000000); }

}  // namespace fuzz_test
