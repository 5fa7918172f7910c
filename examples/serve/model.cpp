#include "model.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace serve {
namespace {

using nax::Array;

// The name in the file of a field of layer i, in either spelling.
std::optional<std::string> name_of(const std::vector<std::string>& names, const std::string& prefix,
                                   std::size_t i, const char* field) {
  const std::string number = std::to_string(i);
  for (const std::string& name :
       {prefix + "[" + number + "]." + field, (prefix.empty() ? "" : prefix + ".") + number + "." + field})
    if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  return std::nullopt;
}

template <class File>
std::vector<Layer> read_layers(File& file, const std::vector<std::string>& names, const std::string& prefix) {
  std::vector<Layer> layers;
  while (true) {
    const auto w = name_of(names, prefix, layers.size(), "w"), b = name_of(names, prefix, layers.size(), "b");
    if (!w || !b) return layers;
    layers.push_back({file.template get<float>(*w), file.template get<float>(*b)});
  }
}

std::vector<Layer> read_npz(const std::string& path, const std::string& prefix) {
  nax::NpzFile file(path);
  return read_layers(file, file.files(), prefix);
}

// A training that goes on may remove a checkpoint between the look at the folder and the read.
std::vector<Layer> read_folder(const std::string& folder, const std::string& prefix) {
  nax::io::Checkpoints saved(folder);
  while (true) {
    const auto steps = saved.steps();
    if (steps.empty()) throw nax::IoError("serve: " + folder + " has no checkpoint");
    const std::string path = folder + "/step_" + std::to_string(steps.back()) + ".npz";
    try {
      return read_npz(path, prefix);
    } catch (const nax::IoError&) {
      if (std::filesystem::exists(path)) throw;
    }
  }
}

std::vector<Layer> read(const std::string& path, const std::string& prefix) {
  if (std::filesystem::is_directory(path)) return read_folder(path, prefix.empty() ? "state" : prefix);
  if (!path.ends_with(".safetensors")) return read_npz(path, prefix);
  // Not mapped: the file may be written over while its model serves.
  nax::io::SafetensorsFile file(path, {.map = false, .cast = true});
  return read_layers(file, file.names(), prefix);
}

void check(const Mlp& mlp, const std::string& path) {
  for (std::size_t i = 0; i < mlp.layers.size(); ++i) {
    const auto& [w, b] = mlp.layers[i];
    const bool fits = w.ndim() == 2 && b.ndim() == 1 && w.size() > 0 && b.shape(0) == w.shape(1) &&
                      (i == 0 || w.shape(0) == mlp.layers[i - 1].w.shape(1));
    if (!fits)
      throw nax::ValueError("serve: " + path + ": layer " + std::to_string(i) + " does not fit: w " +
                            nax::to_string(w.shape()) + ", b " + nax::to_string(b.shape()));
  }
  if (!nax::all(nax::isfinite(mlp(nax::ones<float>({1, mlp.in()})))).item())
    throw nax::ValueError("serve: " + path + ": the model's results are not finite");
}

}  // namespace

Array<float> Mlp::operator()(Array<float> x) const {
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    const auto z = nax::matmul(x, layers[i].w) + layers[i].b;  // fused into what follows
    x = activation == Activation::relu ? nax::eval(nax::nn::relu(z)) : nax::eval(nax::tanh(z));
  }
  return nax::nn::softmax(nax::matmul(x, layers.back().w) + layers.back().b);
}

Mlp load_mlp(const ModelOptions& options) {
  Mlp mlp{read(options.path, options.prefix), options.activation};
  if (mlp.layers.empty())
    throw nax::IoError("serve: " + options.path + " has no layers " + options.prefix + "[0].w, " +
                       options.prefix + "[0].b");
  check(mlp, options.path);
  return mlp;
}

}  // namespace serve
