#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/core/where_used.hpp"
#include "nax/expr/expressions/debug_nans.hpp"
#include "nax/tree/for_each.hpp"

// A model as a table.
NAX_BEGIN
namespace nn {

// The parameters below one path of a model, and what they did in one call.
struct SummaryRow {
  std::string path = {};    // `layers[0]`; empty for parameters of the model itself
  std::string output = {};  // shape of the last result computed from them; empty where none was seen
  std::int64_t parameters = 0, bytes = 0;
  double flops = 0;  // of products and convolutions, two for each multiply-add
};
struct Summary {
  std::vector<SummaryRow> rows;  // in the order of the tree
  std::int64_t parameters = 0, bytes = 0;
  double flops = 0;

  std::string str() const;
  friend std::ostream& operator<<(std::ostream& out, const Summary& s) { return out << s.str(); }
};

}  // namespace nn

namespace detail {

// Finds out what the operations of a call have to do with a model's parameters: an operand that lies in a
// parameter's memory is it, or a view of it.
class ModelObserver {
 public:
  template <class Model>
  explicit ModelObserver(const Model& model) {
    tree::for_each_with_path(
        [this](const std::string& path, const auto& leaf) {
          if constexpr (is_array_v<std::remove_cvref_t<decltype(leaf)>>) add(path, leaf);
        },
        model);
  }
  void add(const std::string& path, const ArrayBase& leaf);
  void see(const ObservedOperation& operation);
  nn::Summary take();

 private:
  nn::Summary summary_;
  // By the buffer and the first element: parameters may lie one behind the other in one buffer.
  std::map<std::pair<const void*, std::int64_t>, std::size_t> row_of_;
  std::size_t last_ = 0;  // the row that was read last
};

}  // namespace detail

namespace nn {

// Calls model(inputs...) and tells, for each layer, its path, the shape that came out, its parameters and the
// cost of its products. A layer is the struct that parameters lie in. Products of no parameter, such as those
// of queries and keys, count for the layer that was read before them; elementwise work counts nothing.
// Parameters that are shared count once. The output of a layer is the last result that a parameter of it took
// part in, so a bias that is added in one formula with what follows shows that formula's.
template <class Model, class... Inputs>
Summary summary(const Model& model, const Inputs&... inputs) {
  static_assert(std::is_invocable_v<const Model&, const Inputs&...>,
                "nn::summary: the model cannot be called with these inputs");
  nax::detail::where_used_t<nax::detail::ModelObserver, Model> seen(model);
  const auto see = [&seen](const nax::detail::ObservedOperation& operation) { seen.see(operation); };
  const nax::detail::OperationObserver observer(see);
  {
    const nax::detail::Observing observing(observer);
    static_cast<void>(model(inputs...));
  }
  return seen.take();
}

}  // namespace nn
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/nn/modules/summary-inl.hpp"
#endif
