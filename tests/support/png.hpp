#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "nax/io/crc32.hpp"
#include "nax/io/deflate.hpp"

// PNG files of all types, written without libpng, and the bytes that they stand for.
namespace png {

struct Image {
  int colour_type = 2, depth = 8;  // 0: grey, 2: RGB, 3: palette, 4: grey and alpha, 6: RGB and alpha
  std::uint32_t height = 11, width = 13;
  bool interlaced = false;
  int gamma = 0;             // gAMA, in 1 / 100000; 0: none
  bool transparent = false;  // has a tRNS chunk: one colour, or the palette's alpha

  int samples() const { return colour_type == 2 ? 3 : colour_type == 4 ? 2 : colour_type == 6 ? 4 : 1; }
  // Grid of few values, so that the transparent colour is met.
  unsigned sample(std::uint32_t y, std::uint32_t x, int c) const {
    const std::uint32_t drawn =
        ((y / 2 * 7 + x / 3 * 3 + static_cast<std::uint32_t>(c) * 5) * 2654435761u) >> 16;
    return depth == 16 ? drawn & 0xffff : drawn % (1u << depth);
  }
};

inline void append_big_endian(std::vector<std::uint8_t>& to, std::uint32_t value, int bytes) {
  for (int i = bytes; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}
inline void append_chunk(std::vector<std::uint8_t>& to, std::string_view name,
                         const std::vector<std::uint8_t>& data) {
  append_big_endian(to, static_cast<std::uint32_t>(data.size()), 4);
  const std::size_t begin = to.size();
  to.insert(to.end(), name.begin(), name.end());
  to.insert(to.end(), data.begin(), data.end());
  append_big_endian(to, nax::io::detail::crc32(to.data() + begin, to.size() - begin), 4);
}

inline std::array<std::uint8_t, 4> palette_entry(unsigned i) {
  const auto byte = [](unsigned v) { return static_cast<std::uint8_t>(v); };
  return {byte(i * 37 + 11), byte(i * 101 + 5), byte(255 - i * 13), byte(i % 4 * 85)};
}

inline std::vector<std::uint8_t> file(const Image& image) {
  std::vector<std::uint8_t> out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, chunk;
  append_big_endian(chunk, image.width, 4), append_big_endian(chunk, image.height, 4);
  for (const int value : {image.depth, image.colour_type, 0, 0, image.interlaced ? 1 : 0})
    chunk.push_back(static_cast<std::uint8_t>(value));
  append_chunk(out, "IHDR", chunk);
  if (image.gamma) {
    chunk.clear(), append_big_endian(chunk, static_cast<std::uint32_t>(image.gamma), 4);
    append_chunk(out, "gAMA", chunk);
  }
  std::vector<std::uint8_t> key;
  if (image.colour_type == 3) {
    chunk.clear();
    for (unsigned i = 0; i < 1u << image.depth; ++i) {
      const auto entry = palette_entry(i);
      chunk.insert(chunk.end(), entry.begin(), entry.begin() + 3), key.push_back(entry[3]);
    }
    append_chunk(out, "PLTE", chunk);
  } else {
    for (int c = 0; c < image.samples(); ++c) append_big_endian(key, image.sample(0, 0, c), 2);
  }
  if (image.transparent) append_chunk(out, "tRNS", key);

  // Adam7's passes: first column and row, steps
  static constexpr std::uint32_t passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                                 {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  static constexpr std::uint32_t whole[1][4] = {{0, 0, 1, 1}};
  std::vector<std::uint8_t> raw;
  for (int pass = 0; pass < (image.interlaced ? 7 : 1); ++pass) {
    const std::uint32_t* const p = image.interlaced ? passes[pass] : whole[pass];
    for (std::uint32_t y = p[1]; y < image.height; y += p[3]) {
      if (p[0] >= image.width) continue;
      raw.push_back(0);  // no filter
      unsigned held = 0, bits = 0;
      for (std::uint32_t x = p[0]; x < image.width; x += p[2])
        for (int c = 0; c < image.samples(); ++c) {
          held = held << image.depth | image.sample(y, x, c), bits += static_cast<unsigned>(image.depth);
          for (; bits >= 8; bits -= 8) raw.push_back(static_cast<std::uint8_t>(held >> (bits - 8)));
        }
      if (bits) raw.push_back(static_cast<std::uint8_t>(held << (8 - bits)));
    }
  }
  const std::string packed = nax::io::detail::Deflate::pack(raw.data(), raw.size());
  std::uint32_t a = 1, b = 0;
  for (const std::uint8_t byte : raw) a = (a + byte) % 65521, b = (b + a) % 65521;
  chunk = {0x78, 0x01};
  chunk.insert(chunk.end(), packed.begin(), packed.end());
  append_big_endian(chunk, b << 16 | a, 4);
  append_chunk(out, "IDAT", chunk);
  append_chunk(out, "IEND", {});
  return out;
}

// Red, green, blue and alpha of each pixel: of 16 bits the upper 8, of fewer than 8 all of 0 ... 255.
inline std::vector<std::uint8_t> pixels(const Image& image) {
  std::vector<std::uint8_t> out;
  for (std::uint32_t y = 0; y < image.height; ++y)
    for (std::uint32_t x = 0; x < image.width; ++x) {
      std::array<std::uint8_t, 4> pixel{0, 0, 0, 255};
      const auto byte = [&](int c) {
        const unsigned s = image.sample(y, x, c);
        return static_cast<std::uint8_t>(image.depth == 16 ? s >> 8 : s * 255 / ((1u << image.depth) - 1));
      };
      if (image.colour_type == 3) {
        pixel = palette_entry(image.sample(y, x, 0));
        if (!image.transparent) pixel[3] = 255;
      } else {
        const bool colour = image.colour_type & 2;
        for (int c = 0; c < 3; ++c) pixel[static_cast<std::size_t>(c)] = byte(colour ? c : 0);
        if (image.colour_type & 4) pixel[3] = byte(image.samples() - 1);
        bool is_key = image.transparent;
        for (int c = 0; c < image.samples(); ++c) is_key &= image.sample(y, x, c) == image.sample(0, 0, c);
        if (is_key) pixel[3] = 0;
      }
      out.insert(out.end(), pixel.begin(), pixel.end());
    }
  return out;
}

// One image of each colour type and depth, plain and interlaced, with and without gAMA and tRNS.
inline std::vector<Image> all_types() {
  std::vector<Image> all;
  for (const auto& [colour, depths] : std::vector<std::pair<int, std::vector<int>>>{
           {0, {1, 2, 4, 8, 16}}, {2, {8, 16}}, {3, {1, 2, 4, 8}}, {4, {8, 16}}, {6, {8, 16}}})
    for (const int depth : depths)
      for (const bool interlaced : {false, true})
        for (const int gamma : {0, 45455, 100000, 22000})
          for (const bool transparent : {false, true}) {
            if (transparent && (colour & 4)) continue;
            all.push_back({colour, depth, 11, 13, interlaced, gamma, transparent});
          }
  for (const std::uint32_t size : {1u, 2u, 3u, 4u, 5u})  // passes without pixels
    all.push_back({.colour_type = 2, .depth = 16, .height = 6 - size, .width = size, .interlaced = true});
  return all;
}

}  // namespace png
