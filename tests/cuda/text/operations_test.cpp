#include <gtest/gtest.h>

#include <set>

#include "cuda/text/host_compiler.hpp"
#include "cuda/text/texts.hpp"

// Texts of formulas, compiled for the host, against the interpreter.
namespace text_operations_test {

using namespace texts;

// All operations and some random formulas of both types, as one library.
template <class T>
std::vector<Case> all_cases() {
  std::vector<Case> all = cases<T>();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Formula f = nax::formula::lowered(formulas::random_formula<T>(seed, 3, 30));
    bool has_text = true;
    for (const auto& step : f.steps)
      if (step.operation == nax::formula::Operation::call)
        has_text = has_text && nax::formula::detail::has_text(step.function());
    if (has_text) all.push_back({"random formula " + std::to_string(seed), f, calls(f), true});
  }
  return all;
}
struct HostTexts {
  std::vector<Case> floats = all_cases<float>(), doubles = all_cases<double>();
  TextFile file;
  std::unique_ptr<host_text::Library> library;
  HostTexts() {
    for (const Case& c : floats) file.add(c.lowered);
    for (const Case& c : doubles) file.add(c.lowered);
    library = std::make_unique<host_text::Library>(file.text());
  }
};
const HostTexts& host_texts() {
  static const HostTexts all;
  return all;
}

// Functions of the library are glibc's on both sides, but for those that packets compute otherwise. Without
// fused products of the processor's, packets round a product and a sum apart, which the texts do not.
bool calls_own_function(const Formula& f) {
  for (const auto& step : f.steps)
    if (step.operation == nax::formula::Operation::call)
      for (const char* name : {"pow", "lgamma", "polygamma"})
        if (std::strcmp(step.function().name, name) == 0) return true;
  return false;
}
template <class T>
void compare(const std::vector<Case>& all, int first) {
  const auto inputs = case_inputs<T>();
  int exact = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Case& c = all[k];
    const auto call = host_texts().library->call("call_" + std::to_string(first + static_cast<int>(k)));
    ASSERT_NE(call, nullptr) << c.name;
    const auto results = results_by<T>(c.lowered, inputs, [&](const auto& words) { call(words.data()); });
    const auto expected = expected_results<T>(c.lowered, inputs);
    if (!calls_own_function(c.lowered) && nax::simd::fused) {
      EXPECT_EQ(formulas::difference(expected, results), "") << c.name << "\n" << c.lowered.text();
      ++exact;
    } else if (!c.random) {
      EXPECT_LE(worst_ulps(expected, results), 4) << c.name << "\n" << c.lowered.text();
    }
  }
  EXPECT_GT(exact, nax::simd::fused ? 80 : -1);
}
TEST(FormulaText, FloatsHaveTheInterpretersBits) { compare<float>(host_texts().floats, 0); }
TEST(FormulaText, DoublesHaveTheInterpretersBits) {
  compare<double>(host_texts().doubles, static_cast<int>(host_texts().floats.size()));
}

TEST(FormulaText, CoversEveryOperation) {
  std::set<std::string> names;
  for (const Case& c : cases<float>()) names.insert(c.name);
  for (int at = 0; at < static_cast<int>(std::size(nax::formula::operation_facts)); ++at) {
    const auto operation = static_cast<nax::formula::Operation>(at);
    const auto& about = nax::formula::facts(operation);
    const bool is_there = about.arity > 0 && about.types != nax::formula::OperandTypes::several;
    EXPECT_EQ(names.count(about.name), is_there ? 1u : 0u) << about.name;
  }
}

struct Unnamed {
  float operator()(float x) const { return x; }
};
TEST(FormulaText, RefusesWhatItCannotWrite) {
  using namespace nax::formula;
  const auto message = [](const Formula& f) {
    try {
      text_of(f);
    } catch (const nax::ValueError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Recorder recorder(nax::DType::float32);
  const auto x = Symbol<float>::input(0);
  const Formula plain = recorder.finish({exp(x).at}), special = recorder.finish({by_lanes(Unnamed(), x).at});
  EXPECT_NE(message(plain).find("no text of exp; call lowered first"), std::string::npos) << message(plain);
  EXPECT_NE(message(lowered(special)).find("no text of a function of lanes, by_lanes"), std::string::npos)
      << message(lowered(special));
  const Formula f = lowered(plain);
  EXPECT_THROW(kernel_text({&f, 1, 0, {{nax::DType::float32, TextAccess::strided}}, 1, 1}),
               nax::ValueError);  // no result
}

}  // namespace text_operations_test
