#pragma once

#include <bit>
#include <deque>

#include "nax/core/overflow.hpp"
#include "nax/modules/data/batch.hpp"
#include "nax/modules/data/map.hpp"

// Several elements as one: windows that overlap, batches of elements of different shapes, buckets by length.
NAX_BEGIN
namespace data {

struct WindowOptions {
  std::int64_t shift = 1;      // elements from one window's begin to the next one's
  std::int64_t stride = 1;     // from one element of a window to the next
  bool drop_remainder = true;  // no windows that reach beyond the end
  int threads = 0;             // that put windows together; 0: the loop's own thread
};

struct PaddedBatchOptions {
  double value = 0;  // behind the elements' own
  Shape shape = {};  // to pad to, where all arrays have as many axes; none: the largest of the batch
  bool drop_remainder = false;
  int threads = 0;  // that put batches together; 0: the loop's own thread
};

struct BucketOptions {
  double value = 0;              // behind the elements' own
  bool drop_remainder = false;   // of buckets that are not full at the end
  bool pad_to_boundary = false;  // to the bucket's longest length along the first axis, not to the batch's
  int threads = 0;               // that put batches together; 0: the loop's own thread
  std::string version = "";      // of the function, as map's
};

namespace detail {

// Windows of n elements each, as vectors.
struct Windows {
  std::int64_t n, shift, stride;
  bool drop_remainder;

  std::int64_t span() const { return (n - 1) * stride + 1; }
  std::int64_t count(std::int64_t elements) const {
    if (drop_remainder) return elements < span() ? 0 : (elements - span()) / shift + 1;
    return elements == 0 ? 0 : (elements - 1) / shift + 1;
  }
};

template <class Element>
class WindowStage final : public Stage<std::vector<Element>> {
  using Result = std::vector<Element>;

 public:
  WindowStage(StageRef<Element> input, const Windows& windows)
      : input_(std::move(input)), windows_(windows) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("window");
    if (!this->is_elastic()) print.add(windows_.n), print.add(windows_.shift);  // else as batch's size
    print.add(windows_.stride), print.add(windows_.drop_remainder);
  }
  std::int64_t size() const override {
    const std::int64_t in = input_->size();
    return in < 0 ? -1 : windows_.count(in);
  }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Result>> access(const Context& context) const override {
    auto input = input_->access(context);
    if (!input) return nullptr;
    return std::make_shared<Elements>(std::move(input), windows_);
  }
  std::unique_ptr<Cursor<Result>> open(const Context& context) const override {
    if (auto input = input_->access(context)) {
      // Elements that threads make are made once, whatever windows they are in.
      if (input->crew().threads == 0)
        return open_indices<Result>(std::make_shared<Elements>(std::move(input), windows_), context);
      return std::make_unique<Walk>(open_indices<Element>(std::move(input), context), windows_);
    }
    return std::make_unique<Walk>(input_->open(context), windows_);
  }
  // Of windows that are batches.
  std::int64_t elastic_position(std::int64_t start, std::int64_t n) const override {
    std::int64_t elements;
    if (windows_.shift != windows_.n || windows_.stride != 1) return -1;
    return input_->elastic_position(
        start, nax::detail::multiply_overflows(n, windows_.n, elements) ? INT64_MAX : elements);
  }

 private:
  struct Elements final : Access<Result> {
    Elements(std::shared_ptr<const Access<Element>> from, const Windows& by)
        : input(std::move(from)), windows(by) {}
    std::int64_t size() const override { return windows.count(input->size()); }
    Result at(std::int64_t i) const override {
      Result window;
      const std::int64_t first = i * windows.shift, end = std::min(input->size(), first + windows.span());
      for (std::int64_t at = first; at < end; at += windows.stride) window.push_back(input->at(at));
      return window;
    }
    Crew crew() const override { return input->crew(); }
    std::string name() const override { return input->name(); }
    std::string source(std::int64_t i) const override {
      return "the window of " + input->source(i * windows.shift) + " on";
    }
    std::shared_ptr<const Access<Element>> input;
    Windows windows;
  };
  class Walk final : public Cursor<Result> {
   public:
    Walk(std::unique_ptr<Cursor<Element>> input, const Windows& windows)
        : input_(std::move(input)), windows_(windows) {}
    std::optional<Result> next() override {
      if (!come_to_window()) return std::nullopt;
      while (!ended_ && static_cast<std::int64_t>(held_.size()) < windows_.span()) {
        std::optional<Element> element = input_->next();
        if (!element) {
          ended_ = true;
          break;
        }
        if (held_.empty()) origin_ = input_->origin();
        held_.push_back(std::move(*element));
      }
      const auto there = static_cast<std::int64_t>(held_.size());
      if (there == 0 || (windows_.drop_remainder && there < windows_.span())) return std::nullopt;
      Result window;
      for (std::int64_t at = 0; at < std::min(there, windows_.span()); at += windows_.stride)
        window.push_back(held_[static_cast<std::size_t>(at)]);
      gap_ = windows_.shift;
      return window;
    }
    std::int64_t skip(std::int64_t n) override {
      // Windows that do not overlap, before any was made: the input knows how many there are.
      if (windows_.shift < windows_.span() || gap_ > 0 || !held_.empty()) return Cursor<Result>::skip(n);
      std::int64_t wanted;
      if (nax::detail::multiply_overflows(n, windows_.shift, wanted)) wanted = INT64_MAX;
      return std::min(n, windows_.count(input_->skip(wanted)));
    }
    Origin origin() const override { return origin_; }

   private:
    // Drops what lies before the next window; false where the input ends there.
    bool come_to_window() {
      const auto drop = std::min(gap_, static_cast<std::int64_t>(held_.size()));
      held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(drop));
      const std::int64_t gap = std::exchange(gap_, 0) - drop;
      if (gap == 0) return true;
      if (ended_ || input_->skip(gap) < gap) ended_ = true;
      return !ended_;
    }
    std::unique_ptr<Cursor<Element>> input_;
    Windows windows_;
    std::deque<Element> held_;
    std::int64_t gap_ = 0;  // elements from the first held one to the next window
    bool ended_ = false;
    Origin origin_;
  };
  StageRef<Element> input_;
  Windows windows_;
};

// The array in the corner of a larger one; `value` has the array's dtype.
NAX_ENGINE ArrayBase padded_array(const ArrayBase& a, const Shape& shape, const void* value);
// The largest extents of leaf j of the elements, `stride` leaves an element; `at_least` where it is longer.
// Throws ShapeError where the numbers of axes differ, or one is larger than `shape`, where that is given.
NAX_ENGINE Shape common_shape(const std::vector<LeafView>& leaves, std::size_t stride, std::size_t j,
                              const Shape& shape, std::int64_t first_extent);

template <class T>
T fill_value(double value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

// At least one element. Arrays are padded behind their elements, numbers stay.
template <class E>
Batched<E> stack_padded(const std::vector<E>& elements, double value, const Shape& shape,
                        std::int64_t first_extent = 0) {
  std::vector<LeafView> leaves;
  for (const E& element : elements) append_leaves(element, leaves);
  const std::size_t stride = leaves.size() / elements.size();
  std::vector<Shape> shapes;
  for (std::size_t j = 0; j < stride; ++j)
    shapes.push_back(leaves[j].array ? common_shape(leaves, stride, j, shape, first_extent) : Shape());
  std::vector<E> padded;
  for (const E& element : elements) {
    std::size_t j = 0;
    padded.push_back(tree::detail::map(
        "padded_batch",
        [&](const auto& leaf) {
          using L = std::remove_cvref_t<decltype(leaf)>;
          const std::size_t at = j++;
          if constexpr (is_array_v<L>) {
            using T = typename L::value_type;
            const T filled = fill_value<T>(value);
            return nax::detail::typed<T>(padded_array(leaf, shapes[at], &filled));
          } else {
            return leaf;
          }
        },
        element));
  }
  return stack_elements(padded);
}

// Options as a text for fingerprints.
inline std::string text_of(double value, const Shape& shape) {
  std::string text = std::to_string(std::bit_cast<std::uint64_t>(value));
  for (const std::int64_t extent : shape) text += " " + std::to_string(extent);
  return text;
}

// Elements by their length: a vector comes out when its bucket is full, and what is left at the end.
template <class F, class Element>
class BucketStage final : public Stage<std::tuple<std::int64_t, std::vector<Element>>> {
  using Result = std::tuple<std::int64_t, std::vector<Element>>;

 public:
  BucketStage(StageRef<Element> input, F length, std::vector<std::int64_t> boundaries,
              std::vector<std::int64_t> sizes, BucketOptions options)
      : input_(std::move(input)),
        length_(std::make_shared<const F>(std::move(length))),
        boundaries_(std::move(boundaries)),
        sizes_(std::move(sizes)),
        options_(std::move(options)) {
    if (sizes_.size() != boundaries_.size() + 1)
      raise<ValueError>({"bucket_by_sequence_length: ", boundaries_.size(), " boundaries make ",
                         boundaries_.size() + 1, " buckets, but there are ", sizes_.size(), " batch sizes"});
    for (std::size_t i = 1; i < boundaries_.size(); ++i)
      if (boundaries_[i] <= boundaries_[i - 1])
        throw ValueError("bucket_by_sequence_length: the boundaries must ascend");
    for (const std::int64_t n : sizes_)
      if (n < 1) raise<ValueError>({"bucket_by_sequence_length: a batch must have an element, not ", n});
  }
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("bucket"), print.add(options_.drop_remainder);
    for (const std::int64_t boundary : boundaries_) print.add(boundary);
    for (const std::int64_t n : sizes_) print.add(n);
    add_function<F>(print, "", options_.version);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Result>> open(const Context& context) const override {
    return std::make_unique<Walk>(*this, context);
  }

 private:
  class Walk final : public Cursor<Result> {
   public:
    Walk(const BucketStage& stage, const Context& context)
        : input_(stage.input_->open(context)),
          length_(stage.length_),
          boundaries_(stage.boundaries_),
          sizes_(stage.sizes_),
          drop_remainder_(stage.options_.drop_remainder),
          buckets_(stage.sizes_.size()) {}
    std::optional<Result> next() override {
      while (!ended_) {
        std::optional<Element> element = input_->next();
        if (!element) {
          ended_ = true;
          break;
        }
        const std::size_t i = bucket_of(*element);
        buckets_[i].push_back(std::move(*element));
        if (static_cast<std::int64_t>(buckets_[i].size()) == sizes_[i]) return take(i);
      }
      for (; !drop_remainder_ && left_ < buckets_.size(); ++left_)
        if (!buckets_[left_].empty()) return take(left_);
      return std::nullopt;
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::size_t bucket_of(const Element& element) const {
      try {
        const auto length = static_cast<std::int64_t>(call_with(*length_, Element(element), NoKey()));
        return static_cast<std::size_t>(std::upper_bound(boundaries_.begin(), boundaries_.end(), length) -
                                        boundaries_.begin());
      } catch (...) {
        rethrow_from("bucket_by_sequence_length", input_->origin().text());
      }
    }
    Result take(std::size_t i) {
      const std::int64_t longest = i < boundaries_.size() ? boundaries_[i] - 1 : 0;
      return {longest, std::exchange(buckets_[i], {})};
    }
    std::unique_ptr<Cursor<Element>> input_;
    std::shared_ptr<const F> length_;
    std::vector<std::int64_t> boundaries_, sizes_;
    bool drop_remainder_, ended_ = false;
    std::vector<std::vector<Element>> buckets_;
    std::size_t left_ = 0;
  };
  StageRef<Element> input_;
  std::shared_ptr<const F> length_;
  std::vector<std::int64_t> boundaries_, sizes_;
  BucketOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/groups-inl.hpp"
#endif
