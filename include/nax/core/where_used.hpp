#pragma once

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

template <class T, class... Parameters>
struct WhereUsed {
  using type = T;
};
// T, in words that depend on a template's parameters. What a template does with types that do not depend on
// them is compiled in every file that reads the header; so written, only where the template is used.
template <class T, class... Parameters>
using where_used_t = typename WhereUsed<T, Parameters...>::type;

}  // namespace detail
NAX_END
