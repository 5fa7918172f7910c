#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "nax/formula/kernel.hpp"
#include "nax/formula/symbol.hpp"

// Random formulas and their operands, and results by each way to run one.
namespace formulas {

using namespace nax::formula;

template <class T>
inline constexpr nax::DType type_of = std::is_same_v<T, float> ? nax::DType::float32 : nax::DType::float64;

inline std::vector<Machine> machines() {
  std::vector<Machine> all{Machine::none};
  if (code_maker == nullptr) return all;
  const Machine best = code_maker->best_machine();
  if (best == Machine::avx512) all.push_back(Machine::avx2);
  if (best != Machine::none) all.push_back(best);
  return all;
}
inline const char* name(Machine machine) {
  constexpr const char* names[] = {"blocks", "AVX2", "AVX-512", "NEON"};
  return names[static_cast<int>(machine)];
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

// Numbers of all sizes, some of them special.
template <class T>
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random_(seed) {}
  T operator()() {
    constexpr T special[] = {T(0),
                             T(-0.0),
                             T(1),
                             T(-1),
                             T(0.5),
                             T(2),
                             std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(),
                             std::numeric_limits<T>::quiet_NaN(),
                             std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::denorm_min(),
                             -std::numeric_limits<T>::denorm_min(),
                             std::numeric_limits<T>::max(),
                             std::numeric_limits<T>::lowest()};
    if (random_() % 5 == 0) return special[random_() % std::size(special)];
    const T x = std::uniform_real_distribution<T>(T(-4), T(4))(random_);
    return random_() % 8 == 0 ? std::ldexp(x, static_cast<int>(random_() % 200) - 100) : x;
  }
  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
};

template <class T>
std::vector<T> numbers(std::size_t n, std::uint64_t seed) {
  Numbers<T> next(seed);
  std::vector<T> x(n);
  for (T& value : x) value = next();
  return x;
}

// All results of a formula by one way; inputs lie `stride` apart.
template <class T>
std::vector<std::vector<T>> results_of(const Kernel& kernel, const std::vector<std::vector<T>>& inputs,
                                       std::int64_t n) {
  std::vector<Line> lines;
  for (const auto& input : inputs) lines.push_back({input.data(), input.size() == 1 ? 0 : 1});
  std::vector<std::vector<T>> results(kernel.lowered().results.size(),
                                      std::vector<T>(static_cast<std::size_t>(n) + 1, T(-7)));
  std::vector<Target> targets;
  for (auto& result : results) targets.push_back({result.data(), 1});
  kernel.run(lines.data(), targets.data(), n);
  return results;
}

// Describes the first difference in bits between two ways; empty if there is none. (All NaN are equal.)
template <class T>
std::string difference(const std::vector<std::vector<T>>& a, const std::vector<std::vector<T>>& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < a[k].size(); ++i)
      if (!same_bits(a[k][i], b[k][i]))
        return "result " + std::to_string(k) + ", element " + std::to_string(i) + ": " +
               std::to_string(a[k][i]) + " and " + std::to_string(b[k][i]);
  return {};
}

// A formula of about `steps` random operations on `inputs` numbers.
template <class T>
Formula random_formula(std::uint64_t seed, int inputs, int steps) {
  Numbers<T> next(seed);
  std::mt19937_64& random = next.random();
  Recorder recorder(type_of<T>);
  std::vector<int> numbers, truths;
  for (int i = 0; i < inputs; ++i) numbers.push_back(recorder.input(i));
  for (int i = 0; i < 3; ++i) numbers.push_back(Symbol<T>(next()).at);
  truths.push_back(recorder.record(Operation::less, {numbers[0], numbers.back()}));
  const auto number = [&] { return numbers[random() % numbers.size()]; };
  const auto truth = [&] { return truths[random() % truths.size()]; };
  // The bits of a NaN are not those of another.
  const auto no_nan = [&] {
    const Symbol<T> x = Symbol<T>::of(number());
    return select(x == x, x, Symbol<T>(1)).at;
  };
  const auto place = [&](Operation operation, int j) {
    switch (operation) {
      case Operation::both:
      case Operation::either:
      case Operation::differ:
      case Operation::opposite:
        return truth();
      case Operation::select:
      case Operation::keep:
      case Operation::unless_ended:
        return j == 0 ? truth() : number();
      case Operation::copysign:
        return j == 1 ? no_nan() : number();
      case Operation::bit:
      case Operation::sign_bit:
      case Operation::limited:
        return no_nan();
      default:
        return number();
    }
  };
  constexpr int count = static_cast<int>(std::size(operation_facts));
  for (int made = 0; made < steps;) {
    const Operation operation = static_cast<Operation>(random() % count);
    const int arity = facts(operation).arity;
    // Operations with a limited domain, and slow ones.
    if (arity == 0 || operation == Operation::scale || operation == Operation::polygamma ||
        operation == Operation::with_sign || operation == Operation::mantissa ||
        operation == Operation::exponent || facts(operation).types == OperandTypes::several)
      continue;
    const std::uint64_t detail = operation == Operation::bit ? random() % 2 : 0;
    int at = 0;
    if (arity == 1)
      at = recorder.record(operation, {place(operation, 0)}, detail);
    else if (arity == 2)
      at = recorder.record(operation, {place(operation, 0), place(operation, 1)});
    else
      at = recorder.record(operation, {place(operation, 0), place(operation, 1), place(operation, 2)});
    (facts(recorder.step(at).operation).truth ? truths : numbers).push_back(at);
    ++made;
  }
  std::vector<int> results{numbers.back(), truths.back()};
  for (std::uint64_t k = random() % 3; k > 0; --k) results.push_back(number());
  Formula f = recorder.finish(results);
  f.inputs = inputs;
  return f;
}

}  // namespace formulas
