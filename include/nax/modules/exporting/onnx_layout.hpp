#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "nax/modules/exporting/graph.hpp"

// ONNX's convolutions and pools have channels second. Their results stay so through elementwise nodes until
// another node reads them: networks of convolutions have two transposes, not two for each.
NAX_BEGIN
namespace io::detail {

inline std::vector<std::int64_t> channels_second(std::size_t rank) {
  std::vector<std::int64_t> axes = {0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}
inline std::vector<std::int64_t> channels_last(std::size_t rank) {
  std::vector<std::int64_t> axes = {0};
  for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  axes.push_back(1);
  return axes;
}
// The axes of a weight (spatial..., in, out): `first` and `second` from the end, then the spatial ones.
inline std::vector<std::int64_t> weight_axes(std::size_t rank, std::int64_t first, std::int64_t second) {
  std::vector<std::int64_t> axes = {static_cast<std::int64_t>(rank) - first,
                                    static_cast<std::int64_t>(rank) - second};
  for (std::size_t i = 0; i + 2 < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

// The bytes of a transposed constant.
inline std::string transposed_bytes(const Node& constant, const std::vector<std::int64_t>& axes) {
  const std::size_t item = dtype_size(constant.dtype), rank = axes.size();
  std::vector<std::size_t> strides(rank, 1), extents(rank), at(rank, 0);
  std::size_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = static_cast<std::size_t>(axes[i]);
    for (std::size_t k = axis + 1; k < rank; ++k) strides[i] *= static_cast<std::size_t>(constant.shape[k]);
    extents[i] = static_cast<std::size_t>(constant.shape[axis]);
    count *= extents[i];
  }
  std::string bytes(count * item, '\0');
  for (std::size_t n = 0, from = 0; n < count; ++n) {
    std::memcpy(bytes.data() + n * item, static_cast<const char*>(constant.data) + from * item, item);
    for (std::size_t i = rank; i-- > 0;) {
      from += strides[i];
      if (++at[i] < extents[i]) break;
      from -= strides[i] * extents[i], at[i] = 0;
    }
  }
  return bytes;
}

// Which nodes are written with channels second.
class ChannelsSecond {
 public:
  ChannelsSecond(const Graph& graph, const std::vector<int>& live, const std::vector<std::int64_t>& homes)
      : graph_(graph),
        holds_(graph.nodes.size(), 0),
        plain_(graph.nodes.size(), 0),
        reader_(graph.nodes.size(), none) {
    for (const int at : live) holds_[place(at)] = homes[place(at)] == -1 && fits(at);
    for (const int at : live)
      for (std::size_t i = 0; i < graph_[at].inputs.size(); ++i) {
        const int x = graph_[at].inputs[i];
        reader_[place(x)] = reader_[place(x)] == none ? at : several;
        const bool is_weight = graph_[at].kind == NodeKind::convolve && i > 0;
        if (!holds(at) || is_weight) plain_[place(x)] = 1;
      }
    for (const int x : graph_.results) reader_[place(x)] = several, plain_[place(x)] = 1;
  }
  bool holds(int at) const { return holds_[place(at)] != 0; }
  // Is it read with channels last?
  bool is_read_plain(int at) const { return plain_[place(at)] != 0; }
  // The convolution whose result and a constant for each channel this node adds, and nothing else reads; -1
  // where it is no such node.
  int biased(int at) const {
    const Node& sum = graph_[at];
    if (!holds(at) || sum.kind != NodeKind::add) return -1;
    for (std::size_t i = 0; i < 2; ++i) {
      const int x = sum.inputs[i];
      if (graph_[x].kind == NodeKind::convolve && holds(x) && reader_[place(x)] == at &&
          is_row(sum.inputs[1 - i], sum.shape))
        return x;
    }
    return -1;
  }
  // Is it written by the node that adds its bias?
  bool waits(int at) const {
    const int reader = reader_[place(at)];
    return reader >= 0 && biased(reader) == at;
  }
  // A constant with a number for each channel.
  bool is_row(int at, const Dims& shape) const {
    const Node& node = graph_[at];
    return node.kind == NodeKind::constant && !node.shape.empty() && node.shape.back() == shape.back() &&
           elements_of(node.shape) == shape.back();
  }

 private:
  static constexpr int none = -1, several = -2;
  static std::size_t place(int at) { return static_cast<std::size_t>(at); }
  bool fits(int at) const {
    const Node& node = graph_[at];
    if (node.shape.size() < 3) return false;
    if (node.kind == NodeKind::max_pool) return true;
    if (node.kind == NodeKind::convolve) {
      const ConvNumbers by{node.numbers.data()};
      for (std::size_t i = 0; i + 2 < node.shape.size(); ++i)
        if (by.lhs(i) != 1) return false;
      return true;
    }
    bool any = false;
    if (!is_elementwise(node.kind) && node.kind != NodeKind::cast) return false;
    for (const int x : node.inputs) {
      const bool same = holds(x) && graph_[x].shape == node.shape;
      const bool constant = graph_[x].kind == NodeKind::constant && elements_of(graph_[x].shape) == 1;
      if (!same && !constant && !is_row(x, node.shape)) return false;
      any = any || same;
    }
    return any;
  }

  const Graph& graph_;
  std::vector<char> holds_, plain_;
  std::vector<int> reader_;
};

}  // namespace io::detail
NAX_END
