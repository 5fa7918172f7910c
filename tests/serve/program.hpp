#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "serve/models.hpp"

// The server as a program.
namespace serve_program {

#ifdef NAX_SERVE
inline const std::string program = NAX_SERVE;
#else
inline const std::string program;
#endif

class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], STDOUT_FILENO), dup2(ends[1], STDERR_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (child_ > 0) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
    std::fclose(output_);
  }
  void send(int signal) const { kill(child_, signal); }
  std::string line() {
    char text[512] = "";
    return std::fgets(text, sizeof text, output_) ? text : "";
  }
  int status() {
    int status = 0;
    waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_;
  std::FILE* output_;
};

}  // namespace serve_program
