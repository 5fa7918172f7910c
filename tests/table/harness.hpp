#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/core/shape.hpp"
#include "nax/expr/differentiation/fused_node.hpp"

// The table of functions: a row is a function of double arrays, and the shapes and intervals of its operands.
// The checks that every row undergoes, all the machinery of transforms among them, are compiled once, in
// harness_test.cpp; a row costs its function. For each of its cases:
//
//   differentiable rows   gradient against differences, jvp = vjp, gradient of vmap, vmap of gradient, the
//                         second derivative against differences of the gradient, forward over reverse =
//                         reverse over forward, hessian, and all of it under vmap
//   all rows              vmap against a loop (any of the operands mapped, over axes 0, 1 and -1; two levels
//                         of vmap), operands that are permuted, strided, reversed or broadcast, operands left
//                         as they were
//   all rows              jit of the function and of its gradient against both without
//   rows with records     values, shapes and types against JAX's, in double and in the types the row names
namespace table {

using nax::Array;
using nax::ArrayBase;
using Real = Array<double>;
using Operands = std::vector<Real>;
using Handles = std::vector<ArrayBase>;
using Function = std::function<Real(const Operands&)>;

// Random numbers in [low, high], no two of an operand closer than a fraction of the interval; or whole
// numbers in [low, high] and a quarter more, for functions that make indices or integers of them.
struct Operand {
  nax::Shape shape = {};
  double low = -2, high = 2;
  bool whole = false;
};

// The function in another element type than double, by the name that golden records give the type.
struct Typed {
  const char* code;
  std::function<ArrayBase(const Handles&)> f;
};

enum class Smooth { no, once, twice };

struct Row {
  std::string name;
  Function f;
  std::vector<std::vector<Operand>> cases;
  Smooth smooth = Smooth::twice;
  std::vector<std::string> records = {};  // without the type
  std::vector<Typed> typed = {};
  double ulps = 16;           // what the values may differ from the records', in units of their type
  double difference = 1e-6;   // what derivatives may differ from quotients of differences
  const char* suite = "ops";  // where the records are
};

// A place in a source file. (clang 14 has no std::source_location.)
struct Where {
  const char* file;
  int line;
  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// The rows of a function become a test: Table.<function>. The text behind the first dot of a row's name tells
// it from others of its function. A failure names the file and line of the call.
bool add(std::vector<Row> rows, Where where = Where::here());
// Runs all checks of a row.
void check(const Row& row);
// Whether host_only.txt lists the row: it has no form for the GPU. A row on the list that runs there fails,
// and so does one that refuses and is not on the list.
bool is_host_only(const std::string& row);

// A result as a handle: expressions are computed.
template <class X>
auto computed(const X& x) {
  if constexpr (nax::Expression<X>)
    return nax::detail::evaluate(x);
  else
    return x;
}
// A result in double: comparisons and positions, too.
Real doubles(const ArrayBase& x);
template <class X>
Real real_of(const X& x) {
  const auto y = computed(x);
  if constexpr (std::is_same_v<std::remove_const_t<decltype(y)>, Real>)
    return y;
  else
    return doubles(y);
}

template <class T>
constexpr const char* code() {
  constexpr const char* codes[] = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                   "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  return codes[static_cast<int>(nax::dtype_of<T>)];
}

// The element types that a row names.
template <class... T>
struct Types {};
using Floats = Types<float, nax::half, nax::bfloat16>;
using Integers = Types<std::int8_t, std::int32_t, std::uint8_t>;

// The values alone, without what a tape would need: a third of the compiler's work.
template <class X>
ArrayBase values(const X& x) {
  if constexpr (nax::Expression<X>) {
    const ArrayBase result = nax::detail::allocate(nax::dtype_of<typename X::value_type>, x.frame());
    const nax::detail::Parts<X> parts(x);
    nax::detail::compute(nax::detail::kernel_table<X>, parts.constants.slots, parts.leaves, x.frame(),
                         result);
    return result;
  } else {
    return x;
  }
}

template <int arity, class T, class F>
Typed typed(F f) {
  return {code<T>(), [f](const Handles& x) -> ArrayBase {
            if constexpr (arity == 1)
              return values(f(nax::detail::typed<T>(x[0])));
            else
              return values(f(nax::detail::typed<T>(x[0]), nax::detail::typed<T>(x[1])));
          }};
}

// A function of the operands in double alone.
template <class F>
Row row(std::string name, F f, std::vector<std::vector<Operand>> cases, Smooth smooth = Smooth::twice) {
  Row r{std::move(name), [f](const Operands& x) { return real_of(f(x)); }, std::move(cases), smooth};
  r.records = {r.name};
  return r;
}
// JAX has no records of it.
inline Row unrecorded(Row r) {
  r.records.clear();
  return r;
}
inline Row from_suite(const char* suite, Row r) {
  r.suite = suite;
  return r;
}
inline Row with_ulps(double ulps, Row r) {
  r.ulps = ulps;
  return r;
}

// A function of one operand or two, in double and in the types named.
template <int arity, class F, class... T>
Row row(std::string name, F f, std::vector<std::vector<Operand>> cases, Types<T...>,
        Smooth smooth = Smooth::twice) {
  Row r{std::move(name), {}, std::move(cases), smooth};
  r.f = [f](const Operands& x) -> Real {
    if constexpr (arity == 1)
      return real_of(f(x[0]));
    else
      return real_of(f(x[0], x[1]));
  };
  (r.typed.push_back(typed<arity, T>(f)), ...);
  r.records = {r.name};
  return r;
}

struct Interval {
  double low = -2, high = 2;
};
// Elementwise functions: every way in which shapes meet.
template <class F, class Named = Types<>>
Row unary(std::string name, F f, Interval in, Named named = {}, Smooth smooth = Smooth::twice) {
  const auto of = [&](nax::Shape shape) { return std::vector<Operand>{{shape, in.low, in.high}}; };
  Row r = row<1>(std::move(name), f, {of({3, 5}), of({}), of({0, 3})}, named, smooth);
  for (const char* tag : {".0d", ".special", ".empty"}) r.records.push_back(r.name + tag);
  return r;
}
template <class F, class Named = Types<>>
Row binary(std::string name, F f, Interval a, Interval b, Named named = {}, Smooth smooth = Smooth::twice) {
  const auto of = [&](nax::Shape p, nax::Shape q) {
    return std::vector<Operand>{{p, a.low, a.high}, {q, b.low, b.high}};
  };
  Row r = row<2>(std::move(name), f,
                 {of({3, 4}, {3, 4}), of({3, 1}, {4}), of({2, 3}, {}), of({}, {}), of({0, 3}, {3})}, named,
                 smooth);
  for (const char* tag : {".broadcast", ".rows", ".scalar", ".0d", ".empty", ".special"})
    r.records.push_back(r.name + tag);
  return r;
}

}  // namespace table

// A function by name, as an object: of any operands.
#define NAX_FUNCTION(function) [](const auto&... x) { return function(x...); }
