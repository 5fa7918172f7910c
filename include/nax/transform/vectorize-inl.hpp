#pragma once

#include "nax/transform/vectorize.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE auto UfuncSignature::parse(const std::string& text_) -> UfuncSignature {
  std::string text;
  for (const char c : text_)
    if (c != ' ') text += c;
  const auto refuse = [&] { raise<ValueError>({"vectorize: not a valid gufunc signature: ", text_}); };
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos) refuse();
  const auto side = [&](const std::string& part) {
    std::vector<Core> all;
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = part.find(')', at);
      if (part[at] != '(' || end == std::string::npos) refuse();
      Core core;
      std::string name;
      for (std::size_t i = at + 1; i <= end; ++i) {
        const char c = part[i];
        if (c == ',' || c == ')') {
          if (name.empty() && !(c == ')' && core.empty())) refuse();
          if (!name.empty()) core.push_back(name);
          name.clear();
        } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
          name += c;
        } else {
          refuse();
        }
      }
      all.push_back(core);
      at = end + 1;
      if (at < part.size() && part[at++] != ',') refuse();
      if (at == part.size() && part[at - 1] == ',') refuse();
    }
    return all;
  };
  return {side(text.substr(0, arrow)), side(text.substr(arrow + 2))};
}

NAX_ENGINE void CoreSizes::read(const UfuncSignature::Core& core, const Shape& shape, std::size_t argument) {
  if (shape.size() < core.size())
    raise<ValueError>(
        {"vectorize: argument ", argument, " has shape ", shape, " but ", core.size(), " core dimension(s)"});
  for (std::size_t k = 0; k < core.size(); ++k) {
    const std::int64_t extent = shape[shape.size() - core.size() + k];
    const bool is_number = std::all_of(core[k].begin(), core[k].end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    const auto [found, is_new] = sizes_.emplace(core[k], is_number ? std::stoll(core[k]) : extent);
    if (found->second != extent)
      raise<ValueError>({"vectorize: inconsistent size for core dimension '", core[k], "': ", extent,
                         " against ", found->second});
  }
}

}  // namespace detail
NAX_END
