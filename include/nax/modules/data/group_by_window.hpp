#pragma once

#include <map>

#include "nax/modules/data/generator.hpp"
#include "nax/modules/data/interleave.hpp"

// Elements of one key together.
NAX_BEGIN
namespace data {

struct GroupOptions {
  bool drop_remainder = false;  // of groups that are not full at the end
  std::string version = "";     // of the functions, as map's
};

namespace detail {

// A key and up to as many elements as its window has: when they are there, and what is left at the end, by
// key.
template <class Key, class Size, class Element>
class GroupStage final : public Stage<std::tuple<std::int64_t, std::vector<Element>>> {
  using Result = std::tuple<std::int64_t, std::vector<Element>>;

 public:
  GroupStage(StageRef<Element> input, Key key, Size size, const GroupOptions& options)
      : input_(std::move(input)),
        functions_(std::make_shared<const Functions>(Functions{std::move(key), std::move(size)})),
        options_(options) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("group_by_window"), print.add(options_.drop_remainder);
    if constexpr (std::is_convertible_v<Size, std::int64_t>)
      print.add(static_cast<std::int64_t>(functions_->size));
    add_function<Key>(print, "", options_.version);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Result>> open(const Context& context) const override {
    return std::make_unique<Walk>(input_->open(context), functions_, options_.drop_remainder);
  }

 private:
  struct Functions {
    Key key;
    Size size;
    std::int64_t size_of(std::int64_t group) const {
      std::int64_t n;
      if constexpr (std::is_convertible_v<Size, std::int64_t>)
        n = size;
      else
        n = static_cast<std::int64_t>(size(group));
      if (n < 1) raise<ValueError>({"group_by_window: a window must have an element, not ", n});
      return n;
    }
  };
  class Walk final : public Cursor<Result> {
   public:
    Walk(std::unique_ptr<Cursor<Element>> input, std::shared_ptr<const Functions> functions,
         bool drop_remainder)
        : input_(std::move(input)), functions_(std::move(functions)), drop_remainder_(drop_remainder) {}
    std::optional<Result> next() override {
      while (!ended_) {
        std::optional<Element> element = input_->next();
        if (!element) {
          ended_ = true;
          break;
        }
        const auto [key, size] = key_of(*element);
        std::vector<Element>& group = groups_[key];
        group.push_back(std::move(*element));
        if (static_cast<std::int64_t>(group.size()) < size) continue;
        Result full{key, std::move(group)};
        groups_.erase(key);
        return full;
      }
      if (drop_remainder_ || groups_.empty()) return std::nullopt;
      auto first = groups_.extract(groups_.begin());
      return Result{first.key(), std::move(first.mapped())};
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::pair<std::int64_t, std::int64_t> key_of(const Element& element) const {
      try {
        const auto key = static_cast<std::int64_t>(call_with(functions_->key, Element(element), NoKey()));
        return {key, functions_->size_of(key)};
      } catch (...) {
        rethrow_from("group_by_window", input_->origin().text());
      }
    }
    std::unique_ptr<Cursor<Element>> input_;
    std::shared_ptr<const Functions> functions_;
    bool drop_remainder_, ended_ = false;
    std::map<std::int64_t, std::vector<Element>> groups_;
  };
  StageRef<Element> input_;
  std::shared_ptr<const Functions> functions_;
  GroupOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END
