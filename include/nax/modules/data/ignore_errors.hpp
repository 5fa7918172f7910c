#pragma once

#include <functional>

#include "nax/modules/data/cursors.hpp"

// Elements that cannot be made, passed over.
NAX_BEGIN
namespace data {

struct IgnoreErrorsOptions {
  // Called with the text of each error, by the thread that asks for the element.
  std::function<void(const std::string&)> log = {};
};

namespace detail {

template <class Element>
class IgnoreStage final : public Stage<Element> {
 public:
  IgnoreStage(StageRef<Element> input, IgnoreErrorsOptions options)
      : input_(std::move(input)), options_(std::move(options)) {}
  void describe(Fingerprint& print) const override { input_->describe(print), print.add("ignore_errors"); }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    if (auto input = input_->access(context)) {
      auto caught = std::make_shared<const Attempts>(std::move(input));
      return std::make_unique<Good>(open_indices<Caught>(std::move(caught), context), options_);
    }
    return std::make_unique<Passing>(input_->open(context), options_, context);
  }

 private:
  // An element, or the error in its place.
  struct Caught {
    std::optional<Element> element;
    std::string error;
  };
  static std::string text_of_error() {
    try {
      throw;
    } catch (const std::exception& error) {
      return error.what();
    } catch (...) {
      return "an exception that is no std::exception";
    }
  }
  struct Attempts final : Access<Caught> {
    explicit Attempts(std::shared_ptr<const Access<Element>> from) : input(std::move(from)) {}
    std::int64_t size() const override { return input->size(); }
    Caught at(std::int64_t i) const override {
      try {
        return {input->at(i), ""};
      } catch (...) {
        return {std::nullopt, text_of_error()};
      }
    }
    Crew crew() const override { return input->crew(); }
    std::string name() const override { return input->name(); }
    std::string source(std::int64_t i) const override { return input->source(i); }
    std::shared_ptr<const Access<Element>> input;
  };
  class Good final : public Cursor<Element> {
   public:
    Good(std::unique_ptr<Cursor<Caught>> input, const IgnoreErrorsOptions& options)
        : input_(std::move(input)), options_(options) {}
    std::optional<Element> next() override {
      while (std::optional<Caught> caught = input_->next()) {
        if (caught->element) return std::move(caught->element);
        if (options_.log) options_.log(caught->error);
      }
      return std::nullopt;
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<Caught>> input_;
    IgnoreErrorsOptions options_;
  };
  // Over an input without indices, which goes on behind its errors.
  class Passing final : public Cursor<Element> {
   public:
    Passing(std::unique_ptr<Cursor<Element>> input, const IgnoreErrorsOptions& options,
            const Context& context)
        : input_(std::move(input)), options_(options), context_(context) {}
    std::optional<Element> next() override {
      constexpr int most_in_a_row = 1000;  // an input that does not get any further
      for (int errors = 0; !context_.is_stopped();) {
        try {
          return input_->next();
        } catch (...) {
          if (++errors == most_in_a_row) throw;
          if (options_.log) options_.log(text_of_error());
        }
      }
      return std::nullopt;
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<Element>> input_;
    IgnoreErrorsOptions options_;
    Context context_;
  };
  StageRef<Element> input_;
  IgnoreErrorsOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END
