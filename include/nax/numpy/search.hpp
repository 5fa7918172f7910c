#pragma once

#include <string_view>

#include "nax/numpy/sort.hpp"

// Searching sorted data, and counting.
namespace nax {

struct SearchsortedOptions {
  std::string_view side = "left";  // or "right"
};

namespace detail {

// The number of elements of the sorted run that come before v: less than it, or (right) not greater.
template <class T>
std::int32_t place_in(const T* a, std::int64_t n, T v, bool right) {
  const auto key = cpu::detail::sort_key(v);
  std::int64_t low = 0, high = n;
  while (low < high) {
    const std::int64_t mid = (low + high) / 2;
    const auto k = cpu::detail::sort_key(a[mid]);
    if (right ? k <= key : k < key)
      low = mid + 1;
    else
      high = mid;
  }
  return static_cast<std::int32_t>(low);
}

template <class T>
Array<std::int32_t> places(const char* function, const Array<T>& a_, const Array<T>& v_, bool right) {
  check_operand(function, a_);
  check_operand(function, v_);
  need_host(function, a_, v_);
  if (a_.ndim() != 1) raise<ValueError>({function, ": the sorted array must be 1-d, shape ", a_.shape()});
  using Lane = sortable_t<T>;
  const ArrayBase a = sortable_rows(a_), v = sortable_rows(v_);
  const std::int64_t n = a_.size(), each = v_.size();
  // The batches of both sides, aligned by level.
  Frame of_a = layout_of(a), of_v = layout_of(v);
  of_a.shape.pop_back();
  of_v.shape.resize_for_overwrite(static_cast<std::size_t>(of_v.hidden()));
  const Frame batches = broadcast(function, of_a, of_v);
  const auto index_of = [&](const Frame& own, std::int64_t unit) {
    Layout layout = Layout::contiguous(own);
    for (std::int64_t& s : layout.strides) s *= unit;
    return strides_over(layout, batches);
  };
  const Dims step_a = index_of(of_a, n), step_v = index_of(of_v, each);
  Frame frame = batches;
  const Shape shape = v_.shape();
  frame.shape.append(shape.begin(), shape.end());
  Array<std::int32_t> result(allocate(DType::int32, frame));
  std::int32_t* out = elements<std::int32_t>(result);
  for (std::int64_t b = 0, count = batches.size(); b < count; ++b) {
    std::int64_t rest = b, at = 0, from = 0;
    for (std::size_t axis = batches.shape.size(); axis-- > 0; rest /= batches.shape[axis]) {
      at += rest % batches.shape[axis] * step_a[axis];
      from += rest % batches.shape[axis] * step_v[axis];
    }
    const Lane *sorted = elements<const Lane>(a) + at, *sought = elements<const Lane>(v) + from;
    for (std::int64_t i = 0; i < each; ++i) out[b * each + i] = place_in(sorted, n, sought[i], right);
  }
  return result;
}

inline bool is_right(const char* function, std::string_view side) {
  if (side != "left" && side != "right")
    raise<ValueError>({function, ": side must be 'left' or 'right', got '", side, "'"});
  return side == "right";
}

}  // namespace detail

// Where the elements of v would be inserted into the sorted 1-d array a to keep its order: before equal
// elements, or behind them with .side = "right".
template <detail::ArrayLike A, detail::Operand V>
Array<std::int32_t> searchsorted(const A& a, const V& v, const SearchsortedOptions& options = {}) {
  using T = typename A::value_type;
  const bool right = detail::is_right("searchsorted", options.side);
  if constexpr (Scalar<V>) {
    return detail::places<T>("searchsorted", detail::materialise(a), Array<T>(v), right);
  } else {
    using R = promote_t<T, typename V::value_type>;
    return detail::places<R>("searchsorted", detail::as_type<R>(a), detail::as_type<R>(v), right);
  }
}

struct IsinOptions {
  bool invert = false;
};
// Which elements are among those of another array, of any shape; NaN is in none.
template <detail::ArrayLike X, detail::ArrayLike Y>
Array<bool> isin(const X& element, const Y& test_elements, const IsinOptions& options = {}) {
  using R = promote_t<typename X::value_type, typename Y::value_type>;
  const Array<R> x = detail::as_type<R>(element), tests = detail::as_type<R>(test_elements);
  detail::check_operand("isin", x);
  detail::need_host("isin", x, tests);
  if (tests.size() == 0) return full_like(x, options.invert).template astype<bool>();
  const Array<R> sorted = sort(detail::reshape_to("isin", tests, Shape{tests.size()}));
  const Array<std::int32_t> at =
      minimum(searchsorted(sorted, x), static_cast<std::int32_t>(sorted.size() - 1));
  const Array<bool> found = take(sorted, at) == x;
  return options.invert ? Array<bool>(!found) : found;
}

struct DigitizeOptions {
  bool right = false;  // does a bin include its right edge instead of its left one?
};
// The number of the bin that each element of x falls into; `bins` ascends or descends.
template <detail::ArrayLike X, detail::ArrayLike B>
Array<std::int32_t> digitize(const X& x, const B& bins, const DigitizeOptions& options = {}) {
  using R = promote_t<typename X::value_type, typename B::value_type>;
  const Array<R> edges = detail::as_type<R>(bins), values = detail::as_type<R>(x);
  const std::int64_t n = edges.size();
  const bool descending =
      edges.ndim() == 1 && n > 1 && !detail::is_batched(edges) && edges(0).item() > edges(-1).item();
  if (!descending) return detail::places<R>("digitize", edges, values, !options.right);
  const Array<std::int32_t> from_end =
      detail::places<R>("digitize", edges(slice(none, none, -1)), values, !options.right);
  return detail::evaluate(detail::make_expr<rules::subtract>(static_cast<std::int32_t>(n), from_end));
}

struct BincountOptions {
  std::int64_t minlength = 0;
};

namespace detail {
template <class R, class T>
Array<R> count_bins(const Array<T>& x, const R* weights, std::int64_t minlength) {
  static_assert(is_integer_v<T> || std::is_same_v<T, bool>, "bincount: the array must be of integers");
  if (is_batched(x))
    throw ValueError("bincount: the length of the result depends on the values, which vmap cannot map");
  need_host("bincount", x);
  if (x.ndim() != 1) raise<ValueError>({"bincount: the array must be 1-d, shape ", x.shape()});
  const ArrayBase flat = contiguous(x);
  const T* v = elements<const T>(flat);
  std::int64_t length = minlength;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if constexpr (std::is_signed_v<T>)
      if (v[i] < 0) raise<ValueError>({"bincount: the elements must not be negative, got ", v[i]});
    length = std::max(length, static_cast<std::int64_t>(v[i]) + 1);
  }
  Array<R> result(allocate(dtype_of<R>, Frame{Dims(std::size_t{1}, length), {}}));
  R* out = elements<R>(result);
  std::fill(out, out + length, R(0));
  for (std::int64_t i = 0; i < x.size(); ++i) out[v[i]] += weights ? weights[i] : R(1);
  return result;
}
}  // namespace detail

// How often each of 0, 1, 2... occurs in a 1-d array of integers that are not negative.
template <detail::ArrayLike X>
Array<std::int32_t> bincount(const X& x, const BincountOptions& options = {}) {
  return detail::count_bins<std::int32_t>(Array<typename X::value_type>(detail::materialise(x)), nullptr,
                                          options.minlength);
}
// The sum of the weights of each.
template <detail::ArrayLike X, detail::ArrayLike W>
auto bincount(const X& x_, const W& weights_, const BincountOptions& options = {}) {
  using R = inexact_t<typename W::value_type>;
  const Array<typename X::value_type> x = detail::materialise(x_);
  const Array<R> weights = detail::as_type<R>(weights_);
  if (!(weights.shape() == x.shape()))
    raise<ShapeError>({"bincount: the weights have shape ", weights.shape(), ", the array ", x.shape()});
  detail::need_host("bincount", weights);
  const ArrayBase flat = detail::contiguous(weights);
  return detail::count_bins<R>(x, detail::elements<const R>(flat), options.minlength);
}

// ---- unique elements, under their array-API names

template <class T>
struct UniqueAll {
  Array<T> values;  // ascending
  Array<std::int32_t> indices, inverse_indices, counts;
};
template <class T>
struct UniqueCounts {
  Array<T> values;
  Array<std::int32_t> counts;
};
template <class T>
struct UniqueInverse {
  Array<T> values;
  Array<std::int32_t> inverse_indices;
};

// The different elements, where each occurs first, which of them each element is (in the array's shape), and
// how often each occurs. NaNs count as different.
template <detail::ArrayLike X>
auto unique_all(const X& x_) {
  using T = typename X::value_type;
  const Array<T> x = detail::materialise(x_);
  if (detail::is_batched(x))
    throw ValueError("unique: the length of the result depends on the values, which vmap cannot map");
  detail::need_host("unique", x);
  const Array<T> flat(detail::contiguous(x));
  const std::int64_t n = x.size();
  const Array<std::int32_t> order = detail::argsort_axis(
      Array<T>(detail::view(flat, Layout::contiguous(Frame{Dims(std::size_t{1}, n), {}}))), 0, false);
  const T* v = detail::elements<const T>(flat);
  const std::int32_t* o = detail::elements<const std::int32_t>(order);
  Array<std::int32_t> inverse(detail::allocate(DType::int32, detail::layout_of(flat)));
  std::vector<std::int32_t> first, counts;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0 || !(v[o[i]] == v[o[i - 1]])) first.push_back(o[i]), counts.push_back(0);
    ++counts.back();
    detail::elements<std::int32_t>(inverse)[o[i]] = static_cast<std::int32_t>(first.size()) - 1;
  }
  const Frame frame{Dims(std::size_t{1}, static_cast<std::int64_t>(first.size())), {}};
  UniqueAll<T> result{Array<T>(detail::allocate(dtype_of<T>, frame)),
                      Array<std::int32_t>(detail::allocate(DType::int32, frame)), inverse,
                      Array<std::int32_t>(detail::allocate(DType::int32, frame))};
  for (std::size_t i = 0; i < first.size(); ++i) {
    detail::elements<T>(result.values)[i] = v[first[i]];
    detail::elements<std::int32_t>(result.indices)[i] = first[i];
    detail::elements<std::int32_t>(result.counts)[i] = counts[i];
  }
  return result;
}
template <detail::ArrayLike X>
auto unique_values(const X& x) {
  return unique_all(x).values;
}
template <detail::ArrayLike X>
auto unique(const X& x) {
  return unique_all(x).values;
}
template <detail::ArrayLike X>
auto unique_counts(const X& x) {
  auto all = unique_all(x);
  return UniqueCounts<typename X::value_type>{all.values, all.counts};
}
template <detail::ArrayLike X>
auto unique_inverse(const X& x) {
  auto all = unique_all(x);
  return UniqueInverse<typename X::value_type>{all.values, all.inverse_indices};
}

}  // namespace nax
