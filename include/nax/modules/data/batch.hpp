#pragma once

#include "nax/core/overflow.hpp"
#include "nax/modules/data/cursors.hpp"
#include "nax/modules/data/trees.hpp"

// batch and unbatch.
NAX_BEGIN
namespace data {

struct BatchOptions {
  bool drop_remainder = false;
  int threads = 0;  // that put batches together; 0: the loop's own thread
};

namespace detail {

// Batches of what has indices. Rows of arrays are copied straight to where they belong.
template <class Element>
struct BatchAccess final : Access<Batched<Element>> {
  BatchAccess(std::shared_ptr<const Access<Element>> from, std::int64_t batch_size, BatchOptions with)
      : input(std::move(from)), n(batch_size), options(with) {}
  std::int64_t size() const override {
    return input->size() / n + (!options.drop_remainder && input->size() % n != 0);
  }
  Batched<Element> at(std::int64_t i) const override {
    const std::int64_t first = i * n, last = input->size() - first < n ? input->size() : first + n;
    if (input->gathers()) {
      const profile::Span span(profile::Kind::data, "batch");
      std::vector<std::int64_t> rows;
      rows.reserve(static_cast<std::size_t>(last - first));
      for (std::int64_t row = first; row < last; ++row) rows.push_back(row);
      return with_leaves(input->at(first), input->gather(rows));
    }
    std::vector<Element> elements;
    elements.reserve(static_cast<std::size_t>(last - first));
    for (std::int64_t row = first; row < last; ++row) elements.push_back(input->at(row));
    return together(elements, first);
  }
  Crew crew() const override { return joined(input->crew(), {options.threads}); }
  std::string name() const override { return "batch"; }
  std::string source(std::int64_t i) const override { return "the batch of " + input->source(i * n) + " on"; }

  Batched<Element> together(const std::vector<Element>& elements, std::int64_t first) const {
    const profile::Span span(profile::Kind::data, "batch");
    try {
      return stack_elements(elements);
    } catch (...) {
      rethrow_from("batch", "the batch of " + input->source(first) + " on");
    }
  }
  std::shared_ptr<const Access<Element>> input;
  std::int64_t n;
  BatchOptions options;
};

template <class Element>
class BatchStage final : public Stage<Batched<Element>> {
  using Result = Batched<Element>;

 public:
  BatchStage(StageRef<Element> input, std::int64_t n, BatchOptions options)
      : input_(std::move(input)), n_(n), options_(options) {
    if (n < 1) raise<ValueError>({"batch: the size of a batch must be at least 1, not ", n});
    check_threads("batch", options.threads);
  }
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("batch"), print.add(options_.drop_remainder);
    if (!input_->is_elastic()) print.add(n_);  // it may change with the number of shards
  }
  std::int64_t size() const override {
    const std::int64_t in = input_->size();
    if (in < 0) return -1;
    return in / n_ + (!options_.drop_remainder && in % n_ != 0);
  }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Result>> access(const Context& context) const override {
    auto input = input_->access(context);
    if (!input) return nullptr;
    return std::make_shared<BatchAccess<Element>>(std::move(input), n_, options_);
  }
  std::unique_ptr<Cursor<Result>> open(const Context& context) const override {
    if (auto input = input_->access(context)) {
      // Elements that threads make one by one are taken from those; others by index.
      if (input->crew().threads == 0 || input->gathers())
        return open_indices<Result>(std::make_shared<BatchAccess<Element>>(std::move(input), n_, options_),
                                    context);
      return open_over(open_indices<Element>(std::move(input), context), context);
    }
    return open_over(input_->open(context), context);
  }
  std::int64_t elastic_position(std::int64_t start, std::int64_t n) const override {
    std::int64_t elements;
    return input_->elastic_position(start,
                                    nax::detail::multiply_overflows(n, n_, elements) ? INT64_MAX : elements);
  }

 private:
  struct PullMany {
    std::unique_ptr<Cursor<Element>> input;
    std::int64_t n;
    bool drop_remainder;

    std::optional<std::vector<Element>> next(Origin& origin) {
      std::vector<Element> elements;
      while (static_cast<std::int64_t>(elements.size()) < n) {
        std::optional<Element> element = input->next();
        if (!element) break;
        if (elements.empty()) origin = input->origin();
        elements.push_back(std::move(*element));
      }
      if (elements.empty() || (drop_remainder && static_cast<std::int64_t>(elements.size()) < n))
        return std::nullopt;
      return elements;
    }
    std::int64_t skip(std::int64_t batches) {
      std::int64_t wanted;
      if (nax::detail::multiply_overflows(batches, n, wanted)) wanted = INT64_MAX;
      const std::int64_t done = input->skip(wanted);
      return done / n + (!drop_remainder && done % n != 0);
    }
  };
  struct Together {
    Result operator()(std::vector<Element>&& elements, const Origin& origin) const {
      const profile::Span span(profile::Kind::data, "batch");
      try {
        return stack_elements(elements);
      } catch (...) {
        rethrow_from("batch", "the batch of " + origin.text() + " on");
      }
    }
  };
  class InTurn final : public Cursor<Result> {
   public:
    explicit InTurn(PullMany pull) : pull_(std::move(pull)) {}
    std::optional<Result> next() override {
      auto elements = pull_.next(origin_);
      if (!elements) return std::nullopt;
      return Together()(std::move(*elements), origin_);
    }
    std::int64_t skip(std::int64_t n) override { return pull_.skip(n); }
    Origin origin() const override { return origin_; }

   private:
    PullMany pull_;
    Origin origin_;
  };
  std::unique_ptr<Cursor<Result>> open_over(std::unique_ptr<Cursor<Element>> input,
                                            const Context& context) const {
    PullMany pull{std::move(input), n_, options_.drop_remainder};
    if (options_.threads == 0) return std::make_unique<InTurn>(std::move(pull));
    return open_parallel<std::vector<Element>, Result>(context, "batch", {options_.threads}, 0,
                                                       std::move(pull), Together());
  }

  StageRef<Element> input_;
  std::int64_t n_;
  BatchOptions options_;
};

// The rows of each batch, one after another.
template <class Element>
class UnbatchStage final : public Stage<Element> {
 public:
  explicit UnbatchStage(StageRef<Element> input) : input_(std::move(input)) {}
  void describe(Fingerprint& print) const override { input_->describe(print), print.add("unbatch"); }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<Rows>(input_->open(context));
  }

 private:
  class Rows final : public Cursor<Element> {
   public:
    explicit Rows(std::unique_ptr<Cursor<Element>> input) : input_(std::move(input)) {}
    std::optional<Element> next() override {
      if (!find_batch()) return std::nullopt;
      return row_of_tree(*batch_, row_++);
    }
    std::int64_t skip(std::int64_t n) override {
      std::int64_t done = 0;
      while (done < n && find_batch()) {
        const std::int64_t step = std::min(n - done, rows_ - row_);
        done += step, row_ += step;
      }
      return done;
    }
    Origin origin() const override { return input_->origin(); }

   private:
    bool find_batch() {
      while (!batch_ || row_ >= rows_) {
        batch_ = input_->next();
        if (!batch_) return false;
        row_ = 0;
        try {
          rows_ = count_rows("unbatch", *batch_);
        } catch (...) {
          batch_.reset();
          rethrow_from("unbatch", input_->origin().text());
        }
      }
      return true;
    }
    std::unique_ptr<Cursor<Element>> input_;
    std::optional<Element> batch_;
    std::int64_t row_ = 0, rows_ = 0;
  };
  StageRef<Element> input_;
};

}  // namespace detail
}  // namespace data
NAX_END
