#pragma once

#include <cstdint>

#include "nax/core/thread_pool.hpp"

// Row-major data seen along one axis: `outer` blocks of n rows of `inner` elements. Element i of a line lies
// at i * inner.
NAX_BEGIN
namespace loops {

struct Lines {
  std::int64_t outer, n, inner;
  std::int64_t count() const { return outer * inner; }
  std::int64_t size() const { return outer * n * inner; }
};

// f(first element of the line) for each line; threads share them.
template <class F>
void for_each_line(const Lines& lines, const F& f) {
  const std::int64_t cost = lines.n > 0 ? lines.n : 1;
  parallel_for(lines.count(), ((std::int64_t{1} << 14) + cost - 1) / cost,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t l = begin; l < end; ++l)
                   f(l / lines.inner * lines.n * lines.inner + l % lines.inner);
               });
}

}  // namespace loops
NAX_END
