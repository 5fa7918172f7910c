// Files of a program are those of its function and arguments.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "nax/modules/exporting/onnx.hpp"
#include "nax/modules/exporting/save_c.hpp"
#include "nax/modules/exporting/stablehlo.hpp"
#include "nax/nax.hpp"

namespace exported_programs_test {
using namespace nax;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_GT(text.str().size(), 100u) << path;
  return text.str();
}

TEST(ExportedPrograms, AreThoseOfTheFunction) {
  const auto f = [w = random::normal<float>(random::key(1), {3, 4})](
                     const Array<float>& x, const Array<float>& b) { return tanh(matmul(x, w) + b); };
  const Array<float> x = random::normal<float>(random::key(2), {2, 3}), b = arange<float>(4);
  const auto program = make_program(f)(x, b);
  EXPECT_EQ(program.stablehlo(), io::stablehlo(f, std::tuple{x, b}));
  EXPECT_TRUE(
      array_equal(Array<float>(std::apply(program.function(), program.arguments())), Array<float>(f(x, b))));
  const auto at = [](const std::string& name) {
    return testing::TempDir() + "nax_" + std::to_string(::getpid()) + "_" + name;
  };
  io::save_onnx(at("p.onnx"), program);
  io::save_onnx(at("f.onnx"), f, std::tuple{x, b});
  EXPECT_EQ(content(at("p.onnx")), content(at("f.onnx")));
  const io::SaveOnnxOptions named{.inputs = {"x", "bias"}};
  io::save_onnx(at("named.onnx"), program, named);
  EXPECT_NE(content(at("named.onnx")).find("bias"), std::string::npos);
  io::save_c(at("p.c"), program, {.name = "model"});
  io::save_c(at("f.c"), f, std::tuple{x, b}, {.name = "model"});
  EXPECT_EQ(content(at("p.c")), content(at("f.c")));
}

}  // namespace exported_programs_test
