// Images: decoders and resizing against Pillow, hostile files, folders.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nax/nax.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace image_test {
using namespace nax;
using Image = Array<std::uint8_t>;

Image golden_image(const std::string& name) {
  const golden::Golden& record = golden::goldens("image").at(name);
  std::vector<std::uint8_t> values(record.values.begin(), record.values.end());
  return array(values).reshape(Shape(record.shape));
}
io::Bytes golden_file(const std::string& name) {
  const golden::Golden& record = golden::goldens("image").at(name + "/file");
  return io::Bytes(record.values.begin(), record.values.end());
}
int largest_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.shape(), b.shape());
  if (a.shape() != b.shape()) return 1000;
  int most = 0;
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}
TEST(ImageDecode, AsPillow) {
  for (const std::string name :
       {"jpeg", "progressive", "jpeg_grey", "cmyk", "png", "png_grey", "palette", "alpha"}) {
    SCOPED_TRACE(name);
    EXPECT_LE(largest_difference(image::decode(golden_file(name)), golden_image(name + "/rgb")), 1);
    EXPECT_LE(
        largest_difference(image::decode(golden_file(name), {.channels = 1}), golden_image(name + "/grey")),
        name == "cmyk" ? 2 : 1);
  }
  EXPECT_EQ(image::decode(golden_file("png_grey"), {.channels = 0}).shape(), (Shape{19, 27, 1}));
  EXPECT_EQ(image::decode(golden_file("alpha"), {.channels = 0}).shape(), (Shape{19, 27, 4}));
  EXPECT_EQ(image::decode(golden_file("jpeg"), {.channels = 4})(0, 0, 3).item(), 255);
  EXPECT_EQ(refusal<Error>([] { image::decode(golden_file("png"), {.channels = 2}); }),
            "image::decode: channels must be 0, 1, 3 or 4, not 2");
}

TEST(ImageDecode, RoundTrips) {
  const Image noise = golden_image("image");
  EXPECT_EQ(largest_difference(image::decode(image::encode_png(noise)), noise), 0);
  const Image smooth = golden_image("jpeg/rgb");
  EXPECT_LE(largest_difference(image::decode(image::encode_jpeg(smooth, 98)), smooth), 24);
  EXPECT_EQ(image::decode(image::encode_jpeg(smooth(_, _, slice(0, 1))), {.channels = 0}).shape(),
            (Shape{19, 27, 1}));
  EXPECT_NE(refusal<Error>([] {
              image::encode_jpeg(zeros<std::uint8_t>({3, 4}));
            }).find("shape (3, 4)"),
            std::string::npos);
  EXPECT_NE(refusal<Error>([] {
              image::encode_png(zeros<std::uint8_t>({0, 4, 3}));
            }).find("shape (0, 4, 3)"),
            std::string::npos);
}

TEST(ImageDecode, Webp) {
#if defined(NAX_HAVE_WEBP)
  for (const std::string name : {"webp", "webp_lossless", "webp_alpha"}) {
    SCOPED_TRACE(name);
    const io::Bytes whole = golden_file(name);
    EXPECT_LE(largest_difference(image::decode(whole), golden_image(name + "/rgb")), name == "webp" ? 1 : 0);
    EXPECT_LE(largest_difference(image::decode(whole, {.channels = 1}), golden_image(name + "/grey")), 1);
    EXPECT_EQ(image::decode(whole, {.channels = 0}).shape(2), name == "webp_alpha" ? 4 : 3);
    const Image four = image::decode(whole, {.channels = 4});
    EXPECT_EQ(four.shape(2), 4);
    EXPECT_EQ(four(3, 4, 3).item(), name == "webp_alpha" ? four(3, 4, 0).item() : 255);
    for (std::size_t size = 12; size + 2 < whole.size(); size += 7)
      EXPECT_EQ(refusal<IoError>([&] {
                  image::decode(io::Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)),
                                {}, "'x'");
                }),
                "image::decode: 'x' is no whole WebP image")
          << size;
    EXPECT_NE(
        refusal<IoError>([&] { image::decode(whole, {.most_pixels = 100}); }).find("27 x 19 pixels, more"),
        std::string::npos);
  }
  EXPECT_EQ(refusal<IoError>([] { image::decode(golden_file("webp_animated"), {}, "'x'"); }),
            "image::decode: 'x' is an animated WebP image, of which none is read");
#else
  EXPECT_EQ(
      refusal<IoError>([] { image::decode(golden_file("webp"), {}, "'x'"); }),
      "image::decode: 'x' is a WebP image: this program was compiled without libwebp (libwebp-dev), which "
      "reads them");
#endif
}

TEST(ImageDecode, AtAScale) {
  const Image large = image::resize(golden_image("jpeg/rgb"), {512, 600});
  const io::Bytes bytes = image::encode_jpeg(large, 95);
  EXPECT_EQ(image::decode(bytes, {.height = 100, .width = 100}).shape(), (Shape{128, 150, 3}));
  EXPECT_EQ(image::decode(bytes, {.height = 512, .width = 1}).shape(), (Shape{512, 600, 3}));
  EXPECT_EQ(image::decode(bytes, {.height = 5000, .width = 1}).shape(), (Shape{512, 600, 3}));
  EXPECT_LE(largest_difference(image::decode(bytes, {.height = 256}),
                               image::resize(large, {256, 300}, {.method = "area"})),
            12);
}

TEST(ImageDecode, DamagedFilesAreNamed) {
  EXPECT_EQ(refusal<Error>([] {
              image::decode({1, 2, 3}, {}, "'x.jpg'");
            }),
            "image::decode: 'x.jpg' is neither JPEG, PNG nor WebP");
  EXPECT_EQ(refusal<Error>([] { image::decode({}); }),
            "image::decode: the image is neither JPEG, PNG nor WebP");
  for (const std::string name : {"jpeg", "progressive", "png", "palette"}) {
    const io::Bytes whole = golden_file(name);
    for (std::size_t size = 3; size + 2 < whole.size(); size += 7) {
      const std::string text = refusal<Error>([&] {
        image::decode(io::Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), {}, "'x'");
      });
      EXPECT_NE(text.find("'x' is"), std::string::npos) << name << " cut at " << size << ": " << text;
    }
  }
  io::Bytes huge = golden_file("jpeg");
  for (std::size_t i = 0; i + 9 < huge.size(); ++i)
    if (huge[i] == 0xff && huge[i + 1] == 0xc0) huge[i + 5] = huge[i + 6] = huge[i + 7] = huge[i + 8] = 0xf0;
  EXPECT_NE(refusal<Error>([&] { image::decode(huge); }).find("more than most_pixels"), std::string::npos);
}

// Bytes changed at random: an image or an error, never anything else.
TEST(ImageDecode, HostileFiles) {
  const char* const more = std::getenv("NAX_FUZZ_IMAGES");
  const int turns = more ? std::atoi(more) : 3000;
  std::uint32_t x = 7;
  const auto random = [&](std::size_t n) {
    return (x = x * 1664525 + 1013904223) / 65536u * 65536ull % 4294967291u % n;
  };
  int errors = 0, images = 0;
  for (int turn = 0; turn < turns; ++turn)
    for (const char* name : {"jpeg", "progressive", "cmyk", "png", "palette", "alpha"}) {
      io::Bytes bytes = golden_file(name);
      for (std::size_t changes = 1 + random(6); changes > 0; --changes)
        bytes[random(bytes.size())] = static_cast<std::uint8_t>(x >> 13);
      if (turn % 5 == 0) bytes.resize(random(bytes.size()) + 1);
      try {
        image::decode(bytes, {.channels = static_cast<int>(random(2)) * 3,
                              .height = static_cast<std::int64_t>(random(30)),
                              .most_pixels = 1 << 22});
        ++images;
      } catch (const IoError&) {
        ++errors;
      }
    }
  EXPECT_GT(errors, turns);
  EXPECT_GT(images, 0);
}

TEST(ImageResize, AsPillow) {
  const Image x = golden_image("image");
  for (const auto& [name, record] : golden::goldens("image")) {
    const std::size_t slash = name.find('/');
    const std::string method = name.substr(0, slash);
    if (method != "bilinear" && method != "area" && method != "nearest") continue;
    const Shape size{record.shape[0], record.shape[1]};
    const Image expected = golden_image(name);
    EXPECT_LE(largest_difference(image::resize(x, size, {.method = method}), expected),
              method == "nearest" ? 0 : 1)
        << name;
    const Array<float> floats = image::resize(x.astype<float>(), size, {.method = method});
    EXPECT_LE(largest_difference(Array<float>(rint(floats)).astype<std::uint8_t>(), expected),
              method == "nearest" ? 0 : 1)
        << name;
  }
  EXPECT_EQ(refusal<Error>([&] {
              image::resize(x, {3, 4}, {.method = "cubic"});
            }),
            "resize: no method 'cubic'; there are 'bilinear', 'area' and 'nearest'");
  EXPECT_EQ(refusal<Error>([&] {
              image::resize(x, {0, 4});
            }),
            "resize: the size must be (height, width), both at least 1, not (0, 4)");
  EXPECT_EQ(refusal<Error>([&] {
              image::resize(x(0), {3, 4});
            }),
            "resize: an image is (..., height, width, channels), shape (27, 3)");
}

TEST(ImageResize, BatchesMapAndDifferentiate) {
  const Image x = golden_image("image"), batch = stack({x, image::flip_left_right(x), x});
  const Image resized = image::resize(batch, {8, 10});
  EXPECT_EQ(resized.shape(), (Shape{3, 8, 10, 3}));
  EXPECT_EQ(largest_difference(resized(1), image::resize(image::flip_left_right(x), {8, 10})), 0);
  const Image mapped = vmap([](const Image& one) { return image::resize(one, {8, 10}); })(batch);
  EXPECT_LE(largest_difference(mapped, resized), 1);
  const Array<float> g = grad([](const Array<float>& y) {
    return sum(image::resize(y, {8, 10}));
  })(x.astype<float>());
  EXPECT_NEAR(sum(g).item(), 8 * 10 * 3, 1e-3);
}

TEST(ImageAugment, CropsFlipsAndColours) {
  const Image x = golden_image("image");
  EXPECT_EQ(largest_difference(image::crop(x, 2, 3, 5, 7), x(slice(2, 7), slice(3, 10))), 0);
  EXPECT_EQ(largest_difference(image::center_crop(x, {9, 7}), x(slice(5, 14), slice(10, 17))), 0);
  EXPECT_EQ(largest_difference(image::flip_left_right(image::flip_left_right(x)), x), 0);
  EXPECT_NE(refusal<Error>([&] { image::crop(x, 15, 0, 5, 5); }).find("rows 15 to 20"), std::string::npos);
  const auto part = [&](const random::Key& key) { return image::random_crop(key, x, {5, 6}); };
  const random::Key keys = random::split(random::key(1), 20);
  const Image parts = vmap(part)(keys);
  EXPECT_EQ(parts.shape(), (Shape{20, 5, 6, 3}));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(largest_difference(parts(i), part(keys(i))), 0);
  int flipped = 0;
  for (int i = 0; i < 20; ++i) flipped += largest_difference(image::random_flip(keys(i), x), x) > 0;
  EXPECT_GT(flipped, 3);
  EXPECT_LT(flipped, 17);
  const Array<float> mean = {0.5f, 0.25f, 0.f}, deviation = {0.5f, 1.f, 2.f};
  const Array<float> y = image::normalise(x, mean, deviation);
  EXPECT_NEAR(y(3, 4, 1).item(), static_cast<float>(x(3, 4, 1).item()) / 255 - 0.25f, 1e-6);
  const image::JitterOptions all{.brightness = 0.4, .contrast = 0.4, .saturation = 0.4};
  EXPECT_EQ(largest_difference(image::color_jitter(keys(0), x, {}), x), 0);
  const Image other = image::color_jitter(keys(0), x, all);
  EXPECT_GT(largest_difference(other, x), 3);
  const Image both = vmap([&](const random::Key& key) { return image::color_jitter(key, x, all); })(keys);
  EXPECT_LE(largest_difference(both(0), other), 1);
  EXPECT_NE(refusal<Error>([&] {
              image::color_jitter(keys(0), x, {.contrast = 2});
            }).find("between 0 and 1, not 2"),
            std::string::npos);
}

// A folder of its own to write images into.
struct Folder {
  std::string root;
  explicit Folder(const std::string& name)
      : root(::testing::TempDir() + "nax_images_" + name + std::to_string(::getpid())) {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root);
  }
  ~Folder() { std::filesystem::remove_all(root); }
  void write(const std::string& path, const io::Bytes& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::ofstream(root + "/" + path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
};
std::vector<int> labels_of(const data::ImageFolder& images) {
  std::vector<int> labels;
  for (auto [pixels, label] : images) labels.push_back(label);
  return labels;
}
using Names = std::vector<std::string>;

TEST(ImageFolder, EmptyFoldersAreClasses) {
  const Folder train("train"), val("val");
  const io::Bytes image = image::encode_png(golden_image("image"));
  for (const char* name : {"ant/1.png", "bee/1.png", "cat/deep/er/1.png"}) train.write(name, image);
  for (const char* name : {"bee/1.png", "cat/1.png", "cat/2.png"}) val.write(name, image);
  std::filesystem::create_directories(val.root + "/ant");
  EXPECT_EQ(data::image_folder(train.root).classes(), (Names{"ant", "bee", "cat"}));
  EXPECT_EQ(data::image_folder(val.root).classes(), (Names{"ant", "bee", "cat"}));
  EXPECT_EQ(labels_of(data::image_folder(val.root)), (std::vector<int>{1, 2, 2}));
  // Where a folder is missing, the classes are named.
  std::filesystem::remove(val.root + "/ant");
  EXPECT_EQ(labels_of(data::image_folder(val.root, {.classes = {"cat", "ant", "bee"}})),
            (std::vector<int>{2, 0, 0}));
  EXPECT_EQ(refusal<IoError>([&] {
              data::image_folder(val.root, {.classes = {"ant", "cat"}});
            }),
            "image_folder: the folder 'bee' in '" + val.root + "' is not one of .classes");
}

TEST(ImageFolder, LinksAreFollowedAndHiddenNamesAreNot) {
  const Folder folder("links"), elsewhere("elsewhere");
  const io::Bytes image = image::encode_png(golden_image("image"));
  elsewhere.write("1.png", image), elsewhere.write("deep/2.png", image);
  folder.write("b/1.png", image);
  folder.write("a.png", image);  // beside the classes
  folder.write("b/._1.png", {1, 2, 3});
  folder.write(".ipynb_checkpoints/1.png", image);
  folder.write("b/.ipynb_checkpoints/1.png", image);
  std::filesystem::create_directory_symlink(elsewhere.root, folder.root + "/a");
  std::filesystem::create_symlink(elsewhere.root + "/1.png", folder.root + "/b/2.png");
  std::filesystem::create_symlink("/no/such", folder.root + "/b/3.png");
  std::filesystem::create_directory_symlink(folder.root, elsewhere.root + "/back");  // a circle
  const auto images = data::image_folder(folder.root);
  EXPECT_EQ(images.classes(), (Names{"a", "b"}));
  EXPECT_EQ(labels_of(images), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(image::files_below(folder.root),
            (Names{folder.root + "/a.png", folder.root + "/a/1.png", folder.root + "/a/deep/2.png",
                   folder.root + "/b/1.png", folder.root + "/b/2.png"}));
  const Folder other("other");
  other.write("1.png", image), other.write("none/notes.txt", {1});
  EXPECT_EQ(refusal<IoError>([&] { data::image_folder(other.root); }),
            "image_folder: there is no image in a folder of '" + other.root + "'");
}

TEST(ImageFolder, LabelsSizesAndErrors) {
  const Folder folder("labels");
  const std::string& root = folder.root;
  const auto write = [&](const std::string& path, const io::Bytes& bytes) { folder.write(path, bytes); };
  const Image x = golden_image("image");
  write("dog/a.png", image::encode_png(x));
  write("cat/b.JPG", image::encode_jpeg(x));
  write("cat/c.jpeg", image::encode_jpeg(x));
  write("cat/notes.txt", {1, 2, 3});
  const auto images = data::image_folder(root, {.size = {8, 10}});
  EXPECT_EQ(images.classes(), (std::vector<std::string>{"cat", "dog"}));
  for (auto [pixels, labels] : images.batch(3)) {
    EXPECT_EQ(pixels.shape(), (Shape{3, 8, 10, 3}));
    EXPECT_EQ(labels.to_vector(), (std::vector<int>{0, 0, 1}));
    EXPECT_EQ(largest_difference(pixels(2), image::resize(x, {8, 10})), 0);
  }
  int n = 0;
  for (auto [pixels, label] : data::image_folder(root + "/dog/")) n += pixels.shape(0) == 19 && label == 0;
  EXPECT_EQ(n, 1);
  write("cat/d.jpg", {0xff, 0xd8, 0xff, 1});
  const std::string text = refusal<Error>([&] {
    for (auto element : data::image_folder(root).prefetch(2)) static_cast<void>(element);
  });
  EXPECT_NE(text.find("from_files: '" + root + "/cat/d.jpg': image::decode: '" + root +
                      "/cat/d.jpg' is no whole JPEG image"),
            std::string::npos)
      << text;
  EXPECT_NE(refusal<Error>([&] { data::image_folder(root + "/none"); }).find("/none' cannot be read"),
            std::string::npos);
}

}  // namespace image_test
