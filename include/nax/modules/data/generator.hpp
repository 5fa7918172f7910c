#pragma once

#include <concepts>
#include <iterator>
#include <mutex>

#include "nax/modules/data/cursors.hpp"
#include "nax/modules/data/identity.hpp"
#include "nax/modules/data/map.hpp"

// A user's own sources: with indices, or to be walked through.
NAX_BEGIN
namespace data {

struct SourceOptions {
  std::string name = "";     // in messages and profiles
  std::string version = "";  // of what it gives, as map's
};

namespace detail {

// Calls `make`, with the epoch's number where it takes one.
template <class Make>
auto begin_walk(const Make& make, std::int64_t epoch) {
  if constexpr (std::is_invocable_v<const Make&, std::int64_t>) {
    return make(epoch);
  } else {
    static_assert(std::is_invocable_v<const Make&>,
                  "from_generator: the function must take nothing, or the number of the epoch");
    return make();
  }
}

// A function object that returns an optional each time, or what a range-for loops over.
template <class Walk>
concept Generates = requires(Walk& walk) {
  { walk().has_value() } -> std::convertible_to<bool>;
};
template <class Walk>
concept Iterates = requires(Walk& walk) {
  std::begin(walk) != std::end(walk);
  *std::begin(walk);
};

template <class Walk>
class Pulled {
 public:
  explicit Pulled(Walk walk) : walk_(std::move(walk)) {}
  auto next() { return walk_(); }

 private:
  Walk walk_;
};
template <Iterates Walk>
class Pulled<Walk> {
 public:
  explicit Pulled(Walk walk) : walk_(std::move(walk)), at_(std::begin(walk_)) {}
  Pulled(const Pulled&) = delete;
  Pulled& operator=(const Pulled&) = delete;
  auto next() {
    using Element = std::remove_cvref_t<decltype(*at_)>;
    std::optional<Element> element;
    if (at_ == std::end(walk_)) return element;
    element.emplace(*at_);
    ++at_;
    return element;
  }

 private:
  Walk walk_;
  decltype(std::begin(std::declval<Walk&>())) at_;
};
template <class Make>
using WalkOf = decltype(begin_walk(std::declval<const Make&>(), 0));
template <class Make>
using GeneratedBy = decltype(settled(*std::declval<Pulled<WalkOf<Make>>&>().next()));

template <class Make, class Element>
class GeneratorSource final : public Stage<Element> {
 public:
  GeneratorSource(Make make, const SourceOptions& options)
      : make_(std::make_shared<const Make>(std::move(make))),
        options_(options),
        label_(stage_label("from_generator", options.name)) {}
  void describe(Fingerprint& print) const override {
    print.add("from_generator"), add_types<Element>(print);
    add_function<Make>(print, options_.name, options_.version);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<Walk>(make_, label_, context);
  }

 private:
  class Walk final : public Cursor<Element> {
   public:
    Walk(std::shared_ptr<const Make> make, std::string label, const Context& context)
        : make_(std::move(make)), label_(std::move(label)), epoch_(context.epoch) {}
    std::optional<Element> next() override {
      if (ended_) return std::nullopt;
      const profile::Span span(profile::Kind::data, label_.c_str());
      try {
        if (!walk_) walk_.emplace(begin_walk(*make_, epoch_));
        auto element = walk_->next();
        if (element) {
          ++at_;
          return settled(std::move(*element));
        }
      } catch (...) {
        ended_ = true;  // a generator that threw has no further elements
        rethrow_from(label_, "element " + std::to_string(at_));
      }
      ended_ = true;
      walk_.reset();
      return std::nullopt;
    }
    Origin origin() const override { return {std::make_shared<Describes>(), at_ - 1}; }

   private:
    std::shared_ptr<const Make> make_;
    std::string label_;
    std::int64_t epoch_, at_ = 0;
    bool ended_ = false;
    std::optional<Pulled<WalkOf<Make>>> walk_;
  };
  std::shared_ptr<const Make> make_;
  SourceOptions options_;
  std::string label_;
};

// size() and operator[] of const objects.
template <class S>
concept Indexable = requires(const S& source, std::int64_t i) {
  { source.size() } -> std::convertible_to<std::int64_t>;
  source[static_cast<std::size_t>(i)];
};

template <class S, class Element>
class IndexableSource final : public IndexedStage<Element> {
 public:
  IndexableSource(S source, const SourceOptions& options)
      : elements_(std::make_shared<Elements>(std::move(source), options)) {}
  void describe(Fingerprint& print) const override {
    print.add("from_indexable"), print.add(elements_->size()), add_types<Element>(print);
    add_function<S>(print, elements_->options.name, elements_->options.version);
  }
  std::int64_t size() const override { return elements_->size(); }
  std::shared_ptr<const Access<Element>> access(const Context&) const override { return elements_; }

 private:
  struct Elements final : Access<Element> {
    Elements(S of, const SourceOptions& with) : source_object(std::move(of)), options(with) {}
    std::int64_t size() const override { return static_cast<std::int64_t>(source_object.size()); }
    Element at(std::int64_t i) const override {
      const profile::Span span(profile::Kind::data, label.c_str());
      try {
        return settled(source_object[static_cast<std::size_t>(i)]);
      } catch (...) {
        rethrow_from(label, this->source(i));
      }
    }
    const S source_object;
    const SourceOptions options;
    const std::string label = stage_label("from_indexable", options.name);
  };
  std::shared_ptr<const Elements> elements_;
};

}  // namespace detail
}  // namespace data
NAX_END
