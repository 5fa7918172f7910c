#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nax/expr/primitive.hpp"

// An operation of any number of inputs of one type on the tape; see primitive.hpp.
NAX_BEGIN
namespace detail {

// pull(i, g): input i's share of cotangent g. push(tangents): the result's tangent, from those of the inputs;
// no tangent means zero.
template <class T, class Pull, class Push>
struct ListNode final : ResultNode {
  struct Entry {
    std::uint64_t serial;
    Levels levels;
  };
  Frame frame;  // of the result
  std::vector<Entry> inputs;
  std::optional<std::pair<Pull, Push>> functions;

  ListNode(Frame f, const std::vector<Array<T>>& list, Pull pull, Push push)
      : frame(std::move(f)), functions(std::in_place, std::move(pull), std::move(push)) {
    for (const Array<T>& x : list) inputs.push_back({is_recorded(x) ? serial_of(x) : 0, layout_of(x).levels});
  }
  void pull(const ArrayBase& g, Reverse& sweep) override {
    const Array<T> cotangent = typed<T>(g);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (sweep.wants(inputs[i].serial))
        sweep.add(inputs[i].serial,
                  sum_levels(functions->first(i, cotangent), frame.levels, inputs[i].levels));
  }
  void push(Forward& sweep, std::size_t self) override {
    std::vector<std::optional<Array<T>>> tangents(inputs.size());
    bool any = false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const ArrayBase* t = sweep.find(inputs[i].serial)) tangents[i] = typed<T>(*t), any = true;
    if (any) sweep.put(self, functions->second(tangents));
  }
  Watchers watchers(const Tape& tape) const override {
    Watchers all = 0;
    for (const Entry& in : inputs) all |= tape.watchers(in.serial);
    return all;
  }
};

template <class T>
bool any_of_list_recorded(const std::vector<Array<T>>& inputs) {
  for (const Array<T>& x : inputs)
    if (is_recorded(x)) return true;
  return false;
}

template <class T, class Pull, class Push>
Array<T> record_list(Array<T> result, const std::vector<Array<T>>& inputs, Pull pull, Push push) {
  if (any_of_list_recorded(inputs))
    ArrayAccess::serial(result) = recording.tape->emplace<ListNode<T, Pull, Push>>(
        static_cast<const Frame&>(layout_of(result)), inputs, std::move(pull), std::move(push));
  return result;
}

}  // namespace detail
NAX_END
