#include "serve/service.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>

#include "serve/models.hpp"

namespace service_test {
using namespace serve_models;
using namespace std::chrono_literals;

// The answer to row i of some examples, asked for alone.
std::vector<float> answer(serve::Service& service, const std::vector<float>& x, std::size_t i) {
  std::vector<float> out(4);
  service.predict(std::span(x).subspan(12 * i, 12), out);
  return out;
}

std::span<const float> row(const std::vector<float>& answers, std::size_t i) {
  return std::span(answers).subspan(4 * i, 4);
}

TEST(Service, ConcurrentCallersGetTheModelsAnswers) {
  const std::string path = file("concurrent.safetensors");
  nax::io::save_safetensors(path, layers(1));
  serve::Service service({.model = {.path = path}, .max_batch = 8, .max_wait = 100us});
  const std::vector<float> x = examples(64).to_vector(), want = direct(layers(1), examples(64));
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < 8; ++caller)
      callers.emplace_back([&, caller] {
        for (std::size_t k = 0; k < 200; ++k) {
          const std::size_t i = (caller * 31 + k) % 64;
          EXPECT_TRUE(close(answer(service, x, i), row(want, i)));
        }
      });
  }
  EXPECT_EQ(service.metrics().rows, 1600u);
  EXPECT_LE(service.metrics().batches, 1600u);
}

TEST(Service, MemorySettlesOnceAllBatchesHaveBeenSeen) {
  const std::string path = file("memory.safetensors");
  const auto keys = nax::random::split(nax::random::key(0), 2);
  nax::io::save_safetensors(
      path, std::vector<serve::Layer>{{nax::random::normal(keys[0], {784, 128}) * 0.05f, nax::zeros({128})},
                                      {nax::random::normal(keys[1], {128, 10}), nax::zeros({10})}});
  serve::Service service({.model = {.path = path}, .max_batch = 16, .max_wait = 0us});
  const auto ask = [&](std::int64_t rows) {
    const std::vector<float> in(static_cast<std::size_t>(784 * rows), 0.5f);
    std::vector<float> out(static_cast<std::size_t>(10 * rows));
    service.predict(in, out);
  };
  // Batches of up to 16 rows, by four callers.
  const auto ask_concurrently = [&](int times) {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&, caller] {
        for (int k = 0; k < times; ++k) ask(1 + (caller + k) % 4);
      });
  };
  for (std::int64_t rows = 1; rows <= 16; ++rows) ask(rows);
  // A thread of the pool takes its working memory when it first gets a part of a product, which may be in any
  // round. A leak changes every round.
  nax::MemoryStats before{}, after{};
  for (int round = 0; round < 20; ++round) {
    before = nax::memory_stats();
    ask_concurrently(100);
    after = nax::memory_stats();
    if (after.in_use == before.in_use && after.cached == before.cached) break;
  }
  EXPECT_EQ(after.in_use, before.in_use);
  EXPECT_EQ(after.cached, before.cached);  // the system's memory is unchanged
}

TEST(Service, EveryAnswerDuringReloadsIsOneOfTheModels) {
  const std::string path = file("reload.safetensors");
  nax::io::save_safetensors(path, layers(0));
  serve::Service service({.model = {.path = path}, .max_batch = 4, .max_wait = 50us});
  const std::vector<float> x = examples(16).to_vector();
  std::vector<std::vector<float>> want;
  for (int seed = 0; seed < 6; ++seed) want.push_back(direct(layers(seed), examples(16)));
  std::atomic<bool> done{false};
  std::atomic<int> present{0}, answers{0};
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < 4; ++caller)
      callers.emplace_back([&, caller] {
        for (std::size_t k = 0; !done; ++k, ++answers) {
          const std::size_t i = (caller * 5 + k) % 16;
          const int oldest = present;  // models before this one are no longer asked
          const std::vector<float> got = answer(service, x, i);
          const auto first = want.begin() + oldest;
          EXPECT_TRUE(
              std::any_of(first, want.end(), [&](const auto& all) { return close(got, row(all, i)); }));
        }
      });
    for (int seed = 1; seed < 6; ++seed) {
      const int until = answers + 100;
      while (answers < until) std::this_thread::yield();
      nax::io::save_safetensors(path, layers(seed));
      service.reload();
      present = seed;
    }
    done = true;
  }
  EXPECT_TRUE(close(answer(service, x, 3), row(want[5], 3)));
  EXPECT_EQ(service.metrics().reloads, 5u);
}

TEST(Service, AFailedReloadKeepsTheModel) {
  const std::string path = file("failed.npz");
  nax::io::save(path, layers(1));
  serve::Service service({.model = {.path = path}});
  nax::io::save(path, layers(2, 5));  // one class more
  EXPECT_THROW(service.reload(), nax::ValueError);
  std::remove(path.c_str());
  EXPECT_THROW(service.reload(), nax::IoError);
  EXPECT_EQ(service.metrics().failed_reloads, 2u);
  const std::vector<float> x = examples(1).to_vector();
  EXPECT_TRUE(close(answer(service, x, 0), direct(layers(1), examples(1))));
}

}  // namespace service_test
