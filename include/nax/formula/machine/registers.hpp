#pragma once

#include <vector>

#include "nax/core/abi.hpp"

// Which value lies in which register while straight code is written.
NAX_BEGIN
namespace formula::jit {

// Registers of one kind. Where none is free, the value that is needed latest gives way.
class Bank {
 public:
  static constexpr int none = -1, reserved = -2, temporary = -3;

  explicit Bank(int count) : owner_(static_cast<std::size_t>(count), none), locked_(owner_.size()) {}
  int size() const { return static_cast<int>(owner_.size()); }
  int owner(int r) const { return owner_[static_cast<std::size_t>(r)]; }
  void own(int r, int value) { owner_[static_cast<std::size_t>(r)] = value; }
  void lock(int r) { locked_[static_cast<std::size_t>(r)] = true; }
  bool locked(int r) const { return locked_[static_cast<std::size_t>(r)]; }
  void unlock_all() { locked_.assign(locked_.size(), false); }
  void free_temporaries() {
    for (int& owner : owner_)
      if (owner == temporary) owner = none;
  }
  int free_one() const {
    for (int r = 0; r < size(); ++r)
      if (owner(r) == none) return r;
    return -1;
  }
  // next_use(value) is the number of a step.
  template <class NextUse>
  int latest(const NextUse& next_use) const {
    int best = -1, when = -1;
    for (int r = 0; r < size(); ++r) {
      if (owner(r) < 0 || locked(r)) continue;
      if (const int next = next_use(owner(r)); next > when) best = r, when = next;
    }
    return best;
  }

 private:
  std::vector<int> owner_;
  std::vector<char> locked_;
};

enum class Rounding { nearest, down, up, to_zero };

// Where a value can be found.
struct Place {
  int reg = -1;
  int slot = -1;  // on the stack
  bool dead = false;
};

}  // namespace formula::jit
NAX_END
