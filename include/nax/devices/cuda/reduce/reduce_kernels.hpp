#pragma once

#include <algorithm>

#include "nax/backend/operations.hpp"
#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/launch/complex_parts.hpp"
#include "nax/devices/cuda/reduce/reduce_bodies.hpp"

// Reductions, in one launch, or in two where few results are made of many elements.
NAX_BEGIN
namespace cuda {

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

// How a reduction is shared out. The numbers depend on the shapes alone, and so do the results.
struct ReducePlan {
  bool rows;
  int threads = block_of_rows;  // of a team
  std::int64_t parts = 1, run;

  static constexpr int block_of_rows = 256;
  static constexpr std::int64_t enough_blocks = 1024;  // more would not make a GPU faster

  // Exact results may be shared out among more teams than those that round, whose numbers stay as they are.
  ReducePlan(const PartedAxes& axes, std::int64_t results, std::int64_t n, bool exact)
      : rows(axes.gone_inside()), run(std::max<std::int64_t>(n, 1)) {
    if (rows && n <= 2048) {
      for (threads = 1; threads < 32 && threads * 8 < n;) threads *= 2;
      return;
    }
    const std::int64_t blocks = rows ? results : (results + 31) / 32;
    const std::int64_t least = !rows ? 128 : exact ? 2048 : 8192;  // elements of a part
    const std::int64_t wanted = std::min(enough_blocks / blocks, n / least);
    if (wanted < 2) return;
    run = ((n + wanted - 1) / wanted + 63) / 64 * 64;  // parts begin where pieces do
    parts = (n + run - 1) / run;
  }
};

template <class A, class T, class Reducer>
void launch_reduce_as(Device device, const PartedAxes& axes, const Reducer& reducer) {
  using State = typename Reducer::State;
  const ReduceBody<Reducer, A, T> base{reducer,
                                       make_loop<2>(axes.kept, axes.kept_operands),
                                       make_loop<1>(axes.gone, &axes.gone_operand),
                                       {axes.kept_operands[0].stored},
                                       axes.kept_operands[1].stored,
                                       1,
                                       0,
                                       nullptr};
  const std::int64_t results = base.kept.size;
  if (results == 0) return;
  const ReducePlan plan(axes, results, base.gone.size, Reducer::exact);
  const auto reduce = [&](State* states) {
    auto body = base;
    body.parts = plan.parts;
    body.run = plan.run;
    body.states = states;
    if (plan.rows)
      return launch_teams(device, results * plan.parts, plan.threads, ReduceRows<Reducer, A, T>{body});
    const std::int64_t tiles = (results + tile_columns - 1) / tile_columns;
    launch_tiles(device, tiles * plan.parts, ReduceColumns<Reducer, A, T>{body, tiles});
  };
  if (plan.parts == 1) return reduce(nullptr);
  const Scratch scratch(device, static_cast<std::size_t>(results * plan.parts) * sizeof(State));
  State* const states = reinterpret_cast<State*>(scratch.data());
  reduce(states);
  launch_teams(device, results, plan.parts > 32 ? ReducePlan::block_of_rows : 32,
               JoinParts<Reducer>{reducer, base.kept, base.result, plan.parts, states});
}

// Floating elements have kernels of their own.
template <class A, class Reducer>
void launch_reduce_with(Device device, const PartedAxes& axes, const Reducer& reducer) {
  const DType stored = axes.kept_operands[0].stored;
  if constexpr (std::is_same_v<A, float>) {
    if (stored == DType::float32) return launch_reduce_as<A, float>(device, axes, reducer);
    if (stored == DType::bfloat16) return launch_reduce_as<A, bfloat16>(device, axes, reducer);
    if (stored == DType::float16) return launch_reduce_as<A, half>(device, axes, reducer);
  }
  if constexpr (std::is_same_v<A, double>)
    if (stored == DType::float64) return launch_reduce_as<A, double>(device, axes, reducer);
  launch_reduce_as<A, void>(device, axes, reducer);
}

// Sums are divided by `divisor`, which is 1 for integers. Throws DeviceError for complex elements, but in
// sums and products.
inline void launch_reduce(Device device, loops::ReduceKind kind, const Dims& shape, const Dims& reduced,
                          const loops::Operand& from, const loops::Operand& to, double divisor = 1) {
  using loops::ReduceKind;
  if (kind == ReduceKind::sum && is_complex(from.stored) && from.stored == to.stored) {
    Dims with_parts = shape, reduced_parts = reduced;
    with_parts.push_back(2);
    reduced_parts.push_back(0);
    return launch_reduce(device, kind, with_parts, reduced_parts, parts_of(from), parts_of(to), divisor);
  }
  const PartedAxes axes(shape, reduced, from, to);
  if (kind == ReduceKind::product)
    return with_factors(to.stored, [&]<class A>(std::type_identity<A>) {
      if constexpr (!is_complex_v<A>) check_real(from.stored);
      launch_reduce_as<A, void>(device, axes, ProductReducer<A>{});
    });
  check_real(from.stored);
  const bool of_truth = kind == ReduceKind::any || kind == ReduceKind::all;  // in the operand's type
  with_wide(of_truth ? from.stored : to.stored, [&]<class A>(std::type_identity<A>) {
    switch (kind) {
      case ReduceKind::sum:
        return launch_reduce_with<A>(device, axes, SumReducer<A>{static_cast<A>(divisor)});
      case ReduceKind::product:
        break;  // above
      case ReduceKind::max:
      case ReduceKind::min: {
        const bool greatest = kind == ReduceKind::max;
        return launch_reduce_with<A>(
            device, axes, ExtremeReducer<A>{extreme_identity<A>(to.stored, greatest), greatest, false});
      }
      case ReduceKind::any:
      case ReduceKind::all: {
        const bool any = kind == ReduceKind::any;
        return launch_reduce_with<A>(device, axes, ExtremeReducer<A>{any ? A(0) : A(1), any, true});
      }
    }
    no_such_value(kind);
  });
}

// ---- places of extrema

inline void launch_arg_reduce(Device device, bool greatest, const Dims& shape, const Dims& reduced,
                              const loops::Operand& from, const loops::Operand& to) {
  const PartedAxes axes(shape, reduced, from, to);
  with_wide(from.stored, [&]<class A>(std::type_identity<A>) {
    launch_reduce_with<A>(device, axes, ArgReducer<A>{greatest});
  });
}

}  // namespace cuda
NAX_END
