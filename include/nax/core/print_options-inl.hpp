#pragma once

#include "nax/core/print_options.hpp"

NAX_BEGIN

NAX_ENGINE PrintOptions get_printoptions() {
  auto& shared = detail::shared_print_options();
  std::lock_guard lock(shared.mutex);
  return shared.options;
}

NAX_ENGINE void set_printoptions(const PrintOptionsChange& change) {
  PrintOptions o = get_printoptions();
  o.precision = change.precision.value_or(o.precision);
  o.threshold = change.threshold.value_or(o.threshold);
  o.edgeitems = change.edgeitems.value_or(o.edgeitems);
  o.linewidth = change.linewidth.value_or(o.linewidth);
  o.suppress = change.suppress.value_or(o.suppress);
  set_printoptions(o);
}

NAX_END
