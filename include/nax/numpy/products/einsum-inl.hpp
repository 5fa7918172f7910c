#pragma once

#include "nax/numpy/products/einsum.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool has_label(const Labels& labels, std::int32_t label) {
  for (std::int32_t l : labels)
    if (l == label) return true;
  return false;
}

NAX_ENGINE Labels parse_labels(std::string_view all, std::string_view text, int ellipsis_axes) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(i, 3) != "...") throw_einsum(all, {"'.' is only allowed in an ellipsis '...'"});
      i += 2;
      for (int k = ellipsis_axes; k-- > 0;) labels.push_back(128 + k);
      continue;
    }
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) throw_einsum(all, {"invalid label '", c, "'"});
    labels.push_back(c);
  }
  return labels;
}

}  // namespace detail
NAX_END
