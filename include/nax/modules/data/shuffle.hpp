#pragma once

#include <algorithm>

#include "nax/core/overflow.hpp"
#include "nax/modules/data/cursors.hpp"
#include "nax/random/key.hpp"

// Random order, from a key.
NAX_BEGIN
namespace data {

struct ShuffleOptions {
  std::int64_t buffer = 0;  // elements to choose among, where the input has no indices
  random::Key key = {};     // needed; each epoch folds its number in
  bool reshuffle = true;    // false: every epoch in the order of the first
};

namespace detail {

NAX_ENGINE std::uint64_t shuffle_word(const random::Key& key, const char* function = "shuffle");

// A number below n (at most 2^63), from 64 random bits.
inline std::int64_t below(std::uint64_t bits, std::int64_t n) {
  return static_cast<std::int64_t>(nax::detail::high_product(bits, static_cast<std::uint64_t>(n)));
}

// The numbers below n in random order: Fisher and Yates's, bits by threefry.
NAX_ENGINE std::vector<std::uint32_t> shuffled_indices(std::uint64_t key, std::int64_t n);

// Elements of another access in an order of this one's own: gathers and sources go through.
template <class Element>
struct Reordered final : Access<Element> {
  Reordered(std::shared_ptr<const Access<Element>> from, std::vector<std::uint32_t> as)
      : input(std::move(from)), order(std::move(as)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(order.size()); }
  Element at(std::int64_t i) const override { return input->at(order[static_cast<std::size_t>(i)]); }
  Crew crew() const override { return input->crew(); }
  std::string name() const override { return input->name(); }
  bool gathers() const override { return input->gathers(); }
  std::vector<ArrayBase> gather(std::span<const std::int64_t> indices) const override {
    std::vector<std::int64_t> places;
    places.reserve(indices.size());
    for (const std::int64_t i : indices) places.push_back(order[static_cast<std::size_t>(i)]);
    return input->gather(places);
  }
  std::string source(std::int64_t i) const override {
    return input->source(order[static_cast<std::size_t>(i)]);
  }
  std::shared_ptr<const Access<Element>> input;
  std::vector<std::uint32_t> order;
};

// Chooses among the next `size` elements. Only which of them is chosen depends on the random numbers, so that
// a cursor that skips plays the choices through with numbers in place of elements, and then asks its input
// for those that are left.
template <class Element>
class ShuffleBuffer final : public Cursor<Element> {
 public:
  ShuffleBuffer(const StageRef<Element>& stage, const Context& context, std::int64_t size, std::uint64_t key)
      : stage_(stage), context_(context), size_(size), key_(key), input_(stage->open(context)) {}

  std::optional<Element> next() override {
    fill();
    if (buffer_.empty()) return std::nullopt;
    const auto chosen = static_cast<std::size_t>(below(draw(), static_cast<std::int64_t>(buffer_.size())));
    std::swap(buffer_[chosen], buffer_.back());
    Held last = std::move(buffer_.back());
    buffer_.pop_back();
    origin_ = std::move(last.origin);
    return std::move(last.element);
  }

  std::int64_t skip(std::int64_t n) override {
    if (drawn_ > 0 || !buffer_.empty()) return Cursor<Element>::skip(n);
    const std::int64_t most = n > INT64_MAX - size_ ? INT64_MAX : n + size_;
    const std::int64_t there = stage_->open(context_)->skip(most);  // how many it has, if not even as many
    std::vector<std::int64_t> held;
    std::int64_t done = 0, read = 0;
    const auto refill = [&] {
      while (read < there && static_cast<std::int64_t>(held.size()) < size_) held.push_back(read++);
    };
    for (; done < n; ++done) {
      refill();
      if (held.empty()) break;
      std::swap(held[static_cast<std::size_t>(below(draw(), static_cast<std::int64_t>(held.size())))],
                held.back());
      held.pop_back();
    }
    // The elements that are left, in the order in which the input has them, to where they were.
    std::vector<std::size_t> by_number(held.size());
    for (std::size_t i = 0; i < held.size(); ++i) by_number[i] = i;
    std::sort(by_number.begin(), by_number.end(),
              [&](std::size_t a, std::size_t b) { return held[a] < held[b]; });
    buffer_.resize(held.size());
    std::int64_t at = 0;
    for (const std::size_t place : by_number) {
      input_->skip(held[place] - at);
      buffer_[place].element = input_->next();
      buffer_[place].origin = input_->origin();
      at = held[place] + 1;
    }
    input_->skip(read - at);
    return done;
  }
  Origin origin() const override { return origin_; }

 private:
  struct Held {
    std::optional<Element> element;
    Origin origin;
  };
  std::uint64_t draw() {
    std::uint64_t bits;
    cpu::random_bits(key_, drawn_++, 1, &bits);
    return bits;
  }
  void fill() {
    while (!ended_ && static_cast<std::int64_t>(buffer_.size()) < size_ && !context_.is_stopped()) {
      Held held{input_->next(), {}};
      if (!held.element) {
        ended_ = true;
        return;
      }
      held.origin = input_->origin();
      buffer_.push_back(std::move(held));
    }
  }
  StageRef<Element> stage_;
  Context context_;
  std::int64_t size_;
  std::uint64_t key_, drawn_ = 0;
  std::unique_ptr<Cursor<Element>> input_;
  std::vector<Held> buffer_;
  bool ended_ = false;
  Origin origin_;
};

template <class Element>
class ShuffleStage final : public Stage<Element> {
 public:
  ShuffleStage(StageRef<Element> input, const ShuffleOptions& options)
      : input_(std::move(input)),
        buffer_(options.buffer),
        reshuffle_(options.reshuffle),
        key_(shuffle_word(options.key)) {
    check_not_negative("shuffle", "buffer", buffer_);
    if (!input_->indexable() && buffer_ == 0)
      throw ValueError(
          "shuffle: a dataset whose elements have no indices (it was filtered, repeated, prefetched ...) "
          "needs "
          "a .buffer to shuffle in; or shuffle before that");
  }
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("shuffle"), print.add(input_->indexable() ? 0 : buffer_);
    print.add(static_cast<std::int64_t>(key_)), print.add(reshuffle_);
  }
  std::int64_t size() const override { return input_->size(); }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Element>> access(const Context& context) const override {
    Context at_random = context;
    at_random.random = true;
    auto input = input_->access(at_random);
    if (!input) return nullptr;
    std::vector<std::uint32_t> order = shuffled_indices(key_of(context.epoch), input->size());
    return std::make_shared<Reordered<Element>>(std::move(input), std::move(order));
  }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    if (indexable()) return open_indices(access(context), context);
    return std::make_unique<ShuffleBuffer<Element>>(input_, context, buffer_, key_of(context.epoch));
  }

 private:
  std::uint64_t key_of(std::int64_t epoch) const {
    return loops::word_pair(loops::threefry(key_, reshuffle_ ? static_cast<std::uint64_t>(epoch) : 0));
  }
  StageRef<Element> input_;
  std::int64_t buffer_;
  bool reshuffle_;
  std::uint64_t key_;
};

}  // namespace detail
}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace data::detail {

NAX_ENGINE std::uint64_t shuffle_word(const random::Key& key, const char* function) {
  if (key.ndim() != 0) raise<ValueError>({function, ": a key is needed, as .key"});
  random::detail::check_single(function, key);
  need_plain(function, "the key", key.words());
  return key.words().item();
}

NAX_ENGINE std::vector<std::uint32_t> shuffled_indices(std::uint64_t key, std::int64_t n) {
  if (n > std::int64_t{UINT32_MAX}) raise<ValueError>({"shuffle: too many elements: ", n});
  std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::uint64_t bits[256];
  for (std::int64_t last = n - 1; last > 0;) {
    const std::int64_t count = std::min<std::int64_t>(256, last);
    cpu::random_bits(key, static_cast<std::uint64_t>(n - 1 - last), count, bits);
    for (std::int64_t k = 0; k < count; ++k, --last)
      std::swap(order[static_cast<std::size_t>(last)],
                order[static_cast<std::size_t>(below(bits[k], last + 1))]);
  }
  return order;
}

}  // namespace data::detail
NAX_END
#endif
