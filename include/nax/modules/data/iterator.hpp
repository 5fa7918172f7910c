#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>

#include "nax/core/compute_on.hpp"
#include "nax/core/profile.hpp"
#include "nax/modules/data/stage.hpp"
#include "nax/numpy/views/copy.hpp"

NAX_BEGIN
namespace data {

// Where an iterator is: a tree, so that io::save keeps it beside the parameters. It belongs to the pipeline
// that it was taken from, in this program or in another one that builds the same.
class Position {
 public:
  // Elements handed out since the beginning; behind an elastic shard those that all shards took together.
  std::int64_t count() const;

  friend bool operator==(const Position& a, const Position& b) {
    return a.count() == b.count() && a.print() == b.print();
  }

  // For iterators.
  Position(std::int64_t count, std::uint64_t print);
  Position() = default;
  std::uint64_t print() const;

 private:
  template <std::same_as<Position> P>
  friend constexpr auto tree_fields(P& position) {
    return std::tie(position.numbers_);
  }
  std::int64_t number(std::size_t i) const { return nax::detail::elements<const std::int64_t>(numbers_)[i]; }
  Array<std::int64_t> numbers_;
};

// One walk over a dataset: `for (auto [x, y] : it)`, or `while (auto batch = it.next())`. It moves, and is
// not copied; leaving it stops the threads that work for it. After an exception it is at its end.
template <class Element>
class Iterator {
 public:
  Iterator(detail::StageRef<Element> stage, const Position* position) : stage_(std::move(stage)) {
    context_.stopped = std::make_shared<std::atomic<bool>>(false);
    if (position && position->print() != print())
      throw ValueError(
          "iterator: the position was taken from another pipeline (its stages, options, keys or files "
          "differ)");
    if (position && position->count() < 0)
      raise<ValueError>({"iterator: the position counts ", position->count(), " elements"});
    const OnHost host;
    is_elastic_ = stage_->is_elastic();
    if (is_elastic_) context_.elastic_start = position ? position->count() : 0;
    cursor_ = stage_->open(context_);
    if (position && !is_elastic_) {
      const std::int64_t there = cursor_->skip(position->count());
      if (there < position->count())
        raise<ValueError>({"iterator: the position is after element ", position->count(),
                           ", but the dataset has only ", there});
      count_ = there;
    }
  }
  Iterator(Iterator&&) noexcept = default;
  Iterator& operator=(Iterator&& other) noexcept {
    if (this != &other) {
      leave();
      context_ = std::move(other.context_);
      cursor_ = std::move(other.cursor_);
      current_ = std::move(other.current_);
      stage_ = std::move(other.stage_);
      fresh_ = other.fresh_, count_ = other.count_, is_elastic_ = other.is_elastic_;
    }
    return *this;
  }
  ~Iterator() { leave(); }

  // The next element; none at the end.
  std::optional<Element> next() {
    fresh_ = false;
    current_.reset();
    if (!cursor_) return std::nullopt;
    try {
      const OnHost host;
      const nax::detail::profile::Span span(nax::detail::profile::Kind::wait_data, "next element");
      std::optional<Element> element = cursor_->next();
      if (element)
        ++count_;
      else
        leave();
      return element;
    } catch (...) {
      leave();
      throw;
    }
  }

  // To go on from after the last element that was handed out: dataset.iterator(position).
  // The first call for a dataset looks at the times of its files, or through its arrays.
  Position state() const {
    const std::int64_t start = context_.elastic_start;
    return Position(is_elastic_ ? stage_->elastic_position(start, count_) : count_, print());
  }

  // The element of this turn of a loop.
  Element& operator*() {
    if (!has_current()) throw IndexError("iterator: there is no element at the end");
    return *current_;
  }
  Element* operator->() { return &**this; }
  Iterator& operator++() {
    if (!fresh_) has_current();
    fresh_ = false;
    return *this;
  }

  // The iterator of a range-for. A loop over it goes on where it is.
  class Walk {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;
    explicit Walk(Iterator* of = nullptr) : of_(of) {}
    Element& operator*() const { return **of_; }
    Element* operator->() const { return &**of_; }
    Walk& operator++() {
      ++*of_;
      return *this;
    }
    void operator++(int) { ++*of_; }
    friend bool operator==(const Walk& a, const Walk& b) { return a.at_end() == b.at_end(); }

   private:
    bool at_end() const { return !of_ || !of_->has_current(); }
    Iterator* of_;
  };
  Walk begin() {
    fresh_ = false;  // what was seen before was seen
    return Walk(this);
  }
  Walk end() { return Walk(); }

 private:
  // Stages make their elements on the host, wherever the loop's thread computes.
  struct OnHost {
    OnHost() { nax::detail::current_device = nax::detail::host_device(); }
    ~OnHost() { nax::detail::current_device = before; }
    Device before = nax::detail::current_device;
  };
  std::uint64_t print() const {
    detail::Fingerprint print;
    stage_->describe(print);
    return print.value();
  }
  bool has_current() {
    if (!fresh_) {
      current_ = next();
      fresh_ = true;
    }
    return current_.has_value();
  }
  void leave() {
    if (context_.stopped) context_.stopped->store(true, std::memory_order_relaxed);
    cursor_.reset();
  }

  detail::StageRef<Element> stage_;
  detail::Context context_;
  std::unique_ptr<detail::Cursor<Element>> cursor_;
  std::optional<Element> current_;
  bool fresh_ = false;  // is current_ the element of this turn?
  std::int64_t count_ = 0;
  bool is_elastic_ = false;
};

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace data {

NAX_ENGINE std::int64_t Position::count() const { return numbers_.size() == 2 ? number(0) : 0; }

NAX_ENGINE Position::Position(std::int64_t count, std::uint64_t print)
    : numbers_(nax::detail::typed<std::int64_t>(
          nax::detail::allocate_on_host(DType::int64, Frame{Shape{2}, {}}))) {
  auto* out = nax::detail::elements<std::int64_t>(numbers_);
  out[0] = count;
  out[1] = static_cast<std::int64_t>(print);
}

NAX_ENGINE std::uint64_t Position::print() const {
  return numbers_.size() == 2 ? static_cast<std::uint64_t>(number(1)) : 0;
}

}  // namespace data
NAX_END
#endif
