#pragma once

// A row of lint.sh --jit: one function, called as it is and recorded by jit.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench::lint {

struct Call {
  double seconds = 0;      // the least
  std::int64_t bytes = 0;  // the most that were in use at once, besides the inputs
};
struct Compared {
  Call plain, jit;
  std::string refusal = {};  // why jit does not record it
};
struct JitRow {
  std::string name, type;
  std::int64_t elements;
  std::function<Compared()> compare;
};
using Rows = std::vector<JitRow>;

// Prints the rows, those that jit slows down first. `LINT_FILTER` in the environment chooses rows by a
// regular expression.
int serve(const Rows& rows);

}  // namespace bench::lint
