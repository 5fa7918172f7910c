#pragma once

#include <bit>
#include <functional>
#include <string_view>

#include "nax/modules/optimize/problem.hpp"
#include "nax/numpy.hpp"
#include "nax/transform/callee.hpp"
#include "nax/transform/checkpoint.hpp"

// The right-hand side of an equation, its type forgotten: the solvers are compiled once for each type of
// elements.
NAX_BEGIN
namespace integrate {

using optimize::Arguments;

namespace detail {

template <class T>
using Field = std::function<Array<T>(double, const Array<T>&)>;

template <class P>
struct ParametersBehindTwo;
template <class A, class B, class... Rest>
struct ParametersBehindTwo<nax::detail::Parameters<A, B, Rest...>> {
  using type = std::tuple<std::remove_cvref_t<Rest>...>;
};
template <class F, class A, class B, class X, std::size_t n = 0, class... More>
constexpr int arity_behind_two() {
  if constexpr (std::is_invocable_v<const F&, A, B, const More&...>)
    return static_cast<int>(n);
  else if constexpr (n < 8)
    return arity_behind_two<F, A, B, X, n + 1, More..., X>();
  else
    return -1;
}

// f(first, second, args...) as an array of T.
template <class T, class F, class A, class B>
Array<T> call_field(const char* function, const F& f, const A& first, const B& second,
                    const Arguments& args) {
  using P = typename nax::detail::ParametersOf<nax::detail::callee_t<F>>::type;
  const auto check = [&](std::size_t n) {
    if (args.size() > n)
      raise<TypeError>(
          {function, ": args has ", args.size(), " arguments, the function takes ", n, " behind t and y"});
  };
  if constexpr (!std::is_same_v<P, nax::detail::Anything>) {
    using Rest = typename ParametersBehindTwo<P>::type;
    check(std::tuple_size_v<Rest>);
    return [&]<std::size_t... i>(std::index_sequence<i...>)->Array<T> {
      return f(first, second, args.get<std::tuple_element_t<i, Rest>>(function, i)...);
    }
    (std::make_index_sequence<std::tuple_size_v<Rest>>{});
  } else {
    constexpr int n = arity_behind_two<F, A, B, Array<T>>();
    static_assert(n >= 0, "integrate: the function must take t and y, and then arrays of y's type");
    check(static_cast<std::size_t>(n));
    return [&]<std::size_t... i>(std::index_sequence<i...>)->Array<T> {
      return f(first, second, args.get<Array<T>>(function, i)...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(n)>{});
  }
}

// A time: a number, or an array of one element, which may be differentiated.
class Time {
 public:
  template <class N>
  requires std::is_arithmetic_v<N> Time(N value) : value_(static_cast<double>(value)) {}
  template <nax::detail::ArrayLike X>
  Time(const X& x) {
    Array<double> time = nax::detail::as_array(x).template astype<double>();
    if (time.size() != 1)
      raise<ShapeError>({"solve_ivp: a time must be one number, not shape ", time.shape()});
    time = time.reshape(Shape{});
    value_ = stop_gradient(time).item();
    if (nax::detail::is_recorded(time)) watched_ = time;
  }
  operator double() const { return value_; }
  bool is_watched() const { return nax::detail::is_recorded(watched_); }
  Array<double> array() const { return is_watched() ? watched_ : Array<double>(value_); }

 private:
  double value_ = 0;
  Array<double> watched_;
};

// Times that a user gives as an array, a std::vector or a list in braces.
class Numbers {
 public:
  Numbers() = default;
  Numbers(std::initializer_list<double> values) : values_(values) {}
  Numbers(std::vector<double> values) : values_(std::move(values)) {}
  template <nax::detail::ArrayLike X>
  Numbers(const X& values) {
    const Array<double> array = nax::detail::as_array(values).template astype<double>().reshape({-1});
    values_ = stop_gradient(array).to_vector();
    if (nax::detail::is_recorded(array)) watched_ = array;
  }
  const std::vector<double>& values() const { return values_; }
  Time operator[](std::size_t i) const {
    if (!nax::detail::is_recorded(watched_)) return values_[i];
    return Array<double>(watched_(static_cast<std::int64_t>(i)));
  }

 private:
  std::vector<double> values_;
  Array<double> watched_;
};

// y as a function of its time, too: dy/dt = f(t, y), forward with sign 1, of the begin with -1.
template <class T>
Array<T> moved_in_time(const Field<T>& f, const Time& t, const Array<T>& y, int sign) {
  if (!t.is_watched() || !nax::detail::recording.tape) return y;
  const Array<double> time = t.array();
  if (std::popcount(nax::detail::recording.tape->watchers(nax::detail::serial_of(time))) > 1)
    throw TypeError("solve_ivp: times have first derivatives alone");
  const Array<T> shift = Array<double>(time - stop_gradient(time)).template astype<T>();
  return y + f(t, y) * (shift * static_cast<T>(sign));
}

}  // namespace detail
}  // namespace integrate
NAX_END
