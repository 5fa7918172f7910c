#include <gtest/gtest.h>

#include <clocale>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nax/io/file.hpp>
#include <nax/modules/exporting/save_c.hpp>
#include <nax/nax.hpp>
#include <set>

#include "exporting/functions.hpp"
#include "support/text_of.hpp"

// Files of save_c, compiled by this machine's compiler of C and run: they compute what nax does, to 1e-5.
namespace c_test {
using namespace nax;
using exported::draw;
using A = Array<float>;
namespace fs = std::filesystem;

struct Folder {
  std::string path = testing::TempDir() + "nax_" + std::to_string(::getpid()) + "_c";
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};
std::string to_name(const Shape& shape) {
  std::string name;
  for (const std::int64_t n : shape) name += '_' + std::to_string(n);
  return name;
}
bool has_compiler() { return std::system("cc --version > /dev/null 2>&1") == 0; }
std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Functions as C, and a program that calls them with the bytes of files.
class Program {
 public:
  template <class F, class... X>
  void add(const std::string& name, const F& f, const X&... x) {
    io::SaveCOptions options;
    if (sizeof...(x) == 1) options.inputs = {"x"}, options.outputs = {"y"};
    add_with(options, name, f, x...);
  }
  template <class F, class... X>
  void add_with(const io::SaveCOptions& options, const std::string& name, const F& f, const X&... x) {
    const std::string path = folder_.path + "/f_" + name;
    try {
      io::save_c(path + ".c", f, std::tuple(x...), options);
    } catch (const ValueError& e) {
      refused[name] = e.what();
      return;
    }
    calls_ += "  {\n    const char* const name = \"" + path + "\";\n";
    std::string call;
    int count = 0;
    const auto argument = [&](const auto& a) {
      const std::string own = "p" + std::to_string(count);
      const auto bytes = static_cast<std::size_t>(a.size()) * sizeof(a.data()[0]);
      std::ofstream(path + ".in" + std::to_string(count), std::ios::binary)
          .write(reinterpret_cast<const char*>(a.data()), static_cast<std::streamsize>(bytes));
      calls_ += "    void* const " + own + " = get(name, " + std::to_string(count++) + ", " +
                std::to_string(bytes) + ");\n";
      call += own + ", ";
    };
    (argument(copy(x)), ...);
    const auto y = f(x...);
    const auto bytes =
        static_cast<std::size_t>(y.size()) * sizeof(typename std::decay_t<decltype(y)>::value_type);
    calls_ += "    void* const y = malloc(" + std::to_string(bytes) + ");\n    f_" + name + '(' + call +
              "y);\n    put(name, y, " + std::to_string(bytes) + ");\n  }\n";
    includes_ += "#include \"f_" + name + ".h\"\n";
    sources_ += ' ' + path + ".c";
    checks_.push_back([path, name, y, bytes] {
      using T = typename std::decay_t<decltype(y)>::value_type;
      std::vector<char> raw(bytes);
      std::ifstream file(path + ".out", std::ios::binary);
      file.read(raw.data(), static_cast<std::streamsize>(bytes));
      ASSERT_EQ(file.gcount(), static_cast<std::streamsize>(bytes)) << name;
      std::vector<T> numbers(static_cast<std::size_t>(y.size()));
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        T x;
        std::memcpy(&x, raw.data() + i * sizeof x, sizeof x);
        numbers[i] = x;
      }
      const Array<T> found = array(numbers).reshape(y.shape());
      const Array<double> a = found.template astype<double>(), b = y.template astype<double>();
      EXPECT_TRUE(allclose(
          a, b, {.rtol = 1e-5, .atol = 1e-5 * max(where(isfinite(b), abs(b), 0.)).item(), .equal_nan = true}))
          << name;
    });
  }
  void run(const std::string& compiler) {
    const std::string main = folder_.path + "/main.c";
    std::ofstream(main) << includes_ << R"(#include <stdio.h>
#include <stdlib.h>
static void* get(const char* name, int number, size_t bytes) {
  char path[1000];
  snprintf(path, sizeof path, "%s.in%d", name, number);
  FILE* const file = fopen(path, "rb");
  char* const data = (char*)malloc(bytes);
  if (fread(data, 1, bytes, file) != bytes) exit(1);
  fclose(file);
  return data;
}
static void put(const char* name, const void* data, size_t bytes) {
  char path[1000];
  snprintf(path, sizeof path, "%s.out", name);
  FILE* const file = fopen(path, "wb");
  fwrite(data, 1, bytes, file);
  fclose(file);
}
int main(void) {
)" << calls_ << "  return 0;\n}\n";
    const std::string program = folder_.path + "/program";
    ASSERT_EQ(
        std::system(
            (compiler + " -I" + folder_.path + " -o " + program + ' ' + main + sources_ + " -lm").c_str()),
        0);
    ASSERT_EQ(std::system(program.c_str()), 0);
    for (const auto& check : checks_) check();
  }
  std::map<std::string, std::string> refused;

 private:
  Folder folder_;
  std::string includes_, calls_, sources_;
  std::vector<std::function<void()>> checks_;
};

TEST(SaveC, CompiledFilesCompute) {
  if (!has_compiler()) GTEST_SKIP() << "there is no cc";
  Program program;
  exported::add_all(program);
  program.run("cc -std=c11 -O1 -Wall -Wextra -Werror");
  ASSERT_EQ(program.refused.size(), 1u);
  EXPECT_EQ(program.refused["halves"], "save_c: cannot be written: arrays of float16");
}

struct Classifier {
  nn::Linear<float> a = nn::Linear<float>::make(random::key(0), {784, 128}),
                    b = nn::Linear<float>::make(random::key(1), {128, 10});
  A operator()(const A& x) const { return b(nn::relu(a(x))); }
};
TEST(SaveC, KernelsOfEachWidthCompute) {
  if (!has_compiler()) GTEST_SKIP() << "there is no cc";
  for (const char* const machine : {"", " -march=native"}) {
    Program program;
    program.add("classifier", Classifier(), draw(1, {1, 784}));
    program.add("batch", Classifier(), draw(1, {13, 784}));
    program.add(
        "doubles", [](const Array<double>& x) { return Array<double>(matmul(x, transpose(x))); },
        draw(2, {15, 21}).astype<double>());
    program.add(
        "integers", [](const Array<int>& x) { return Array<int>(matmul(x, transpose(x))); },
        arange<int>(12).reshape({3, 4}));
    EXPECT_TRUE(program.refused.empty());
    program.run(std::string("cc -std=c11 -O3 -Wall -Wextra -Werror") + machine);
  }
}

// A loop within a loop reads what both turns give.
TEST(SaveC, LoopsNest) {
  if (!has_compiler()) GTEST_SKIP() << "there is no cc";
  Program program;
  program.add(
      "nested",
      [](const A& x) {
        const A rows = arange<float>(33 * 3).reshape({33, 3}) / 100;
        const auto outer = [&](const A& carry, const A& row) {
          const auto inner = [&](const A& sum, const A& other) {
            return std::pair(A(sum + other * row + carry), A(sum * other));
          };
          const auto [sum, all] = lax::scan(inner, zeros<float>({3}), rows);
          return std::pair(A(tanh(sum / 100)), A(row + nax::sum(all)));
        };
        const auto [carry, all] = lax::scan(outer, ones<float>({3}), x);
        return concatenate({A(all), carry.reshape({1, 3})});
      },
      draw(1, {35, 3}));
  EXPECT_TRUE(program.refused.empty());
  program.run("cc -std=c11 -O1 -Wall -Wextra -Werror");
}

// Matrices of one constant, each at its own place.
TEST(SaveC, SlicesOfAConstantDiffer) {
  if (!has_compiler()) GTEST_SKIP() << "there is no cc";
  Program program;
  program.add(
      "products",
      [](const A& x) {
        const A w = arange<float>(32).reshape({2, 4, 4});
        return A(matmul(x, w(0)) + 2 * matmul(x, w(1)) - matmul(x, flip(w(1))));
      },
      draw(1, {3, 4}));
  program.add(
      "columns",
      [w = draw(3, {4, 9})](const A& x) {
        return A(matmul(x, w(_, slice(0, 3))) + 2 * matmul(x, w(_, slice(3, 6))) +
                 3 * matmul(x, w(_, slice(6, 9))));
      },
      draw(1, {3, 4}));
  program.add(
      "double_columns",
      [](const Array<double>& x) {
        const Array<double> w = arange<double>(32).reshape({4, 8});
        return Array<double>(matmul(x, w(_, slice(0, 4))) - matmul(x, w(_, slice(4, 8))));
      },
      draw(1, {3, 4}).astype<double>());
  program.add(
      "convolutions",
      [](const A& x) {
        const A w = arange<float>(2 * 3 * 4 * 5).reshape({2, 3, 4, 5});
        return A(nn::conv(x, w(0)) + 2 * nn::conv(x, w(1)));
      },
      draw(2, {2, 7, 4}));
  program.add(
      "kernels_columns",
      [](const A& x) {
        const A w = arange<float>(3 * 4 * 6).reshape({3, 4, 6});
        return A(nn::conv(x, w(_, _, slice(0, 3))) + 2 * nn::conv(x, w(_, _, slice(3, 6))));
      },
      draw(2, {2, 7, 4}));
  EXPECT_TRUE(program.refused.empty());
  program.run("cc -std=c11 -O1 -Wall -Wextra -Werror");
}

// A graph may have slices of a constant: each is packed for itself.
TEST(SaveC, SlicesOfOneNodeArePackedApart) {
  using namespace io::detail;
  const Folder folder;
  const std::vector<float> numbers(2 * 3 * 4 * 4, 1);
  using Integers = std::vector<std::int64_t>;
  const auto source = [&](NodeKind kind, const Integers& x_shape, const Integers& w_shape,
                          const Integers& with) {
    const Dims x(x_shape.begin(), x_shape.end()), w(w_shape.begin(), w_shape.end());
    Graph graph;
    const int from = graph.add({NodeKind::argument, {}, DType::float32, x});
    Dims both = w, end = w, one(w.size() + 1, 1);
    both.insert(0, 2), end.insert(0, 1);
    const int all = graph.own_constant(numbers.data(), DType::float32, both);
    std::vector<int> made;
    for (int i = 0; i < 2; ++i) {
      Dims first(w.size() + 1, 0);
      first[0] = i, end[0] = i + 1;
      const int part = graph.reshape(graph.slice(all, first, end, one), w);
      made.push_back(graph.add({kind, {from, part}, DType::float32, x, with}));
    }
    graph.arguments = {from}, graph.results = made;
    write_c(folder.path + "/f.c", graph, {});
    return text_of_file(folder.path + "/f.c");
  };
  const std::string products = source(NodeKind::matmul, {3, 4}, {4, 4}, {}),
                    windows = source(NodeKind::convolve, {1, 5, 4}, {3, 4, 4}, {1, 1, 1, 1, 1, 1});
  EXPECT_NE(products.find("float w_2[64]"), std::string::npos);
  EXPECT_NE(windows.find("float w_2[192]"), std::string::npos);
}

TEST(SaveC, FunctionsAreTheLibrarysWhereFormulasWouldLoseDigits) {
  if (!has_compiler()) GTEST_SKIP() << "there is no cc";
  Program program;
#define OF_ONE(name, e, ...) \
  program.add(               \
      name, [](const A& x) { return A(e); }, A{__VA_ARGS__})
  OF_ONE("expm1", expm1(x), 1e-8f, -3e-9f);
  OF_ONE("log1p", log1p(x), 1e-9f, -3e-10f);
  OF_ONE("softplus", nn::softplus(x), -20, -21);
  OF_ONE("erfc", special::erfc(x), 5, 5.1f);
  OF_ONE("hypot", hypot(x, x), 1e30f, 2e30f);
  OF_ONE("small_hypot", hypot(x, x) * 1e30f, 1e-30f, 2e-30f);
  OF_ONE("signs", copysign(3.f, x), -0.f, 0.f, -2, 2);
  OF_ONE("signbit", signbit(x).astype<float>(), -0.f, 0.f, -2, 2);
  OF_ONE("exp2", exp2(x), 10, -3.5f);
  OF_ONE("log2", log2(x), 1 + 1e-6f, 1 - 1e-6f);
  OF_ONE("log10", log10(x), 1e-6f, 1000);
  OF_ONE("cbrt", cbrt(x), -27, 1e-30f);
  OF_ONE("trunc", trunc(x) + fmod(10 * x, A(3.f)), -2.5f, 2.7f, 1e9f);
  program.add(
      "double_expm1", [](const Array<double>& x) { return Array<double>(expm1(x)); },
      Array<double>{1e-18, -3e-17});
#undef OF_ONE
  EXPECT_TRUE(program.refused.empty());
  program.run("cc -std=c11 -O1 -Wall -Wextra -Werror");
}

TEST(SaveC, SingleElementsReduce) {
  if (!has_compiler()) GTEST_SKIP() << "there is no cc";
  Program program;
  program.add(
      "unused", [](const A& x, const A&) { return A(2 * x); }, draw(1, {3}), draw(2, {4}));
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 3}, Shape{3, 1}, Shape{1}, Shape{1, 1, 1}}) {
    for (const int axis : std::set<int>{0, static_cast<int>(shape.size()) - 1}) {
      const std::string own = to_name(shape) + "_" + std::to_string(axis);
      program.add(
          "logsumexp" + own, [=](const A& x) { return A(logsumexp(x, {.axis = axis})); }, draw(1, shape));
      program.add(
          "var" + own, [=](const A& x) { return A(var(x, {.axis = axis}) + max(x, {.axis = axis})); },
          draw(1, shape));
    }
  }
  EXPECT_TRUE(program.refused.empty());
  program.run("cc -std=c11 -O1 -Wall -Wextra -Werror");
}

TEST(SaveC, WeightsLieInAFileBesideTheSource) {
  if (!has_compiler()) GTEST_SKIP() << "there is no cc";
  Program program;
  program.add_with({.text_bytes = 1000}, "beside", Classifier(), draw(1, {2, 784}));
  EXPECT_TRUE(program.refused.empty());
  program.run("cc -O1");
}

TEST(SaveC, HeadersSayWhatIsCalled) {
  const Folder folder;
  io::save_c(folder.path + "/a.c", [](const A& x, const A& y) { return std::tuple(A(x + y), sum(x)); },
             std::tuple(draw(1, {2, 3}), draw(2, {3})),
             {.name = "both", .inputs = {"left", "right"}, .outputs = {"sum", "total"}});
  const std::string header = text_of_file(folder.path + "/both.h"),
                    source = text_of_file(folder.path + "/a.c");
  EXPECT_NE(header.find(" *   left: float (2, 3)\n *   right: float (3)\n * to\n *   sum: float (2, 3)\n *   "
                        "total: float ()\n"),
            std::string::npos)
      << header;
  EXPECT_NE(header.find("void both(const float* left, const float* right, float* sum, float* total);\n"),
            std::string::npos);
  EXPECT_NE(header.find("#define BOTH_SCRATCH_BYTES "), std::string::npos);
  EXPECT_NE(source.find("#include \"both.h\"\n"), std::string::npos);
  EXPECT_EQ(source.find("alloc("), std::string::npos);
}

// The matrix goes into the source once, packed.
TEST(SaveC, WeightsAreWrittenOnce) {
  const Folder folder;
  const A w = draw(1, {20, 16});
  io::save_c(
      folder.path + "/f.c", [&](const A& x) { return matmul(matmul(x, w), transpose(w)); }, draw(2, {1, 20}));
  const std::string source = text_of_file(folder.path + "/f.c");
  EXPECT_NE(source.find("float w_1[320]"), std::string::npos);
  EXPECT_NE(source.find("float w_2[512]"), std::string::npos);  // 20 columns, in panels of 16
  EXPECT_EQ(source.find("float w_3"), std::string::npos);
}

// Whatever the locale's decimal point is.
TEST(SaveC, NumbersHavePoints) {
  const Folder folder;
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* const other : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_NUMERIC, other)) break;
  io::save_c(
      folder.path + "/f.c",
      [](const A& x) {
        return A(1.5f * x + A{0.1f, 1e30f, -2, 1e-30f});
      },
      draw(1, {4}));
  std::setlocale(LC_NUMERIC, before.c_str());
  const std::string source = text_of_file(folder.path + "/f.c");
  EXPECT_NE(source.find("1.5f"), std::string::npos);
  EXPECT_NE(source.find(" 0.1f, 1e+30f, -2.0f, 1e-30f,"), std::string::npos) << source;
}

TEST(SaveC, RefusesByName) {
  const Folder folder;
  const auto refusal = [&](const auto& f, const io::SaveCOptions& options) {
    return text_of<ValueError>([&] { io::save_c(folder.path + "/f.c", f, draw(1, {4}), options); });
  };
  const auto same = [](const A& x) { return A(2 * x); };
  EXPECT_EQ(refusal([](const A& x) { return fft::fft(x); }, {}).substr(0, 27), "save_c: cannot be written: ");
  EXPECT_EQ(refusal(
                [](const A& x) {
                  return grad([](const A& v) { return A(sum(nn::max_pool(v.reshape({1, 4, 1}), {2}))); })(x);
                },
                {}),
            "save_c: cannot be written: positions of the best elements of windows");
  EXPECT_EQ(refusal(same, {.name = "two words"}), "save_c: no name of C's: two words");
  EXPECT_EQ(refusal(same, {.inputs = {"f"}}), "save_c: a name is used twice: f");
  EXPECT_EQ(refusal(same, {.inputs = {"w_1"}}), "save_c: no name of C's: w_1");
  for (const char* const name :
       {"double", "default", "class", "co_await", "exp", "expf", "memcpy", "NAN", "int64_t", "INT8_MAX",
        "M_PI", "ALIGNED", "windows", "gemm_float", "__x", "_X", "main"})
    EXPECT_EQ(refusal(same, {.inputs = {name}}), std::string("save_c: no name of C's: ") + name);
  for (const char* const name : {"y0", "printf", "malloc", "abort", "rand", "div", "signal", "read"})
    EXPECT_EQ(refusal(same, {.name = name, .inputs = {"gamma"}}),
              std::string("save_c: no name of C's: ") + name);
  EXPECT_EQ(refusal(same, {.inputs = {"f_with"}}), "save_c: a name is used twice: f_with");
  EXPECT_EQ(text_of<ValueError>([&] { io::save_c(folder.path + "/net.h", same, draw(1, {4})); }),
            "save_c: the source would be overwritten by its header: " + folder.path + "/net.h");
  EXPECT_EQ(refusal(same, {.outputs = {"a", "b"}}), "save_c: 2 names of outputs for 1 arrays");
  EXPECT_FALSE(fs::exists(folder.path + "/f.c"));
}

}  // namespace c_test
