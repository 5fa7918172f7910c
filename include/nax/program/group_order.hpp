#pragma once

#include <numeric>
#include <vector>

#include "nax/core/abi.hpp"

// An order of groups in which each comes after those that it needs, kept while groups are joined. Places that
// joined groups have left hold -1.
NAX_BEGIN
namespace program::detail {

class GroupOrder {
 public:
  explicit GroupOrder(std::size_t count) : place_(count), at_(count) {
    std::iota(place_.begin(), place_.end(), 0);
    std::iota(at_.begin(), at_.end(), 0);
  }
  bool is_before(int a, int b) const {
    return place_[static_cast<std::size_t>(a)] < place_[static_cast<std::size_t>(b)];
  }

  // Two groups become `kept`, one of them. needs(g, in): does g need one of the groups g' with in[g']?
  // Precondition: `second` needs nothing that needs `first`.
  template <class Needs>
  void join(int first, int second, int kept, const Needs& needs) {
    const int begin = place_[static_cast<std::size_t>(first)], end = place_[static_cast<std::size_t>(second)];
    // Groups between them that need the first go behind both; the others stay before.
    std::vector<char> later(place_.size(), 0);
    later[static_cast<std::size_t>(first)] = 1;
    std::vector<int> before, behind = {kept};
    for (int place = begin + 1; place < end; ++place) {
      const int g = at_[static_cast<std::size_t>(place)];
      if (g < 0) continue;
      const bool waits = needs(g, later);
      later[static_cast<std::size_t>(g)] = waits;
      (waits ? behind : before).push_back(g);
    }
    int place = begin;
    for (const std::vector<int>* const list : {&before, &behind})
      for (const int g : *list) {
        place_[static_cast<std::size_t>(g)] = place;
        at_[static_cast<std::size_t>(place++)] = g;
      }
    while (place <= end) at_[static_cast<std::size_t>(place++)] = -1;
  }

 private:
  std::vector<int> place_, at_;
};

}  // namespace program::detail
NAX_END
