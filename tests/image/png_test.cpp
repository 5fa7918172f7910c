// PNG files of every type against the samples that they were written from.
#include "support/png.hpp"

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace png_test {
using namespace nax;

// The pixels as `channels` of them.
std::vector<std::uint8_t> expected(const png::Image& image, std::size_t channels) {
  std::vector<std::uint8_t> out;
  const std::vector<std::uint8_t> pixels = png::pixels(image);
  for (std::size_t i = 0; i < pixels.size(); i += 4) {
    const unsigned r = pixels[i], g = pixels[i + 1], b = pixels[i + 2];
    if (channels == 1)
      out.push_back(static_cast<std::uint8_t>((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16));
    else
      for (std::size_t c = 0; c < channels; ++c) out.push_back(pixels[i + c]);
  }
  return out;
}

TEST(Png, EveryTypeIsReadAsItIsWritten) {
  for (const png::Image& image : png::all_types()) {
    SCOPED_TRACE(testing::Message() << "colour type " << image.colour_type << ", depth " << image.depth
                                    << ", interlaced " << image.interlaced << ", gamma " << image.gamma
                                    << ", tRNS " << image.transparent << ", " << image.height << " x "
                                    << image.width);
    const std::vector<std::uint8_t> bytes = png::file(image);
    const io::Bytes file(bytes.begin(), bytes.end());
    for (const int channels : {1, 3, 4})
      EXPECT_EQ(image::decode(file, {.channels = channels}).to_vector(),
                expected(image, static_cast<std::size_t>(channels)))
          << channels << " channels";
    const bool alpha = image.transparent || (image.colour_type & 4);
    const std::int64_t own = alpha ? 4 : image.colour_type == 0 ? 1 : 3;
    const Array<std::uint8_t> as_it_is = image::decode(file, {.channels = 0});
    EXPECT_EQ(as_it_is.shape(), (Shape{image.height, image.width, own}));
    EXPECT_EQ(as_it_is.to_vector(), expected(image, static_cast<std::size_t>(own)));
  }
}

// Chunks that libpng would read alone, or not at all, change no pixel.
TEST(Png, AncillaryChunksAreIgnored) {
  const png::Image image{.colour_type = 6, .depth = 16};
  std::vector<std::uint8_t> bytes = png::file(image), more(bytes.begin(), bytes.begin() + 33);
  png::append_chunk(more, "iCCP", {'x', 0, 0, 1, 2, 3});
  png::append_chunk(more, "cHRM", std::vector<std::uint8_t>(32, 9));
  png::append_chunk(more, "sRGB", {7});
  png::append_chunk(more, "sBIT", {1, 1, 1, 1});
  png::append_chunk(more, "zTXt", {'x', 0, 0, 1, 2, 3});
  png::append_chunk(more, "qqQq", {1, 2, 3});
  more.insert(more.end(), bytes.begin() + 33, bytes.end());
  EXPECT_EQ(image::decode(io::Bytes(more.begin(), more.end()), {.channels = 4}).to_vector(),
            expected(image, 4));
}

TEST(Png, DamageIsNamed) {
  std::vector<std::uint8_t> bytes = png::file({.depth = 16, .interlaced = true});
  bytes[bytes.size() - 20] ^= 1;  // within the pixels
  const std::string text =
      refusal<IoError>([&] { image::decode(io::Bytes(bytes.begin(), bytes.end()), {}, "'x'"); });
  EXPECT_EQ(text.find("image::decode: 'x' is no whole PNG image: "), 0u) << text;
  bytes = png::file({.depth = 16, .interlaced = true});
  bytes[24] = 3;  // of the header's checksum: the depth
  EXPECT_NE(refusal<IoError>([&] { image::decode(io::Bytes(bytes.begin(), bytes.end())); }), "");
}

}  // namespace png_test
