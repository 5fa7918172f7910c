#include <gtest/gtest.h>

#include <thread>

#include "formula/formulas.hpp"

// Kernels of formulas: lengths, strides of operands, many operands, threads, the cache.
namespace kernels_test {

using namespace formulas;

template <class T>
Formula example() {
  Recorder recorder(type_of<T>);
  const auto x = Symbol<T>::input(0), y = Symbol<T>::input(1);
  const auto z = exp(sin(x)) * y + erfc(y);
  return recorder.finish({z.at, (x < y).at});
}

template <class T>
void compare_lengths_and_strides() {
  const Formula f = example<T>();
  const auto x = numbers<T>(2000, 1), y = numbers<T>(1000, 2);
  for (const Machine machine : machines()) {
    const Kernel kernel(f, machine);
    for (const std::int64_t n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 199})
      for (const std::int64_t x_stride : {-3, -1, 0, 1, 2, 5})
        for (const std::int64_t out_stride : {-1, 1, 3}) {
          std::vector<T> z(1200, T(-7)), less(800, T(-7));
          const Line in[] = {{x.data() + 600, x_stride}, {y.data(), 1}};
          const Target out[] = {{z.data() + 400, out_stride}, {less.data() + 10, 1}};
          kernel.run(in, out, n);
          // Each element alone gives the same, and nothing beside them is written.
          for (std::int64_t i = 0; i < n; ++i) {
            const Line one_in[] = {{x.data() + 600 + i * x_stride, 1}, {y.data() + i, 1}};
            T value, truth;
            const Target one_out[] = {{&value, 1}, {&truth, 1}};
            interpret(kernel.lowered(), one_in, one_out, 1);
            T& result = z[static_cast<std::size_t>(400 + i * out_stride)];
            ASSERT_TRUE(same_bits(value, result)) << name(machine) << " " << n << " " << x_stride << " " << i;
            ASSERT_EQ(truth, less[static_cast<std::size_t>(10 + i)]);
            result = T(-7);
            less[static_cast<std::size_t>(10 + i)] = T(-7);
          }
          EXPECT_EQ(z, std::vector<T>(1200, T(-7)));
          EXPECT_EQ(less, std::vector<T>(800, T(-7)));
        }
  }
}
TEST(FormulaKernels, LengthsAndStridesOfFloats) { compare_lengths_and_strides<float>(); }
TEST(FormulaKernels, LengthsAndStridesOfDoubles) { compare_lengths_and_strides<double>(); }

// On 64-bit ARM programs that use formulas need nothing else for it (tests/arm.sh).
TEST(FormulaKernels, RunAsMachineCode) {
#if defined(__aarch64__)
  ASSERT_NE(code_maker, nullptr);
  EXPECT_EQ(code_maker->best_machine(), Machine::neon);
#endif
  for (const Machine machine : machines()) {
    if (machine == Machine::none) continue;
    const Kernel kernel(example<float>(), machine);
    const Access accesses[] = {Access::contiguous, Access::repeated, Access::contiguous, Access::strided};
    const Code* const code = kernel.code(accesses);
    ASSERT_NE(code, nullptr) << name(machine);
    const auto x = numbers<float>(37, 8);
    const float y = 0.75f;
    std::vector<float> z(37), less(74), expected_z(37), expected_less(74);
    const void* const in[] = {x.data(), &y};
    void* const out[] = {z.data(), less.data()};
    const std::int64_t in_strides[] = {4, 0}, out_strides[] = {4, 8};
    const CodeArguments arguments{in, in_strides, out, out_strides, 37};
    code->entry(&arguments);
    const Line lines[] = {{x.data(), 1}, {&y, 0}};
    const Target targets[] = {{expected_z.data(), 1}, {expected_less.data(), 2}};
    interpret(kernel.lowered(), lines, targets, 37);
    for (std::size_t i = 0; i < z.size(); ++i)
      EXPECT_TRUE(same_bits(z[i], expected_z[i])) << name(machine) << " " << i;
    EXPECT_EQ(less, expected_less) << name(machine);
  }
}

// A summed result is one packet: with the lanes of the tail, and of no others.
template <class T>
void expect_sums() {
  Recorder recorder(type_of<T>);
  const auto x = Symbol<T>::input(0), y = Symbol<T>::input(1);
  const Formula f = recorder.finish({(x * y).at, (y / x).at, (x + y).at});
  for (const Machine machine : machines()) {
    if (machine == Machine::none) continue;
    const Kernel kernel(f, machine);
    const Access accesses[] = {Access::contiguous, Access::repeated, Access::contiguous, Access::summed,
                               Access::summed};
    const Code* const code = kernel.code(accesses);
    ASSERT_NE(code, nullptr) << name(machine);
    for (std::size_t n = 1; n < 70; ++n) {
      std::vector<T> a(n), stored(n + 1, T(-7));
      for (std::size_t i = 0; i < n; ++i) a[i] = T(1) / static_cast<T>(1 << i % 8);
      const T b = T(0.5);
      alignas(64) T sums[2][64 / sizeof(T)] = {};
      const void* const in[] = {a.data(), &b};
      void* const out[] = {stored.data(), sums[0], sums[1]};
      const std::int64_t size = sizeof(T), strides[] = {size, 0, size, 0, 0};
      kernel.run(code, in, out, strides, static_cast<std::int64_t>(n));
      T expected[2] = {}, found[2] = {};
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(stored[i], a[i] * b);
        expected[0] += b / a[i];
        expected[1] += a[i] + b;
      }
      EXPECT_EQ(stored[n], T(-7));
      for (int k = 0; k < 2; ++k)
        for (const T lane : sums[k]) found[k] += lane;
      EXPECT_EQ(found[0], expected[0]) << name(machine) << " " << n;
      EXPECT_EQ(found[1], expected[1]) << name(machine) << " " << n;
    }
  }
}
TEST(FormulaKernels, SumResultsOfFloats) { expect_sums<float>(); }
TEST(FormulaKernels, SumResultsOfDoubles) { expect_sums<double>(); }

TEST(FormulaKernels, ResultsMayLieWhereInputsDo) {
  Recorder recorder(nax::DType::float32);
  const auto x = Symbol<float>::input(0), y = Symbol<float>::input(1);
  const Formula f = recorder.finish({(x + y).at, (x - y).at});
  for (const Machine machine : machines()) {
    std::vector<float> a(1000, 3), b(1000, 2);
    const Line in[] = {{a.data(), 1}, {b.data(), 1}};
    const Target out[] = {{a.data(), 1}, {b.data(), 1}};
    Kernel(f, machine).run(in, out, 1000);
    EXPECT_EQ(a, std::vector<float>(1000, 5)) << name(machine);
    EXPECT_EQ(b, std::vector<float>(1000, 1)) << name(machine);
  }
}

// An input that is a result is read before another result is stored where it lies.
TEST(FormulaKernels, InputsThatAreResultsMayChangePlaces) {
  constexpr int count = 40;  // more than there are registers
  Recorder recorder(nax::DType::float64);
  std::vector<int> results;
  for (int i = 0; i < count; ++i) results.push_back(recorder.input((i + 1) % count));
  results[3] = (Symbol<double>::input(4) + Symbol<double>(1)).at;
  Formula f = recorder.finish(results);
  for (const Machine machine : machines())
    for (const int stride : {1, 2}) {
      std::vector<std::vector<double>> x;
      std::vector<Line> in;
      std::vector<Target> out;
      for (int i = 0; i < count; ++i) x.emplace_back(80, i);
      for (auto& values : x) in.push_back({values.data(), stride}), out.push_back({values.data(), stride});
      Kernel(f, machine).run(in.data(), out.data(), 33);
      for (int i = 0; i < count; ++i)
        for (const int at : {0, 32})
          EXPECT_EQ(x[static_cast<std::size_t>(i)][static_cast<std::size_t>(at * stride)],
                    i == 3 ? 5 : (i + 1) % count)
              << name(machine) << " " << stride << " " << i;
    }
}

TEST(FormulaKernels, MoreOperandsThanRegisters) {
  Recorder recorder(nax::DType::float64);
  Symbol<double> sum(0), product(1);
  for (int i = 0; i < 40; ++i) {
    sum += Symbol<double>::input(i) * Symbol<double>(i + 0.5);
    product = product * select(Symbol<double>::input(39 - i) < Symbol<double>(2), sum, Symbol<double>(1));
  }
  std::vector<int> results{product.at};
  for (int i = 0; i < 20; ++i) results.push_back((sum * Symbol<double>::input(i)).at);
  const Formula f = recorder.finish(results);
  std::vector<std::vector<double>> inputs;
  for (std::uint64_t i = 0; i < 40; ++i) inputs.push_back(numbers<double>(37, i));
  const auto expected = results_of(Kernel(f, Machine::none), inputs, 37);
  for (const Machine machine : machines())
    EXPECT_EQ(difference(expected, results_of(Kernel(f, machine), inputs, 37)), "") << name(machine);
}

TEST(FormulaKernels, TakeAnyNumberOfOperands) {
  Recorder recorder(nax::DType::float32);
  Symbol<float> sum(0);
  for (int i = 0; i < 90; ++i) sum += Symbol<float>::input(i);
  const Formula f = recorder.finish({sum.at});
  const std::vector<std::vector<float>> inputs(90, std::vector<float>(21, 1));
  for (const Machine machine : machines()) {
    const Kernel kernel(f, machine);
    EXPECT_EQ(results_of(kernel, inputs, 21)[0][20], 90) << name(machine);
  }
}

// More than instructions reach in the tables of operands, on the stack and among the constants.
TEST(FormulaKernels, TakeThousandsOfOperands) {
  constexpr int count = 5000;
  Recorder recorder(nax::DType::float32);
  Symbol<float> sum(0);
  for (int i = 0; i < count; ++i)
    sum = select(sum < Symbol<float>(i + 0.5f), Symbol<float>::input(i), sum) * Symbol<float>(i + 0.25f);
  for (int i = count; i-- > 0;) sum += Symbol<float>::input(i);
  const Formula f = recorder.finish({sum.at});
  const auto x = numbers<float>(40, 9);
  std::vector<Line> in;
  for (int i = 0; i < count; ++i) in.push_back({x.data() + i % 7, i % 3});
  const auto run = [&](Machine machine) {
    std::vector<float> y(11);
    const Target out{y.data(), 1};
    Kernel(f, machine).run(in.data(), &out, 11);
    return y;
  };
  const std::vector<std::vector<float>> expected{run(Machine::none)};
  for (const Machine machine : machines())
    EXPECT_EQ(difference(expected, {run(machine)}), "") << name(machine);
}

// Beyond some dozens of ways in which operands lie, blocks serve.
TEST(FormulaKernels, MakeCodeForABoundedNumberOfLayouts) {
  Recorder recorder(nax::DType::float32);
  Symbol<float> sum(0);
  for (int i = 0; i < 7; ++i) sum += Symbol<float>::input(i);
  const Kernel kernel(recorder.finish({sum.at}));
  const std::vector<float> x(20, 1);
  for (int way = 0; way < 128; ++way) {
    std::vector<Line> in;
    for (int i = 0; i < 7; ++i) in.push_back({x.data(), way >> i & 1});
    std::vector<float> y(20);
    const Target out{y.data(), 1};
    kernel.run(in.data(), &out, 20);
    EXPECT_EQ(y, std::vector<float>(20, 7)) << way;
  }
}

TEST(FormulaKernels, EqualFormulasShareAKernel) {
  const auto first = kernel_of(example<float>()), again = kernel_of(example<float>());
  EXPECT_EQ(first, again);
  EXPECT_NE(first, kernel_of(example<double>()));
  // Kernels in use stay in a full cache.
  for (int i = 0; i < 600; ++i) {
    Recorder recorder(nax::DType::float32);
    kernel_of(recorder.finish({(Symbol<float>::input(0) * Symbol<float>(i + 2)).at}));
  }
  const std::vector<float> x{1}, y{2};
  float z, less;
  const Line in[] = {{x.data(), 1}, {y.data(), 1}};
  const Target out[] = {{&z, 1}, {&less, 1}};
  first->run(in, out, 1);
  EXPECT_EQ(less, 1);
}

TEST(FormulaKernels, RunOnSeveralThreads) {
  const Formula f = example<double>();
  const std::vector<std::vector<double>> inputs{numbers<double>(300, 5), numbers<double>(300, 6)};
  const auto expected = results_of(Kernel(f, Machine::none), inputs, 300);
  std::vector<std::string> differences(4);
  std::vector<std::thread> threads;
  for (auto& text : differences)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) text += difference(expected, results_of(*kernel_of(f), inputs, 300));
    });
  for (auto& thread : threads) thread.join();
  for (const auto& text : differences) EXPECT_EQ(text, "");
}

}  // namespace kernels_test
