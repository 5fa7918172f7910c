// The source of nax::image: JPEG by libjpeg-turbo, PNG by libpng, and WebP by libwebp where NAX_HAVE_WEBP is
// defined. Compiled with the program's own sources, as nax::cuda's is.
#include <png.h>

#include <algorithm>
#include <climits>
#include <csetjmp>
#include <cstdio>
#include <filesystem>
#include <memory>

// after <cstdio>
#include <jpeglib.h>
// after jpeglib.h
#include <jerror.h>

#if defined(NAX_HAVE_WEBP)
#include <webp/decode.h>
#endif

#include "nax/modules/image/codec.hpp"
#include "nax/numpy/views/copy.hpp"

NAX_BEGIN
namespace image {
namespace {

using nax::detail::elements;

Array<std::uint8_t> allocate_image(std::int64_t height, std::int64_t width, int channels) {
  return nax::detail::typed<std::uint8_t>(
      nax::detail::allocate_on_host(DType::uint8, Frame{Shape{height, width, channels}, {}}));
}
[[noreturn]] void fail(const std::string& name, const std::string& what) {
  raise<IoError>({"image::decode: ", name, " ", what});
}
void check_size(const std::string& name, std::int64_t height, std::int64_t width,
                const DecodeOptions& options) {
  if (height <= 0 || width <= 0) fail(name, "has no pixels");
  if (width > options.most_pixels / height)
    fail(name, "claims to be " + std::to_string(width) + " x " + std::to_string(height) +
                   " pixels, more than most_pixels");
}

// libjpeg reports errors by a function that must not return; it goes back to where the decoder was called.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};
void on_error(j_common_ptr info) {
  auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->back, 1);
}
// Warnings after which pixels are made up are errors here.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_NOT_SEQUENTIAL:
      on_error(info);
      break;
    default:
      break;
  }
}

class JpegDecoder {
 public:
  JpegDecoder() {
    info_.err = ::jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = on_error;
    errors_.manager.emit_message = on_message;
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { ::jpeg_destroy_decompress(&info_); }

  // Each step returns whether it went well; nothing with a destructor lies within them.
  bool begin(const io::Bytes& bytes) {
    if (setjmp(errors_.back)) return false;
    ::jpeg_create_decompress(&info_);
    ::jpeg_mem_src(&info_, bytes.data(), static_cast<unsigned long>(bytes.size()));
    ::jpeg_read_header(&info_, TRUE);
    return true;
  }
  bool start(const DecodeOptions& options) {
    if (setjmp(errors_.back)) return false;
    const bool cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    const int channels = options.channels == 0 ? (info_.num_components == 1 ? 1 : 3) : options.channels;
    info_.out_color_space = cmyk                                                 ? JCS_CMYK
                            : channels == 1 && info_.jpeg_color_space != JCS_RGB ? JCS_GRAYSCALE
                                                                                 : JCS_RGB;
    info_.scale_num = 8, info_.scale_denom = 8;
    if (options.height > 0 || options.width > 0) {
      for (unsigned scale = 1; scale <= 8; ++scale) {
        info_.scale_num = scale;
        ::jpeg_calc_output_dimensions(&info_);
        if (static_cast<std::int64_t>(info_.output_height) >= options.height &&
            static_cast<std::int64_t>(info_.output_width) >= options.width)
          break;
      }
    }
    ::jpeg_start_decompress(&info_);
    return true;
  }
  bool read(std::uint8_t* out) {
    if (setjmp(errors_.back)) return false;
    const std::size_t row =
        std::size_t{info_.output_width} * static_cast<std::size_t>(info_.output_components);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW rows[8];
      for (unsigned i = 0; i < 8; ++i)
        rows[i] = out + std::min(info_.output_scanline + i, info_.output_height - 1) * row;
      ::jpeg_read_scanlines(&info_, rows, std::min(8u, info_.output_height - info_.output_scanline));
    }
    ::jpeg_finish_decompress(&info_);
    return true;
  }
  const jpeg_decompress_struct& info() const { return info_; }
  const char* message() const { return errors_.message; }

 private:
  jpeg_decompress_struct info_{};
  JpegErrors errors_{};
};

std::uint8_t grey_of(const std::uint8_t* rgb) {  // ITU-R 601, as PIL's
  return static_cast<std::uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

// Pixels of `from` channels (1, 3 or 4) as those of `to`.
Array<std::uint8_t> with_channels(const Array<std::uint8_t>& image, int from, int to) {
  if (from == to) return image;
  Array<std::uint8_t> result = allocate_image(image.shape(0), image.shape(1), to);
  const auto* in = elements<const std::uint8_t>(image);
  auto* out = elements<std::uint8_t>(result);
  for (std::int64_t pixels = image.shape(0) * image.shape(1); pixels > 0; --pixels, in += from, out += to) {
    if (to == 1) {
      out[0] = from == 1 ? in[0] : grey_of(in);
    } else {
      for (int c = 0; c < 3; ++c) out[c] = from == 1 ? in[0] : in[c];
      if (to == 4) out[3] = from == 4 ? in[3] : 255;
    }
  }
  return result;
}

Array<std::uint8_t> decode_jpeg(const io::Bytes& bytes, const DecodeOptions& options,
                                const std::string& name) {
  JpegDecoder decoder;
  const auto check = [&](bool fine) {
    if (!fine) fail(name, std::string("is no whole JPEG image: ") + decoder.message());
  };
  check(decoder.begin(bytes));
  check_size(name, decoder.info().image_height, decoder.info().image_width, options);
  check(decoder.start(options));
  const auto& info = decoder.info();
  const bool cmyk = info.out_color_space == JCS_CMYK;
  Array<std::uint8_t> image = allocate_image(info.output_height, info.output_width, info.output_components);
  check(decoder.read(elements<std::uint8_t>(image)));
  const int wanted = options.channels == 0 ? (info.num_components == 1 ? 1 : 3) : options.channels;
  if (!cmyk) return with_channels(image, info.output_components, wanted);
  // Adobe's programs write what is left of the paper's white, others ink.
  Array<std::uint8_t> rgb = allocate_image(image.shape(0), image.shape(1), 3);
  const auto* in = elements<const std::uint8_t>(image);
  auto* out = elements<std::uint8_t>(rgb);
  const bool inverted = info.saw_Adobe_marker;
  for (std::int64_t pixels = image.shape(0) * image.shape(1); pixels > 0; --pixels, in += 4, out += 3)
    for (int c = 0; c < 3; ++c) {
      const unsigned colour = inverted ? in[c] : 255u - in[c], black = inverted ? in[3] : 255u - in[3];
      out[c] = static_cast<std::uint8_t>((colour * black + 127) / 255);
    }
  return with_channels(rgb, 3, wanted);
}

// Do its chunks go on to the last one? (libpng is content when it has the pixels.)
bool has_end(const io::Bytes& bytes) {
  for (std::size_t at = 8; bytes.size() - at >= 12;) {
    const std::size_t length = io::detail::big_endian(bytes.data() + at);
    if (length > bytes.size() - at - 12) return false;
    if (std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                   bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8, "IEND"))
      return true;
    at += length + 12;
  }
  return false;
}

// libpng's reader. Errors go back, by longjmp, to where the step was called.
class PngDecoder {
 public:
  explicit PngDecoder(const io::Bytes& bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() { ::png_destroy_read_struct(&png_, &info_, nullptr); }

  // Each step returns whether it went well; nothing with a destructor lies within them.
  bool begin() {
    png_ =
        ::png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_png_error, [](png_structp, const char*) {});
    info_ = png_ ? ::png_create_info_struct(png_) : nullptr;
    if (!info_ || setjmp(png_jmpbuf(png_))) return false;
    ::png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);  // all but pixels and tRNS
    ::png_set_read_fn(png_, this, on_read);
    ::png_read_info(png_, info_);
    return true;
  }
  // Bytes as the file has them, whatever its gamma and profile: of 16 bits the upper 8, as Pillow and OpenCV.
  bool read(int channels, const std::uint8_t* end, std::uint8_t* out) {
    if (setjmp(png_jmpbuf(png_))) return false;
    ::png_set_expand(png_);
    ::png_set_strip_16(png_);
    if (channels == 4)
      ::png_set_gray_to_rgb(png_);
    else
      ::png_set_strip_alpha(png_);
    const int passes = ::png_set_interlace_handling(png_);
    ::png_read_update_info(png_, info_);
    const std::size_t row = ::png_get_rowbytes(png_, info_);
    if (row * height() != static_cast<std::size_t>(end - out))
      ::png_error(png_, "its rows have another size");
    for (int pass = 0; pass < passes; ++pass)
      for (png_uint_32 y = 0; y < height(); ++y) ::png_read_row(png_, out + y * row, nullptr);
    return true;
  }
  png_uint_32 height() const { return ::png_get_image_height(png_, info_); }
  png_uint_32 width() const { return ::png_get_image_width(png_, info_); }
  bool has_colour() const { return ::png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR; }
  bool has_alpha() const {
    return (::png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) ||
           ::png_get_valid(png_, info_, PNG_INFO_tRNS);
  }
  const char* message() const { return message_; }

 private:
  [[noreturn]] static void on_png_error(png_structp png, const char* message) {
    auto* const self = static_cast<PngDecoder*>(::png_get_error_ptr(png));
    std::snprintf(self->message_, sizeof self->message_, "%s", message);
    ::png_longjmp(png, 1);
  }
  static void on_read(png_structp png, png_bytep to, std::size_t size) {
    auto* const self = static_cast<PngDecoder*>(::png_get_io_ptr(png));
    if (size > static_cast<std::size_t>(self->end_ - self->at_)) ::png_error(png, "its end is missing");
    self->at_ = std::copy_n(self->at_, size, to) - to + self->at_;
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  const std::uint8_t *at_, *end_;
  char message_[128] = "there is no memory for it";
};

Array<std::uint8_t> decode_png(const io::Bytes& bytes, const DecodeOptions& options,
                               const std::string& name) {
  if (!has_end(bytes)) fail(name, "is no whole PNG image: its end is missing");
  PngDecoder decoder(bytes);
  const auto check = [&](bool fine) {
    if (!fine) fail(name, std::string("is no whole PNG image: ") + decoder.message());
  };
  check(decoder.begin());
  check_size(name, decoder.height(), decoder.width(), options);
  const int wanted = options.channels != 0  ? options.channels
                     : decoder.has_alpha()  ? 4
                     : decoder.has_colour() ? 3
                                            : 1;
  const int read = wanted == 4 && decoder.has_alpha() ? 4 : decoder.has_colour() ? 3 : 1;
  Array<std::uint8_t> image = allocate_image(decoder.height(), decoder.width(), read);
  auto* const out = elements<std::uint8_t>(image);
  check(decoder.read(read, out + image.size(), out));
  return with_channels(image, read, wanted);
}

// A RIFF file of this form.
bool is_webp(const io::Bytes& bytes) {
  return bytes.size() >= 12 && std::equal(bytes.begin(), bytes.begin() + 4, "RIFF") &&
         std::equal(bytes.begin() + 8, bytes.begin() + 12, "WEBP");
}

#if defined(NAX_HAVE_WEBP)
Array<std::uint8_t> decode_webp(const io::Bytes& bytes, const DecodeOptions& options,
                                const std::string& name) {
  WebPBitstreamFeatures found;
  const auto fail_cut = [&] { fail(name, "is no whole WebP image"); };
  if (::WebPGetFeatures(bytes.data(), bytes.size(), &found) != VP8_STATUS_OK) fail_cut();
  if (found.has_animation) fail(name, "is an animated WebP image, of which none is read");
  check_size(name, found.height, found.width, options);
  const int own = found.has_alpha ? 4 : 3, wanted = options.channels == 0 ? own : options.channels;
  const int read = wanted == 4 ? 4 : 3;
  Array<std::uint8_t> image = allocate_image(found.height, found.width, read);
  const std::size_t row = static_cast<std::size_t>(found.width) * static_cast<std::size_t>(read),
                    size = row * static_cast<std::size_t>(found.height);
  if (row > INT_MAX) fail(name, "has rows that are too long");
  const auto decode_into = read == 4 ? ::WebPDecodeRGBAInto : ::WebPDecodeRGBInto;
  if (!decode_into(bytes.data(), bytes.size(), elements<std::uint8_t>(image), size, static_cast<int>(row)))
    fail_cut();
  return with_channels(image, read, wanted);
}
#else
Array<std::uint8_t> decode_webp(const io::Bytes&, const DecodeOptions&, const std::string& name) {
  fail(name, "is a WebP image: this program was compiled without libwebp (libwebp-dev), which reads them");
}
#endif

// For the encoders: (height, width, channels), row-major.
Array<std::uint8_t> checked_image(const char* function, const Array<std::uint8_t>& image, bool alpha) {
  nax::detail::check_operand(function, image);
  nax::detail::need_plain(function, "the image", image);
  nax::detail::need_host(function, image);
  const std::int64_t channels = image.ndim() == 3 ? image.shape(2) : 0;
  if ((channels != 1 && channels != 3 && !(alpha && channels == 4)) || image.size() == 0)
    raise<ShapeError>({function, ": an image is (height, width, channels) with 1 or 3 channels",
                       alpha ? " or 4" : "", ", shape ", image.shape()});
  return nax::detail::typed<std::uint8_t>(nax::detail::contiguous(image));
}

struct JpegEncoder {
  jpeg_compress_struct info{};
  JpegErrors errors{};
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  JpegEncoder() {
    info.err = ::jpeg_std_error(&errors.manager);
    errors.manager.error_exit = on_error;
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;
  ~JpegEncoder() {
    ::jpeg_destroy_compress(&info);
    std::free(memory);
  }
  bool write(const std::uint8_t* pixels, unsigned height, unsigned width, int channels, int quality) {
    if (setjmp(errors.back)) return false;
    ::jpeg_create_compress(&info);
    ::jpeg_mem_dest(&info, &memory, &size);
    info.image_height = height, info.image_width = width;
    info.input_components = channels;
    info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    ::jpeg_set_defaults(&info);
    ::jpeg_set_quality(&info, quality, TRUE);
    ::jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < height) {
      auto* row = const_cast<JSAMPROW>(pixels + std::size_t{info.next_scanline} * width *
                                                    static_cast<std::size_t>(channels));
      ::jpeg_write_scanlines(&info, &row, 1);
    }
    ::jpeg_finish_compress(&info);
    return true;
  }
};

bool is_image_name(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string end : {".jpg", ".jpeg", ".png", ".webp"})
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) return true;
  return false;
}

}  // namespace

Array<std::uint8_t> decode(const io::Bytes& bytes, const DecodeOptions& options, const std::string& name) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3 && options.channels != 4)
    raise<ValueError>({"image::decode: channels must be 0, 1, 3 or 4, not ", options.channels});
  if (bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff)
    return decode_jpeg(bytes, options, name);
  if (bytes.size() >= 8 && ::png_sig_cmp(bytes.data(), 0, 8) == 0) return decode_png(bytes, options, name);
  if (is_webp(bytes)) return decode_webp(bytes, options, name);
  fail(name, "is neither JPEG, PNG nor WebP");
}

Array<std::uint8_t> read(const std::string& path, const DecodeOptions& options) {
  return decode(io::detail::read_file("image::read", path), options, "'" + path + "'");
}

io::Bytes encode_jpeg(const Array<std::uint8_t>& image, int quality) {
  const Array<std::uint8_t> whole = checked_image("encode_jpeg", image, false);
  if (quality < 1 || quality > 100)
    raise<ValueError>({"encode_jpeg: quality must be between 1 and 100, not ", quality});
  if (whole.shape(0) > 65500 || whole.shape(1) > 65500)
    raise<ShapeError>({"encode_jpeg: an image may have 65500 rows and columns, shape ", whole.shape()});
  JpegEncoder encoder;
  if (!encoder.write(elements<const std::uint8_t>(whole), static_cast<unsigned>(whole.shape(0)),
                     static_cast<unsigned>(whole.shape(1)), static_cast<int>(whole.shape(2)), quality))
    raise<Error>({"encode_jpeg: ", encoder.errors.message});
  return io::Bytes(encoder.memory, encoder.memory + encoder.size);
}

io::Bytes encode_png(const Array<std::uint8_t>& image) {
  const Array<std::uint8_t> whole = checked_image("encode_png", image, true);
  const int channels = static_cast<int>(whole.shape(2));
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (whole.shape(0) > 1'000'000 || whole.shape(1) > 1'000'000)
    raise<ShapeError>({"encode_png: an image may have 1000000 rows and columns, shape ", whole.shape()});
  png.height = static_cast<png_uint_32>(whole.shape(0)), png.width = static_cast<png_uint_32>(whole.shape(1));
  png.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  io::Bytes bytes(size);
  if (!::png_image_write_to_memory(&png, bytes.data(), &size, 0, elements<const std::uint8_t>(whole), 0,
                                   nullptr))
    raise<Error>({"encode_png: ", png.message});
  bytes.resize(size);
  return bytes;
}

namespace detail {
namespace {

bool is_hidden(const std::string& name) { return !name.empty() && name[0] == '.'; }

// `above`: the folders that this one lies in, against links that lead back.
void list_local(const std::filesystem::path& folder, std::vector<std::filesystem::path>& above,
                Listing& found) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (!error && std::find(above.begin(), above.end(), real) != above.end()) return;
  auto at = error ? fs::directory_iterator() : fs::directory_iterator(folder, error);
  above.push_back(real);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_hidden(name)) continue;
    std::error_code none;  // of a link to nothing
    if (at->is_directory(none)) {
      if (above.size() == 1) found.folders.push_back(name);
      list_local(at->path(), above, found);
    } else if (at->is_regular_file(none) && is_image_name(name)) {
      found.paths.push_back(at->path().string());
    }
  }
  above.pop_back();
  if (error) raise<IoError>({"image_folder: '", folder.string(), "' cannot be read: ", error.message()});
}

}  // namespace

std::string folder_of(const std::string& root, const std::string& path) {
  std::size_t begin = root.size();
  while (begin < path.size() && path[begin] == '/') ++begin;
  const std::size_t end = path.find('/', begin);
  return end == std::string::npos ? "" : path.substr(begin, end - begin);
}

Listing list_images(const std::string& folder) {
  Listing found;
  if (io::detail::is_address(folder)) {
    const std::string root = folder.back() == '/' ? folder : folder + "/";
    for (std::string& path : io::detail::need_remote_files("image_folder", folder).list(root)) {
      const std::string below = path.substr(std::min(root.size(), path.size()));
      if (is_hidden(below) || below.find("/.") != std::string::npos) continue;
      if (const std::string name = folder_of(root, path); !name.empty()) found.folders.push_back(name);
      if (is_image_name(path)) found.paths.push_back(std::move(path));
    }
  } else {
    std::vector<std::filesystem::path> above;
    list_local(folder, above, found);
  }
  std::sort(found.paths.begin(), found.paths.end());
  std::sort(found.folders.begin(), found.folders.end());
  found.folders.erase(std::unique(found.folders.begin(), found.folders.end()), found.folders.end());
  if (found.paths.empty())
    raise<IoError>({"image_folder: there is no JPEG, PNG or WebP file below '", folder, "'"});
  return found;
}

}  // namespace detail

std::vector<std::string> files_below(const std::string& folder) { return detail::list_images(folder).paths; }

}  // namespace image
NAX_END
