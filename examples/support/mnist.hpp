#pragma once

#include <nax/nax.hpp>
#include <string>

namespace examples {

struct Mnist {
  nax::Array<float> train_images;  // (60000, 784), 0 ... 1
  nax::Array<int> train_labels;
  nax::Array<float> test_images;  // (10000, 784)
  nax::Array<int> test_labels;
  std::string source;  // where they come from, for people to read
};

// MNIST from the folder given, else from that in NAX_MNIST_DIR, else from the user's cache, which is filled
// from the network where need be; and if that fails, digits that the program draws, with a warning. A folder
// that was named but cannot be read is an error. It may be an address (https://, s3://, gs://) in programs
// that link nax::storage.
Mnist load_mnist(const std::string& folder = "");

}  // namespace examples
