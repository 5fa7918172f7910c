#pragma once

#include "nax/core/overflow.hpp"
#include "nax/modules/data/cursors.hpp"

// take, skip, shard and repeat.
NAX_BEGIN
namespace data::detail {

// Elements first, first + step, ... : `most` of them, or as many as there are.
struct Slice {
  std::int64_t first = 0, step = 1, most = INT64_MAX;

  std::int64_t size_of(std::int64_t input) const {
    const std::int64_t there = input <= first ? 0 : (input - first - 1) / step + 1;
    return there < most ? there : most;
  }
};

// An elastic slice is a shard whose positions count the elements of all shards, so that another number of
// shards may go on there: `first` of `step` shards. They have fingerprints alike.
template <class Element>
class SliceStage final : public Stage<Element> {
 public:
  SliceStage(StageRef<Element> input, Slice slice, bool is_elastic = false)
      : input_(std::move(input)), slice_(slice), is_elastic_(is_elastic) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print);
    if (is_elastic_) return print.add("elastic shard");
    print.add("slice"), print.add(slice_.first), print.add(slice_.step), print.add(slice_.most);
  }
  std::int64_t size() const override {
    const std::int64_t in = input_->size();
    return in < 0 ? -1 : slice_.size_of(in);
  }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Element>> access(const Context& context) const override {
    auto input = input_->access(for_input(context));
    if (!input) return nullptr;
    return std::make_shared<Elements>(std::move(input), beginning_at(context), is_elastic_);
  }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    if (indexable()) return open_indices(access(context), context);
    return std::make_unique<Walk>(input_->open(for_input(context)), beginning_at(context));
  }
  std::int64_t elastic_position(std::int64_t start, std::int64_t n) const override {
    if (!is_elastic_) return -1;
    std::int64_t taken, at;
    const bool is_beyond = nax::detail::multiply_overflows(n, slice_.step, taken) ||
                           nax::detail::add_overflows(start, taken, at);
    const std::int64_t all = is_beyond ? INT64_MAX : at, there = input_->size();
    return there >= 0 && all > there ? there : all;
  }

 private:
  // The order is that of all shards, and a shard before this one has a start of its own.
  Context for_input(Context context) const {
    if (!is_elastic_) return context;
    context.ordered = true;
    context.elastic_start = -1;
    return context;
  }
  Slice beginning_at(const Context& context) const {
    if (!is_elastic_) return slice_;
    if (context.elastic_start < 0)
      throw ValueError(
          "shard: behind .elastic only map without a key, batch, padded_batch, prefetch, prefetch_to and "
          "epoch may come: other stages' elements do not tell how many the shards have taken");
    Slice slice = slice_;
    if (nax::detail::add_overflows(slice.first, context.elastic_start, slice.first)) slice.first = INT64_MAX;
    return slice;
  }
  struct Elements final : Access<Element> {
    Elements(std::shared_ptr<const Access<Element>> from, Slice by, bool in_order)
        : input(std::move(from)), slice(by), is_ordered(in_order) {}
    std::int64_t size() const override { return slice.size_of(input->size()); }
    Element at(std::int64_t i) const override { return input->at(place(i)); }
    Crew crew() const override {
      Crew own = input->crew();
      own.ordered = own.ordered || is_ordered;
      return own;
    }
    std::string name() const override { return input->name(); }
    bool gathers() const override { return input->gathers(); }
    std::vector<ArrayBase> gather(std::span<const std::int64_t> indices) const override {
      std::vector<std::int64_t> places;
      places.reserve(indices.size());
      for (const std::int64_t i : indices) places.push_back(place(i));
      return input->gather(places);
    }
    std::string source(std::int64_t i) const override { return input->source(place(i)); }
    std::int64_t place(std::int64_t i) const { return slice.first + i * slice.step; }
    std::shared_ptr<const Access<Element>> input;
    Slice slice;
    bool is_ordered;
  };
  class Walk final : public Cursor<Element> {
   public:
    Walk(std::unique_ptr<Cursor<Element>> input, Slice slice)
        : input_(std::move(input)), slice_(slice), gap_(slice.first) {}
    std::optional<Element> next() override {
      if (given_ >= slice_.most) return std::nullopt;
      if (gap_ > 0 && input_->skip(gap_) < gap_) return std::nullopt;
      ++given_, gap_ = slice_.step - 1;  // an element that cannot be made has its place, too
      std::optional<Element> element = input_->next();
      if (!element) given_ = slice_.most;  // the end
      return element;
    }
    void prepare() override { input_->prepare(); }
    std::int64_t skip(std::int64_t n) override {
      if (slice_.step != 1) return Cursor<Element>::skip(n);
      if (gap_ > 0 && input_->skip(gap_) < gap_) return 0;
      gap_ = 0;
      const std::int64_t done = input_->skip(std::min(n, slice_.most - given_));
      given_ += done;
      return done;
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<Element>> input_;
    Slice slice_;
    std::int64_t gap_, given_ = 0;
  };
  StageRef<Element> input_;
  Slice slice_;
  bool is_elastic_;
};

// One epoch after another, each with a number of its own; `count` below 0: without an end.
template <class Element>
class RepeatStage final : public Stage<Element> {
 public:
  RepeatStage(StageRef<Element> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("repeat"), print.add(count_);
  }
  std::int64_t size() const override {
    const std::int64_t in = input_->size();
    std::int64_t all;
    if (in == 0 || count_ == 0) return 0;
    return in < 0 || count_ < 0 || nax::detail::multiply_overflows(in, count_, all) ? -1 : all;
  }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<Epochs>(input_, count_, context);
  }

 private:
  class Epochs final : public Cursor<Element> {
   public:
    Epochs(StageRef<Element> input, std::int64_t count, const Context& context)
        : input_(std::move(input)),
          count_(count),
          context_(context),
          first_(context.epoch * (count < 0 ? 1 : count)) {}
    std::optional<Element> next() override {
      while (begin_epoch()) {
        if (std::optional<Element> element = walk_->next()) {
          empty_ = false;
          return element;
        }
        end_epoch();
      }
      return std::nullopt;
    }
    std::int64_t skip(std::int64_t n) override {
      std::int64_t done = 0;
      const std::int64_t size = input_->size();
      if (!walk_ && size > 0) {  // whole epochs at once
        const std::int64_t epochs = count_ < 0 ? n / size : std::min(n / size, count_ - epoch_);
        epoch_ += epochs;
        done = epochs * size;
      }
      while (done < n && begin_epoch()) {
        const std::int64_t step = walk_->skip(n - done);
        empty_ = empty_ && step == 0;
        done += step;
        if (done < n) end_epoch();
      }
      return done;
    }
    Origin origin() const override { return walk_ ? walk_->origin() : Origin{}; }

   private:
    bool begin_epoch() {
      if (walk_) return true;
      if ((count_ >= 0 && epoch_ >= count_) || context_.is_stopped()) return false;
      Context inner = context_;
      inner.epoch = first_ + epoch_;
      walk_ = input_->open(inner);
      empty_ = true;
      return true;
    }
    void end_epoch() {
      walk_.reset();
      ++epoch_;
      if (empty_) count_ = epoch_;  // nothing, for ever: that is the end
    }
    StageRef<Element> input_;
    std::int64_t count_;
    Context context_;
    std::int64_t first_, epoch_ = 0;
    bool empty_ = true;
    std::unique_ptr<Cursor<Element>> walk_;
  };
  StageRef<Element> input_;
  std::int64_t count_;
};

// The dataset in another epoch.
template <class Element>
class EpochStage final : public Stage<Element> {
 public:
  EpochStage(StageRef<Element> input, std::int64_t epoch) : input_(std::move(input)), epoch_(epoch) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("epoch"), print.add(epoch_);
  }
  std::int64_t size() const override { return input_->size(); }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Element>> access(const Context& context) const override {
    return input_->access(at(context));
  }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return input_->open(at(context));
  }
  std::int64_t elastic_position(std::int64_t start, std::int64_t n) const override {
    return input_->elastic_position(start, n);
  }

 private:
  Context at(Context context) const {
    context.epoch += epoch_;
    return context;
  }
  StageRef<Element> input_;
  std::int64_t epoch_;
};

}  // namespace data::detail
NAX_END
