#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Work of one row of the comparison: `loop(n)` repeats it n times; `result()` runs it once, to compare the
// sides.
struct Work {
  std::function<void(std::int64_t)> loop;
  std::function<std::vector<float>()> result;
};

struct Row {
  std::string name;
  std::function<Work()> prepare;  // the inputs: not timed
};

using Rows = std::vector<Row>;

// `step` again and again; the compiler must not know what it does with its results.
template <class Step, class Result>
Work work(Step step, Result result) {
  return {[step = std::move(step)](std::int64_t n) mutable {
            for (std::int64_t i = 0; i < n; ++i) {
              static_cast<void>(step());
              asm volatile("" : : : "memory");
            }
          },
          std::move(result)};
}

// Answers the commands of compare.py, one a line on standard input: see peers/side.py.
int serve(const Rows& rows);

}  // namespace bench
