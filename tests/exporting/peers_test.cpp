#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nax/modules/exporting/onnx.hpp>
#include <nax/modules/exporting/stablehlo.hpp>
#include <nax/nax.hpp>

#include "exporting/functions.hpp"

// ONNX Runtime and XLA compute from files what nax does, to 1e-5.
namespace peers_test {
using namespace nax;

// Writes functions of arrays to a folder, as .onnx, .mlir and, for what goes in and comes out, .npz.
class Folder {
 public:
  Folder() { std::filesystem::create_directories(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  template <class F, class... X>
  void add(const std::string& name, const F& f, const X&... x) {
    io::save_onnx(path_ + '/' + name + ".onnx", f, std::tuple(x...));
    add_stablehlo(name, f, x...);
    ++onnx_count_;
  }
  template <class F, class... X>
  void add_stablehlo(const std::string& name, const F& f, const X&... x) {
    const std::string path = path_ + '/' + name;
    std::ofstream(path + ".mlir") << io::stablehlo(f, std::tuple(x...));
    savez(path + ".npz", x..., f(x...));
    ++count_;
  }
  int count() const { return count_; }
  int onnx_count() const { return onnx_count_; }
  // Returns what a script prints before its last line, or "skipped" where Python lacks the module.
  std::string run(const char* module, const char* script, int count) const {
    const char* const asked = std::getenv("NAX_PEERS_PYTHON");
    const std::string python = asked ? asked : "python3";
    if (std::system((python + " -c 'import " + module + "' 2> /dev/null").c_str()) != 0) return "skipped";
    FILE* const pipe = ::popen(
        (python + " " NAX_GOLDENS_DIR "/../exporting/" + script + " " + path_ + " 2>&1").c_str(), "r");
    std::string printed;
    for (int c; (c = std::fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
    EXPECT_EQ(::pclose(pipe), 0);
    const std::string last = std::to_string(count) + " models\n";
    EXPECT_TRUE(printed.ends_with(last)) << printed;
    return printed.substr(0, printed.size() - std::min(last.size(), printed.size()));
  }

 private:
  std::string path_ = testing::TempDir() + "nax_" + std::to_string(::getpid()) + "_exporting";
  int count_ = 0, onnx_count_ = 0;
};

TEST(Exporting, PeersComputeTheFiles) {
  Folder folder;
  exported::add_all(folder);
  exported::add_matrices(folder);
  exported::add_orders(folder);
  const std::string onnx = folder.run("onnxruntime", "run_onnx.py", folder.onnx_count()),
                    xla = folder.run("jax", "run_stablehlo.py", folder.count());
  EXPECT_TRUE(onnx.empty() || onnx == "skipped") << onnx;
  EXPECT_TRUE(xla.empty() || xla == "skipped") << xla;
  if (onnx == "skipped" && xla == "skipped") GTEST_SKIP() << "Python has neither onnxruntime nor jax";
}

}  // namespace peers_test
