#pragma once

#include <tuple>

#include "nax/data/cursors.hpp"
#include "nax/data/map.hpp"

// Several datasets as one: zip, concatenate, interleave.
NAX_BEGIN
namespace data {

struct InterleaveOptions {
  std::int64_t cycle_length = 4;  // datasets open at once
  std::int64_t block_length = 1;  // elements of one before the next has its turn
  std::string version = "";       // of the function, as map's
};

namespace detail {

template <class... E>
class ZipStage final : public Stage<std::tuple<E...>> {
  using Element = std::tuple<E...>;

 public:
  explicit ZipStage(StageRef<E>... inputs) : inputs_(std::move(inputs)...) {}
  void describe(Fingerprint& print) const override {
    each([&](const auto& input) { input->describe(print); });
    print.add("zip");
  }
  std::int64_t size() const override {
    std::int64_t least = INT64_MAX;
    each([&](const auto& input) { least = std::min(least, input->size()); });
    return least < 0 ? -1 : least;
  }
  bool indexable() const override {
    bool all = true;
    each([&](const auto& input) { all = all && input->indexable(); });
    return all;
  }
  std::shared_ptr<const Access<Element>> access(const Context& context) const override {
    if (!indexable()) return nullptr;
    return std::apply(
        [&](const auto&... input) { return std::make_shared<Elements>(input->access(context)...); }, inputs_);
  }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    if (indexable()) return open_indices(access(context), context);
    return std::apply([&](const auto&... input) { return std::make_unique<Walk>(input->open(context)...); },
                      inputs_);
  }

 private:
  template <class F>
  void each(const F& f) const {
    std::apply([&](const auto&... input) { (f(input), ...); }, inputs_);
  }
  struct Elements final : Access<Element> {
    explicit Elements(std::shared_ptr<const Access<E>>... from) : inputs(std::move(from)...) {}
    std::int64_t size() const override {
      return std::apply(
          [](const auto&... input) {
            std::int64_t least = INT64_MAX;
            ((least = std::min(least, input->size())), ...);
            return least;
          },
          inputs);
    }
    Element at(std::int64_t i) const override {
      return std::apply([i](const auto&... input) { return Element{input->at(i)...}; }, inputs);
    }
    int threads() const override {
      return std::apply(
          [](const auto&... input) {
            int most = 0;
            ((most = most_threads(most, input->threads())), ...);
            return most;
          },
          inputs);
    }
    bool gathers() const override {
      return std::apply([](const auto&... input) { return (input->gathers() && ...); }, inputs);
    }
    std::vector<ArrayBase> gather(std::span<const std::int64_t> indices) const override {
      std::vector<ArrayBase> all;
      std::apply(
          [&](const auto&... input) {
            const auto append = [&](std::vector<ArrayBase> some) {
              for (ArrayBase& leaf : some) all.push_back(std::move(leaf));
            };
            (append(input->gather(indices)), ...);
          },
          inputs);
      return all;
    }
    std::string source(std::int64_t i) const override { return std::get<0>(inputs)->source(i); }
    std::tuple<std::shared_ptr<const Access<E>>...> inputs;
  };
  class Walk final : public Cursor<Element> {
   public:
    explicit Walk(std::unique_ptr<Cursor<E>>... inputs) : inputs_(std::move(inputs)...) {}
    std::optional<Element> next() override {
      return std::apply(
          [](auto&... input) -> std::optional<Element> {
            std::exception_ptr error;  // of one: the others move on with it, or parts would no longer match
            const auto next = [&](auto& of) -> decltype(of->next()) {
              try {
                return of->next();
              } catch (...) {
                if (!error) error = std::current_exception();
                return std::nullopt;
              }
            };
            std::tuple<std::optional<E>...> parts{next(input)...};
            if (error) std::rethrow_exception(error);
            return std::apply(
                [](auto&... part) -> std::optional<Element> {
                  if (!(part.has_value() && ...)) return std::nullopt;
                  return Element{std::move(*part)...};
                },
                parts);
          },
          inputs_);
    }
    std::int64_t skip(std::int64_t n) override {
      return std::apply(
          [n](auto&... input) {
            std::int64_t least = n;
            ((least = std::min(least, input->skip(n))), ...);
            return least;
          },
          inputs_);
    }
    Origin origin() const override { return std::get<0>(inputs_)->origin(); }

   private:
    std::tuple<std::unique_ptr<Cursor<E>>...> inputs_;
  };
  std::tuple<StageRef<E>...> inputs_;
};

template <class Element>
class ConcatenateStage final : public Stage<Element> {
 public:
  explicit ConcatenateStage(std::vector<StageRef<Element>> inputs) : inputs_(std::move(inputs)) {}
  void describe(Fingerprint& print) const override {
    for (const auto& input : inputs_) input->describe(print);
    print.add("concatenate"), print.add(static_cast<std::int64_t>(inputs_.size()));
  }
  std::int64_t size() const override {
    std::int64_t all = 0;
    for (const auto& input : inputs_) {
      const std::int64_t in = input->size();
      if (in < 0 || __builtin_add_overflow(all, in, &all)) return -1;
    }
    return all;
  }
  bool indexable() const override {
    for (const auto& input : inputs_)
      if (!input->indexable()) return false;
    return true;
  }
  std::shared_ptr<const Access<Element>> access(const Context& context) const override {
    if (!indexable()) return nullptr;
    auto all = std::make_shared<Elements>();
    for (const auto& input : inputs_) all->add(input->access(context));
    return all;
  }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    if (indexable()) return open_indices(access(context), context);
    return std::make_unique<Walk>(inputs_, context);
  }

 private:
  struct Elements final : Access<Element> {
    void add(std::shared_ptr<const Access<Element>> input) {
      ends.push_back(size() + input->size());
      inputs.push_back(std::move(input));
    }
    std::int64_t size() const override { return ends.empty() ? 0 : ends.back(); }
    Element at(std::int64_t i) const override {
      const std::size_t k = which(i);
      return inputs[k]->at(i - begin(k));
    }
    int threads() const override {
      int most = 0;
      for (const auto& input : inputs) most = most_threads(most, input->threads());
      return most;
    }
    std::string source(std::int64_t i) const override {
      const std::size_t k = which(i);
      return inputs[k]->source(i - begin(k));
    }
    std::size_t which(std::int64_t i) const {
      return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), i) - ends.begin());
    }
    std::int64_t begin(std::size_t k) const { return k == 0 ? 0 : ends[k - 1]; }
    std::vector<std::shared_ptr<const Access<Element>>> inputs;
    std::vector<std::int64_t> ends;
  };
  class Walk final : public Cursor<Element> {
   public:
    Walk(std::vector<StageRef<Element>> inputs, const Context& context)
        : inputs_(std::move(inputs)), context_(context) {}
    std::optional<Element> next() override {
      for (; at_ < inputs_.size(); ++at_, walk_.reset()) {
        if (!walk_) walk_ = inputs_[at_]->open(context_);
        if (std::optional<Element> element = walk_->next()) return element;
      }
      return std::nullopt;
    }
    std::int64_t skip(std::int64_t n) override {
      std::int64_t done = 0;
      for (; at_ < inputs_.size(); ++at_, walk_.reset()) {
        if (!walk_) walk_ = inputs_[at_]->open(context_);
        done += walk_->skip(n - done);
        if (done == n) break;
      }
      return done;
    }
    Origin origin() const override { return walk_ ? walk_->origin() : Origin{}; }

   private:
    std::vector<StageRef<Element>> inputs_;
    Context context_;
    std::size_t at_ = 0;
    std::unique_ptr<Cursor<Element>> walk_;
  };
  std::vector<StageRef<Element>> inputs_;
};

inline InterleaveOptions checked(InterleaveOptions options) {
  if (options.cycle_length < 1 || options.block_length < 1)
    throw ValueError("interleave: cycle_length and block_length must be at least 1");
  return options;
}

// The stage of the dataset that a user's function makes of an element.
template <class F, class Element>
struct StageOf {
  F f;
  auto operator()(Element&& element) const { return call_with(f, std::move(element), NoKey()).stage(); }
  void describe(Fingerprint& print, const std::string& version) const { add_function<F>(print, "", version); }
};
// One of several.
template <class Element>
struct StageByNumber {
  std::vector<StageRef<Element>> stages;
  const StageRef<Element>& operator()(std::int64_t i) const { return stages[static_cast<std::size_t>(i)]; }
  void describe(Fingerprint& print, const std::string&) const {
    for (const StageRef<Element>& stage : stages) stage->describe(print);
  }
};

// Elements of the datasets that `make` makes of the input's elements, in turns.
template <class In, class Element, class Make>
class InterleaveStage final : public Stage<Element> {
 public:
  InterleaveStage(StageRef<In> input, Make make, InterleaveOptions options)
      : input_(std::move(input)),
        make_(std::make_shared<const Make>(std::move(make))),
        options_(checked(options)) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("interleave"), print.add(options_.cycle_length);
    print.add(options_.block_length), add_types<Element>(print), make_->describe(print, options_.version);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<Turns>(input_->open(context), make_, options_, context);
  }

 private:
  class Turns final : public Cursor<Element> {
   public:
    Turns(std::unique_ptr<Cursor<In>> input, std::shared_ptr<const Make> make, InterleaveOptions options,
          const Context& context)
        : input_(std::move(input)), make_(std::move(make)), options_(options), context_(context) {}
    std::optional<Element> next() override {
      while (find_turn()) {
        if (std::optional<Element> element = open_[at_]->next()) {
          origin_ = open_[at_]->origin();
          if (++of_block_ == options_.block_length) ++at_, of_block_ = 0;
          return element;
        }
        close();
      }
      return std::nullopt;
    }
    std::int64_t skip(std::int64_t n) override {
      std::int64_t done = 0;
      while (done < n && find_turn()) {
        const std::int64_t step = std::min(n - done, options_.block_length - of_block_);
        const std::int64_t there = open_[at_]->skip(step);
        done += there;
        of_block_ += there;
        if (of_block_ == options_.block_length) ++at_, of_block_ = 0;
        if (there < step) close();
      }
      return done;
    }
    Origin origin() const override { return origin_; }

   private:
    // An open dataset whose turn it is; new ones are opened while there are places.
    bool find_turn() {
      if (at_ >= open_.size() && static_cast<std::int64_t>(open_.size()) < options_.cycle_length &&
          open_next())
        return true;
      if (open_.empty()) return false;
      if (at_ >= open_.size()) at_ = 0;
      return !context_.is_stopped();
    }
    bool open_next() {
      if (ended_) return false;
      std::optional<In> in = input_->next();
      if (!in) {
        ended_ = true;
        return false;
      }
      try {
        open_.push_back((*make_)(std::move(*in))->open(context_));
      } catch (...) {
        rethrow_from("interleave", input_->origin().text());
      }
      return true;
    }
    // A dataset that has ended leaves its place to the next one, which begins at once.
    void close() {
      of_block_ = 0;
      if (open_next())
        open_[at_] = std::move(open_.back()), open_.pop_back();
      else
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at_));
    }
    std::unique_ptr<Cursor<In>> input_;
    std::shared_ptr<const Make> make_;
    InterleaveOptions options_;
    Context context_;
    std::vector<std::unique_ptr<Cursor<Element>>> open_;
    std::size_t at_ = 0;
    std::int64_t of_block_ = 0;
    bool ended_ = false;
    Origin origin_;
  };
  StageRef<In> input_;
  std::shared_ptr<const Make> make_;
  InterleaveOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END
