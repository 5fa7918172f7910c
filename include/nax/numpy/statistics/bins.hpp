#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/statistics/bin_rules.hpp"

// The bins of histograms.
NAX_BEGIN

// The value of `.bins`: how many, the name of a rule, or the edges (an array, a vector, or braces).
template <class T>
class Bins {
 public:
  template <std::integral I>
  requires(!std::is_same_v<I, bool>) Bins(I count) : count_(static_cast<std::int64_t>(count)) {}
  Bins(const char* rule) : rule_(rule) {}
  Bins(std::string rule) : rule_(std::move(rule)) {}
  template <detail::ArrayLike E>
  Bins(const E& edges) : edges_(detail::as_type<T>(edges)) {}
  template <Scalar S>
  Bins(const std::vector<S>& edges) : edges_(detail::host_numbers<T>(edges)), made_(true) {}
  Bins(std::initializer_list<double> edges)
      : edges_(detail::host_numbers<T>(std::vector<double>(edges))), made_(true) {}

  std::int64_t count() const { return count_; }
  const std::string& rule() const { return rule_; }
  const std::optional<Array<T>>& edges() const { return edges_; }
  bool made() const { return made_; }  // whether the edges are an array of the library's, on the host

 private:
  std::int64_t count_ = 0;
  std::string rule_;
  std::optional<Array<T>> edges_;
  bool made_ = false;
};

// The value of `.range`: from where to where; none: from the smallest value to the largest.
class BinRange {
 public:
  BinRange() = default;
  BinRange(None) {}
  BinRange(double first, double last) : given_(true), first_(first), last_(last) {}
  bool given() const { return given_; }
  double first() const { return first_; }
  double last() const { return last_; }

 private:
  bool given_ = false;
  double first_ = 0, last_ = 1;
};

namespace detail {

NAX_ENGINE void throw_range(const char* function, double first, double last, bool given);

// Throws ValueError for edges that are not 1-d, fewer than 1 or descend, in any example.
template <class T>
void check_edges(const char* function, const Array<T>& edges) {
  check_operand(function, edges);
  if (edges.ndim() != 1 || edges.size() == 0)
    raise<ValueError>(
        {function, ": `bins` must be 1-d, when an array, and not empty: shape ", edges.shape()});
  if (unknown_while_recording(function, edges.device())) return;
  const ArrayBase rows = on_host(contiguous(edges, transforms_handled));
  const T* e = elements<const T>(rows, transforms_handled);
  for (std::int64_t i = 1, n = edges.size(), all = layout_of(rows).size(); i < all; ++i)
    if (i % n != 0 && !(e[i - 1] <= e[i]))
      raise<ValueError>({function, ": `bins` must increase monotonically, when an array"});
}

// Checks a range in each example.
template <class T>
void check_range(const char* function, const Array<T>& first, const Array<T>& last) {
  if (unknown_while_recording(function, first.device())) return;
  const ArrayBase a = on_host(contiguous(first, transforms_handled)),
                  b = on_host(contiguous(last, transforms_handled));
  const T *p = elements<const T>(a, transforms_handled), *q = elements<const T>(b, transforms_handled);
  for (std::int64_t i = 0, n = layout_of(a).size(); i < n; ++i)
    if (!(std::isfinite(static_cast<double>(p[i])) && std::isfinite(static_cast<double>(q[i]))))
      throw_range(function, static_cast<double>(p[i]), static_cast<double>(q[i]), false);
}

// The edges of the bins of x; the derivative goes on to the smallest and the largest element, where the range
// comes from them. `whole`: the elements were integers.
template <class T>
Array<T> bin_edges(const char* function, const Array<T>& x, const Bins<T>& bins, const BinRange& range,
                   bool whole) {
  check_operand(function, x);
  if (bins.edges()) {
    check_edges(function, *bins.edges());
    return bins.made() ? typed<T>(beside(x, *bins.edges())) : *bins.edges();
  }
  Array<T> first(static_cast<T>(0)), last(static_cast<T>(1));
  if (range.given()) {
    if (!(range.first() <= range.last() && std::isfinite(range.last() - range.first())))
      throw_range(function, range.first(), range.last(), true);
    first = Array<T>(static_cast<T>(range.first())), last = Array<T>(static_cast<T>(range.last()));
  } else if (x.size() > 0) {
    first = min(x), last = max(x);
    check_range(function, first, last);
  }
  // A range of one point is widened.
  const Array<T> half(static_cast<T>(0.5)), none(static_cast<T>(0));
  const Array<T> widen =
      evaluate(make_selection<rules::where>(make_expr<rules::equal>(first, last), half, none));
  first = evaluate(make_expr<rules::subtract>(first, widen));
  last = evaluate(make_expr<rules::add>(last, widen));
  std::int64_t count = bins.count();
  if (!bins.rule().empty()) {
    if (is_batched(x))
      raise<ValueError>({function, ": the number of bins by the rule '", bins.rule(),
                         "' depends on the values, which vmap cannot map"});
    where_used_t<std::vector<double>, T> values;
    for (const T v : typed<T>(constant(x)).to_vector()) values.push_back(static_cast<double>(v));
    count = bins_by_rule(function, bins.rule(), std::move(values),
                         static_cast<double>(typed<T>(constant(first)).item()),
                         static_cast<double>(typed<T>(constant(last)).item()), whole);
  }
  if (count < 1) raise<ValueError>({function, ": `bins` must be positive, when an integer, got ", count});
  const Array<T> step = evaluate(
      make_expr<rules::divide>(make_expr<rules::subtract>(last, first), Array<T>(static_cast<T>(count))));
  const Array<T> place = typed<T>(
      beside(x, generated_on_host<T>(function, count + 1, [](std::int64_t i) { return static_cast<T>(i); })));
  // (Rounded before the sum, as NumPy's are.)
  const Array<T> steps = evaluate(make_expr<rules::multiply>(place, step));
  const Array<T> inner = evaluate(make_expr<rules::add>(first, steps));
  return evaluate(make_selection<rules::where>(
      make_expr<rules::equal>(place, Array<T>(static_cast<T>(count))), last, inner));
}

// The bin of each element, from 1 on; 0 and the number of edges for those outside, and for NaN. The last bin
// includes its right edge.
template <class T>
Array<std::int32_t> bin_places(const char* function, const Array<T>& x_, const Array<T>& edges_) {
  const Array<T> x = typed<T>(constant(x_)), edges = typed<T>(constant(edges_));
  const Array<T> last = edges(-1);
  const Array<std::int32_t> place = places<T>(function, edges, x, true),
                            end(static_cast<std::int32_t>(edges.size() - 1));
  return evaluate(make_selection<rules::where>(make_expr<rules::equal>(x, last), end, place));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void throw_range(const char* function, double first, double last, bool given) {
  if (!(std::isfinite(first) && std::isfinite(last)))
    raise<ValueError>({function, given ? ": supplied" : ": autodetected", " range of [", first, ", ", last,
                       "] is not finite"});
  raise<ValueError>(
      {function, ": max must be larger than min in range parameter: [", first, ", ", last, "]"});
}

}  // namespace detail
NAX_END
#endif
