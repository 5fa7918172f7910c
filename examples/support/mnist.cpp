#include "mnist.hpp"

#include <cstdio>
#include <cstdlib>
#include <nax/io/mnist.hpp>

#include "download.hpp"
#include "drawn_digits.hpp"

namespace examples {
namespace {

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/nax/mnist";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/tmp") + "/.cache/nax/mnist";
}

Mnist read_mnist(const std::string& folder) {
  const nax::io::Mnist bytes = nax::io::load_mnist(folder);
  const auto images = [](const nax::Array<std::uint8_t>& a) {
    return nax::Array<float>(a.astype<float>().reshape({a.shape(0), 784}) / 255.f);
  };
  return {images(bytes.train_images), bytes.train_labels.astype<int>(), images(bytes.test_images),
          bytes.test_labels.astype<int>(), folder};
}

}  // namespace

Mnist load_mnist(const std::string& folder) {
  if (!folder.empty()) return read_mnist(folder);
  if (const char* named = std::getenv("NAX_MNIST_DIR"); named && *named) return read_mnist(named);
  if (fetch_mnist(cache_folder())) return read_mnist(cache_folder());
  std::fprintf(
      stderr,
      "\n*** MNIST is not here and cannot be fetched: training on digits drawn by this program instead.\n"
      "*** Their accuracy says nothing about MNIST. Name a folder with the four files by --data.\n\n");
  const auto [train_key, test_key] = nax::random::split(nax::random::key(0));
  const Digits train = draw_digits(train_key, 60000), test = draw_digits(test_key, 10000);
  return {train.images, train.labels, test.images, test.labels, "digits drawn by this program"};
}

}  // namespace examples
