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

struct Result {
  int status;
  std::string output;  // stdout and stderr
};

inline Result run(const std::string& options) {
#ifdef NAX_MNIST_MLP
  const std::string path = testing::TempDir() + "mnist_mlp." + std::to_string(getpid()) + ".txt";
  std::ostringstream command;
  command << NAX_MNIST_MLP << ' ' << options << " >" << path << " 2>&1";
  const int status = std::system(command.str().c_str());
  std::ostringstream output;
  output << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output.str()};
#else
  return {-1, "the examples are not built: " + options};
#endif
}

// Why the program cannot train here; empty where it can.
inline std::string missing() {
#ifndef NAX_MNIST_MLP
  return "the examples are not built (NAX_BUILD_EXAMPLES)";
#endif
  const char* folder = std::getenv("NAX_MNIST_DIR");
  return folder && *folder ? "" : "NAX_MNIST_DIR does not name the folder of MNIST's four files";
}

struct Log {
  std::vector<double> losses;
  std::vector<std::string> epochs;  // the lines as they stand
};

// One epoch of training; a failure is reported and leaves the log empty.
inline Log train(const std::string& options) {
  const std::string path = testing::TempDir() + "mnist_mlp." + std::to_string(getpid()) + ".jsonl";
  const Result result = run(options + " --epochs 1 --log " + path);
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
