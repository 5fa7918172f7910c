#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/core/fwd.hpp"
#include "nax/core/methods.hpp"
#include "nax/core/transfer.hpp"

NAX_BEGIN

// Something that evaluates to an array: what operators and elementwise functions return. Kept in `auto` it is
// computed at each use; an Array made from it holds the values.
template <class E>
concept Expression = requires {
  typename E::expression_tag;
};

namespace detail {

template <class T>
struct IsArray : std::false_type {};
template <class T>
struct IsArray<Array<T>> : std::true_type {};

template <Expression E>
Array<typename E::value_type> evaluate(const E& expression);
template <class T, Expression E>
Array<T> evaluate_as(const E& expression);
template <class T, Expression E>
void assign_as(Array<T>& target, const E& expression);

template <class T, class Element>
concept OtherThan = !std::is_same_v<T, Element>;
// An expression of these elements, or of numbers that can be such.
template <class E, class Element>
concept ExpressionOf = Expression<E> &&
    (std::is_same_v<typename E::value_type, Element> || E::template becomes<Element>());
template <class E, class Element>
concept ExpressionOfOther = Expression<E> && !ExpressionOf<E, Element>;

// The handle as an array of its elements' type. Precondition: handle.dtype() is dtype_of<T>.
template <class T>
Array<T> typed(ArrayBase&& handle);
template <class T>
Array<T> typed(const ArrayBase& handle);

template <class N>
concept PlainNumber = std::is_arithmetic_v<N> && !std::is_same_v<N, bool>;

// Says, while it compiles, that an assignment has no effect. (A template, so that it stays silent until one
// is written.)
template <class T>
constexpr void refuse_assignment() {
  constexpr bool has_effect = !sizeof(T);
  static_assert(has_effect,
                "the left side is a temporary, and assigning to it changes nothing: write "
                "x = x.at(i).set(value), or .add, .multiply, .divide in place of .set");
}

// One element of a nested brace list: a number or a list of them. (Three initializer_list constructors, one a
// rank, are ambiguous for columns such as {{1}, {2}}.)
template <class Element>
class Nested {
 public:
  template <Scalar S>
  Nested(S value) : value_(element_from<Element>("array", value)) {}
  Nested(std::initializer_list<Nested> list) : is_list_(true), list_(list) {}

  // Appends the shape below this element and its numbers; ragged lists throw.
  void collect(std::size_t depth, Dims& shape, std::vector<Element>& out) const {
    if (is_list_) {
      collect_list(list_.begin(), list_.size(), depth, shape, out);
    } else if (depth != shape.size()) {
      throw_ragged(shape, depth, Dims());
    } else {
      out.push_back(value_);
    }
  }
  static void collect_list(const Nested* first, std::size_t n, std::size_t depth, Dims& shape,
                           std::vector<Element>& out) {
    if (depth == shape.size()) {
      if (!out.empty()) throw_ragged(shape, depth, shape_of(first, n));
      shape.push_back(static_cast<std::int64_t>(n));
    } else if (shape[depth] != static_cast<std::int64_t>(n)) {
      throw_ragged(shape, depth, shape_of(first, n));
    }
    for (std::size_t i = 0; i < n; ++i) first[i].collect(depth + 1, shape, out);
  }

 private:
  // Of a list: its length, and so on for its first elements.
  static Dims shape_of(const Nested* first, std::size_t n) {
    Dims shape;
    for (;; n = first->list_.size(), first = first->list_.begin()) {
      shape.push_back(static_cast<std::int64_t>(n));
      if (n == 0 || !first->is_list_) return shape;
    }
  }
  // Where the shape so far asks for another one than `found`.
  [[noreturn, gnu::cold]] static void throw_ragged(const Dims& shape, std::size_t depth, const Dims& found) {
    raise<ValueError>(
        {"array: the nested braces are ragged: every list of one depth must have the same length: ",
         Dims(shape.begin() + depth, shape.end()), " and ", found});
  }
  Element value_{};
  bool is_list_ = false;
  std::initializer_list<Nested> list_{};
};

[[noreturn, gnu::cold]] inline void throw_batched(const char* function, const char* instead) {
  raise<ValueError>({function, ": the array is batched by vmap and has no single value here; ", instead});
}

}  // namespace detail

template <class T>
inline constexpr bool is_array_v = detail::IsArray<std::remove_cvref_t<T>>::value;

template <class Element>
class AtProxy;
template <class Element>
class RowIterator;

// An n-dimensional array: a value. Copies share their elements, operations return new arrays, and nothing
// that one handle does is seen through another.
template <class Element>
class NAX_RESULT("an operation changes no array: its result is a new one") Array
    : public ArrayBase,
      public ArrayMethods<Array<Element>> {
  static_assert(Dtype<Element>, "Array: not an element type of nax");

 public:
  using value_type = Element;

  // An empty array of shape (0,).
  Array() { dtype_ = dtype_of<Element>; }
  // 0-d.
  template <Scalar S>
  requires std::is_constructible_v<Element, S> Array(S value)
      : ArrayBase(detail::allocate(dtype_of<Element>, Frame{})) {
    const Element element = detail::element_from<Element>("array", value);
    if (detail::on_accelerator(*this)) [[unlikely]]
      detail::write_elements(*this, &element);
    else
      *reinterpret_cast<Element*>(detail::device_data(*this)) = element;
  }
  // Nested braces, one level an axis.
  Array(std::initializer_list<detail::Nested<Element>> list) {
    Dims shape;
    std::vector<Element> elements;
    detail::Nested<Element>::collect_list(list.begin(), list.size(), 0, shape, elements);
    ArrayBase::operator=(detail::allocate_on_host(dtype_of<Element>, Frame{shape, {}}));
    Element* out = reinterpret_cast<Element*>(detail::raw_data(*this));
    for (std::size_t i = 0; i < elements.size(); ++i) out[i] = elements[i];
    static_cast<ArrayBase&>(*this) = detail::placed(std::move(*this));
  }
  template <detail::ExpressionOf<Element> E>
  Array(const E& expression) : Array(detail::evaluate_as<Element>(expression)) {}
  // Conversions are spelt out.
  template <detail::OtherThan<Element> Other>
  Array(const Array<Other>&) = delete;  // elements of another type: x.astype<T>()
  template <detail::ExpressionOfOther<Element> E>
  explicit Array(const E&) = delete;  // elements of another type: x.astype<T>()
  template <Scalar S>
  explicit Array(const std::vector<S>&) {
    static_assert(sizeof(S) == 0,
                  "write array(values), or array(values).astype<T>() for elements of another type");
  }
  explicit Array(detail::Unset unset) : ArrayBase(unset) {}
  Array(const Array&) = default;
  Array(Array&&) noexcept = default;

  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & noexcept = default;
  // `x = x + y` computes in place if no other handle shares x.
  template <detail::ExpressionOf<Element> E>
  Array& operator=(const E& expression) & {
    detail::assign_as(*this, expression);
    return *this;
  }
  template <detail::ExpressionOfOther<Element> E>
  Array& operator=(const E&) & = delete;  // elements of another type: x.astype<T>()

  // An element or a part of an array is a new array: `x(0) = 1` would change that one alone.
  template <class X>
  Array& operator=(const X&) && {
    detail::refuse_assignment<X>();
    return *this;
  }
  Array& operator=(const Array&) && {
    detail::refuse_assignment<Element>();
    return *this;
  }

  // The value of an array of one element. Throws ValueError for other sizes and under vmap.
  Element item() const {
    if (detail::is_batched(*this)) detail::throw_batched("item", "use where, or map over it");
    if (size() != 1) raise<ValueError>({"item: only an array of one element has a value, shape ", shape()});
    if (detail::on_accelerator(*this)) [[unlikely]] {
      detail::unknown_while_recording("item", device());
      Element element;
      detail::copy_bytes(Device{}, &element, device(), detail::device_data(*this), sizeof element);
      return element;
    }
    return *reinterpret_cast<const Element*>(detail::device_data(*this));
  }
  explicit operator bool() const {
    if (detail::is_batched(*this)) detail::throw_batched("bool", "use where instead of if");
    if (size() != 1)
      raise<ValueError>(
          {"bool: the truth of an array of several elements is ambiguous; use any or all, shape ", shape()});
    if (detail::on_accelerator(*this)) [[unlikely]]
      detail::unknown_while_recording("bool", device());
    return item() != Element(0);
  }
  explicit operator Element() const requires(!std::is_same_v<Element, bool>) { return item(); }
  template <detail::PlainNumber N>
  operator N() const = delete;  // an array is no number: write sum(x).item()

  // The elements in row-major order. A view is first copied out, so that the pointer can be walked.
  const Element* data() const NAX_LIFETIMEBOUND;
  std::vector<Element> to_vector() const;
  const Element* device_data() const;
  void* stream() const;

  template <class To>
  Array<To> astype() const;
  Array T() const;
  Array reshape(const Shape& shape) const;
  Array transpose(const std::vector<int>& axes = {}) const;

  // NumPy's basic and advanced indexing: integers, slice, _, ellipsis, newaxis, index arrays, masks.
  template <class... Index>
  Array operator()(const Index&... index) const;
  template <class Index>
  Array operator[](const Index& index) const {
    return (*this)(index);
  }
#if defined(__cpp_multidimensional_subscript)  // C++23; before, a[1, 0] is a[0]
  template <class... Index>
  requires(sizeof...(Index) != 1) Array operator[](const Index&... index) const { return (*this)(index...); }
#endif
  template <class... Index>
  AtProxy<Element> at(const Index&... index) const&;
  template <class... Index>
  AtProxy<Element> at(const Index&... index) &&;

  RowIterator<Element> begin() const;
  RowIterator<Element> end() const;

  template <class X>
  Array& operator+=(const X& x) & {
    return *this = *this + x;
  }
  template <class X>
  Array& operator-=(const X& x) & {
    return *this = *this - x;
  }
  template <class X>
  Array& operator*=(const X& x) & {
    return *this = *this * x;
  }
  template <class X>
  Array& operator/=(const X& x) & {
    return *this = *this / x;
  }
  template <class X>
  Array& operator+=(const X&) && {
    detail::refuse_assignment<X>();
    return *this;
  }
  template <class X>
  Array& operator-=(const X&) && {
    detail::refuse_assignment<X>();
    return *this;
  }
  template <class X>
  Array& operator*=(const X&) && {
    detail::refuse_assignment<X>();
    return *this;
  }
  template <class X>
  Array& operator/=(const X&) && {
    detail::refuse_assignment<X>();
    return *this;
  }

 private:
  template <class T>
  friend Array<T> detail::typed(ArrayBase&& handle);
  template <class T>
  friend Array<T> detail::typed(const ArrayBase& handle);
  struct Handle {};  // Tells the constructors of `typed` from all others.
  Array(Handle, ArrayBase&& handle) : ArrayBase(std::move(handle)) {}
  Array(Handle, const ArrayBase& handle) : ArrayBase(handle) {}
};

namespace detail {

template <class T>
Array<T> typed(ArrayBase&& handle) {
  return Array<T>(typename Array<T>::Handle(), std::move(handle));
}
template <class T>
Array<T> typed(const ArrayBase& handle) {
  return Array<T>(typename Array<T>::Handle(), handle);
}

}  // namespace detail

NAX_END
