#pragma once

#include <memory>
#include <optional>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/reduce/pull_along.hpp"
#include "nax/backend/cpu/reduce/reducers.hpp"

// Reductions over any axes, of an array or of a fused expression.
//
// The axes are ordered by the strides of what is read, so that memory is walked as it lies. A plain array is
// then reduced in place, by runs or by rows; anything else goes chunk by chunk through tiles (see tiles.hpp).
// The result is row-major; over the loop its strides are 0 on the axes that go.
//
// Where many terms come to a result, its accumulators are wide, and are brought back to the result's type in
// the end.
//
// Threads share out an axis that stays. Where none does, the loop is cut into parts whose number depends on
// its size only; each has accumulators of its own, and these are merged in order: the result does not depend
// on the threads.
NAX_BEGIN
namespace cpu {
namespace detail {

// Moves the axes with large strides outward. The operation must be commutative.
NAX_ENGINE void order_axes(Dims& shape, Operand* operands, int count, int total);

// The whole of a loop, in this thread. The last operand is the result, already filled.
NAX_ENGINE void reduce_plain(const Dims& shape, const Operand* operands, const Reducer& reducer);

NAX_ENGINE void reduce_tiles(ForwardKernel kernel, const void* constants, const Dims& shape,
                             const Operand* operands, int count, const Reducer& reducer, bool wide,
                             const PullAlong* along);

NAX_COMPILED_ONCE void reduce_here(ForwardKernel kernel, const void* constants, const Dims& shape,
                                   const Operand* operands, int count, const Reducer& reducer, bool wide,
                                   const PullAlong* along) {
  for (std::int64_t d : shape)
    if (d == 0) return;
  const bool in_runs = !kernel && !along && operands[0].stored == operands[0].lane &&
                       (shape.empty() || operands[0].strides.back() == 1);
  // Rows that go to different places one after the other had better meet accumulators of their own type.
  const Dims& result = operands[count].strides;
  const bool plain = in_runs && (!wide || shape.empty() || result.back() == 0 || takes_rows(shape, result));
  if (plain)
    reduce_plain(shape, operands, wide ? *reducer.wide : reducer);
  else
    reduce_tiles(kernel, constants, shape, operands, count, reducer, wide, along);
}

// The part [begin, end) of one axis of a loop.
NAX_ENGINE void cut(Dims& shape, Operand* operands, int total, std::size_t axis, std::int64_t begin,
                    std::int64_t end);

// Shares a loop out.
NAX_COMPILED_ONCE void reduce_shared(ForwardKernel kernel, const void* constants, const Dims& shape,
                                     const Operand* operands, int count, std::int64_t result_size,
                                     const Reducer& reducer, bool wide, const PullAlong* along) {
  const int total = along ? 2 * count + 1 : count + 1;
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  const auto here = [&] { reduce_here(kernel, constants, shape, operands, count, reducer, wide, along); };
  if (size <= parallel_grain || shape.empty()) return here();

  const auto part = [&](std::size_t axis, std::int64_t begin, std::int64_t end, char* result) {
    Dims own = shape;
    Operand sub[max_operands];
    for (int o = 0; o < total; ++o) sub[o] = operands[o];
    if (result) sub[count].data = result;
    cut(own, sub, total, axis, begin, end);
    reduce_here(kernel, constants, own, sub, count, reducer, wide, along);
  };
  // Gradients that are sums are added up in one thread, in a fixed order.
  const auto share_out = [&](std::int64_t n, std::int64_t grain,
                             FunctionRef<void(std::int64_t begin, std::int64_t end)> f) {
    if (along && along->any_summed)
      f(0, n);
    else  // by grains, so that how terms are grouped does not depend on the threads
      parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; begin += grain) f(begin, std::min(begin + grain, end));
      });
  };
  std::size_t kept = shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (operands[count].strides[axis] != 0 && (kept == shape.size() || shape[axis] > 4 * shape[kept]))
      kept = axis;
  constexpr std::int64_t parts = 16;
  if (kept < shape.size() && shape[kept] >= parts) {
    const std::int64_t line = size / shape[kept];
    std::int64_t grain = (parallel_grain + line - 1) / line;
    if (kept + 1 == shape.size()) grain = (grain + 63) / 64 * 64;  // whole packets to each
    return share_out(shape[kept], grain,
                     [&](std::int64_t begin, std::int64_t end) { part(kept, begin, end, nullptr); });
  }
  if (shape[0] < 2 * parts || result_size > parallel_grain || operands[count].strides[0] != 0) return here();
  const Reducer& into = wide ? *reducer.wide : reducer;
  const std::int64_t bytes = result_size * static_cast<std::int64_t>(dtype_size(into.to));
  const std::unique_ptr<char[]> partial(new char[static_cast<std::size_t>(parts * bytes)]);
  into.fill(partial.get(), parts * result_size);
  const std::int64_t step = (shape[0] + parts - 1) / parts;
  share_out(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t first = std::min(p * step, shape[0]), last = std::min(first + step, shape[0]);
      if (first < last) part(0, first, last, partial.get() + p * bytes);
    }
  });
  for (std::int64_t p = 0; p < parts; ++p)
    into.merge(partial.get() + p * bytes, operands[count].data, result_size);
}

// Reduces with wide accumulators where many terms come to a result, or to a gradient.
NAX_COMPILED_ONCE void reduce_wide(ForwardKernel kernel, const void* constants, const Dims& shape,
                                   Operand* operands, int count, std::int64_t result_size,
                                   const Reducer& reducer, bool wide, const PullAlong* along) {
  std::optional<WideGradients> gradients;
  if (along && along->any_summed) gradients.emplace(*along, shape, operands + count + 1, count);
  Operand& result = operands[count];
  char* const narrow = result.data;
  Accumulators accumulators;
  if (wide) {
    const DType type = reducer.wide->to;
    result.data = accumulators.allocate(static_cast<std::size_t>(result_size) * dtype_size(type));
    result.stored = result.lane = type;
  }
  reduce_shared(kernel, constants, shape, operands, count, result_size, reducer, wide, along);
  if (wide) reducer.narrow(result.data, narrow, result_size);
  if (gradients) gradients->finish();
}

}  // namespace detail

// `operands`: `count` leaves, then the result: row-major, `result_size` elements of the accumulator's type,
// filled here; then, where something is pulled along (instead of the kernel), the gradients of the leaves.
// All are used up. A null kernel means: the one leaf itself.
NAX_ENGINE void reduce(ForwardKernel kernel, const void* constants, Dims shape, Operand* operands, int count,
                       std::int64_t result_size, const Reducer& reducer, const PullAlong* along = nullptr);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/reduce/reduce-inl.hpp"
#endif
