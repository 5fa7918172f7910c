#pragma once

#include "nax/lax/scan.hpp"

NAX_BEGIN
namespace lax {

struct MapOptions {
  std::optional<std::int64_t> batch_size = {};  // examples that are computed at once, by vmap
};

// f of each row of the tree xs, one after another (or batch_size at a time), the results stacked: vmap that
// needs the memory of one example. n results of shape (a, b) give (n, a, b). Throws ValueError if xs has no
// arrays or `batch_size` is below 1, and ShapeError if leading extents differ.
template <class F, class Xs>
auto map(const F& f, const Xs& xs_, const MapOptions& options = {}) {
  using namespace detail;
  const auto xs = to_arrays(xs_);
  using Rows = std::remove_cvref_t<decltype(xs)>;
  const std::int64_t n = scan_length("map", xs, {});
  if (options.batch_size && *options.batch_size < 1)
    raise<ValueError>({"map: batch_size must be at least 1, not ", *options.batch_size});
  using Result = decltype(vmap(f)(xs));
  if (!options.batch_size || n == 0)
    return Result(scan(
                      [&](None, const Rows& x) {
                        return std::pair{none, to_arrays(f(x))};
                      },
                      none, xs)
                      .second);
  const auto batched = vmap(f);
  const RowReader<Rows> reader(xs, n, *options.batch_size, false);
  std::vector<Result> parts;
  for (std::int64_t i = 0; i < reader.count(); ++i) parts.push_back(batched(reader(i)));
  return join_trees("map", parts);
}

}  // namespace lax
NAX_END
