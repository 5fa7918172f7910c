#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// Runs examples/mnist_mlp as a user would.
namespace mnist_program {

// The program for the CPU, and the one for GPUs; empty where it is not built.
#ifdef NAX_MNIST_MLP
inline const std::string for_cpu = NAX_MNIST_MLP;
#else
inline const std::string for_cpu;
#endif
#ifdef NAX_MNIST_MLP_ON_GPUS
inline const std::string for_gpus = NAX_MNIST_MLP_ON_GPUS;
#else
inline const std::string for_gpus;
#endif

struct Result {
  int status;
  std::string output;  // stdout and stderr
};

inline Result run(const std::string& options, const std::string& program = for_cpu) {
  const std::string path = testing::TempDir() + "mnist_mlp." + std::to_string(getpid()) + ".txt";
  const int status = std::system((program + ' ' + options + " >" + path + " 2>&1").c_str());
  std::ostringstream output;
  output << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output.str()};
}

// Why the program cannot train here; empty where it can.
inline std::string missing(const std::string& program = for_cpu) {
  if (program.empty()) return "the example is not built (NAX_BUILD_EXAMPLES)";
  if (program == for_gpus &&
      run("--platform cuda --data /no/such/folder", program).output.find("has 0 devices") !=
          std::string::npos)
    return "this machine has no GPU (or no driver for it)";
  const char* folder = std::getenv("NAX_MNIST_DIR");
  return folder && *folder ? "" : "NAX_MNIST_DIR does not name the folder of MNIST's four files";
}

struct Log {
  std::vector<double> losses;
  std::vector<std::string> epochs;  // the lines as they stand
};

// One epoch of training; a failure is reported and leaves the log empty.
inline Log train(const std::string& options, const std::string& program = for_cpu) {
  const std::string path = testing::TempDir() + "mnist_mlp." + std::to_string(getpid()) + ".jsonl";
  const Result result = run(options + " --epochs 1 --log " + path, program);
  EXPECT_EQ(result.status, 0) << result.output;
  Log log;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    long long step = 0;
    double loss = 0;
    if (std::sscanf(line.c_str(), "{\"step\": %lld, \"loss\": %lf}", &step, &loss) == 2) {
      log.losses.push_back(loss);
      EXPECT_EQ(step, static_cast<long long>(log.losses.size()));
    } else {
      log.epochs.push_back(line);
    }
  }
  std::remove(path.c_str());
  return log;
}

}  // namespace mnist_program
