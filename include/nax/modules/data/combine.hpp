#pragma once

#include <tuple>

#include "nax/core/overflow.hpp"
#include "nax/modules/data/cursors.hpp"

// Several datasets as one: zip and concatenate.
NAX_BEGIN
namespace data {

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
    Context in_step = context;
    in_step.ordered = in_step.ordered || sizeof...(E) > 1;  // elements belong together by their place
    return std::apply([&](const auto&... input) { return std::make_unique<Walk>(input->open(in_step)...); },
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
    Crew crew() const override {
      return std::apply(
          [](const auto&... input) {
            Crew all;
            ((all = joined(all, input->crew())), ...);
            return all;
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
      if (in < 0 || nax::detail::add_overflows(all, in, all)) return -1;
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
    Crew crew() const override {
      Crew all;
      for (const auto& input : inputs) all = joined(all, input->crew());
      return all;
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

}  // namespace detail
}  // namespace data
NAX_END
