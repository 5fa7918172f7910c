#pragma once

#include <gtest/gtest.h>

#include <numeric>

#include "serve/model.hpp"

// Small models for the server's tests, and their answers.
namespace serve_models {
using nax::Array;

// 12-16-4, with weights of this seed.
inline std::vector<serve::Layer> layers(int seed, std::int64_t classes = 4) {
  const auto keys = nax::random::split(nax::random::key(seed), 4);
  return {{nax::random::normal(keys[0], {12, 16}), nax::random::normal(keys[1], {16})},
          {nax::random::normal(keys[2], {16, classes}), nax::random::normal(keys[3], {classes})}};
}

inline std::string file(const std::string& name) {
  return testing::TempDir() + "nax_serve_" + std::to_string(getpid()) + "_" + name;
}

inline Array<float> examples(std::int64_t rows) {
  return nax::random::normal(nax::random::key(99), {rows, 12});
}

// The model's answers to all examples at once, without a server.
inline std::vector<float> direct(const std::vector<serve::Layer>& layers, const Array<float>& x) {
  const Array<float> h = nax::nn::relu(nax::matmul(x, layers[0].w) + layers[0].b);
  return Array<float>(nax::nn::softmax(nax::matmul(h, layers[1].w) + layers[1].b)).to_vector();
}

inline testing::AssertionResult close(std::span<const float> got, std::span<const float> want) {
  if (got.size() != want.size()) return testing::AssertionFailure() << got.size() << " numbers";
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - want[i]) <= 1e-6f))
      return testing::AssertionFailure() << got[i] << " for " << want[i] << " at " << i;
  return testing::AssertionSuccess();
}

}  // namespace serve_models
