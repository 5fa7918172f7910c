#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nax/transform/batching.hpp"
#include "nax/transform/differentiate.hpp"
#include "nax/transform/same_along.hpp"
#include "nax/transform/tree_axes.hpp"

NAX_BEGIN

struct VmapOptions {
  InAxes in_axes = {};
  OutAxes out_axes = {};
  AxisName axis_name = {};
  std::optional<std::int64_t> axis_size = {};
};

namespace detail {

// A result as vmap may return it: expressions computed, numbers as 0-d arrays.
template <class X>
auto array_tree(const X& x) {
  if constexpr (Scalar<X>)
    return Array<default_type_t<X>>(x);
  else
    return materialise_tree(x);
}
template <class A, class B>
auto array_tree(const std::pair<A, B>& x) {
  return std::pair{array_tree(x.first), array_tree(x.second)};
}
template <class... A>
auto array_tree(const std::tuple<A...>& x) {
  return std::apply([](const auto&... a) { return std::make_tuple(array_tree(a)...); }, x);
}

// The common extent of all mapped axes, argument by argument.
class MappedSize {
 public:
  explicit MappedSize(const char* function) : function_(function) {}

  void add(const ArrayBase& leaf, const Axes& axes, std::size_t argument);
  std::int64_t get(std::optional<std::int64_t> given) const {
    if (differ_) raise<ValueError>({function_, ": the sizes of the mapped axes differ: ", text()});
    if (size_ && given && *size_ != *given)
      raise<ValueError>({function_, ": axis_size is ", *given, " but ", text()});
    if (!size_ && !given) raise<ValueError>({function_, ": no argument is mapped: every in_axes is none"});
    return size_ ? *size_ : *given;
  }

 private:
  int checked(const ArrayBase& leaf, int axis, std::size_t argument) const {
    const int ndim = leaf.ndim();
    if (axis < -ndim || axis >= ndim)
      raise<IndexError>({function_, ": in_axes of argument ", argument, " is ", axis,
                         ", out of bounds for an array of dimension ", ndim, ", shape ", leaf.shape()});
    return axis < 0 ? axis + ndim : axis;
  }
  struct Mapped {
    std::size_t argument;
    int axis;
    std::int64_t extent;
    Shape shape;
  };
  [[gnu::cold]] std::string text() const {
    std::string all;
    for (const Mapped& one : mapped_)
      all += detail::text_of({all.empty() ? "" : ", ", "argument ", one.argument, " of shape ", one.shape,
                              " has ", one.extent, " along axis ", one.axis});
    return all;
  }
  std::string function_;
  std::vector<Mapped> mapped_;  // the first few and the first that differs, to be named in errors
  std::optional<std::int64_t> size_;
  bool differ_ = false;
};

NAX_ENGINE void check_in_axes(const char* function, const InAxes& in_axes, std::size_t arguments);

template <class F, class... A>
void for_each_argument(std::tuple<A...>& arguments, F f) {
  [&]<std::size_t... i>(std::index_sequence<i...>) { (f(i, std::get<i>(arguments)), ...); }
  (std::index_sequence_for<A...>{});
}

// Registers the level of a vmap with this thread while it lives.
class VmapEntry {
 public:
  VmapEntry(std::int64_t size, const AxisName& name) : level_(next_level()) {
    if (name.names().size() > 1) throw ValueError("vmap: axis_name must be one name");
    vmap_stack().frames.push_back({level_, size, name.empty() ? "" : name.names()[0]});
  }
  ~VmapEntry() { vmap_stack().frames.pop_back(); }
  VmapEntry(const VmapEntry&) = delete;
  VmapEntry& operator=(const VmapEntry&) = delete;
  Level level() const { return level_; }

 private:
  Level level_;
};

NAX_ENGINE int result_axis(const char* function, int axis, int ndim);

// The first row of an array whose rows are equal; its gradient goes to that row.
template <class T>
Array<T> first_row(const Array<T>& all) {
  Layout one = layout_of(all);
  const std::int64_t size = one.visible(0);
  one.take_axis(one.levels.size());
  Array<T> result = typed<T>(view(all, std::move(one)));
  if constexpr (is_inexact_v<T>) {
    return record(std::move(result), wrt(all, [size](const Array<T>& g) {
                    Frame column;
                    column.shape = Dims(static_cast<std::size_t>(g.ndim()) + 1, 1);
                    column.shape[0] = size;
                    const ArrayBase ones = allocate_on_host(dtype_of<T>, column);
                    for (std::int64_t i = 0; i < size; ++i)
                      reinterpret_cast<T*>(raw_data(ones))[i] = T(i == 0 ? 1 : 0);
                    const ComputeOn beside(g);
                    const Array<T> mask = typed<T>(placed(ones));
                    Frame row = layout_of(g);
                    row.shape.insert(row.levels.size(), 1);
                    return evaluate(make_expr<rules::multiply>(restride(g, row), mask));
                  }));
  } else {
    return result;
  }
}

// A leaf of the result leaves the vmap.
template <class T>
Array<T> leave_vmap(const Array<T>& leaf, const Axes& axes, Level level, std::int64_t size) {
  const Layout& layout = layout_of(leaf);
  const int hidden = layout.find(level);
  check_operand("vmap", leaf);
  if (!axes.is_none()) return unbatch(leaf, result_axis("vmap", axes.axis(), leaf.ndim() + 1), level, size);
  if (hidden < 0) return leaf;
  if (!same_along(leaf, hidden))
    throw ValueError("vmap: out_axes is none for a result that differs along the mapped axis");
  // Equal for all, as after psum: any one stands for it.
  return first_row(unbatch(leaf, 0, level, size));
}

template <class F, class Inputs>
auto map_over_axis(const F& f, const VmapOptions& options, Inputs inputs) {
  check_in_axes("vmap", options.in_axes, std::tuple_size_v<Inputs>);
  MappedSize mapped("vmap");
  for_each_argument(inputs, [&](std::size_t i, auto& argument) {
    auto add = [&](auto& leaf, const Axes& axes) {
      if constexpr (is_array_v<decltype(leaf)>) mapped.add(leaf, axes, i);
    };
    for_each_with_axes("vmap", argument, options.in_axes.at(i), add);
  });
  const std::int64_t size = mapped.get(options.axis_size);

  const VmapEntry entry(size, options.axis_name);
  for_each_argument(inputs, [&](std::size_t i, auto& argument) {
    auto enter = [&](auto& leaf, const Axes& axes) {
      if constexpr (is_array_v<decltype(leaf)>) {
        if (axes.is_none()) return;
        leaf = batch(leaf, normalize_axis("vmap", axes.axis(), leaf.ndim()), entry.level());
      }
    };
    for_each_with_axes("vmap", argument, options.in_axes.at(i), enter);
  });
  auto out = array_tree(call_with(f, std::as_const(inputs)));
  auto leave = [&](auto& leaf, const Axes& axes) {
    if constexpr (is_array_v<decltype(leaf)>) leaf = leave_vmap(leaf, axes, entry.level(), size);
  };
  for_each_with_axes("vmap", out, options.out_axes.get(), leave);
  return out;
}

}  // namespace detail

// f over a batch: vmap(f, {.in_axes = {0, none}, .out_axes = 1, .axis_name = "i"})(xs, w). f sees each
// example without the mapped axis; everything is computed for all of them at once. Throws ValueError where
// mapped sizes disagree, and where out_axes is none for a result that is not the same for all examples.
template <class F>
[[nodiscard]] auto vmap(F f, VmapOptions options = {}) {
  return detail::transformed<detail::CheckMapped, F>(
      [f = std::move(f), options = std::move(options)](const auto&... args) {
        return detail::map_over_axis(f, options, detail::lift_for<F>(args...));
      });
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void MappedSize::add(const ArrayBase& leaf, const Axes& axes, std::size_t argument) {
  check_operand(function_.c_str(), leaf);
  if (axes.is_none()) return;
  if (leaf.ndim() == 0)
    raise<ValueError>({function_, ": argument ", argument, " is mapped over axis ", axes.axis(),
                       " but has rank 0; give it in_axes none"});
  const int axis = checked(leaf, axes.axis(), argument);
  const std::int64_t extent = layout_of(leaf).visible(axis);
  if (mapped_.size() < 8 || (!differ_ && extent != *size_))
    mapped_.push_back({argument, axes.axis(), extent, leaf.shape()});
  if (size_ && *size_ != extent) differ_ = true;
  if (!size_) size_ = extent;
}

NAX_ENGINE void check_in_axes(const char* function, const InAxes& in_axes, std::size_t arguments) {
  if (in_axes.each() && in_axes.count() != arguments)
    raise<ValueError>(
        {function, ": in_axes has ", in_axes.count(), " entries for ", arguments, " arguments"});
}

NAX_ENGINE int result_axis(const char* function, int axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    raise<IndexError>(
        {function, ": out_axes is ", axis, ", out of bounds for a mapped result of dimension ", ndim});
  return axis < 0 ? axis + ndim : axis;
}

}  // namespace detail
NAX_END
#endif
