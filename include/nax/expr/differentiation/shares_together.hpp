#pragma once

#include <array>
#include <mutex>
#include <utility>

#include "nax/expr/differentiation/primitive.hpp"
#include "nax/tape/call_node.hpp"

NAX_BEGIN
namespace detail {

// Shares of the inputs of an operation that are computed together: by the first pull that comes by, and
// handed out once each.
template <std::size_t count>
class SharesTogether {
 public:
  using Shares = std::array<ArrayBase, count>;

  // Returns input `which`'s share of the cotangent g. compute() returns those of all inputs that are
  // differentiated, and arrays without a buffer for the others.
  template <class Compute>
  ArrayBase take(const ArrayBase& g, std::size_t which, const Compute& compute) {
    const std::lock_guard lock(mutex_);
    if (!holds_value(shares_[which]) || !is_kept(g)) {
      shares_ = compute();
      cotangent_ = constant(g);
    }
    ArrayBase given = std::exchange(shares_[which], ArrayBase());
    for (const ArrayBase& share : shares_)
      if (holds_value(share)) return given;
    cotangent_ = ArrayBase();
    return given;
  }

  // Keeps those of the other inputs, where compute() has given input 0 its share; false, and computes
  // nothing, where shares of g are kept.
  template <class Compute>
  bool take_others(const ArrayBase& g, const Compute& compute) {
    const std::lock_guard lock(mutex_);
    if (is_kept(g)) return false;
    shares_ = compute();
    cotangent_ = ArrayBase();
    for (const ArrayBase& share : shares_)
      if (holds_value(share)) cotangent_ = constant(g);
    return true;
  }

 private:
  // While the cotangent is kept nothing else is written to its memory.
  bool is_kept(const ArrayBase& g) const {
    return ArrayAccess::buffer(cotangent_).get() == ArrayAccess::buffer(g).get() &&
           ArrayAccess::offset(cotangent_) == ArrayAccess::offset(g) &&
           static_cast<const Frame&>(layout_of(cotangent_)) == static_cast<const Frame&>(layout_of(g)) &&
           layout_of(cotangent_).strides == layout_of(g).strides;
  }

  std::mutex mutex_;
  ArrayBase cotangent_;
  Shares shares_;
};

}  // namespace detail
NAX_END
