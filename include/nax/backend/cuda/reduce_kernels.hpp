#pragma once

#include <algorithm>

#include "nax/backend/cuda/elements.hpp"
#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/loop.hpp"
#include "nax/backend/cuda/scratch.hpp"
#include "nax/backend/operations.hpp"

// Reductions without atomics and without threads that wait for each other: the results never depend on who
// came first.
//
// The axes are divided into two loops: kept axes and reduced axes. Where few results must be made of many
// elements, each is made in several stages: thread (r, p) joins elements p, p + parts, ... of result r, and
// the next stage joins the parts. Partial results lie so that neighbouring threads read neighbouring memory:
// parts side by side where the reduced axes are the inner ones, results side by side otherwise.
NAX_BEGIN
namespace cuda {

struct JoinNumbers {
  template <class A>
  static constexpr A read(A x) {
    return x;
  }
};
struct JoinSum : JoinNumbers {
  template <class A>
  static constexpr A join(A a, A b) {
    return a + b;
  }
};
struct JoinProduct : JoinNumbers {
  template <class A>
  static constexpr A join(A a, A b) {
    return a * b;
  }
};
// NaN wins.
struct JoinMax : JoinNumbers {
  template <class A>
  static constexpr A join(A a, A b) {
    return a > b || a != a ? a : b;
  }
};
struct JoinMin : JoinNumbers {
  template <class A>
  static constexpr A join(A a, A b) {
    return a < b || a != a ? a : b;
  }
};

// Truth is 1; NaN is true.
struct JoinTruth {
  template <class A>
  static constexpr A read(A x) {
    return A(x != A(0));
  }
};
struct JoinAny : JoinTruth {
  template <class A>
  static constexpr A join(A a, A b) {
    return a > b ? a : b;
  }
};
struct JoinAll : JoinTruth {
  template <class A>
  static constexpr A join(A a, A b) {
    return a < b ? a : b;
  }
};

template <class Join, class A>
struct ReducePart {
  using Sum = std::conditional_t<std::is_signed_v<A> && std::is_integral_v<A> &&
                                     (std::is_same_v<Join, JoinSum> || std::is_same_v<Join, JoinProduct>),
                                 std::uint64_t, A>;  // which wraps around where signed numbers may not
  // Floats add up in blocks, and these in double: no chain of additions is long.
  static constexpr bool in_blocks = std::is_same_v<Join, JoinSum> && std::is_same_v<A, float>;
  static constexpr int block = 32;
  using Total = std::conditional_t<in_blocks, double, Sum>;
  Loop<2> kept;  // from, to
  Loop<1> gone;  // from
  DType stored, result;
  A identity;
  std::int64_t parts;
  bool parts_inside;
  char* partial;  // of type A; none where there is one part

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t part = parts_inside ? i % parts : i / kept.size;
    const std::int64_t r = parts_inside ? i / parts : i % kept.size;
    char* at[2];
    kept.locate_any(r, at);
    Loop<1> elements = gone;
    elements.data[0] = at[0];
    Total total = static_cast<Total>(identity);
    for (std::int64_t j = part; j < gone.size;) {
      Sum sum = static_cast<Sum>(identity);
      for (std::int64_t n = 0; (!in_blocks || n < block) && j < gone.size; ++n, j += parts) {
        char* x[1];
        elements.locate_any(j, x);
        sum = Join::join(sum, static_cast<Sum>(Join::read(load_as<A>(stored, x[0]))));
      }
      total = Join::join(total, static_cast<Total>(sum));
    }
    if (partial)
      reinterpret_cast<A*>(partial)[i] = static_cast<A>(total);
    else
      store_as<A>(result, at[1], static_cast<A>(total));
  }
};

// The loops over the axes that stay and over those that go.
struct PartedAxes {
  Dims kept, gone;
  loops::Operand kept_operands[2], gone_operand;

  PartedAxes(const Dims& shape, const Dims& reduced, const loops::Operand& from, const loops::Operand& to)
      : kept_operands{{from.data, {}, from.stored, from.lane}, {to.data, {}, to.stored, to.lane}},
        gone_operand{from.data, {}, from.stored, from.lane} {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (reduced[axis]) {
        gone.push_back(shape[axis]);
        gone_operand.strides.push_back(from.strides[axis]);
      } else {
        kept.push_back(shape[axis]);
        kept_operands[0].strides.push_back(from.strides[axis]);
        kept_operands[1].strides.push_back(to.strides[axis]);
      }
    }
    loops::collapse(kept, kept_operands, 2);
    loops::collapse(gone, &gone_operand, 1);
  }
  // Are neighbours in memory joined, rather than kept apart?
  bool gone_inside() const {
    const auto step = [](const Dims& strides) {
      return strides.empty() ? INT64_MAX : std::abs(strides.back());
    };
    return step(gone_operand.strides) <= step(kept_operands[0].strides);
  }
};

inline constexpr std::int64_t reduce_threads = 1 << 16;  // more would not make a GPU faster

template <class Join, class A>
void launch_reduce_as(Device device, const PartedAxes& axes, A identity) {
  ReducePart<Join, A> body{make_loop<2>(axes.kept, axes.kept_operands),
                           make_loop<1>(axes.gone, &axes.gone_operand),
                           axes.kept_operands[0].stored,
                           axes.kept_operands[1].stored,
                           identity,
                           1,
                           axes.gone_inside(),
                           nullptr};
  const std::int64_t results = body.kept.size, elements = body.gone.size;
  if (results == 0) return;
  body.parts =
      std::clamp<std::int64_t>(std::min((elements + 15) / 16, reduce_threads / results), 1, reduce_threads);
  if (body.parts == 1) return launch(device, results, body);

  const Scratch scratch(device, static_cast<std::size_t>(results * body.parts) * sizeof(A));
  body.partial = scratch.data();
  launch(device, results * body.parts, body);
  // The parts are an array of results and parts, reduced like any other.
  PartedAxes rest = axes;
  rest.kept = Dims(1, results);
  rest.gone = Dims(1, body.parts);
  rest.gone_operand = {body.partial, Dims(1, body.parts_inside ? 1 : results), dtype_of<A>, dtype_of<A>};
  loops::Operand& to = rest.kept_operands[1];
  rest.kept_operands[0] = {body.partial, Dims(1, body.parts_inside ? body.parts : 1), dtype_of<A>,
                           dtype_of<A>};
  if (to.strides.size() != 1) to.strides = Dims(1, 1);  // a result is row-major: one axis, or none
  launch_reduce_as<Join, A>(device, rest, identity);
}

// The extremum of no elements: the other end of the dtype.
template <class A>
A extreme_identity(DType dtype, bool lowest) {
  return with_type(dtype, [lowest]<class T>(std::type_identity<T>) -> A {
    using L = std::conditional_t<is_floating_v<T>, std::conditional_t<sizeof(T) == 8, double, float>, T>;
    if constexpr (std::is_floating_point_v<L>)
      return static_cast<A>(lowest ? -std::numeric_limits<L>::infinity()
                                   : std::numeric_limits<L>::infinity());
    else
      return static_cast<A>(lowest ? std::numeric_limits<L>::lowest() : std::numeric_limits<L>::max());
  });
}

inline void launch_reduce(Device device, loops::ReduceKind kind, const Dims& shape, const Dims& reduced,
                          const loops::Operand& from, const loops::Operand& to) {
  check_real(from.stored);
  const PartedAxes axes(shape, reduced, from, to);
  const bool of_truth =
      kind == loops::ReduceKind::any || kind == loops::ReduceKind::all;  // accumulates in the operand's type
  with_wide(of_truth ? from.stored : to.stored, [&]<class A>(std::type_identity<A>) {
    switch (kind) {
      case loops::ReduceKind::sum:
        return launch_reduce_as<JoinSum, A>(device, axes, A(0));
      case loops::ReduceKind::product:
        return launch_reduce_as<JoinProduct, A>(device, axes, A(1));
      case loops::ReduceKind::max:
        return launch_reduce_as<JoinMax, A>(device, axes, extreme_identity<A>(to.stored, true));
      case loops::ReduceKind::min:
        return launch_reduce_as<JoinMin, A>(device, axes, extreme_identity<A>(to.stored, false));
      case loops::ReduceKind::any:
        return launch_reduce_as<JoinAny, A>(device, axes, A(0));
      case loops::ReduceKind::all:
        return launch_reduce_as<JoinAll, A>(device, axes, A(1));
    }
    no_such_value(kind);
  });
}

// ---- places of extrema

template <class A>
struct ArgReduce {
  Loop<2> kept;
  Loop<1> gone;
  DType stored;
  bool greatest;

  constexpr bool beats(A a, A b) const { return (greatest ? a > b : a < b) || (a != a && b == b); }
  constexpr void operator()(std::int64_t r) const {
    char* at[2];
    kept.locate_any(r, at);
    Loop<1> elements = gone;
    elements.data[0] = at[0];
    std::int64_t place = 0;
    A best = load_as<A>(stored, at[0]);
    for (std::int64_t j = 1; j < gone.size; ++j) {
      char* x[1];
      elements.locate_any(j, x);
      const A value = load_as<A>(stored, x[0]);
      if (beats(value, best)) best = value, place = j;
    }
    *reinterpret_cast<std::int32_t*>(at[1]) = static_cast<std::int32_t>(place);
  }
};

inline void launch_arg_reduce(Device device, bool greatest, const Dims& shape, const Dims& reduced,
                              const loops::Operand& from, const loops::Operand& to) {
  const PartedAxes axes(shape, reduced, from, to);
  with_wide(from.stored, [&]<class A>(std::type_identity<A>) {
    const ArgReduce<A> body{make_loop<2>(axes.kept, axes.kept_operands),
                            make_loop<1>(axes.gone, &axes.gone_operand), from.stored, greatest};
    launch(device, body.kept.size, body);
  });
}

}  // namespace cuda
NAX_END
