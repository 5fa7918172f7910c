#pragma once

#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/modules/data/shuffle.hpp"

// One of several datasets at each step: by weights, or by a dataset of numbers.
NAX_BEGIN
namespace data {

struct SampleOptions {
  std::vector<double> weights = {};  // of the datasets, of any sum; none: all alike
  random::Key key = {};              // needed; each epoch folds its number in
  bool stop_on_empty = false;        // end with the first dataset that ends, not with the last
};

struct ChooseOptions {
  bool stop_on_empty = true;  // false: choices of a dataset that has ended are passed over
};

namespace detail {

// The next dataset's number; below 0 at the end. A weight of 0 is that of a dataset that has ended.
class WeightedChoice {
 public:
  WeightedChoice(std::uint64_t key, std::vector<double> weights) : key_(key), weights_(std::move(weights)) {}
  std::int64_t next() {
    double sum = 0;
    for (const double weight : weights_) sum += weight;
    if (!(sum > 0)) return -1;
    std::uint64_t bits;
    cpu::random_bits(key_, drawn_++, 1, &bits);
    double left = static_cast<double>(bits >> 11) * 0x1p-53 * sum;
    std::int64_t last = -1;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0) continue;
      last = static_cast<std::int64_t>(i);
      if (left < weights_[i]) break;
      left -= weights_[i];
    }
    return last;
  }
  void end(std::int64_t i) { weights_[static_cast<std::size_t>(i)] = 0; }

 private:
  std::uint64_t key_, drawn_ = 0;
  std::vector<double> weights_;
};

// Number is std::int64_t, in words that depend on the element's type.
template <class Number>
class GivenChoice {
 public:
  GivenChoice(std::unique_ptr<Cursor<Number>> choices, std::int64_t datasets)
      : choices_(std::move(choices)), datasets_(datasets) {}
  std::int64_t next() {
    const std::optional<Number> choice = choices_->next();
    if (!choice) return -1;
    if (*choice < 0 || *choice >= datasets_)
      raise<IndexError>({"choose_from: there is no dataset ", *choice, " among ", datasets_});
    return *choice;
  }
  void end(std::int64_t) {}

 private:
  std::unique_ptr<Cursor<Number>> choices_;
  std::int64_t datasets_;
};

template <class Element, class Choice>
class ChosenCursor final : public Cursor<Element> {
 public:
  ChosenCursor(const std::vector<StageRef<Element>>& inputs, Choice choice, bool stop_on_empty,
               const Context& context)
      : choice_(std::move(choice)), stop_on_empty_(stop_on_empty) {
    for (const StageRef<Element>& input : inputs) inputs_.push_back(input->open(context));
    open_ = inputs_.size();
  }
  std::optional<Element> next() override {
    std::optional<Element> element;
    advance([&](Cursor<Element>& input) { return (element = input.next()).has_value(); });
    return element;
  }
  std::int64_t skip(std::int64_t n) override {
    std::int64_t done = 0;
    while (done < n && advance([](Cursor<Element>& input) { return input.skip(1) == 1; })) ++done;
    return done;
  }
  Origin origin() const override { return last_ ? last_->origin() : Origin{}; }

 private:
  // step(input) of the chosen one; false at the end.
  template <class Step>
  bool advance(const Step& step) {
    while (!ended_) {
      const std::int64_t i = choice_.next();
      if (i < 0) break;
      auto& input = inputs_[static_cast<std::size_t>(i)];
      if (input && step(*input)) {
        last_ = input.get();
        return true;
      }
      if (stop_on_empty_) break;
      if (last_ == input.get()) last_ = nullptr;
      if (input && --open_ == 0) break;
      input.reset(), choice_.end(i);
    }
    ended_ = true;
    return false;
  }
  std::vector<std::unique_ptr<Cursor<Element>>> inputs_;
  Choice choice_;
  bool stop_on_empty_, ended_ = false;
  Cursor<Element>* last_ = nullptr;
  std::size_t open_ = 0;  // that have not ended
};

template <class Element>
class SampleStage final : public Stage<Element> {
 public:
  SampleStage(std::vector<StageRef<Element>> inputs, const SampleOptions& options)
      : inputs_(std::move(inputs)),
        weights_(options.weights),
        stop_on_empty_(options.stop_on_empty),
        key_(shuffle_word(options.key, "sample_from")) {
    if (weights_.empty()) weights_.assign(inputs_.size(), 1);
    if (weights_.size() != inputs_.size())
      raise<ValueError>({"sample_from: ", weights_.size(), " weights for ", inputs_.size(), " datasets"});
    for (const double weight : weights_)
      if (!(weight >= 0) || weight > 1e300)
        throw ValueError("sample_from: the weights must be numbers from 0 on");
  }
  void describe(Fingerprint& print) const override {
    for (const auto& input : inputs_) input->describe(print);
    print.add("sample_from"), print.add(static_cast<std::int64_t>(key_)), print.add(stop_on_empty_);
    print.add(static_cast<std::int64_t>(inputs_.size()));
    for (const double weight : weights_) print.add(&weight, sizeof weight);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    const auto epoch = static_cast<std::uint64_t>(context.epoch);
    return std::make_unique<ChosenCursor<Element, WeightedChoice>>(
        inputs_, WeightedChoice(loops::word_pair(loops::threefry(key_, epoch)), weights_), stop_on_empty_,
        context);
  }

 private:
  std::vector<StageRef<Element>> inputs_;
  std::vector<double> weights_;
  bool stop_on_empty_;
  std::uint64_t key_;
};

template <class Element>
class ChooseStage final : public Stage<Element> {
  using Number = where_used_t<std::int64_t, Element>;

 public:
  ChooseStage(std::vector<StageRef<Element>> inputs, StageRef<Number> choices, bool stop_on_empty)
      : inputs_(std::move(inputs)), choices_(std::move(choices)), stop_on_empty_(stop_on_empty) {}
  void describe(Fingerprint& print) const override {
    for (const auto& input : inputs_) input->describe(print);
    choices_->describe(print), print.add("choose_from"), print.add(stop_on_empty_);
    print.add(static_cast<std::int64_t>(inputs_.size()));
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<ChosenCursor<Element, GivenChoice<Number>>>(
        inputs_, GivenChoice<Number>(choices_->open(context), static_cast<std::int64_t>(inputs_.size())),
        stop_on_empty_, context);
  }

 private:
  std::vector<StageRef<Element>> inputs_;
  StageRef<Number> choices_;
  bool stop_on_empty_;
};

}  // namespace detail
}  // namespace data
NAX_END
