#pragma once

#include <optional>

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/broadcast_to.hpp"
#include "nax/transform/flat.hpp"
#include "nax/transform/jit/program_cache.hpp"

NAX_BEGIN

// Returns a tree like f(x...), whose arrays have the shapes and dtypes of the result. Their elements are
// zeros, one number in memory for all of an array. f is recorded as jit records it, and computes nothing. Of
// the arguments only shapes and dtypes count, so broadcast_to(0.f, shape) stands for a large array.
//
// Throws what f throws, and DeviceError where f does what cannot be recorded, such as reading elements.
template <class F, class... X>
auto eval_shape(const F& f, const X&... x) {
  using namespace detail;
  auto inputs = lift_for<F>(x...);
  std::vector<const ArrayBase*> arguments;
  for_each_array(inputs, [&](ArrayBase& a) { arguments.push_back(&a); });
  auto own = inputs;
  using Out = decltype(materialise_tree(call_with(f, std::move(own))));
  std::optional<Out> out;  // without its arrays
  std::vector<Shape> shapes;
  record_program(arguments.data(), arguments.size(), {}, [&](std::vector<ArrayBase>& leaves) {
    std::size_t at = 0;
    for_each_array(own, [&](ArrayBase& a) { a = std::move(leaves[at++]); });
    out.emplace(materialise_tree(call_with(f, std::move(own))));
    std::vector<ArrayBase> results;
    for_each_array(*out, [&](ArrayBase& a) {
      shapes.push_back(a.shape());
      results.push_back(std::exchange(a, ArrayBase()));
    });
    return results;
  });
  std::size_t at = 0;
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>)
          leaf = broadcast_to(zeros<typename Leaf::value_type>({}), shapes[at++]);
      },
      *out);
  return *std::move(out);
}

NAX_END
