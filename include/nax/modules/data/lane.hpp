#pragma once

#include <future>

#include "nax/modules/data/cursors.hpp"

// One of the datasets that are interleaved.
NAX_BEGIN
namespace data::detail {

// Walks over a dataset that is opened when it is first needed. Elements are made ahead by a thread, or by the
// caller. prepare() and start() are two ways to begin early: the first keeps skip() cheap, the second makes
// elements.
template <class Element>
class Lane final : public Cursor<Element>, Workers {
 public:
  using Open = std::function<std::unique_ptr<Cursor<Element>>()>;

  // `held` elements are made ahead once it is started; 0: it never is.
  Lane(const Context& context, Open open, std::int64_t held, std::shared_ptr<Bell> bell)
      : Workers(context, "interleave", {1}, std::max<std::int64_t>(held, 1), std::move(bell)),
        context_(context),
        input_{std::move(open), nullptr},
        held_(held),
        ring_(Workers::capacity()) {}
  ~Lane() override {
    const bool forked = is_forked() || is_preparing_elsewhere();
    stop();
    if (forked) leave_behind(ring_), leave_behind(input_), leave_behind(prepared_);
  }

  void prepare() override {
    try {
      prepared_ = std::async(std::launch::async, [this] {
        const ThreadLimit alone(1);
        const io::detail::ReadsFor loop(context_.stopped.get());
        profile::name_thread("interleave");
        input_.come()->prepare();
      });
    } catch (const std::system_error&) {  // no more threads: next() or skip() does it
    }
  }
  using Workers::is_ready;
  void start() {
    if (is_preparing_elsewhere()) refuse_in_child();
    Workers::start();
  }

  std::optional<Element> next() override {
    if (held_ == 0) return input_.come()->next();
    std::size_t slot;
    if (!take(slot)) return std::nullopt;
    std::optional<Element> result = std::move(ring_[slot].element);
    ring_[slot].element.reset();
    last_ = std::move(ring_[slot].origin);
    release(slot);
    return result;
  }
  std::int64_t skip(std::int64_t n) override {
    if (is_started()) return Cursor<Element>::skip(n);
    end_preparation();
    return input_.come()->skip(n);
  }
  Origin origin() const override { return held_ == 0 ? input_.cursor->origin() : last_; }

 private:
  bool pull(std::size_t slot) override {
    end_preparation();
    ring_[slot].element = input_.come()->next();
    if (!ring_[slot].element) return false;
    ring_[slot].origin = input_.cursor->origin();
    return true;
  }
  void finish(std::size_t) override {}
  void end_preparation() {
    if (is_preparing_elsewhere()) refuse_in_child();
    if (prepared_.valid()) prepared_.get();
  }
  // The thread is one of the process that this one was forked from, and cannot be joined here.
  bool is_preparing_elsewhere() const { return in_child() && prepared_.valid(); }

  // A dataset that could not be opened has no elements.
  struct None final : Cursor<Element> {
    std::optional<Element> next() override { return std::nullopt; }
  };
  struct Input {
    Open open;
    std::unique_ptr<Cursor<Element>> cursor;
    Cursor<Element>* come() {
      if (!cursor) {
        cursor = std::make_unique<None>();
        cursor = std::exchange(open, nullptr)();
      }
      return cursor.get();
    }
  };
  struct Slot {
    std::optional<Element> element;
    Origin origin;
  };
  Context context_;
  Input input_;
  const std::int64_t held_;
  std::vector<Slot> ring_;
  Origin last_;
  std::future<void> prepared_;  // last: it ends before what it works on
};

}  // namespace data::detail
NAX_END
