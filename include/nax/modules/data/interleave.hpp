#pragma once

#include <deque>
#include <functional>

#include "nax/modules/data/lane.hpp"
#include "nax/modules/data/map.hpp"

// Several datasets in turns.
NAX_BEGIN
namespace data {

struct InterleaveOptions {
  std::int64_t cycle_length = 4;  // datasets open at once
  std::int64_t block_length = 1;  // elements of one before the next has its turn
  std::string version = "";       // of the function, as map's
  // A thread for each open dataset makes 2 block_length of its elements ahead. The order stays the same.
  bool parallel = false;
  std::int64_t ahead = 0;  // with .parallel: datasets begun before it is their turn
  // false, with .parallel: elements come as they are ready, so that slow datasets do not hold back others.
  bool deterministic = true;
};

namespace detail {

inline InterleaveOptions checked(InterleaveOptions options) {
  if (options.cycle_length < 1 || options.block_length < 1 || options.ahead < 0)
    throw ValueError(
        "interleave: cycle_length and block_length must be at least 1, and ahead must not be negative");
  if (!options.parallel && (options.ahead > 0 || !options.deterministic))
    throw ValueError("interleave: ahead and deterministic = false need .parallel");
  if (options.parallel && (options.cycle_length > most_stage_threads ||
                           options.ahead > most_stage_threads - options.cycle_length))
    raise<ValueError>({"interleave: with .parallel at most ", most_stage_threads,
                       " datasets can be open and ahead, not ", options.cycle_length, " and ",
                       options.ahead});
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

// Elements of the datasets that `make` makes of the input's elements, in turns. The input is walked by the
// loop's own thread; datasets are opened by the threads of their lanes.
template <class In, class Element, class Make>
class InterleaveStage final : public Stage<Element> {
 public:
  InterleaveStage(StageRef<In> input, Make make, InterleaveOptions options)
      : input_(std::move(input)),
        make_(std::make_shared<const Make>(std::move(make))),
        options_(checked(std::move(options))) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("interleave"), print.add(options_.cycle_length);
    print.add(options_.block_length), make_->describe(print, options_.version);
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
        : input_(std::move(input)),
          make_(std::move(make)),
          options_(std::move(options)),
          context_(context),
          bell_(options_.deterministic || context.ordered ? nullptr : std::make_shared<Bell>()) {}
    std::optional<Element> next() override {
      begin_making();
      if (bell_) return next_ready();
      while (find_turn()) {
        if (std::optional<Element> element = open_[at_]->next()) return taken(std::move(element));
        close();
      }
      return std::nullopt;
    }
    void prepare() override {
      if (options_.parallel) begin_lanes();
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
    using Walk = Lane<Element>;

    void begin_making() {
      if (std::exchange(makes_, true) || !options_.parallel) return;
      for (const auto& lane : open_) lane->start();
      for (const auto& lane : waiting_) lane->start();
    }

    std::optional<Element> taken(std::optional<Element> element) {
      origin_ = open_[at_]->origin();
      if (++of_block_ == options_.block_length) ++at_, of_block_ = 0;
      return element;
    }
    // The next element that any open dataset has ready, preferably that whose turn it is.
    std::optional<Element> next_ready() {
      while (!context_.is_stopped()) {
        while (static_cast<std::int64_t>(open_.size()) < options_.cycle_length && open_next()) {
        }
        if (open_.empty()) break;
        const std::uint64_t rings = bell_->rings();
        if (at_ >= open_.size()) at_ = 0;
        if (!find_ready()) {
          const profile::Span waits(profile::Kind::wait_data, "wait for interleave");
          bell_->wait(rings);
        } else if (std::optional<Element> element = open_[at_]->next()) {
          return taken(std::move(element));
        } else {
          close();
        }
      }
      return std::nullopt;
    }
    bool find_ready() {
      for (std::size_t k = 0; k < open_.size(); ++k) {
        const std::size_t lane = (at_ + k) % open_.size();
        if (!open_[lane]->is_ready()) continue;
        if (lane != at_) at_ = lane, of_block_ = 0;
        return true;
      }
      return false;
    }
    // An open dataset whose turn it is; new ones are opened while there are places.
    bool find_turn() {
      if (at_ >= open_.size() && static_cast<std::int64_t>(open_.size()) < options_.cycle_length &&
          open_next())
        return true;
      if (open_.empty()) return false;
      if (at_ >= open_.size()) at_ = 0;
      return !context_.is_stopped();
    }
    // Takes the next of those that wait. What the input threw is thrown when it is its turn.
    bool open_next() {
      if (options_.parallel) begin_lanes();
      if (waiting_.empty()) begin_lane();  // in the place of one that has ended
      if (waiting_.empty()) {
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
        return false;
      }
      open_.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
      if (options_.parallel) begin_lanes();
      return true;
    }
    // As many as there are places for, and those that are read ahead.
    void begin_lanes() {
      const std::int64_t places = options_.cycle_length + options_.ahead;
      while (static_cast<std::int64_t>(open_.size() + waiting_.size()) < places && begin_lane()) {
      }
    }
    bool begin_lane() {
      if (ended_ || error_) return false;
      std::optional<In> in;
      try {
        in = input_->next();
      } catch (...) {
        error_ = std::current_exception();
        return false;
      }
      if (!in) {
        ended_ = true;
        return false;
      }
      auto element = std::make_shared<In>(std::move(*in));
      auto open = [make = make_, element, origin = input_->origin(), context = context_] {
        try {
          return (*make)(std::move(*element))->open(context);
        } catch (...) {
          rethrow_from("interleave", origin.text());
        }
      };
      waiting_.push_back(std::make_unique<Walk>(context_, std::move(open),
                                                options_.parallel ? 2 * options_.block_length : 0, bell_));
      if (options_.parallel && makes_) waiting_.back()->start();
      if (options_.parallel && !makes_) waiting_.back()->prepare();
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
    std::shared_ptr<Bell> bell_;  // where order is no matter
    std::deque<std::unique_ptr<Walk>> waiting_;
    std::vector<std::unique_ptr<Walk>> open_;
    std::size_t at_ = 0;
    std::int64_t of_block_ = 0;
    bool makes_ = false;  // elements; until then it passes over them
    bool ended_ = false;
    std::exception_ptr error_;  // of the input, behind those that wait
    Origin origin_;
  };
  StageRef<In> input_;
  std::shared_ptr<const Make> make_;
  InterleaveOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END
