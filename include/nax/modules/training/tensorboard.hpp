#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "nax/io/new_file.hpp"
#include "nax/modules/training/event_records.hpp"
#include "nax/modules/training/log_file.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/tree/for_each.hpp"

// Logs for TensorBoard.
NAX_BEGIN
namespace training {

struct TensorBoardOptions {
  double flush_seconds = 2;  // events are held so long, at most, until the next one
  std::string suffix = {};   // of the file's name
};

namespace detail {

NAX_ENGINE std::string event_file_name(const std::string& folder, const std::string& suffix);
// An event with one value, whose message has the tag already.
NAX_ENGINE std::string summary_event(const ProtoWriter& value, std::int64_t step);
// The pixels of an image (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) as a value.
NAX_ENGINE ProtoWriter image_value(const std::string& tag, const std::vector<std::uint8_t>& pixels,
                                   const Shape& shape);
// Numbers in [0, 1] as bytes.
NAX_ENGINE std::vector<std::uint8_t> pixels_of(const std::vector<double>& values);
NAX_ENGINE ProtoWriter text_value(const std::string& tag, const std::string& text);

// `.layers[0].w` as TensorBoard groups it: `layers/0/w`.
NAX_ENGINE std::string tag_of(const std::string& prefix, const std::string& path);

template <class T>
std::vector<double> as_doubles(const Array<T>& x) {
  return x.template astype<double>().to_vector();
}

}  // namespace detail

// Writes an event file into a folder, which `tensorboard --logdir folder` shows. Threads may share one.
class TensorBoard {
 public:
  explicit TensorBoard(const std::string& folder, const TensorBoardOptions& options = {});

  // A number, or an array of no axes.
  template <nax::detail::Operand X>
  void scalar(const std::string& tag, const X& value, std::int64_t step) {
    detail::ProtoWriter v;
    v.text(1, tag);
    if constexpr (Scalar<X>)
      v.fixed32(2, static_cast<float>(value));
    else
      v.fixed32(2, static_cast<float>(nax::detail::as_array(value).template astype<double>().item()));
    add(v, step);
  }
  // Each leaf of a tree that has no axes, as `prefix/path`; arrays with axes as histograms.
  template <class Tree>
  void tree(const std::string& prefix, const Tree& values, std::int64_t step) {
    tree::for_each_with_path(
        [&](const std::string& path, const auto& leaf) {
          const std::string tag = detail::tag_of(prefix, path);
          if constexpr (Scalar<std::remove_cvref_t<decltype(leaf)>>)
            scalar(tag, leaf, step);
          else if (leaf.ndim() == 0)
            scalar(tag, leaf, step);
          else
            histogram(tag, leaf, step);
        },
        values);
  }
  // The distribution of an array's elements; those that are not finite are left out.
  template <nax::detail::ArrayLike X>
  void histogram(const std::string& tag, const X& values, std::int64_t step) {
    detail::ProtoWriter v;
    v.text(1, tag);
    v.message(5, detail::histogram_of(detail::as_doubles(nax::detail::as_array(values))));
    add(v, step);
  }
  // Markdown.
  void text(const std::string& tag, const std::string& text, std::int64_t step) {
    add(detail::text_value(tag, text), step);
  }
  // (H, W), or (H, W, C) with C = 1, 3 or 4: bytes, or numbers in [0, 1].
  template <nax::detail::ArrayLike X>
  void image(const std::string& tag, const X& image_, std::int64_t step) {
    const auto image = nax::detail::as_array(image_);
    using T = typename X::value_type;
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      add(detail::image_value(tag, image.to_vector(), image.shape()), step);
    } else {
      add(detail::image_value(tag, detail::pixels_of(detail::as_doubles(image)), image.shape()), step);
    }
  }

  // Hands all events to the system. Throws IoError where the disk is full.
  void flush() { file_->flush(); }
  const std::string& path() const { return file_->path(); }

 private:
  void add(const detail::ProtoWriter& value, std::int64_t step) {
    file_->add(detail::framed(detail::summary_event(value, step)));
  }
  std::unique_ptr<detail::LogFile> file_;
};

}  // namespace training
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/training/tensorboard-inl.hpp"
#endif
