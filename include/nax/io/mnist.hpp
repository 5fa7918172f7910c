#pragma once

#include "nax/io/idx.hpp"

// MNIST: 60000 and 10000 images of handwritten digits, 28 x 28 bytes each, and their labels.
NAX_BEGIN
namespace io {

struct Mnist {
  Array<std::uint8_t> train_images, train_labels, test_images, test_labels;
};

inline constexpr const char* mnist_files[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                              "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

namespace detail {

inline Array<std::uint8_t> read_mnist_file(const std::string& directory, const char* name) {
  const std::string plain = directory + "/" + name, packed = plain + ".gz";
  if (os::exists(packed)) return read_idx(packed);
  if (os::exists(plain)) return read_idx(plain);
  raise<IoError>({"load_mnist: '", directory, "' has neither ", name, ".gz nor ", name});
}

inline void check_mnist(const std::string& directory, const char* part, const Array<std::uint8_t>& images,
                        const Array<std::uint8_t>& labels) {
  if (images.ndim() != 3 || images.shape(1) != 28 || images.shape(2) != 28 || labels.ndim() != 1 ||
      labels.shape(0) != images.shape(0))
    raise<IoError>({"load_mnist: '", directory, "' holds ", part, " images of shape ", images.shape(),
                    " and labels of shape ", labels.shape(), ", not (n, 28, 28) and (n,)"});
}

}  // namespace detail

// The four files of a directory, gzip or plain. Throws IoError for one that is missing or damaged, and for
// images and labels that do not belong together.
inline Mnist load_mnist(const std::string& directory) {
  Mnist mnist;
  mnist.train_images = detail::read_mnist_file(directory, mnist_files[0]);
  mnist.train_labels = detail::read_mnist_file(directory, mnist_files[1]);
  mnist.test_images = detail::read_mnist_file(directory, mnist_files[2]);
  mnist.test_labels = detail::read_mnist_file(directory, mnist_files[3]);
  detail::check_mnist(directory, "training", mnist.train_images, mnist.train_labels);
  detail::check_mnist(directory, "test", mnist.test_images, mnist.test_labels);
  return mnist;
}

}  // namespace io
NAX_END
