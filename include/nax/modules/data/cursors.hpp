#pragma once

#include "nax/modules/data/workers.hpp"

// The cursors that most stages open: over indices, over another cursor, with threads or without.
NAX_BEGIN
namespace data::detail {

// One element after another, by index.
template <class Element>
class IndexCursor final : public Cursor<Element> {
 public:
  explicit IndexCursor(std::shared_ptr<const Access<Element>> access)
      : access_(std::move(access)), size_(access_->size()) {}
  std::optional<Element> next() override {
    if (at_ >= size_) return std::nullopt;
    return access_->at(at_++);
  }
  std::int64_t skip(std::int64_t n) override {
    const std::int64_t done = n < size_ - at_ ? n : size_ - at_;
    at_ += done;
    return done;
  }
  Origin origin() const override { return {access_, at_ - 1}; }

 private:
  std::shared_ptr<const Access<Element>> access_;
  std::int64_t size_, at_ = 0;
};

// Makes the elements in threads.
template <class Element>
class ParallelIndexCursor final : public Cursor<Element>, Workers {
 public:
  ParallelIndexCursor(std::shared_ptr<const Access<Element>> access, const Context& context, const Crew& crew,
                      std::int64_t capacity = 0)
      : Workers(context, access->name(), crew, capacity),
        access_(std::move(access)),
        size_(access_->size()),
        ring_(Workers::capacity()) {}
  ~ParallelIndexCursor() override {
    const bool forked = is_forked();
    stop();
    if (forked) leave_behind(ring_);
  }

  std::optional<Element> next() override {
    std::size_t slot;
    if (!take(slot)) return std::nullopt;
    std::optional<Element> result = std::move(ring_[slot].element);
    ring_[slot].element.reset();
    last_ = ring_[slot].index;
    release(slot);
    return result;
  }
  std::int64_t skip(std::int64_t n) override {
    if (is_started() || at_ > 0) return Cursor<Element>::skip(n);
    at_ = n < size_ ? n : size_;
    return at_;
  }
  Origin origin() const override { return {access_, last_}; }

 private:
  bool pull(std::size_t slot) override {
    if (at_ >= size_) return false;
    ring_[slot].index = at_++;
    return true;
  }
  void finish(std::size_t slot) override { ring_[slot].element.emplace(access_->at(ring_[slot].index)); }

  struct Slot {
    std::int64_t index = 0;
    std::optional<Element> element;
  };
  std::shared_ptr<const Access<Element>> access_;
  const std::int64_t size_;
  std::int64_t at_ = 0, last_ = -1;
  std::vector<Slot> ring_;
};

template <class Element>
std::unique_ptr<Cursor<Element>> open_indices(std::shared_ptr<const Access<Element>> access,
                                              const Context& context) {
  const Crew crew = access->crew();
  if (crew.threads == 0) return std::make_unique<IndexCursor<Element>>(std::move(access));
  return std::make_unique<ParallelIndexCursor<Element>>(std::move(access), context, crew);
}

// A stage whose elements have numbers is this and its access.
template <class Element>
struct IndexedStage : Stage<Element> {
  bool indexable() const override { return true; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return open_indices<Element>(this->access(context), context);
  }
};

// Elements that `pull` takes from a source and `work` turns into results, in threads. Both are callables of
// one stage; neither sees the other's thread.
template <class Raw, class Element, class Pull, class Work>
class ParallelCursor final : public Cursor<Element>, Workers {
 public:
  ParallelCursor(const Context& context, std::string name, const Crew& crew, std::int64_t capacity, Pull pull,
                 Work work)
      : Workers(context, std::move(name), crew, capacity),
        pull_(std::move(pull)),
        work_(std::move(work)),
        ring_(Workers::capacity()) {}
  ~ParallelCursor() override {
    const bool forked = is_forked();
    stop();
    if (forked) leave_behind(ring_), leave_behind(pull_);
  }

  std::optional<Element> next() override {
    std::size_t slot;
    if (!take(slot)) return std::nullopt;
    std::optional<Element> result = std::move(ring_[slot].element);
    ring_[slot].element.reset();
    last_ = std::move(ring_[slot].origin);
    ring_[slot].origin = {};
    release(slot);
    return result;
  }
  std::int64_t skip(std::int64_t n) override {
    return is_started() ? Cursor<Element>::skip(n) : pull_.skip(n);
  }
  Origin origin() const override { return last_; }

 private:
  bool pull(std::size_t slot) override {
    ring_[slot].raw = pull_.next(ring_[slot].origin);
    return ring_[slot].raw.has_value();
  }
  void finish(std::size_t slot) override {
    ring_[slot].element.emplace(work_(std::move(*ring_[slot].raw), ring_[slot].origin));
    ring_[slot].raw.reset();
  }

  struct Slot {
    std::optional<Raw> raw;
    std::optional<Element> element;
    Origin origin;
  };
  Pull pull_;
  Work work_;
  std::vector<Slot> ring_;
  Origin last_;
};

template <class Raw, class Element, class Pull, class Work>
std::unique_ptr<Cursor<Element>> open_parallel(const Context& context, std::string name, const Crew& crew,
                                               std::int64_t capacity, Pull pull, Work work) {
  return std::make_unique<ParallelCursor<Raw, Element, Pull, Work>>(context, std::move(name), crew, capacity,
                                                                    std::move(pull), std::move(work));
}

// Pulls a cursor's elements as they are.
template <class Element>
struct PullOne {
  std::unique_ptr<Cursor<Element>> input;

  std::optional<Element> next(Origin& origin) {
    std::optional<Element> element = input->next();
    if (element) origin = input->origin();
    return element;
  }
  std::int64_t skip(std::int64_t n) { return input->skip(n); }
};

}  // namespace data::detail
NAX_END
