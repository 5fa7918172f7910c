#pragma once

#include <algorithm>

#include "nax/modules/data/dataset.hpp"
#include "nax/modules/image/codec.hpp"
#include "nax/modules/image/resize.hpp"

// Folders of images as datasets. Link nax::image (and nax::storage for addresses). (Nothing here is of the
// compiled library, which does not know of either.)
NAX_BEGIN
namespace data {

struct ImageFolderOptions {
  Shape size = {};   // (height, width) of all elements; none: each as it is
  int channels = 3;  // 1, 3 or 4
  // The classes in the order of their labels, where folders may be missing; none: all folders.
  std::vector<std::string> classes = {};
  std::string version = "";  // as map's
};

// Tuples of an image, (height, width, channels) bytes, and a label.
class ImageFolder : public Dataset<std::tuple<Array<std::uint8_t>, int>> {
 public:
  using Element = std::tuple<Array<std::uint8_t>, int>;
  ImageFolder(Dataset<Element> elements, std::vector<std::string> classes)
      : Dataset<Element>(std::move(elements)), classes_(std::move(classes)) {}
  // The names of the folders that labels count.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  std::vector<std::string> classes_;
};

namespace detail {

// Decodes no more than the size needs. (This and image_folder are templates so that files that call neither
// do not compile them.)
template <class = void>
Array<std::uint8_t> read_sized(const std::string& path, const ImageFolderOptions& options) {
  image::DecodeOptions decoding;
  decoding.channels = options.channels;
  if (options.size.empty()) return image::read(path, decoding);
  decoding.height = options.size[0], decoding.width = options.size[1];
  return image::resize(image::read(path, decoding), options.size);
}

}  // namespace detail

// The JPEG, PNG and WebP files below a folder or an address (s3://bucket/train), by name. Their labels count
// the folders right below it, empty ones too, in the order of their names, or .classes; files that lie beside
// these folders are left out. Without folders all labels are 0. Names that begin with a dot are left out, and
// links are followed. Throws IoError where there is no image, and for a folder that is none of .classes; one
// that cannot be decoded is an error of the loop, by its name.
template <class = void>
ImageFolder image_folder(const std::string& folder, const ImageFolderOptions& options = {}) {
  if (!options.size.empty() && (options.size.size() != 2 || options.size[0] < 1 || options.size[1] < 1))
    raise<ValueError>({"image_folder: size must be (height, width), both at least 1, not ", options.size});
  if (folder.empty()) throw ValueError("image_folder: the folder has no name");
  auto [paths, classes] = image::detail::list_images(folder);
  const bool has_classes = !classes.empty() || !options.classes.empty();
  if (!options.classes.empty()) {
    for (const std::string& name : classes)
      if (std::count(options.classes.begin(), options.classes.end(), name) != 1)
        raise<IoError>({"image_folder: the folder '", name, "' in '", folder, "' is not one of .classes"});
    classes = options.classes;
  }
  if (has_classes)
    std::erase_if(paths,
                  [&](const std::string& path) { return image::detail::folder_of(folder, path).empty(); });
  if (paths.empty()) raise<IoError>({"image_folder: there is no image in a folder of '", folder, "'"});
  if (!has_classes) classes = {""};
  const auto element = [=, classes = classes](const std::string& path) {
    const auto place = std::find(classes.begin(), classes.end(), image::detail::folder_of(folder, path));
    return ImageFolder::Element{detail::read_sized(path, options), static_cast<int>(place - classes.begin())};
  };
  std::string version = std::to_string(options.channels) + " " + options.version;
  for (const std::string& name : classes) version += "/" + name;
  for (const std::int64_t extent : options.size) version = std::to_string(extent) + " " + version;
  return ImageFolder(from_files(std::move(paths), element, {.version = version}), classes);
}

}  // namespace data
NAX_END
