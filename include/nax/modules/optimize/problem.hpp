#pragma once

#include <any>
#include <initializer_list>
#include <limits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/lax/ravel.hpp"
#include "nax/modules/optimize/dense.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/transform/callee.hpp"

// The arguments of solvers: trees as vectors, bounds, further arguments, and a user's function on vectors.
NAX_BEGIN
namespace optimize {
namespace detail {

// The values of an array, without its derivatives. Throws ValueError under vmap, and in a recorded program.
template <class T>
Vector values_of(const Array<T>& x) {
  Array<T> plain = x;
  nax::detail::ArrayAccess::serial(plain) = 0;
  const std::vector<T> values = plain.to_vector();
  return Vector(values.begin(), values.end());
}
template <class E>
Array<E> vector_of(const Vector& x) {
  return asarray(std::vector<E>(x.begin(), x.end()));
}
template <class E>
Array<E> matrix_of(const Matrix& x) {
  std::vector<E> rows(x.data.size());
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j) rows[i * x.columns + j] = static_cast<E>(x(i, j));
  return asarray(rows, Shape{x.rows, x.columns});
}

// The numbers of a tree of arrays and numbers, in order.
template <class Tree>
void append_numbers(const Tree& t, Vector& to) {
  tree::for_each(
      [&](const auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (Scalar<Leaf>) {
          to.push_back(static_cast<double>(leaf));
        } else if constexpr (is_array_v<Leaf>) {
          const auto values = values_of(leaf);
          to.insert(to.end(), values.begin(), values.end());
        }
      },
      t);
}

}  // namespace detail

// One number for all parameters, or one each: a brace list, an array, or a tree like x0. Constant in
// derivatives.
class PerParameter {
 public:
  PerParameter() = default;
  template <Scalar S>
  PerParameter(S value) : values_{static_cast<double>(value)}, single_(true) {}
  PerParameter(std::initializer_list<double> values) : values_(values) {}
  PerParameter(const std::vector<double>& values) : values_(values) {}
  template <class Tree>
  requires(!Scalar<Tree> && !std::is_same_v<Tree, PerParameter>) PerParameter(const Tree& t) {
    detail::append_numbers(nax::detail::to_arrays(t), values_);
  }

  bool empty() const { return values_.empty(); }
  // n numbers, `otherwise` where none are given. Throws ValueError for another count.
  detail::Vector of(const char* function, const char* name, std::size_t n, double otherwise) const;

 private:
  detail::Vector values_;
  bool single_ = false;
};

// Lower and upper bounds: `{0, 1}`, `{lo, hi}`, `{-inf, Array<double>{1, 2}}`.
struct Bounds {
  PerParameter lower = {}, upper = {};  // infinite where they are empty
  bool given() const { return !lower.empty() || !upper.empty(); }
};

// The factors by which steps are measured: "jac" for the Jacobian's columns, or numbers.
class StepScales {
 public:
  StepScales() = default;
  StepScales(const char* name) : name_(name) {}
  template <class X>
  requires(!std::is_same_v<X, StepScales> && !std::is_convertible_v<const X&, const char*>)
      StepScales(const X& values)
      : values_(values) {}
  StepScales(std::initializer_list<double> values) : values_(values) {}

  // n numbers, or none for the Jacobian's columns.
  detail::Vector of(const char* function, std::size_t n, bool by_jacobian) const;

 private:
  std::string_view name_;
  PerParameter values_;
};

// Arguments of a function behind its first one: a single one, or a std::tuple of several. A function whose
// parameters have types gets arguments of these; one with `auto` parameters gets arrays of x0's type.
class Arguments {
 public:
  Arguments() = default;
  template <class... A>
  Arguments(const std::tuple<A...>& arguments) {
    std::apply([&](const auto&... each) { (keep(each), ...); }, arguments);
  }
  template <class A>
  requires(!std::is_same_v<A, Arguments>) Arguments(const A& argument) { keep(argument); }

  std::size_t size() const { return parts_.size(); }
  // Argument i as a P. Throws TypeError where it is of another type.
  template <class P>
  P get(const char* function, std::size_t i) const {
    if (i >= parts_.size())
      raise<TypeError>({function, ": args: the function takes ", i + 1,
                        " arguments behind the first, args has ", parts_.size()});
    if (const P* same = std::any_cast<P>(&parts_[i])) return *same;
    if constexpr (is_array_v<P>) {
      using T = typename P::value_type;
      P out;
      if (as_array<T, double, float, std::int64_t, std::int32_t, bool>(parts_[i], out)) return out;
    }
    if constexpr (std::is_arithmetic_v<P>)
      if (const double* number = std::any_cast<double>(&parts_[i])) return static_cast<P>(*number);
    raise<TypeError>({function, ": args: argument ", i, " is of another type than the function's parameter"});
  }

 private:
  template <class A>
  void keep(const A& argument) {
    if constexpr (Scalar<A> && std::is_arithmetic_v<A>)
      keep_number(static_cast<double>(argument));
    else
      parts_.emplace_back(nax::detail::evaluated(argument));
  }
  void keep_number(double number);
  template <class T, class... From>
  static bool as_array(const std::any& part, Array<T>& out) {
    if (const double* number = std::any_cast<double>(&part)) {
      out = Array<T>(static_cast<T>(*number));
      return true;
    }
    return (as_array_of<T, From>(part, out) || ...);
  }
  template <class T, class From>
  static bool as_array_of(const std::any& part, Array<T>& out) {
    const Array<From>* found = std::any_cast<Array<From>>(&part);
    if (found) out = found->template astype<T>();
    return found;
  }

  std::vector<std::any> parts_;
};

namespace detail {

template <class P>
struct FurtherParameters;
template <class First, class... Rest>
struct FurtherParameters<nax::detail::Parameters<First, Rest...>> {
  using type = std::tuple<std::remove_cvref_t<Rest>...>;
};

// The number of arrays that F takes behind an X; -1 for none that is tried.
template <class F, class X, class A, std::size_t n = 0, class... More>
constexpr int arity() {
  if constexpr (std::is_invocable_v<const F&, const X&, const More&...>)
    return static_cast<int>(n);
  else if constexpr (n < 8)
    return arity<F, X, A, n + 1, More..., A>();
  else
    return -1;
}

// f(x, args...).
template <class A, class F, class X>
decltype(auto) call_function(const char* function, const F& f, const X& x, const Arguments& args) {
  using P = typename nax::detail::ParametersOf<nax::detail::callee_t<F>>::type;
  const auto check = [&](std::size_t n) {
    if (args.size() > n)
      raise<TypeError>(
          {function, ": args has ", args.size(), " arguments, the function takes ", n, " behind the first"});
  };
  if constexpr (!std::is_same_v<P, nax::detail::Anything>) {
    using Rest = typename FurtherParameters<P>::type;
    check(std::tuple_size_v<Rest>);
    return [&]<std::size_t... i>(std::index_sequence<i...>)->decltype(auto) {
      return f(x, args.get<std::tuple_element_t<i, Rest>>(function, i)...);
    }
    (std::make_index_sequence<std::tuple_size_v<Rest>>{});
  } else {
    constexpr int n = arity<F, X, Array<A>>();
    static_assert(n >= 0,
                  "optimize: the function must take x and then arrays of x's type; name the types of its "
                  "parameters, or capture what else it needs");
    if constexpr (n >= 0) {
      check(n);
      return [&]<std::size_t... i>(std::index_sequence<i...>)->decltype(auto) {
        return f(x, args.get<Array<A>>(function, i)...);
      }
      (std::make_index_sequence<static_cast<std::size_t>(n)>{});
    }
  }
}

// A user's function of a tree, as one of the tree's vector. E: the type of its elements.
template <class Tree>
class OnVectors {
 public:
  using E = typename tree::detail::RavelType<tree::detail::TypeList<>, tree::leaf_types_t<Tree>>::type;
  static_assert(std::is_same_v<E, float> || std::is_same_v<E, double>,
                "optimize: x0 must be arrays of float or double");

  OnVectors(const char* function, const Tree& x0, const Arguments& args)
      : function_(function), args_(&args), unravel_(Tree(x0)) {}

  const char* function() const { return function_; }
  Tree tree_of(const Array<E>& x) const { return unravel_(x); }
  // f at x, its expressions computed.
  template <class F>
  auto value(const F& f, const Array<E>& x) const {
    return nax::detail::to_arrays(call_function<E>(function_, f, unravel_(x), *args_));
  }
  // As a vector.
  template <class F>
  Array<E> vector(const F& f, const Array<E>& x) const {
    const auto out = value(f, x);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(out)>, Array<E>>)
      return out.ndim() == 1 ? out : out.reshape(Shape{out.size()});
    else
      return tree::ravel(out).first.template astype<E>();
  }

 private:
  const char* function_;
  const Arguments* args_;
  tree::detail::Unravel<Tree, E> unravel_;
};

// A user's function of a tree, as a 0-d array of the vector of the tree.
template <class Tree, class F>
auto scalar_on(const OnVectors<Tree>& on, const F& f) {
  using E = typename OnVectors<Tree>::E;
  return [&on, &f](const Array<E>& x) {
    const Array<E> y = on.vector(f, x);
    if (y.size() != 1)
      raise<ShapeError>({on.function(), ": the function must return one number, not ", y.size()});
    return y.reshape(Shape{});
  };
}

// Fills `to` with the values of a vector, after a check of its count against the first call's.
template <class E>
void store_values(const char* function, const char* what, const Array<E>& from, Vector& to,
                  std::int64_t& count) {
  if (count < 0) count = from.size();
  if (from.size() != count)
    raise<ShapeError>(
        {function, ": ", what, " changed its size from ", count, " to ", from.size(), " elements"});
  to = values_of(from);
}
// Fills `to`, of shape (m, n), with a Jacobian.
template <class E>
void store_matrix(const char* function, const char* what, const Array<E>& from, std::size_t m, std::size_t n,
                  Matrix& to) {
  if (from.ndim() != 2 || from.shape(0) != static_cast<std::int64_t>(m) ||
      from.shape(1) != static_cast<std::int64_t>(n))
    raise<ShapeError>({function, ": ", what, " must have shape (", m, ", ", n, "), not ", from.shape()});
  const Vector rows = values_of(from);
  to = Matrix(m, n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) to(i, j) = rows[i * n + j];
}

}  // namespace detail
}  // namespace optimize
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/optimize/problem-inl.hpp"
#endif
