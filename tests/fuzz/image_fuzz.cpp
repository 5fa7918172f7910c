#include "fuzz.hpp"
#include "nax/modules/image/codec.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "support/png.hpp"

// JPEG and PNG. The first byte chooses the channels and, for JPEG, a scale.
namespace {
using namespace nax;
using fuzz::Bytes;

Array<std::uint8_t> drawn(std::int64_t height, std::int64_t width, std::int64_t channels) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(height * width * channels));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * i % 251);
  return asarray(std::span<const std::uint8_t>(values), {height, width, channels});
}

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (const int channels : {1, 3}) {
    const Array<std::uint8_t> image = drawn(19, 23, channels);
    for (const int choice : {0, 5, 10}) {
      all.push_back(chosen(choice, image::encode_jpeg(image)));
      all.push_back(chosen(choice, image::encode_png(image)));
    }
  }
  all.push_back(chosen(3, image::encode_png(drawn(5, 7, 4))));
  for (const png::Image& image : png::all_types())
    if (image.gamma != 100000) all.push_back(chosen(static_cast<int>(all.size() % 4), png::file(image)));
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* from, std::size_t size) {
  if (size == 0) return 0;
  const io::Bytes bytes(from + 1, from + size);
  constexpr int channels[] = {0, 1, 3, 4};
  image::DecodeOptions options{.channels = channels[from[0] % 4], .most_pixels = 1 << 16};
  if (from[0] / 4 % 2) options.height = options.width = 8;
  fuzz::reads([&] {
    const Array<std::uint8_t> image = image::decode(bytes, options, "f");
    fuzz::must(image.ndim() == 3 && image.size() > 0 && image.size() <= 4 << 16, "an image of a wrong size");
    fuzz::must(options.channels == 0 || image.shape(2) == options.channels, "other channels");
    unsigned sum = 0;
    for (const std::uint8_t value : image.to_vector()) sum += value;
    fuzz::must(sum <= 255u * static_cast<unsigned>(image.size()), "values beyond 255");
  });
  return 0;
}
