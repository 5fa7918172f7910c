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

// One file below an address, gzip or plain. nax::storage reads it, where the program links that.
nax::Array<std::uint8_t> fetch_idx(const std::string& address) {
  const auto decode = [](const std::string& path, const nax::io::Bytes& bytes) {
    return nax::io::detail::read_idx_from(nax::io::detail::Source("load_mnist", path, bytes));
  };
  const auto read = [&](const std::string& path) {
    return *nax::data::from_files({path}, decode).iterator().next();
  };
  try {
    return read(address + ".gz");
  } catch (const nax::IoError& packed) {
    try {
      return read(address);
    } catch (const nax::IoError&) {
      throw packed;
    }
  }
}

nax::io::Mnist fetch_mnist_files(std::string folder) {
  while (folder.back() == '/') folder.pop_back();
  nax::Array<std::uint8_t> parts[4];
  for (int i = 0; i < 4; ++i) parts[i] = fetch_idx(folder + "/" + nax::io::mnist_files[i]);
  nax::io::detail::check_mnist(folder, "training", parts[0], parts[1]);
  nax::io::detail::check_mnist(folder, "test", parts[2], parts[3]);
  return {parts[0], parts[1], parts[2], parts[3]};
}

Mnist read_mnist(const std::string& folder) {
  const bool address = folder.find("://") != std::string::npos;
  const nax::io::Mnist bytes = address ? fetch_mnist_files(folder) : nax::io::load_mnist(folder);
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
