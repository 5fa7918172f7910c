#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "nax/core/abi.hpp"

// An order of groups in which each comes after those that it needs, kept while groups are joined. Places that
// joined groups have left hold -1.
NAX_BEGIN
namespace program::detail {

// A set of numbers below some count, which is emptied at once.
class Marks {
 public:
  explicit Marks(std::size_t count) : at_(count, 0) {}
  void clear() { ++now_; }
  bool has(int i) const { return at_[static_cast<std::size_t>(i)] == now_; }
  // Was it not there?
  bool add(int i) { return std::exchange(at_[static_cast<std::size_t>(i)], now_) != now_; }

 private:
  std::vector<std::uint64_t> at_;
  std::uint64_t now_ = 1;
};

class GroupOrder {
 public:
  explicit GroupOrder(std::size_t count) : place_(count), at_(count), later_(count) {
    std::iota(place_.begin(), place_.end(), 0);
    std::iota(at_.begin(), at_.end(), 0);
  }
  bool is_before(int a, int b) const { return place(a) < place(b); }
  // How many places a group lies behind an earlier one: the work of joining them.
  int distance(int first, int second) const { return place(second) - place(first); }

  // Two groups become `kept`, one of them. needs(g, in): does g need a group g' with in.has(g')?
  // Precondition: `second` needs nothing that needs `first`.
  template <class Needs>
  void join(int first, int second, int kept, const Needs& needs) {
    const int begin = place(first), end = place(second);
    // Groups between them that need the first go behind both; the others stay before.
    later_.clear();
    later_.add(first);
    before_.clear();
    behind_.assign(1, kept);
    for (int at = begin + 1; at < end; ++at) {
      const int g = at_[static_cast<std::size_t>(at)];
      if (g < 0) continue;
      if (needs(g, later_)) {
        later_.add(g);
        behind_.push_back(g);
      } else {
        before_.push_back(g);
      }
    }
    // At the end of the room: the next step that joins them is near.
    int at = end + 1 - static_cast<int>(before_.size() + behind_.size());
    for (int empty = begin; empty < at; ++empty) at_[static_cast<std::size_t>(empty)] = -1;
    for (const std::vector<int>* const list : {&before_, &behind_})
      for (const int g : *list) {
        place_[static_cast<std::size_t>(g)] = at;
        at_[static_cast<std::size_t>(at++)] = g;
      }
  }

 private:
  int place(int g) const { return place_[static_cast<std::size_t>(g)]; }

  std::vector<int> place_, at_;
  Marks later_;
  std::vector<int> before_, behind_;  // in a join
};

}  // namespace program::detail
NAX_END
