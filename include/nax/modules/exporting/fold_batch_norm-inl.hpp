#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "nax/modules/exporting/graph.hpp"

// Batch norms of inference become part of the convolutions before them: a convolution times constants plus
// constants, one for each channel, is a convolution by other weights plus constants.
NAX_BEGIN
namespace io::detail {

class BatchNormFolder {
 public:
  explicit BatchNormFolder(Graph& graph)
      : graph_(graph), live_(graph.live()), readers_(graph.nodes.size()), moved_(graph.nodes.size(), -1) {
    for (const int at : live_)
      for (const int x : graph_[at].inputs) readers_[place(x)].push_back(at);
    for (const int x : graph_.results) readers_[place(x)].push_back(-1);
  }

  void run() {
    Graph made;
    made.system = graph_.system, made.loops = graph_.loops;
    made.held = graph_.held;
    for (const int at : live_) {
      if (moved_[place(at)] >= 0) continue;
      Node node = graph_[at];
      for (int& x : node.inputs) x = moved_[place(x)];
      const std::optional<Scaled> scaled = scaled_convolution(at);
      if (scaled) {
        node.inputs[1] = scaled_weight(made, at, scaled->scale);
        const int y = made.add(std::move(node));
        const Dims row(1, static_cast<std::int64_t>(scaled->shift.size()));
        moved_[place(scaled->last)] = made.elementwise(
            NodeKind::add, {y, made.own_constant(scaled->shift.data(), DType::float32, row)});
        continue;
      }
      const bool skipped = std::any_of(node.inputs.begin(), node.inputs.end(), [](int x) { return x < 0; });
      if (!skipped) moved_[place(at)] = made.add(std::move(node));
    }
    for (int& x : made.arguments = graph_.arguments) x = moved_[place(x)];
    for (int& x : made.results = graph_.results) x = moved_[place(x)];
    graph_ = std::move(made);
  }

 private:
  using Numbers = std::vector<float>;
  struct Scaled {
    Numbers scale, shift;
    int last;  // the node that has the sum
  };
  static std::size_t place(int at) { return static_cast<std::size_t>(at); }

  // A convolution whose one reader scales and shifts its channels.
  std::optional<Scaled> scaled_convolution(int at) const {
    const Node& node = graph_[at];
    if (node.kind != NodeKind::convolve || node.dtype != DType::float32 ||
        graph_[node.inputs[1]].kind != NodeKind::constant)
      return std::nullopt;
    const std::size_t channels = static_cast<std::size_t>(node.shape.back());
    Scaled made{Numbers(channels, 1), Numbers(channels, 0), at};
    bool scales = false;
    while (readers_[place(made.last)].size() == 1 && readers_[place(made.last)][0] >= 0) {
      const int next = readers_[place(made.last)][0];
      const Node& by = graph_[next];
      const bool fits = by.inputs.size() == 2 && by.shape == node.shape && by.dtype == DType::float32 &&
                        (by.kind == NodeKind::add || by.kind == NodeKind::subtract ||
                         by.kind == NodeKind::multiply || by.kind == NodeKind::divide);
      if (!fits) break;
      const bool first = by.inputs[0] == made.last;
      const std::optional<Numbers> other = numbers_of(by.inputs[first ? 1 : 0]);
      if (!other || (other->size() != 1 && other->size() != channels) ||
          (!first && by.kind != NodeKind::add && by.kind != NodeKind::multiply))
        break;
      for (std::size_t c = 0; c < channels; ++c) {
        const float x = (*other)[other->size() == 1 ? 0 : c];
        float &a = made.scale[c], &b = made.shift[c];
        if (by.kind == NodeKind::add) b += x;
        if (by.kind == NodeKind::subtract) b -= x;
        if (by.kind == NodeKind::multiply) a *= x, b *= x;
        if (by.kind == NodeKind::divide) a /= x, b /= x;
      }
      scales = scales || by.kind == NodeKind::multiply || by.kind == NodeKind::divide;
      made.last = next;
    }
    if (scales) return made;
    return std::nullopt;
  }

  // Of constants, one number or one for each channel.
  std::optional<Numbers> numbers_of(int at) const {
    const Node& node = graph_[at];
    const std::int64_t n = elements_of(node.shape);
    if (node.dtype != DType::float32 || n > 1 << 16 || (n > 1 && node.shape.back() != n)) return std::nullopt;
    if (node.kind == NodeKind::constant) {
      Numbers made(static_cast<std::size_t>(n));
      std::memcpy(made.data(), node.data, made.size() * sizeof(float));
      return made;
    }
    std::vector<Numbers> x;
    for (const int input : node.inputs) {
      std::optional<Numbers> one = numbers_of(input);
      if (!one || (one->size() != 1 && static_cast<std::int64_t>(one->size()) != n)) return std::nullopt;
      x.push_back(std::move(*one));
    }
    if (x.empty()) return std::nullopt;
    Numbers made(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto of = [&](std::size_t k) { return x[k][x[k].size() == 1 ? 0 : i]; };
      switch (node.kind) {
        case NodeKind::reshape:
        case NodeKind::expand:
          made[i] = of(0);
          break;
        case NodeKind::sqrt:
          made[i] = std::sqrt(of(0));
          break;
        case NodeKind::add:
          made[i] = of(0) + of(1);
          break;
        case NodeKind::subtract:
          made[i] = of(0) - of(1);
          break;
        case NodeKind::multiply:
          made[i] = of(0) * of(1);
          break;
        case NodeKind::divide:
          made[i] = of(0) / of(1);
          break;
        default:
          return std::nullopt;
      }
    }
    return made;
  }

  int scaled_weight(Graph& made, int at, const Numbers& scale) const {
    const Node& from = graph_[graph_[at].inputs[1]];
    Numbers w(static_cast<std::size_t>(elements_of(from.shape)));
    std::memcpy(w.data(), from.data, w.size() * sizeof(float));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] *= scale[i % scale.size()];
    const int constant = made.own_constant(w.data(), DType::float32, from.shape);
    made.originals.emplace(made[constant].data, from.data);
    return constant;
  }

  Graph& graph_;
  const std::vector<int> live_;
  std::vector<std::vector<int>> readers_;  // -1 for results
  std::vector<int> moved_;                 // by node: its number in the graph that is made
};

NAX_ENGINE void fold_batch_norms(Graph& graph) { BatchNormFolder(graph).run(); }

}  // namespace io::detail
NAX_END
