#include "program.hpp"

// The command line of mnist_mlp: the help, and what it refuses with status 2 and a sentence.

namespace {

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
                           "--optimizer", "--platform", "--devices", "--data", "--seed", "--log"})
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

}  // namespace
