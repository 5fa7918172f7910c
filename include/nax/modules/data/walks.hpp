#pragma once

#include "nax/modules/data/map.hpp"

// enumerate, take_while, scan.
NAX_BEGIN
namespace data {

struct ScanOptions {
  std::string name = "";     // in messages and profiles
  std::string version = "";  // of the function, as map's
};

namespace detail {

// Pairs of a number, counted from `start` on, and an element.
template <class Element>
class EnumerateStage final : public Stage<std::tuple<std::int64_t, Element>> {
  using Result = std::tuple<std::int64_t, Element>;

 public:
  EnumerateStage(StageRef<Element> input, std::int64_t start) : input_(std::move(input)), start_(start) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("enumerate"), print.add(start_);
  }
  std::int64_t size() const override { return input_->size(); }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Result>> access(const Context& context) const override {
    auto input = input_->access(context);
    if (!input) return nullptr;
    return std::make_shared<Elements>(std::move(input), start_);
  }
  std::unique_ptr<Cursor<Result>> open(const Context& context) const override {
    if (indexable()) return open_indices(access(context), context);
    return std::make_unique<Walk>(input_->open(context), start_);
  }

 private:
  struct Elements final : Access<Result> {
    Elements(std::shared_ptr<const Access<Element>> from, std::int64_t first)
        : input(std::move(from)), start(first) {}
    std::int64_t size() const override { return input->size(); }
    Result at(std::int64_t i) const override { return {start + i, input->at(i)}; }
    Crew crew() const override { return input->crew(); }
    std::string name() const override { return input->name(); }
    std::string source(std::int64_t i) const override { return input->source(i); }
    std::shared_ptr<const Access<Element>> input;
    std::int64_t start;
  };
  class Walk final : public Cursor<Result> {
   public:
    Walk(std::unique_ptr<Cursor<Element>> input, std::int64_t start) : input_(std::move(input)), at_(start) {}
    std::optional<Result> next() override {
      std::optional<Element> element = input_->next();
      if (!element) return std::nullopt;
      return Result{at_++, std::move(*element)};
    }
    std::int64_t skip(std::int64_t n) override {
      const std::int64_t done = input_->skip(n);
      at_ += done;
      return done;
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<Element>> input_;
    std::int64_t at_;
  };
  StageRef<Element> input_;
  std::int64_t start_;
};

// Elements up to before the first for which f is false.
template <class F, class Element>
class TakeWhileStage final : public Stage<Element> {
 public:
  TakeWhileStage(StageRef<Element> input, F f, FilterOptions options)
      : input_(std::move(input)), f_(std::make_shared<const F>(std::move(f))), options_(std::move(options)) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("take_while");
    add_function<F>(print, options_.name, options_.version);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<Walk>(input_->open(context), f_, stage_label("take_while", options_.name));
  }

 private:
  class Walk final : public Cursor<Element> {
   public:
    Walk(std::unique_ptr<Cursor<Element>> input, std::shared_ptr<const F> f, std::string label)
        : input_(std::move(input)), f_(std::move(f)), label_(std::move(label)) {}
    std::optional<Element> next() override {
      if (ended_) return std::nullopt;
      std::optional<Element> element = input_->next();
      ended_ = !element || !passes(*f_, *element, label_, *input_);
      return ended_ ? std::nullopt : std::move(element);
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<Element>> input_;
    std::shared_ptr<const F> f_;
    std::string label_;
    bool ended_ = false;
  };
  StageRef<Element> input_;
  std::shared_ptr<const F> f_;
  FilterOptions options_;
};

template <class F, class State, class Element>
using Scanned = std::remove_cvref_t<decltype(settled(
    std::declval<const F&>()(std::declval<State>(), std::declval<Element>())))>;

// f(state, element) is a pair of the next state and what comes out.
template <class F, class State, class Element, class Out>
class ScanStage final : public Stage<Out> {
 public:
  ScanStage(StageRef<Element> input, State initial, F f, ScanOptions options)
      : input_(std::move(input)),
        initial_(std::move(initial)),
        f_(std::make_shared<const F>(std::move(f))),
        options_(std::move(options)) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("scan"), add_types<State>(print), add_types<Out>(print);
    add_function<F>(print, options_.name, options_.version);
  }
  std::int64_t size() const override { return input_->size(); }
  std::unique_ptr<Cursor<Out>> open(const Context& context) const override {
    return std::make_unique<Walk>(input_->open(context), initial_, f_, stage_label("scan", options_.name));
  }

 private:
  // Skipped elements are computed: the state depends on them.
  class Walk final : public Cursor<Out> {
   public:
    Walk(std::unique_ptr<Cursor<Element>> input, const State& initial, std::shared_ptr<const F> f,
         std::string label)
        : input_(std::move(input)), state_(initial), f_(std::move(f)), label_(std::move(label)) {}
    std::optional<Out> next() override {
      std::optional<Element> element = input_->next();
      if (!element) return std::nullopt;
      const profile::Span span(profile::Kind::data, label_.c_str());
      try {
        auto [state, out] = settled((*f_)(State(state_), std::move(*element)));
        state_ = std::move(state);
        return std::optional<Out>(std::move(out));
      } catch (...) {
        rethrow_from(label_, input_->origin().text());
      }
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<Element>> input_;
    State state_;
    std::shared_ptr<const F> f_;
    std::string label_;
  };
  StageRef<Element> input_;
  State initial_;
  std::shared_ptr<const F> f_;
  ScanOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END
