#include "serve/model.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "serve/models.hpp"

namespace serve_model_test {
using namespace serve_models;

void expect_is(const serve::ModelOptions& options, int seed) {
  const serve::Mlp mlp = serve::load_mlp(options);
  EXPECT_EQ(mlp.in(), 12);
  EXPECT_EQ(mlp.out(), 4);
  EXPECT_TRUE(close(mlp(examples(5)).to_vector(), direct(layers(seed), examples(5)))) << options.path;
}

template <class E>
std::string refusal(const serve::ModelOptions& options) {
  try {
    serve::load_mlp(options);
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

TEST(ServeModel, LoadsFromEachKindOfFile) {
  const std::string tensors = file("a.safetensors"), dotted = file("b.safetensors"), npz = file("c.npz");
  nax::io::save_safetensors(tensors, layers(1));
  nax::io::save_safetensors(dotted, layers(2), {.dotted = true});
  nax::io::save(npz, layers(3));
  expect_is({.path = tensors}, 1);
  expect_is({.path = dotted}, 2);
  expect_is({.path = npz}, 3);
}

struct Net {
  std::vector<serve::Layer> layers;
};

TEST(ServeModel, LoadsFromTrainingStates) {
  const std::string folder = file("checkpoints"), tensors = file("state.safetensors");
  std::filesystem::remove_all(folder);
  const auto adam = nax::optim::adam(0.1);
  nax::io::Checkpoints saved(folder);
  for (const int step : {1, 2}) {
    const Net net{layers(10 + step)};
    saved.save(step, std::pair(net, adam.init(net)));
  }
  expect_is({.path = folder, .prefix = "state[0].layers"}, 12);  // the last step
  saved.save(3, layers(13));
  expect_is({.path = folder}, 13);
  nax::io::save_safetensors(tensors, std::pair(Net{layers(14)}, 5.0), {.dotted = true});
  expect_is({.path = tensors, .prefix = "0.layers"}, 14);
}

TEST(ServeModel, IsReadWithoutTheFileAfterwards) {
  const std::string path = file("gone.safetensors");
  nax::io::save_safetensors(path, layers(1));
  const serve::Mlp mlp = serve::load_mlp({.path = path});
  std::ofstream(path, std::ios::trunc) << "written over";  // in place
  EXPECT_TRUE(close(mlp(examples(5)).to_vector(), direct(layers(1), examples(5))));
}

TEST(ServeModel, ActivationIsTheOneAskedFor) {
  const std::string path = file("tanh.npz");
  nax::io::save(path, layers(1));
  const serve::Mlp mlp = serve::load_mlp({.path = path, .activation = serve::Activation::tanh});
  const auto net = layers(1);
  const Array<float> h = nax::tanh(nax::matmul(examples(3), net[0].w) + net[0].b);
  const Array<float> y = nax::nn::softmax(nax::matmul(h, net[1].w) + net[1].b);
  EXPECT_TRUE(close(mlp(examples(3)).to_vector(), y.to_vector()));
}

TEST(ServeModel, RefusesOtherFiles) {
  using nax::IoError, nax::ValueError;
  const std::string path = file("bad.npz"), folder = file("empty");
  EXPECT_NE(refusal<IoError>({.path = file("none.npz")}), "");
  std::filesystem::create_directories(folder);
  EXPECT_NE(refusal<IoError>({.path = folder}).find("has no checkpoint"), std::string::npos);
  nax::io::save(path, layers(1));
  EXPECT_NE(refusal<IoError>({.path = path, .prefix = "params"}).find("has no layers params[0].w"),
            std::string::npos);
  auto bad = layers(1);
  bad[1].w = nax::ones<float>({17, 4});
  nax::io::save(path, bad);
  EXPECT_NE(refusal<ValueError>({.path = path}).find("layer 1 does not fit: w (17, 4), b (4,)"),
            std::string::npos);
  bad = layers(1);
  bad[0].b = bad[0].b / 0.f;
  nax::io::save(path, bad);
  EXPECT_NE(refusal<ValueError>({.path = path}).find("not finite"), std::string::npos);
}

}  // namespace serve_model_test
