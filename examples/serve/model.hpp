#pragma once

#include <nax/nax.hpp>
#include <string>
#include <vector>

// A multilayer perceptron out of a file, as examples/mnist_mlp saves it.
namespace serve {

enum class Activation { relu, tanh };

struct Layer {
  nax::Array<float> w, b;  // (in, out), (out,)
};

struct Mlp {
  std::vector<Layer> layers;
  Activation activation = Activation::relu;

  std::int64_t in() const { return layers.front().w.shape(0); }
  std::int64_t out() const { return layers.back().w.shape(1); }
  // The probabilities of the classes, (rows, out).
  nax::Array<float> operator()(nax::Array<float> x) const;
};

struct ModelOptions {
  // A .safetensors file, a .npz file of io::save, or a folder of io::Checkpoints, of which the last is taken.
  std::string path;
  // The tree path of the layers there: "state.params" for `state.params[0].w`. Other libraries' spelling,
  // `params.0.w`, is found too. The default is "state" in folders, else "".
  std::string prefix = "";
  Activation activation = Activation::relu;
};

// Throws nax::IoError where there is no such file or it has no such layers, and nax::ValueError where they do
// not fit together or give numbers that are not finite.
Mlp load_mlp(const ModelOptions& options);

}  // namespace serve
