// nax's side of `data.sh`: for each line that it reads, one epoch of a pipeline without a consumer, answered
// with its seconds, those of all processors together, and the number of
// elements.
//   data_input <folder of JPEGs> <threads>       lines: rows, images, scaled
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <string>

#include "nax/data.hpp"
#include "nax/image.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/creation/creation.hpp"

namespace {

using namespace nax;
using Bytes = Array<std::uint8_t>;

Bytes rows() {
  std::vector<std::uint8_t> values(60000 * 784);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 251);
  return asarray(values, {60000, 784});
}

std::int64_t epoch_of(const auto& batches, std::int64_t number) {
  std::int64_t sum = 0;
  for (const auto& batch : batches.epoch(number)) sum += std::get<0>(batch).shape(0);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int threads = std::stoi(argv[2]);
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  const auto table = data::from_arrays(std::tuple{rows(), Array<int>(arange<int>(60000))})
                         .shuffle({.key = random::key(0)})
                         .batch(128)
                         .prefetch(2);
  const auto images = [&](bool scaled) {
    const auto decode = [scaled](const io::Bytes& bytes) {
      const image::DecodeOptions options =
          scaled ? image::DecodeOptions{.channels = 3, .height = 224, .width = 224}
                 : image::DecodeOptions{.channels = 3};
      return std::tuple{image::resize(image::decode(bytes, options), {224, 224}), 0};
    };
    const auto same = [](const Bytes& x, int y) { return std::tuple{x, y}; };
    return data::from_files(paths, decode).map(same, {.threads = threads}).batch(32).prefetch(2);
  };
  const auto whole = images(false), scaled = images(true);
  std::int64_t number = 0;
  for (std::string line; std::getline(std::cin, line); ++number) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t clock = std::clock();
    const std::int64_t n =
        line == "rows" ? epoch_of(table, number) : epoch_of(line == "scaled" ? scaled : whole, number);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double busy = static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC;
    std::printf("%.6f %.6f %lld\n", seconds.count(), busy, static_cast<long long>(n));
    std::fflush(stdout);
  }
}
