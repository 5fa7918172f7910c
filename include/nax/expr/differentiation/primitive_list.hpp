#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "nax/expr/differentiation/primitive.hpp"

// An operation of any number of inputs of one type on the tape; see primitive.hpp.
NAX_BEGIN
namespace detail {

using ArrayList = SmallVector<const ArrayBase*, 8>;

// pull(i, g): input i's share of cotangent g. push(tangents): the result's tangent, from those of the inputs;
// null means zero.
template <class Pull, class Push>
struct ListNode final : ResultNode {
  struct Entry {
    std::uint64_t serial;
    Levels levels;
  };
  Frame frame;  // of the result
  std::vector<Entry> inputs;
  Pull pull_one;
  Push push_all;

  ListNode(Frame f, const ArrayList& list, Pull pull, Push push)
      : frame(std::move(f)), pull_one(std::move(pull)), push_all(std::move(push)) {
    for (const ArrayBase* x : list)
      inputs.push_back({is_recorded(*x) ? serial_of(*x) : 0, layout_of(*x).levels});
  }
  void pull(const ArrayBase& g, Reverse& sweep) override {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (sweep.wants(inputs[i].serial))
        sweep.add(inputs[i].serial, sum_levels(pull_one(i, g), frame.levels, inputs[i].levels));
  }
  void push(Forward& sweep, std::size_t self) override {
    ArrayList tangents;
    bool any = false;
    for (const Entry& in : inputs) {
      tangents.push_back(sweep.find(in.serial));
      any = any || tangents.back();
    }
    if (any) sweep.put(self, push_all(tangents));
  }
  Watchers watchers(const Tape& tape) const override {
    Watchers all = 0;
    for (const Entry& in : inputs) all |= tape.watchers(in.serial);
    return all;
  }
};

inline bool any_of_list_recorded(const ArrayList& inputs) {
  for (const ArrayBase* x : inputs)
    if (is_recorded(*x)) return true;
  return false;
}

// Precondition: one of the inputs is recorded.
template <class Pull, class Push>
ArrayBase record_list(ArrayBase result, const ArrayList& inputs, Pull pull, Push push) {
  ArrayAccess::serial(result) = recording.tape->emplace<ListNode<Pull, Push>>(
      static_cast<const Frame&>(layout_of(result)), inputs, std::move(pull), std::move(push));
  return result;
}

}  // namespace detail
NAX_END
