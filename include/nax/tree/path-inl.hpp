#pragma once

#include "nax/tree/path.hpp"

NAX_BEGIN
namespace tree::detail {

NAX_ENGINE std::string Path::text() const {
  if (up == nullptr) return {};
  std::string step;
  if (key_text != nullptr) {
    step = '[' + key_text(key) + ']';
  } else if (!name.empty()) {
    step = '.' + std::string(name);
  } else {
    step = '[' + std::to_string(index) + ']';
  }
  return up->text() + step;
}

}  // namespace tree::detail
NAX_END
