#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "nax/core/transfer.hpp"
#include "nax/nn/modules/summary.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::pair<const void*, std::int64_t> place_of(const ArrayBase& a) {
  return {ArrayAccess::buffer(a).get(), ArrayAccess::offset(a)};
}

NAX_ENGINE void ModelObserver::add(const std::string& path, const ArrayBase& leaf) {
  // Without the last name and the first dot; an index stays with its list.
  const std::size_t dot = path.rfind('.');
  std::string layer = dot == std::string::npos ? path : path.substr(0, dot);
  if (!layer.empty() && layer[0] == '.') layer.erase(0, 1);
  if (summary_.rows.empty() || summary_.rows.back().path != layer) summary_.rows.push_back({.path = layer});
  if (!row_of_.emplace(place_of(leaf), summary_.rows.size() - 1).second) return;  // shared
  nn::SummaryRow& row = summary_.rows.back();
  row.parameters += leaf.size();
  row.bytes += static_cast<std::int64_t>(bytes_of(leaf));
}

NAX_ENGINE void ModelObserver::see(const ObservedOperation& operation) {
  if (summary_.rows.empty()) summary_.rows.emplace_back();
  for (int i = 0; i < operation.count; ++i) {
    const auto place = place_of(*operation.operands[i]);
    const auto behind = row_of_.upper_bound(place);
    if (behind == row_of_.begin() || std::prev(behind)->first.first != place.first) continue;
    last_ = std::prev(behind)->second;
    summary_.rows[last_].output = to_string(operation.result.shape());
  }
  summary_.rows[last_].flops += operation.flops;
}

NAX_ENGINE nn::Summary ModelObserver::take() {
  for (const nn::SummaryRow& row : summary_.rows) {
    summary_.parameters += row.parameters;
    summary_.bytes += row.bytes;
    summary_.flops += row.flops;
  }
  return std::move(summary_);
}

}  // namespace detail

namespace nn {

NAX_ENGINE std::string Summary::str() const {
  using Cells = std::array<std::string, 5>;
  std::vector<Cells> lines{{"layer", "output", "parameters", "bytes", "FLOPs"}};
  const auto number = [](double x) {
    char text[32];
    std::snprintf(text, sizeof text, x < 1e6 ? "%.0f" : "%.4g", x);
    return std::string(text);
  };
  for (const SummaryRow& row : rows)
    lines.push_back({row.path.empty() ? "(model)" : row.path, row.output.empty() ? "-" : row.output,
                     std::to_string(row.parameters), std::to_string(row.bytes), number(row.flops)});
  lines.push_back({"total", "", std::to_string(parameters), std::to_string(bytes), number(flops)});
  std::array<std::size_t, 5> width{};
  for (const Cells& line : lines)
    for (std::size_t i = 0; i < 5; ++i) width[i] = std::max(width[i], line[i].size());
  std::string text;
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < 5; ++i) {
      const std::string space(width[i] - line[i].size(), ' ');
      if (i > 0) text += "  ";
      text += i < 2 ? line[i] + space : space + line[i];  // texts to the left, numbers to the right
    }
    text += '\n';
  }
  return text;
}

}  // namespace nn
NAX_END
