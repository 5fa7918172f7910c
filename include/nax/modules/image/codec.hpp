#pragma once

#include <string>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/io/file.hpp"

// JPEG, PNG and WebP as arrays. Programs that call these link nax::image, which brings libjpeg-turbo and
// libpng, and libwebp where it is installed; without, a WebP image is an error that says so.
NAX_BEGIN
namespace image {

struct DecodeOptions {
  int channels = 3;  // 1, 3 or 4; 0: as the file has them
  // JPEG only: decoded at the smallest of the scales 1/8 ... 8/8 whose image is at least this high and wide,
  // which takes a fraction of the time; 0: at full size.
  std::int64_t height = 0, width = 0;
  std::int64_t most_pixels = std::int64_t{1} << 28;  // of what a file may claim
};

// The image in a file's bytes: (height, width, channels), rows from the top. Transparency is dropped where it
// is not asked for; of 16 bits the upper 8 are kept; no gamma and no colour profile is applied (Pillow's
// pixels). Throws IoError for what is damaged, cut short, or none of these; `name` is what it says.
Array<std::uint8_t> decode(const io::Bytes& bytes, const DecodeOptions& options = {},
                           const std::string& name = "the image");
// The image in a file, or at an address where nax::storage is linked.
Array<std::uint8_t> read(const std::string& path, const DecodeOptions& options = {});

// An image of one or three channels (for PNG also four) as a file's bytes.
io::Bytes encode_jpeg(const Array<std::uint8_t>& image, int quality = 90);
// The bytes of a PNG file of an image.
io::Bytes encode_png(const Array<std::uint8_t>& image);

// The JPEG, PNG and WebP files below a folder (or address), by name. Follows links to folders; leaves out
// files and folders whose names begin with a dot. Throws IoError where there is none.
std::vector<std::string> files_below(const std::string& folder);

namespace detail {

// files_below's paths, and the names of the folders right below, empty ones too, in their order.
struct Listing {
  std::vector<std::string> paths, folders;
};
Listing list_images(const std::string& folder);
// The part of `path` below `root` up to the first slash; empty where there is none.
std::string folder_of(const std::string& root, const std::string& path);

}  // namespace detail

}  // namespace image
NAX_END
