#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/modules/data/failure.hpp"

// The parts of datasets. A Stage describes a part of a pipeline and never changes; iterating opens a
// Cursor on it, which walks once and belongs to one thread at a time. A stage whose elements have numbers
// also gives an Access for an epoch: its elements by index, for any thread. Stages are known by their element
// type alone, so that a pipeline of ten of them is no type of ten levels.
//
// Element i of an epoch is the same for every caller, so all order is order of indices: threads, caches and
// positions to resume at can do what they like.
NAX_BEGIN
namespace data::detail {

using namespace nax::detail;

struct Context {
  std::int64_t epoch = 0;
  std::shared_ptr<std::atomic<bool>> stopped;  // its iterator is gone: threads that work for it may stop
  // Elements come in order even from stages that were told that they need not: a later one counts on it.
  bool ordered = false;
  // Elements will be asked for in random order: what lies on a disk need not be read ahead.
  bool random = false;
  // Elements before which an elastic shard begins; below 0 where the stages behind it cannot count them.
  std::int64_t elastic_start = -1;

  bool is_stopped() const { return stopped && stopped->load(std::memory_order_relaxed); }
};

// Identifies a pipeline by a number: its stages, their options and keys, the files that it reads and the
// types of its elements. Caches are found by it, and a position belongs to the pipeline that it was taken
// from.
class Fingerprint {
 public:
  enum class Purpose : std::uint8_t { position, cache };
  explicit Fingerprint(Purpose purpose = Purpose::position) : purpose_(purpose) {}
  Purpose purpose() const { return purpose_; }
  void add(const void* data, std::size_t size);
  void add(std::int64_t number) { add(&number, sizeof number); }
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    add(text.data(), text.size());
  }
  std::uint64_t value() const { return value_; }

 private:
  Purpose purpose_;
  std::uint64_t value_ = 0xcbf29ce484222325u;  // FNV-1a
};

// The threads of its own that a stage asks for: none, or below 0 as many as it takes. Without order their
// elements come as they are made.
struct Crew {
  int threads = 0;
  bool ordered = true;
};

// The threads for two stages in one chain.
inline Crew joined(const Crew& a, const Crew& b) {
  const bool automatic = a.threads < 0 || b.threads < 0;
  return {automatic ? -1 : a.threads < b.threads ? b.threads : a.threads, a.ordered && b.ordered};
}

// Elements by index.
template <class Element>
struct Access : Describes {
  virtual std::int64_t size() const = 0;
  virtual Element at(std::int64_t i) const = 0;
  virtual Crew crew() const { return {}; }
  // The name of its threads in profiles.
  virtual std::string name() const { return "data"; }
  // Can rows of arrays be brought together without making elements of them? Then gather does, leaf by leaf.
  virtual bool gathers() const { return false; }
  virtual std::vector<ArrayBase> gather(std::span<const std::int64_t>) const { return {}; }
};

template <class Element>
struct Cursor {
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;

  virtual std::optional<Element> next() = 0;
  // Does before the first element is asked for what needs no decision, such as reading a file. An error that
  // it throws is that of the first next().
  virtual void prepare() {}
  // Passes over up to n elements as cheaply as can be; how many there were.
  virtual std::int64_t skip(std::int64_t n) {
    std::int64_t done = 0;
    while (done < n && next()) ++done;
    return done;
  }
  // Of the element that came last.
  virtual Origin origin() const { return {}; }
};

template <class Element>
struct Stage {
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  virtual void describe(Fingerprint& print) const = 0;
  // Elements of an epoch; below 0 if the number is not known before the end, or there is no end.
  virtual std::int64_t size() const = 0;
  virtual bool indexable() const { return false; }
  virtual std::shared_ptr<const Access<Element>> access(const Context&) const { return nullptr; }
  virtual std::unique_ptr<Cursor<Element>> open(const Context& context) const = 0;
  // Behind an elastic shard: the elements that all shards have taken together, once each began at `start` and
  // has handed out n elements of this stage. Below 0 elsewhere, and where n elements do not tell.
  virtual std::int64_t elastic_position(std::int64_t /*start*/, std::int64_t /*n*/) const { return -1; }
  bool is_elastic() const { return elastic_position(0, 0) >= 0; }
};

template <class Element>
using StageRef = std::shared_ptr<const Stage<Element>>;

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace data::detail {

NAX_ENGINE void Fingerprint::add(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3u;
}

}  // namespace data::detail
NAX_END
#endif
