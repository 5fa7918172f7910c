#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

enum class Activation { relu, tanh };

struct MnistOptions {
  std::vector<std::int64_t> hidden;
  std::int64_t epochs, batch_size, devices, seed;
  bool adam, pipeline;
  double lr, momentum;
  Activation activation;
  std::string platform, data, log, save;
};

// Ends the program where they make no sense.
MnistOptions read_mnist_options(int argc, char** argv);

}  // namespace examples
