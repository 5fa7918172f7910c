#include <gtest/gtest.h>

#include <cstdlib>

#include "formula/formulas.hpp"

// Random formulas of several types have equal bits block by block and by the machine code of each processor.
namespace mixed_test {

using namespace formulas;
using nax::DType;

constexpr DType all_types[] = {DType::boolean,  DType::int8,    DType::int16,  DType::int32,  DType::int64,
                               DType::uint8,    DType::uint16,  DType::uint32, DType::uint64, DType::float16,
                               DType::bfloat16, DType::float32, DType::float64};

// Elements of a type, some of them at its ends.
std::vector<unsigned char> elements(DType type, std::size_t n, std::mt19937_64& random) {
  const std::size_t size = nax::dtype_size(type);
  std::vector<unsigned char> bytes(n * size);
  Numbers<double> next(random());
  for (std::size_t i = 0; i < n; ++i) {
    unsigned char* const to = &bytes[i * size];
    const auto put = [&](auto x) { std::memcpy(to, &x, sizeof x); };
    switch (type) {
      case DType::boolean:
        put(random() % 2 == 0);
        break;
      case DType::float16:
        put(nax::half(next()));
        break;
      case DType::bfloat16:
        put(nax::bfloat16(next()));
        break;
      case DType::float32:
        put(random() % 8 == 0 ? static_cast<float>(std::ldexp(next(), 31)) : static_cast<float>(next()));
        break;
      case DType::float64:
        put(random() % 8 == 0 ? std::ldexp(next(), 63) : next());
        break;
      default: {
        const std::uint64_t bits = random(), kind = random() % 4;
        const std::uint64_t x = kind == 0 ? bits : kind == 1 ? bits % 16 - 8 : std::uint64_t{1} << bits % 64;
        const std::uint64_t value = kind == 3 ? x - 1 : x;
        std::memcpy(to, &value, size);
      }
    }
  }
  return bytes;
}

struct Made {
  Formula formula;
  std::vector<DType> inputs;
};
// Numbers that are NaN differ in bits from way to way, so formulas choose of types whose steps keep them
// apart.
Made random_mixed(std::mt19937_64& random, int steps) {
  std::vector<DType> types;
  for (std::uint64_t k = 1 + random() % 4; k > 0; --k)
    types.push_back(all_types[random() % std::size(all_types)]);
  Made made;
  Recorder recorder(DType::float32);
  std::vector<int> numbers, truths;
  for (const DType type : types) {
    numbers.push_back(recorder.input(static_cast<int>(made.inputs.size()), type));
    made.inputs.push_back(type);
    const double constant = static_cast<double>(random() % 9) - 4;
    numbers.push_back(recorder.constant(type == DType::boolean ? constant > 0 : constant, type));
  }
  const auto type_of = [&](int at) { return nax::detail::lane_of(recorder.step(at).type); };
  const auto number = [&] { return numbers[random() % numbers.size()]; };
  // Of the type of another.
  const auto beside = [&](int x) {
    for (int tries = 0; tries < 8; ++tries)
      if (const int y = number(); type_of(y) == type_of(x)) return y;
    return x;
  };
  truths.push_back(recorder.record(Operation::less, {numbers[0], beside(numbers[0])}));
  const auto truth = [&] { return truths[random() % truths.size()]; };
  while (steps-- > 0) {
    const int x = number(), y = beside(x);
    const bool whole = nax::dtype_kind(type_of(x)) != nax::Kind::floating;
    constexpr Operation two[] = {Operation::add,     Operation::subtract, Operation::multiply,
                                 Operation::maximum, Operation::minimum,  Operation::at_least,
                                 Operation::at_most};
    constexpr Operation bits[] = {Operation::bit_and, Operation::bit_or, Operation::bit_xor};
    constexpr Operation compares[] = {Operation::equal, Operation::not_equal, Operation::less,
                                      Operation::less_equal};
    constexpr Operation logic[] = {Operation::both, Operation::either, Operation::differ};
    switch (random() % 9) {
      case 0:
        truths.push_back(recorder.record(compares[random() % 4], {x, y}));
        break;
      case 1:
        truths.push_back(recorder.record(logic[random() % 3], {truth(), truth()}));
        break;
      case 2:
        numbers.push_back(recorder.record(Operation::select, {truth(), x, y}));
        break;
      case 3: {
        const DType to = all_types[random() % std::size(all_types)];
        const bool of_truth = random() % 4 == 0;
        numbers.push_back(recorder.convert(of_truth ? truth() : x, to));
        break;
      }
      case 4:
        if (type_of(x) != DType::boolean)
          numbers.push_back(recorder.record(random() % 2 ? Operation::negative : Operation::absolute, {x}));
        break;
      case 5:
        if (whole && type_of(x) != DType::boolean)
          numbers.push_back(random() % 4 == 0 ? recorder.record(Operation::bit_not, {x})
                                              : recorder.record(bits[random() % 3], {x, y}));
        else if (!whole)
          numbers.push_back(recorder.record(random() % 2 ? Operation::sqrt : Operation::tanh, {x}));
        break;
      default:
        if (type_of(x) != DType::boolean) numbers.push_back(recorder.record(two[random() % 7], {x, y}));
    }
  }
  std::vector<int> results{numbers.back()};
  for (std::uint64_t k = random() % 3; k > 0; --k) results.push_back(number());
  results.push_back(recorder.convert(truths.back(), DType::boolean));
  made.formula = recorder.finish(results);
  made.formula.inputs = static_cast<int>(made.inputs.size());
  return made;
}

bool is_nan(DType type, const unsigned char* x) {
  const auto read = [&](auto value) {
    std::memcpy(&value, x, sizeof value);
    return value != value;
  };
  switch (type) {
    case DType::float16:
      return read(nax::half());
    case DType::bfloat16:
      return read(nax::bfloat16());
    case DType::float32:
      return read(0.f);
    case DType::float64:
      return read(0.);
    default:
      return false;
  }
}

int count() {
  const char* const text = std::getenv("NAX_FUZZ_FORMULAS");
  return text == nullptr ? 1000 : std::atoi(text);
}

TEST(FormulaFuzz, SeveralTypesHaveTheSameBitsByEveryWay) {
  int by_code = 0;
  for (int seed = 0; seed < count(); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const Made made = random_mixed(random, 1 + static_cast<int>(random() % (seed % 8 == 0 ? 120 : 16)));
    const std::size_t n = 1 + random() % 70;
    std::vector<std::vector<unsigned char>> operands;
    std::vector<Line> lines;
    for (const DType type : made.inputs) {
      const std::int64_t stride = static_cast<std::int64_t>(random() % 3);
      operands.push_back(elements(type, n * 2, random));
      lines.push_back({operands.back().data(), stride});
    }
    const std::int64_t to_stride = 1 + static_cast<std::int64_t>(random() % 4 == 0);
    std::vector<std::vector<unsigned char>> expected;
    for (const Machine machine : machines()) {
      const Kernel kernel(made.formula, machine);
      const std::vector<DType> types = kernel.lowered().result_types();
      std::vector<std::vector<unsigned char>> results;
      std::vector<Target> targets;
      for (const DType type : types) {
        results.emplace_back((2 * n + 1) * nax::dtype_size(type), std::uint8_t{0x5a});
        targets.push_back({results.back().data(), to_stride});
      }
      kernel.run(lines.data(), targets.data(), static_cast<std::int64_t>(n));
      by_code += kernel.is_machine_code();
      if (machine == Machine::none) {
        expected = results;
        continue;
      }
      for (std::size_t k = 0; k < types.size(); ++k) {
        const std::size_t size = nax::dtype_size(types[k]);
        for (std::size_t i = 0; i < results[k].size(); i += size) {
          const unsigned char *a = &expected[k][i], *b = &results[k][i];
          if (is_nan(types[k], a) && is_nan(types[k], b)) continue;
          ASSERT_EQ(std::memcmp(a, b, size), 0)
              << name(machine) << ", seed " << seed << ", n " << n << ", result " << k << ", element "
              << i / size << ' ' << kernel.is_machine_code() << "\n"
              << kernel.lowered().text();
        }
      }
    }
  }
  EXPECT_GE(by_code, machines().size() > 1 ? count() / 2 : 0);
}

}  // namespace mixed_test
