#pragma once

#include <functional>

#include "nax/core/shape_text.hpp"
#include "nax/parallel/communicator.hpp"
#include "nax/parallel/processes.hpp"

NAX_BEGIN
namespace detail {

inline constexpr const char* end_of_run = "the end of pmap";

// The run has ended without a failure in all processes, or this throws in all: a process that repeats it does
// not meet others that have gone on.
inline void finish_across(const Span& span) {
  try {
    const auto all = span.processes->exchange(span.run, "pmap", end_of_run);
    for (std::size_t p = 0; p < all.size(); ++p)
      if (all[p] != end_of_run)
        raise<ShapeError>({"pmap: processes differ: process ", span.processes->index(), " is at ", end_of_run,
                           ", process ", p, " in ", all[p].substr(0, 400)});
  } catch (const std::exception& error) {
    span.processes->fail(span.run, error.what());
    throw;
  }
}

// All processes are in this collective with the same arguments, and arrays of the same shapes and types.
// Throws ShapeError where one differs, and what exchange throws.
inline void agree_across(const Span& span, const Collective& call, const std::vector<ArrayBase>& arrays) {
  std::string mine = std::string(call.function) + " of ";
  for (std::size_t i = 0; i < arrays.size(); ++i)
    mine += (i ? ", " : "") + std::string(dtype_name(arrays[i].dtype())) +
            to_string(Shape(layout_of(arrays[i]).shape.begin(), layout_of(arrays[i]).shape.end()));
  mine += call.how;
  // Long parts, many arrays or a permutation of many devices, are compared by a number.
  if (mine.size() > 1000)
    mine = mine.substr(0, 900) + " ... #" + std::to_string(std::hash<std::string>()(mine));
  const auto all = span.processes->exchange(span.run, call.function, mine);
  for (std::size_t p = 0; p < all.size(); ++p)
    if (all[p] == end_of_run)
      raise<DeviceError>(
          {call.function, ": process ", p, " has gone on, while others wait for it in this collective"});
    else if (all[p] != mine)
      raise<ShapeError>({call.function, ": processes differ: process ", span.processes->index(), " is in ",
                         mine.substr(0, 400), ", process ", p, " in ", all[p].substr(0, 400)});
}

}  // namespace detail
NAX_END
