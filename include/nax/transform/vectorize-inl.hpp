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

// The extent of a core axis that the signature gives as a number, otherwise `extent`.
NAX_ENGINE std::int64_t CoreSizes::size_of(const std::string& name, std::int64_t extent) {
  const bool is_number = std::all_of(name.begin(), name.end(),
                                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return sizes_.emplace(name, is_number ? std::stoll(name) : extent).first->second;
}

NAX_ENGINE void CoreSizes::read(const UfuncSignature::Core& core, const Shape& shape, std::size_t argument) {
  if (shape.size() < core.size())
    raise<ValueError>(
        {"vectorize: argument ", argument, " has shape ", shape, " but ", core.size(), " core dimension(s)"});
  for (std::size_t k = 0; k < core.size(); ++k) {
    const std::int64_t extent = shape[shape.size() - core.size() + k];
    const std::int64_t size = size_of(core[k], extent);
    if (size != extent)
      raise<ValueError>(
          {"vectorize: inconsistent size for core dimension '", core[k], "': ", extent, " against ", size});
  }
}

NAX_ENGINE void CoreSizes::read_output(const UfuncSignature::Core& core, const Shape& shape,
                                       std::size_t output) {
  for (std::size_t k = 0; k < core.size(); ++k) {
    const std::int64_t size = size_of(core[k], shape[k]);
    if (size != shape[k])
      raise<ShapeError>({"vectorize: output ", output, " has shape ", shape, " but core dimension '", core[k],
                         "', axis ", k, " of it, has size ", size});
  }
}

}  // namespace detail
NAX_END
