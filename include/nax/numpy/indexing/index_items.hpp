#pragma once

#include <vector>

#include "nax/backend/cpu/packets/true_places.hpp"
#include "nax/numpy/indexing/selection.hpp"

// From the arguments of a(...) to a Selection.
NAX_BEGIN
namespace detail {

template <class X>
struct IsVectorOfIntegers : std::false_type {};
template <std::integral I>
struct IsVectorOfIntegers<std::vector<I>> : std::true_type {};

template <class X>
struct IsVectorOfNumbers : std::false_type {};
template <Scalar S>
struct IsVectorOfNumbers<std::vector<S>> : std::true_type {};

template <class X>
concept IntegerIndex = std::integral<X> && !std::is_same_v<X, bool>;
template <class X>
concept BasicIndex = IntegerIndex<X> || std::is_same_v<X, Slice> || std::is_same_v<X, Underscore> ||
    std::is_same_v<X, NewAxis> || std::is_same_v<X, None> || std::is_same_v<X, Ellipsis>;
template <class X>
concept ArrayIndex = ArrayLike<X> || IsVectorOfIntegers<X>::value || std::is_same_v<X, bool>;

// How many axes of the array an argument speaks of.
template <BasicIndex X>
constexpr int axes_taken(const X&) {
  return IntegerIndex<X> || std::is_same_v<X, Slice> || std::is_same_v<X, Underscore>;
}

// Adds the meaning of one basic argument. `open`: the axes that an ellipsis stands for.
template <BasicIndex X>
void append_item(Selection& s, const Layout& x, const X& item, int open) {
  const auto next = [&] { return static_cast<int>(s.start.size()); };
  if constexpr (IntegerIndex<X>) {
    const int axis = next();
    s.append(resolve("index", static_cast<std::int64_t>(item), axis, x.visible(axis)), 1, 1, false);
  } else if constexpr (std::is_same_v<X, Slice>) {
    const SliceRange range = resolve(item, x.visible(next()));
    s.append(range.start, range.step, range.count, true);
  } else if constexpr (std::is_same_v<X, Underscore>) {
    s.append(0, 1, x.visible(next()), true);
  } else if constexpr (std::is_same_v<X, Ellipsis>) {
    for (int i = 0; i < open; ++i) s.append(0, 1, x.visible(next()), true);
  } else {
    s.kept.push_back(-1);
  }
}

// Basic indexing: no array among the arguments.
template <class... Index>
Selection basic_selection(const Layout& x, const Index&... index) {
  constexpr int ellipses = (0 + ... + static_cast<int>(std::is_same_v<Index, Ellipsis>));
  static_assert(ellipses <= 1, "an index can only have a single ellipsis");
  const int taken = (0 + ... + axes_taken(index));
  if (taken > x.ndim()) throw_too_many(x, taken);
  Selection s;
  (append_item(s, x, index, x.ndim() - taken), ...);
  while (static_cast<int>(s.start.size()) < x.ndim())
    s.append(0, 1, x.visible(static_cast<int>(s.start.size())), true);
  return s;
}

// The view itself, without a Selection in between: rows of unrecorded arrays are read all the time.
class BasicView {
 public:
  explicit BasicView(const ArrayBase& x)
      : from_(layout_of(x)), axis_(from_.levels.size()), to_(hidden_part(from_)) {}

  template <BasicIndex X>
  void add(const X& item, int open) {
    if constexpr (IntegerIndex<X>) {
      const int visible = static_cast<int>(axis_ - from_.levels.size());
      offset_ += resolve("index", static_cast<std::int64_t>(item), visible, from_.shape[axis_]) *
                 from_.strides[axis_];
      ++axis_;
    } else if constexpr (std::is_same_v<X, Slice>) {
      const SliceRange range = resolve(item, from_.shape[axis_]);
      if (range.count > 0) offset_ += range.start * from_.strides[axis_];
      append_axis(to_, range.count, range.step * from_.strides[axis_]);
      ++axis_;
    } else if constexpr (std::is_same_v<X, Underscore>) {
      keep(1);
    } else if constexpr (std::is_same_v<X, Ellipsis>) {
      keep(static_cast<std::size_t>(open));
    } else {
      append_axis(to_, 1, 0);
    }
  }
  void keep(std::size_t count) {
    for (; count > 0; --count, ++axis_) append_axis(to_, from_.shape[axis_], from_.strides[axis_]);
  }
  ArrayBase finish(const ArrayBase& x) {
    keep(from_.shape.size() - axis_);
    return sub_array(x, std::move(to_), offset_);
  }

 private:
  const Layout& from_;
  std::size_t axis_;
  Layout to_;
  std::int64_t offset_ = 0;
};
template <class... Index>
ArrayBase basic_view(const ArrayBase& x, const Index&... index) {
  static_assert((0 + ... + static_cast<int>(std::is_same_v<Index, Ellipsis>)) <= 1,
                "an index can only have a single ellipsis");
  const int taken = (0 + ... + axes_taken(index));
  if (taken > x.ndim()) throw_too_many(layout_of(x), taken);
  BasicView view(x);
  (view.add(index, x.ndim() - taken), ...);
  return view.finish(x);
}

// ---- index arrays

template <class I>
Array<std::int64_t> checked_index(const char* function, const Array<I>& index, int axis,
                                  std::int64_t extent) {
  static_assert(is_integer_v<I>, "arrays used as indices must be of integer or boolean type");
  return wrapped_index(function, index, axis, extent, loops::IndexMode::drop);
}

// Row-major positions of the true elements.
NAX_ENGINE Array<std::int64_t> true_positions(const char* function, const Array<bool>& mask);

// Integers of the host as an array there.
template <class To, class I>
Array<To> host_numbers(const std::vector<I>& values) {
  Array<To> x =
      typed<To>(allocate_on_host(dtype_of<To>, Frame{Dims(1, static_cast<std::int64_t>(values.size())), {}}));
  To* to = elements<To>(x);
  for (const I i : values) *to++ = static_cast<To>(i);
  return x;
}

// Positions over two groups of axes as positions over both, over a frame to which they broadcast.
NAX_ENGINE ArrayBase joined_positions(ArrayBase a, ArrayBase b, std::int64_t extent, const Frame& frame);

// Builds the selection of an index with arrays in it. Integers count as 0-d arrays then, as in NumPy: the
// axes of the (broadcast) index arrays come where the first of them stood if all stand side by side,
// otherwise first.
class AdvancedIndex {
 public:
  AdvancedIndex(const ArrayBase& x, int taken) : array_(x), x_(layout_of(x)), open_(x.ndim() - taken) {
    if (taken > x.ndim()) throw_too_many(layout_of(x), taken);
  }

  template <class X>
  void add(const X& item) {
    if constexpr (IntegerIndex<X>) {
      add_positions(
          host_number(resolve("index", static_cast<std::int64_t>(item), axis(), x_.visible(axis()))), 1);
    } else if constexpr (BasicIndex<X>) {
      if (began_) apart_ = true;  // for good once another index array follows
      append_item(s_, x_, item, open_);
    } else if constexpr (std::is_same_v<X, bool>) {
      add_array(host_number<bool>(item));
    } else if constexpr (IsVectorOfIntegers<X>::value) {
      add_array(host_numbers<element_t<typename X::value_type>>(item));
    } else {
      const auto& index = materialise(item);
      device_for("index", array_, index);  // together
      add_array(index);
    }
  }

  Selection finish();

 private:
  int axis() const { return static_cast<int>(s_.start.size()); }
  bool indexed(std::int64_t axis) const {
    for (std::int64_t a : axes_)
      if (a == axis) return true;
    return false;
  }

  template <class I>
  void add_array(const Array<I>& index) {
    add_positions(checked_index("index", index, axis(), x_.visible(axis())), 1);
  }
  void add_array(const Array<bool>& mask);

  // Positions over the next `count` axes.
  void add_positions(const Array<std::int64_t>& positions, int count);

  const ArrayBase& array_;
  const Layout& x_;
  int open_;  // the axes that an ellipsis stands for
  Selection s_;
  Array<std::int64_t> index_;
  Dims axes_;
  int place_ = 0;
  bool began_ = false, apart_ = false, apart_before_last_ = false;
};

template <class X>
int axes_taken_any(const X& item) {
  if constexpr (BasicIndex<X>) {
    return axes_taken(item);
  } else if constexpr (std::is_same_v<X, bool>) {
    return 0;
  } else if constexpr (ArrayLike<X>) {
    return std::is_same_v<typename X::value_type, bool> ? item.ndim() : 1;
  } else {
    return 1;
  }
}

template <class... Index>
Selection select(const ArrayBase& x, const Index&... index) {
  static_assert(
      ((BasicIndex<Index> || ArrayIndex<Index>)&&...),
      "an index is an integer, slice(...), _, ellipsis, newaxis, none, or an array of integers or bool");
  if constexpr ((BasicIndex<Index> && ...)) {
    return basic_selection(layout_of(x), index...);
  } else {
    static_assert((0 + ... + static_cast<int>(std::is_same_v<Index, Ellipsis>)) <= 1,
                  "an index can only have a single ellipsis");
    AdvancedIndex advanced(x, (0 + ... + axes_taken_any(index)));
    (advanced.add(index), ...);
    return advanced.finish();
  }
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/index_items-inl.hpp"
#endif
