#pragma once

#include <concepts>
#include <string>
#include <vector>

#include "nax/io/file.hpp"
#include "nax/modules/data/cursors.hpp"
#include "nax/modules/data/identity.hpp"
#include "nax/modules/data/trees.hpp"

// Where elements come from: arrays, numbers, files.
NAX_BEGIN
namespace data::detail {

// The rows of a tree of arrays.
template <class T>
class ArraySource final : public IndexedStage<T> {
 public:
  ArraySource(const char* function, const T& arrays) : rows_(std::make_shared<Rows>(function, arrays)) {}
  void describe(Fingerprint& print) const override {
    print.add("from_arrays"), print.add(rows_->size()), add_types<T>(print);
    tree::for_each([&](const auto& leaf) { describe_shape(print, leaf); }, rows_->arrays);
    identity_.describe(print, [&](Fingerprint& own) {
      tree::for_each([&](const auto& leaf) { describe_elements(own, leaf); }, rows_->arrays);
    });
  }
  std::int64_t size() const override { return rows_->size(); }
  std::shared_ptr<const Access<T>> access(const Context&) const override { return rows_; }

 private:
  struct Rows final : Access<T> {
    Rows(const char* function, const T& data)
        : count(count_rows(function, data)),
          arrays(tree::detail::map(
              function,
              [](const auto& leaf) {
                return nax::detail::typed<typename std::remove_cvref_t<decltype(leaf)>::value_type>(
                    contiguous(leaf, transforms_handled));
              },
              data)) {}
    std::int64_t size() const override { return count; }
    T at(std::int64_t i) const override { return row_of_tree(arrays, i); }
    bool gathers() const override { return true; }
    std::vector<ArrayBase> gather(std::span<const std::int64_t> rows) const override {
      std::vector<ArrayBase> leaves;
      tree::for_each([&](const auto& leaf) { leaves.push_back(gather_rows(leaf, rows)); }, arrays);
      return leaves;
    }
    const std::int64_t count;
    const T arrays;
  };
  static void describe_shape(Fingerprint& print, const ArrayBase& leaf) {
    for (const std::int64_t extent : leaf.shape()) print.add(extent);
  }
  static void describe_elements(Fingerprint& print, const ArrayBase& leaf) {
    if (leaf.size() > 0) print.add(static_cast<std::int64_t>(content_hash(raw_data(leaf), bytes_of(leaf))));
  }
  std::shared_ptr<const Rows> rows_;
  Identity identity_;
};

// A decoder takes a file's bytes, its path, or its path and its bytes.
template <class F>
concept DecodesPath = std::is_invocable_v<const F&, const std::string&>;
template <class F>
concept DecodesBytes = std::is_invocable_v<const F&, const io::Bytes&>;
template <class F>
concept DecodesBoth = std::is_invocable_v<const F&, const std::string&, const io::Bytes&>;

template <class F>
auto decode_file(const F& decode, const std::string& path) {
  if constexpr (DecodesBoth<F>) {
    return settled(decode(path, io::detail::read_file("from_files", path)));
  } else if constexpr (DecodesPath<F>) {
    return settled(decode(path));
  } else {
    static_assert(DecodesBytes<F>,
                  "from_files: decode must take a path (std::string), the bytes of the file "
                  "(std::vector<std::uint8_t>), or both");
    return settled(decode(io::detail::read_file("from_files", path)));
  }
}

template <class F, class Element>
class FileSource final : public IndexedStage<Element> {
 public:
  FileSource(std::vector<std::string> paths, F decode, std::string version)
      : files_(std::make_shared<Files>(std::move(paths), std::move(decode))), version_(std::move(version)) {}
  void describe(Fingerprint& print) const override {
    print.add("from_files"), print.add(files_->size()), add_types<Element>(print);
    add_function<F>(print, "", version_);
    identity_.describe(print, [&](Fingerprint& own) { describe_files(own, files_->paths); });
  }
  std::int64_t size() const override { return files_->size(); }
  std::shared_ptr<const Access<Element>> access(const Context&) const override { return files_; }

 private:
  struct Files final : Access<Element> {
    Files(std::vector<std::string> of, F by) : paths(std::move(of)), decode(std::move(by)) {}
    std::int64_t size() const override { return static_cast<std::int64_t>(paths.size()); }
    Element at(std::int64_t i) const override {
      const profile::Span span(profile::Kind::data, "from_files");
      try {
        return decode_file(decode, paths[static_cast<std::size_t>(i)]);
      } catch (...) {
        rethrow_from("from_files", source(i));
      }
    }
    std::string source(std::int64_t i) const override {
      return "'" + paths[static_cast<std::size_t>(i)] + "'";
    }
    const std::vector<std::string> paths;
    const F decode;
  };
  std::shared_ptr<const Files> files_;
  std::string version_;
  Identity identity_;
};

}  // namespace data::detail
NAX_END
