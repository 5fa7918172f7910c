#pragma once

#include "nax/modules/data/groups.hpp"

// Sequences of different lengths, several in a row of one length.
NAX_BEGIN
namespace data {

struct PackOptions {
  std::int64_t bins = 16;  // rows that are open at once; each takes the first sequence that fits
  bool split = false;      // sequences are cut where a row ends, and go on in the next: no row has room left
  double value = 0;        // behind the sequences
  int threads = 0;         // that put rows together; 0: the loop's own thread
};

// A row of several sequences.
template <class E>
struct Packed {
  E values;                // the sequences behind one another along the first axis
  Array<int> segment_ids;  // 1, 2, ... : which sequence a place is of; 0 where none is
  Array<int> positions;    // 0, 1, ... within each sequence; 0 where none is
};

namespace detail {

// Rows of one element.
struct RowSpan {
  std::int64_t begin = 0, count = 0;
};

// The elements of a row, and which rows of each.
template <class Element>
class PackStage final : public Stage<std::pair<std::vector<Element>, std::vector<RowSpan>>> {
  using Result = std::pair<std::vector<Element>, std::vector<RowSpan>>;

 public:
  PackStage(StageRef<Element> input, std::int64_t length, const PackOptions& options)
      : input_(std::move(input)), length_(length), options_(options) {
    if (length < 1 || options.bins < 1)
      raise<ValueError>(
          {"pack: the length and .bins must be at least 1, not ", length, " and ", options.bins});
  }
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("pack"), print.add(length_), print.add(options_.split);
    print.add(options_.split ? 1 : options_.bins);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Result>> open(const Context& context) const override {
    return std::make_unique<Walk>(input_->open(context), length_, options_);
  }

 private:
  struct Bin {
    Result pieces;
    std::int64_t left;
    void add(const Element& element, const RowSpan& span) {
      pieces.first.push_back(element), pieces.second.push_back(span);
      left -= span.count;
    }
  };
  class Walk final : public Cursor<Result> {
   public:
    Walk(std::unique_ptr<Cursor<Element>> input, std::int64_t length, const PackOptions& options)
        : input_(std::move(input)), length_(length), options_(options) {}
    std::optional<Result> next() override {
      while (!ended_) {
        if (!element_ && !take_element()) break;
        std::optional<Result> full = options_.split ? split() : first_fit();
        if (full) return full;
      }
      if (bins_.empty()) return std::nullopt;
      return close(0);
    }
    Origin origin() const override { return input_->origin(); }

   private:
    bool take_element() {
      element_ = input_->next();
      if (!element_) {
        ended_ = true;
        return false;
      }
      try {
        span_ = {0, count_rows("pack", *element_)};
        if (!options_.split && span_.count > length_)
          raise<ValueError>(
              {"pack: a sequence of length ", span_.count, " is longer than a row of ", length_});
      } catch (...) {
        element_.reset();
        rethrow_from("pack", input_->origin().text());
      }
      return true;
    }
    std::optional<Result> first_fit() {
      if (span_.count == 0) return element_.reset(), std::nullopt;
      for (std::size_t i = 0; i < bins_.size(); ++i) {
        if (bins_[i].left < span_.count) continue;
        bins_[i].add(*element_, span_);
        element_.reset();
        return bins_[i].left == 0 ? std::optional(close(i)) : std::nullopt;
      }
      std::optional<Result> full;
      if (static_cast<std::int64_t>(bins_.size()) ==
          options_.bins) {  // the fullest goes, of equals the oldest
        const auto fuller = [](const Bin& a, const Bin& b) { return a.left < b.left; };
        full = close(
            static_cast<std::size_t>(std::min_element(bins_.begin(), bins_.end(), fuller) - bins_.begin()));
      }
      bins_.push_back({{}, length_});
      return full;  // the element comes into the new row next time
    }
    std::optional<Result> split() {
      if (span_.count == 0) return element_.reset(), std::nullopt;
      if (bins_.empty()) bins_.push_back({{}, length_});
      const RowSpan part{span_.begin, std::min(span_.count, bins_[0].left)};
      bins_[0].add(*element_, part);
      span_ = {span_.begin + part.count, span_.count - part.count};
      return bins_[0].left == 0 ? std::optional(close(0)) : std::nullopt;
    }
    Result close(std::size_t i) {
      Result pieces = std::move(bins_[i].pieces);
      bins_.erase(bins_.begin() + static_cast<std::ptrdiff_t>(i));
      return pieces;
    }
    std::unique_ptr<Cursor<Element>> input_;
    std::int64_t length_;
    PackOptions options_;
    std::optional<Element> element_;  // that has no place yet, and what is left of it
    RowSpan span_;
    bool ended_ = false;
    std::vector<Bin> bins_;
  };
  StageRef<Element> input_;
  std::int64_t length_;
  PackOptions options_;
};

// These rows of leaf j of the elements behind one another, `length` in all; `value` has the leaf's dtype.
NAX_ENGINE ArrayBase packed_leaf(const std::vector<LeafView>& leaves, std::size_t stride, std::size_t j,
                                 const std::vector<RowSpan>& spans, std::int64_t length, const void* value);
// 1, 2, ... for the spans, and the places within them.
NAX_ENGINE std::pair<Array<int>, Array<int>> segments_of(const std::vector<RowSpan>& spans,
                                                         std::int64_t length);

// At least one element.
template <class E>
Packed<E> pack_elements(const std::vector<E>& elements, const std::vector<RowSpan>& spans,
                        std::int64_t length, double value) {
  std::vector<LeafView> leaves;
  for (const E& element : elements) append_leaves(element, leaves);
  const std::size_t stride = leaves.size() / elements.size();
  std::size_t j = 0;
  E values = tree::detail::map(
      "pack",
      [&](const auto& leaf) {
        using T = typename std::remove_cvref_t<decltype(leaf)>::value_type;
        const T filled = fill_value<T>(value);
        return nax::detail::typed<T>(packed_leaf(leaves, stride, j++, spans, length, &filled));
      },
      elements[0]);
  auto [segments, positions] = segments_of(spans, length);
  return {std::move(values), std::move(segments), std::move(positions)};
}

}  // namespace detail
}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/pack-inl.hpp"
#endif
