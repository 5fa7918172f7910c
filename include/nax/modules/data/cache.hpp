#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "nax/core/at_fork.hpp"
#include "nax/modules/data/cache_folder.hpp"
#include "nax/modules/data/cursors.hpp"
#include "nax/modules/data/identity.hpp"
#include "nax/modules/data/stored.hpp"

// Elements that are made once and kept, in memory or in a folder.
NAX_BEGIN
namespace data::detail {

template <class Element>
struct Store {
  virtual ~Store() = default;
  virtual std::optional<Element> get(std::int64_t i) = 0;
  virtual void put(std::int64_t i, const Element& element) = 0;
  // The number of elements, once a walk has reached the end; below 0 before.
  virtual std::int64_t size() = 0;
  virtual void set_size(std::int64_t n) = 0;
  // Is getting an element next to no work, for all of n?
  virtual bool has_all(std::int64_t n) = 0;
};

template <class Element>
class MemoryStore final : public Store<Element> {
 public:
  std::optional<Element> get(std::int64_t i) override {
    const std::lock_guard lock(mutex_);
    if (static_cast<std::size_t>(i) >= elements_.size()) return std::nullopt;
    return elements_[static_cast<std::size_t>(i)];
  }
  void put(std::int64_t i, const Element& element) override {
    const auto at = static_cast<std::size_t>(i);
    const std::lock_guard lock(mutex_);
    if (elements_.size() <= at) elements_.resize(at + 1);
    if (elements_[at]) return;
    elements_[at] = element;
    ++held_;
  }
  std::int64_t size() override {
    const std::lock_guard lock(mutex_);
    return size_;
  }
  void set_size(std::int64_t n) override {
    const std::lock_guard lock(mutex_);
    size_ = n;
  }
  bool has_all(std::int64_t n) override {
    const std::lock_guard lock(mutex_);
    return held_ >= n;
  }

 private:
  nax::detail::ForkMutex& mutex_ = nax::detail::fork_mutex_of<MemoryStore>();
  std::vector<std::optional<Element>> elements_;
  std::int64_t held_ = 0, size_ = -1;
};

template <class Element>
class FolderStore final : public Store<Element> {
 public:
  FolderStore(const std::string& folder, std::uint64_t print) : folder_(folder, print) {}
  std::optional<Element> get(std::int64_t i) override {
    const profile::Span span(profile::Kind::data, "cache: read");
    io::Bytes bytes;
    if (!folder_.read(i, bytes)) return std::nullopt;
    ByteReader in(bytes, CacheFolder::header_bytes);
    Element element{};
    try {
      restore_value(in, element);
    } catch (const IoError&) {  // of another version of the program
      return std::nullopt;
    }
    if (!in.at_end()) return std::nullopt;
    return element;
  }
  void put(std::int64_t i, const Element& element) override {
    const profile::Span span(profile::Kind::data, "cache: write");
    ByteWriter out;
    store_value(out, element);
    folder_.write(i, out.bytes);
  }
  std::int64_t size() override {
    io::Bytes bytes;
    if (!folder_.read(-1, bytes)) return -1;
    return static_cast<std::int64_t>(ByteReader(bytes, CacheFolder::header_bytes).number());
  }
  void set_size(std::int64_t n) override {
    ByteWriter out;
    out.number(static_cast<std::uint64_t>(n));
    folder_.write(-1, out.bytes);
  }
  bool has_all(std::int64_t) override { return false; }

 private:
  CacheFolder folder_;
};

// Keeps the elements of epoch 0, whichever epoch asks first.
template <class Element>
class CacheStage final : public Stage<Element> {
 public:
  explicit CacheStage(StageRef<Element> input)
      : input_(std::move(input)), store_(std::make_shared<MemoryStore<Element>>()) {}
  CacheStage(StageRef<Element> input, const std::string& folder, const std::string& version)
      : input_(std::move(input)) {
    Fingerprint print(Fingerprint::Purpose::cache);
    input_->describe(print), add_types<Element>(print), print.add(version);
    store_ = std::make_shared<FolderStore<Element>>(folder, print.value());
  }
  void describe(Fingerprint& print) const override { input_->describe(print), print.add("cache"); }
  std::int64_t size() const override { return input_->size(); }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Element>> access(const Context& context) const override {
    auto input = input_->access(first_epoch(context));
    if (!input) return nullptr;
    return std::make_shared<Elements>(std::move(input), store_);
  }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    if (indexable()) return open_indices(access(context), context);
    return std::make_unique<Walk>(input_, store_, first_epoch(context));
  }

 private:
  // Elements are kept by their place in the order.
  static Context first_epoch(Context context) {
    context.epoch = 0, context.ordered = true;
    return context;
  }
  struct Elements final : Access<Element> {
    Elements(std::shared_ptr<const Access<Element>> from, std::shared_ptr<Store<Element>> in)
        : input(std::move(from)), store(std::move(in)) {}
    std::int64_t size() const override { return input->size(); }
    Element at(std::int64_t i) const override {
      if (std::optional<Element> element = store->get(i)) return std::move(*element);
      Element element = input->at(i);
      store->put(i, element);
      return element;
    }
    Crew crew() const override { return store->has_all(size()) ? Crew{} : input->crew(); }
    std::string name() const override { return input->name(); }
    std::string source(std::int64_t i) const override { return input->source(i); }
    std::shared_ptr<const Access<Element>> input;
    std::shared_ptr<Store<Element>> store;
  };
  // Over an input without indices: what is not kept yet is taken from the input, at its place.
  class Walk final : public Cursor<Element> {
   public:
    Walk(StageRef<Element> input, std::shared_ptr<Store<Element>> store, Context context)
        : input_(std::move(input)),
          store_(std::move(store)),
          context_(std::move(context)),
          size_(store_->size()) {}
    std::optional<Element> next() override {
      if (size_ >= 0 && at_ >= size_) return std::nullopt;
      if (std::optional<Element> element = store_->get(at_)) return ++at_, element;
      if (!come_here()) return std::nullopt;
      std::optional<Element> element;
      try {
        element = walk_->next();
      } catch (...) {
        walked_ = ++at_;  // it keeps its place, as skip() counts it
        throw;
      }
      if (!element) {
        if (!context_.is_stopped()) store_->set_size(size_ = at_);
        return element;
      }
      store_->put(at_, *element);
      walked_ = ++at_;
      return element;
    }
    std::int64_t skip(std::int64_t n) override {
      if (size_ >= 0) {
        const std::int64_t done = std::min(n, size_ - at_);
        at_ += done;
        return done;
      }
      if (!come_here()) return 0;
      const std::int64_t done = walk_->skip(n);
      walked_ = at_ += done;
      return done;
    }
    Origin origin() const override { return walk_ ? walk_->origin() : Origin{}; }

   private:
    bool come_here() {
      if (!walk_) walk_ = input_->open(context_);
      const std::int64_t gap = at_ - walked_;
      walked_ = at_;
      return gap == 0 || walk_->skip(gap) == gap;
    }
    StageRef<Element> input_;
    std::shared_ptr<Store<Element>> store_;
    Context context_;
    std::int64_t size_, at_ = 0, walked_ = 0;
    std::unique_ptr<Cursor<Element>> walk_;
  };
  StageRef<Element> input_;
  std::shared_ptr<Store<Element>> store_;
};

}  // namespace data::detail
NAX_END
