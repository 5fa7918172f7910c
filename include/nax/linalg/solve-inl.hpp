#pragma once

#include "nax/linalg/solve.hpp"

NAX_BEGIN
namespace detail {

// Matrices of an operand over the batches of a result.
inline loops::StridedMatrices matrices_over(const Layout& x, const Frame& batches) {
  const std::size_t rank = x.shape.size();
  Layout leading = x;
  leading.shape.pop_back(), leading.strides.pop_back();
  leading.shape.pop_back(), leading.strides.pop_back();
  return {x.strides[rank - 2], x.strides[rank - 1], strides_over(leading, batches)};
}

// Solves by the operation of the operands' device; the identity where b is null. Not recorded.
NAX_ENGINE ArrayBase solved(const char* function, SystemKind kind, const ArrayBase& a, const ArrayBase* b,
                            const Frame& batches) {
  const Layout& la = layout_of(a);
  loops::LinearSystems systems;
  systems.kind = kind;
  systems.n = la.shape.back();
  systems.m = b ? layout_of(*b).shape.back() : systems.n;
  Frame frame = batches;
  frame.shape.push_back(systems.n);
  frame.shape.push_back(systems.m);
  const Device device = b ? device_for(function, a, *b) : device_for(function, a);
  ArrayBase result = allocate(a.dtype(), frame, device);
  if (frame.size() == 0) return result;
  systems.batches = batches.shape;
  systems.a = matrices_over(la, batches);
  if (b) systems.b = matrices_over(layout_of(*b), batches);
  backend::run(device, ops::Solve{systems, a.dtype()},
               {device_data(a), b ? device_data(*b) : nullptr, device_data(result)});
  return result;
}

NAX_ENGINE ArrayBase solve_systems(SystemKind kind, const ArrayBase& a, const ArrayBase& b) {
  const char* const name = kind == SystemKind::general ? "solve" : "solve_triangular";
  const Frame batches = broadcast(name, leading_axes(layout_of(a)), leading_axes(layout_of(b)));
  ArrayBase result = solved(name, kind, a, &b, batches);
  check_result(name, result, {&a, &b});
  if (!may_be_recorded(a) && !may_be_recorded(b)) return result;
  const Frame fa = layout_of(a), fb = layout_of(b), frame = layout_of(result);
  // The part of a that is read.
  const auto read = [kind](const ArrayBase& x) {
    if (kind == SystemKind::general) return x;
    return triangle(x, is_lower(kind), is_unit(kind) ? 0 : 1);
  };
  const auto back = [a, kind](const ArrayBase& g) {
    return solve_systems(transposed(kind), transpose_matrices(a), g);
  };
  return record_with_result(
      std::move(result),
      wrt(
          a,
          [=](const ArrayBase& g, const ArrayBase& x) {
            return read(
                contract(negated(back(g)), transpose_matrices(x), with_new_levels(fa, frame, layout_of(g))));
          },
          [=](const ArrayBase& t, const ArrayBase& x) {
            return negated(solve_systems(kind, a, matmul_arrays(name, read(t), x)));
          }),
      wrt(
          b, [=](const ArrayBase& g, const ArrayBase&) { return sum_to(back(g), fb, frame); },
          [=](const ArrayBase& t, const ArrayBase&) { return solve_systems(kind, a, t); }));
}

NAX_ENGINE ArrayBase solve_operands(const char* function, SystemKind kind, const ArrayBase& a,
                                    const ArrayBase& b) {
  check_square(function, a);
  check_operand(function, b);
  if (b.ndim() == 0 || b.shape(b.ndim() == 1 ? 0 : -2) != a.shape(-1))
    throw_inner(function, a.shape(), b.shape());
  const int rank = std::max(a.ndim(), b.ndim());
  const ArrayBase left = with_unit_axes(a, rank - a.ndim(), false);
  ArrayBase x = solve_systems(kind, left, with_unit_axes(b, rank - std::max(b.ndim(), 2), b.ndim() == 1));
  if (b.ndim() > 1) return x;
  const Shape shape = x.shape();
  return restride(x, with_visible(layout_of(x), Dims(shape.begin(), shape.end() - 1)));
}

NAX_ENGINE ArrayBase inverse(const ArrayBase& a) {
  ArrayBase result = solved("inv", SystemKind::general, a, nullptr, leading_axes(layout_of(a)));
  check_result("inv", result, {&a});
  const auto product = [](const ArrayBase& x, const ArrayBase& y, const ArrayBase& z) {
    return negated(matmul_arrays("inv", matmul_arrays("inv", x, y), z));
  };
  return record_with_result(std::move(result),
                            wrt(
                                a,
                                [=](const ArrayBase& g, const ArrayBase& y) {
                                  const ArrayBase t = transpose_matrices(y);
                                  return product(t, g, t);
                                },
                                [=](const ArrayBase& t, const ArrayBase& y) { return product(y, t, y); }));
}

}  // namespace detail
NAX_END
