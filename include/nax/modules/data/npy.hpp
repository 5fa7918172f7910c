#pragma once

#include "nax/io/mapped_file.hpp"
#include "nax/io/save.hpp"
#include "nax/modules/data/dataset.hpp"

// NumPy's files as datasets. The elements of a .npy file stay there until they are read.
NAX_BEGIN
namespace data {
namespace detail {

using io::detail::ReadOrder;

// The rows of the array in a .npy file, which is mapped whatever its order of elements and of bytes. An
// address, a pipe, and an array without elements are read.
class NpyRows {
 public:
  NpyRows(const std::string& path, DType dtype);
  std::int64_t size() const { return shape_[0]; }
  const Shape& shape() const { return shape_; }
  // Row i: a view of the file where the elements lie as nax holds them, a copy where they do not (the other
  // order of bytes, bools, an odd offset). A row in Fortran's order is a view with strides.
  ArrayBase row(std::int64_t i, ReadOrder order) const;
  // These rows, copied into one row-major array.
  ArrayBase gather(std::span<const std::int64_t> rows, ReadOrder order) const;

 private:
  const ArrayBase& array(ReadOrder order) const { return order == ReadOrder::random ? random_ : forward_; }
  void begin_reading(std::span<const std::int64_t> rows) const;
  ArrayBase gather_columns(std::span<const std::int64_t> rows, ReadOrder order) const;

  Shape shape_;
  // Two mappings, for the system's advice holds for all readers of one.
  ArrayBase forward_, random_;
  std::shared_ptr<const io::detail::MappedFile> random_file_;  // none: read, not mapped
  std::uint64_t offset_ = 0;
  std::size_t row_bytes_ = 0;
  bool fortran_ = false, swapped_ = false, needs_copy_ = false;
};

template <Dtype T>
class NpySource final : public IndexedStage<Array<T>> {
 public:
  explicit NpySource(const std::string& path) : path_(path) {
    Fingerprint now;  // of the file as it is mapped
    identity_.describe(now, [&](Fingerprint& own) { describe_files(own, {path_}); });
    rows_ = std::make_shared<const NpyRows>(path, dtype_of<T>);
  }
  void describe(Fingerprint& print) const override {
    print.add("from_arrays"), print.add(rows_->size()), add_types<Array<T>>(print);
    for (const std::int64_t extent : rows_->shape()) print.add(extent);
    identity_.describe(print, [](Fingerprint&) {});
  }
  std::int64_t size() const override { return rows_->size(); }
  std::shared_ptr<const Access<Array<T>>> access(const Context& context) const override {
    return std::make_shared<Elements>(rows_, context.random ? ReadOrder::random : ReadOrder::forward);
  }

 private:
  struct Elements final : Access<Array<T>> {
    Elements(std::shared_ptr<const NpyRows> of, ReadOrder in) : rows(std::move(of)), order(in) {}
    std::int64_t size() const override { return rows->size(); }
    Array<T> at(std::int64_t i) const override { return nax::detail::typed<T>(rows->row(i, order)); }
    bool gathers() const override { return true; }
    std::vector<ArrayBase> gather(std::span<const std::int64_t> indices) const override {
      return {rows->gather(indices, order)};
    }
    std::shared_ptr<const NpyRows> rows;
    ReadOrder order;
  };
  std::string path_;
  Identity identity_;
  std::shared_ptr<const NpyRows> rows_;
};

}  // namespace detail

// The rows of the array in a .npy file, which is mapped, not read: `from_npy<float>("x.npy")`. Fortran's
// order and the other order of bytes are mapped too; rows are put in order when they are read. Behind a
// shuffle the file is not read ahead. The file must not be cut short while the dataset lives. Throws IoError
// for what is no such file or of another dtype.
template <Dtype T>
Dataset<Array<T>> from_npy(const std::string& path) {
  return io::detail::within_memory(
      "from_npy", path, [&] { return Dataset<Array<T>>(std::make_shared<detail::NpySource<T>>(path)); });
}
struct FromNpzOptions {
  std::vector<std::string> skip = {};     // arrays of the file that the tree has not, such as text and dates
  std::vector<std::string> columns = {};  // if given, the arrays that are read: the tree's
};
// The rows of the arrays in an .npz file, which are read: a tree says which and of what types, as for
// io::load: `from_npz<Example>("train.npz")`. Throws IoError where the file has other arrays, but for those
// that the options name, or lacks one that they name.
template <class Tree>
Dataset<Tree> from_npz(const std::string& path, const FromNpzOptions& options = {}) {
  Tree tree{};
  io::detail::within_memory("load", path, [&] {
    io::detail::load_from(io::detail::Source("load", path), io::detail::is_npy(path), tree,
                          {options.skip, options.columns});
  });
  return from_arrays(tree);
}

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/npy-inl.hpp"
#endif
