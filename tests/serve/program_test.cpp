#include "serve/program.hpp"

#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <cstring>

namespace serve_program_test {
using namespace serve_models;
using namespace serve_program;

TEST(ServeProgram, ReloadsOnHangupAndEndsOnTermination) {
  if (program.empty()) GTEST_SKIP() << "the example is not built (NAX_BUILD_EXAMPLES)";
  const std::string path = file("program.safetensors");
  nax::io::save_safetensors(path, layers(1));
  Program serving({"--model", path, "--port", "0", "--max-wait", "0"});
  const std::string line = serving.line();
  const std::size_t colon = line.rfind(':');
  ASSERT_NE(line.find("serving " + path + " on http://127.0.0.1:"), std::string::npos) << line;
  httplib::Client client("127.0.0.1", std::stoi(line.substr(colon + 1)));
  const std::vector<float> x = examples(2).to_vector();
  const auto ask = [&] {
    const auto answer = client.Post("/predict", reinterpret_cast<const char*>(x.data()),
                                    sizeof(float) * x.size(), "application/octet-stream");
    std::vector<float> y(answer ? answer->body.size() / sizeof(float) : 0);
    if (!y.empty()) std::memcpy(y.data(), answer->body.data(), sizeof(float) * y.size());
    return y;
  };
  EXPECT_TRUE(close(ask(), direct(layers(1), examples(2))));
  nax::io::save_safetensors(path, layers(2));
  serving.send(SIGHUP);
  EXPECT_EQ(serving.line(), "reloaded\n");
  EXPECT_TRUE(close(ask(), direct(layers(2), examples(2))));
  std::remove(path.c_str());
  serving.send(SIGHUP);
  EXPECT_EQ(serving.line().rfind("not reloaded: ", 0), 0u);
  EXPECT_TRUE(close(ask(), direct(layers(2), examples(2))));
  const auto start = std::chrono::steady_clock::now();
  serving.send(SIGTERM);
  EXPECT_EQ(serving.status(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(ServeProgram, ReportsWhyItCannotStart) {
  if (program.empty()) GTEST_SKIP() << "the example is not built (NAX_BUILD_EXAMPLES)";
  Program without({"--model", file("nowhere.npz")});
  EXPECT_NE(without.line().find("nowhere.npz"), std::string::npos);
  EXPECT_EQ(without.status(), 2);
  Program nothing({});
  EXPECT_NE(nothing.line().find("--model is missing"), std::string::npos);
  EXPECT_EQ(nothing.status(), 2);
}

}  // namespace serve_program_test
