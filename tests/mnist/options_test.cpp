#include <filesystem>
#include <nax/nax.hpp>

#include "program.hpp"
#include "storage/loopback.hpp"

// The command line of mnist_mlp: the help, and options that it refuses with status 2 and a message.

namespace options_test {

class MnistOptions : public testing::Test {
 protected:
  void SetUp() override {
    if (mnist_program::for_cpu.empty()) GTEST_SKIP() << "the example is not built (NAX_BUILD_EXAMPLES)";
  }
};

TEST_F(MnistOptions, help_lists_all) {
  const auto result = mnist_program::run("--help");
  EXPECT_EQ(result.status, 0);
  for (const char* name : {"--hidden", "--epochs", "--batch-size", "--lr", "--momentum", "--activation",
                           "--optimizer", "--platform", "--devices", "--data", "--seed", "--log", "--save"})
    EXPECT_NE(result.output.find(name), std::string::npos) << name;
}

TEST_F(MnistOptions, wrong_ones_are_refused) {
  const struct {
    const char *options, *message;
  } cases[] = {
      {"--epoch 3", "there is no option --epoch"},
      {"epochs", "an option must begin with --, not 'epochs'"},
      {"--epochs", "--epochs wants a value"},
      {"--epochs three", "--epochs wants an integer of at least 1, not 'three'"},
      {"--epochs 0", "--epochs wants an integer of at least 1, not '0'"},
      {"--batch-size 12x", "--batch-size wants an integer between 1 and 60000, not '12x'"},
      {"--hidden 512,,512", "--hidden wants an integer of at least 1, not ''"},
      {"--hidden 512,-1", "--hidden wants an integer of at least 1, not '-1'"},
      {"--lr fast", "--lr wants a number of at least 0, not 'fast'"},
      {"--lr -1", "--lr wants a number of at least 0, not '-1'"},
      {"--activation gelu", "--activation is one of relu|tanh, not 'gelu'"},
      {"--optimizer=lion", "--optimizer is one of sgd|adam, not 'lion'"},
      {"--platform cuda", "devices: no platform 'cuda' in this program; there is 'cpu'"},
      {"--devices 0", "--devices wants an integer between 1 and 256, not '0'"},
      {"--devices 3", "--batch-size does not divide by --devices: 128 / 3"},
      {"--log /no/such/folder/log.jsonl", "--log: cannot write /no/such/folder/log.jsonl"},
      {"--data /no/such/folder", "/no/such/folder"},
  };
  for (const auto& [options, message] : cases) {
    const auto result = mnist_program::run(options);
    EXPECT_EQ(result.status, 2) << options;
    EXPECT_NE(result.output.find(message), std::string::npos) << options << ": " << result.output;
  }
}

// 64 images and labels, as IDX files.
std::string idx(bool images) {
  std::string bytes("\0\0\x08\x01\0\0\0\x40", 8);
  if (images) bytes[3] = 3, bytes += std::string("\0\0\0\x1c\0\0\0\x1c", 8) + std::string(64 * 28 * 28, 'x');
  return images ? bytes : bytes + std::string(64, '\7');
}

TEST_F(MnistOptions, data_lies_at_an_address) {
  Loopback server;
  for (const char* part : {"train", "t10k"})
    for (const bool images : {true, false})
      server.objects["/mnist/" + std::string(part) + (images ? "-images-idx3-ubyte" : "-labels-idx1-ubyte")] =
          idx(images);
  const std::string options = " --epochs 1 --hidden 8 --batch-size 64";
  const auto read = mnist_program::run("--data " + server.base() + "/mnist" + options);
  const auto missing = mnist_program::run("--data " + server.base() + "/other" + options);
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.output.find(server.base() + "/other/train-images-idx3-ubyte.gz"), std::string::npos)
      << missing.output;
  if (read.output.find("needs nax::storage") != std::string::npos) GTEST_SKIP() << "libcurl is not there";
  EXPECT_EQ(read.status, 0);
  EXPECT_NE(read.output.find("test accuracy: "), std::string::npos) << read.output;
}

struct Layer {
  nax::Array<float> w, b;
};

TEST_F(MnistOptions, save_writes_the_weights) {
  const std::string folder = testing::TempDir() + "mnist_options." + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  for (const char* part : {"train", "t10k"})
    for (const bool images : {true, false})
      std::ofstream(folder + "/" + part + (images ? "-images-idx3-ubyte" : "-labels-idx1-ubyte"))
          << idx(images);
  const auto run = [&](const std::string& file) {
    const auto result = mnist_program::run(
        "--data " + folder + " --epochs 1 --hidden 8 --batch-size 64 --save " + folder + "/" + file);
    EXPECT_EQ(result.status, 0) << result.output;
  };
  std::vector<Layer> tensors(2), npz(2);
  run("net.safetensors"), run("net.npz");
  nax::io::load_safetensors(folder + "/net.safetensors", tensors);
  nax::io::load(folder + "/net.npz", npz);
  EXPECT_EQ(tensors[0].w.shape(), (nax::Shape{784, 8}));
  EXPECT_EQ(tensors[1].b.shape(), (nax::Shape{10}));
  for (const std::size_t i : {0, 1}) {
    EXPECT_EQ(tensors[i].w.to_vector(), npz[i].w.to_vector());
    EXPECT_EQ(tensors[i].b.to_vector(), npz[i].b.to_vector());
  }
  std::filesystem::remove_all(folder);
}

}  // namespace options_test
