#pragma once

#include "nax/tree/for_each.hpp"

NAX_BEGIN
namespace tree::detail {

NAX_ENGINE void throw_differ(const Path& path, const std::string& what, int which) {
  const std::string place = path.text();
  raise<ValueError>({path.function(), ": the trees differ at ", (place.empty() ? "the root" : place), ": ",
                     what, " (tree 1 and tree ", which, ')'});
}

}  // namespace tree::detail
NAX_END
