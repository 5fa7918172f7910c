#pragma once

#include "nax/core/function_ref.hpp"
#include "nax/modules/exporting/graph.hpp"
#include "nax/transform/make_program.hpp"
#include "nax/tree/for_each.hpp"

// Records a function and writes its steps as a graph: as they were recorded, before any pass that fuses or
// spells them. Steps of constants alone are computed.
NAX_BEGIN
namespace io::detail {

using RecordedCall = FunctionRef<std::vector<ArrayBase>(std::vector<ArrayBase>& arguments)>;

// Long loops (lax::scan, fori_loop, while_loop) are nodes; those whose derivatives are taken are written turn
// by turn. Throws ValueError by the function's name, which says which step cannot be written, and DeviceError
// where f cannot be recorded.
NAX_ENGINE Graph graph_of_call(const char* function, System system, const std::vector<ArrayBase>& arguments,
                               RecordedCall f);

// Of f, called with an argument, or with a tuple of them.
template <class F, class... A>
Graph graph_of(const char* function, System system, const F& f, const std::tuple<A...>& given) {
  std::vector<ArrayBase> arguments;
  const auto visit = [](auto& tree, const auto& each) {
    tree::for_each(
        [&](auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) each(leaf);
        },
        tree);
  };
  auto own = given;
  const auto visit_all = [&](const auto& each) {
    std::apply([&](auto&... tree) { (visit(tree, each), ...); }, own);
  };
  visit_all([&](ArrayBase& a) { arguments.push_back(a); });
  return graph_of_call(function, system, arguments, [&](std::vector<ArrayBase>& leaves) {
    std::size_t at = 0;
    visit_all([&](ArrayBase& a) { a = leaves[at++]; });
    auto out = nax::detail::materialise_tree(nax::detail::call_with(f, own));
    std::vector<ArrayBase> results;
    visit(out, [&](ArrayBase& a) { results.push_back(a); });
    return results;
  });
}
template <class F, class A>
Graph graph_of(const char* function, System system, const F& f, const A& argument) {
  return graph_of(function, system, f, std::tuple<A>(argument));
}

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/exporting/exporter-inl.hpp"
#endif
