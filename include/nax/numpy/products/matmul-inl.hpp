#pragma once

#include "nax/numpy/products/matmul.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool fold_axis(Product& p, const BatchAxis& x) {
  if (x.summed) {
    if (p.k != 1 && (x.a != p.k * p.a_column || x.b != p.k * p.b_row)) return false;
    if (p.k == 1) p.a_column = x.a, p.b_row = x.b;
    p.k *= x.extent;
    return true;
  }
  if (x.b == 0 && (p.m == 1 || (x.a == p.m * p.a_row && x.c == p.m * p.c_row))) {
    if (p.m == 1) p.a_row = x.a, p.c_row = x.c;
    p.m *= x.extent;
    return true;
  }
  if (x.a == 0 && (p.n == 1 || (x.b == p.n * p.b_column && x.c == p.n * p.c_column))) {
    if (p.n == 1) p.b_column = x.b, p.c_column = x.c;
    p.n *= x.extent;
    return true;
  }
  return false;
}

NAX_ENGINE void run_batch_on_device(Device device, DType dtype, const Product& p, const BatchAxis* axes,
                                    int count, char* a, char* b, char* c, bool accumulate) {
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  const bool one_call = count == 0 || (count == 1 && !axes[0].summed);
  const BatchAxis x = count == 0 ? BatchAxis{1, 0, 0, 0, false} : axes[0];
  if (one_call) {
    backend::accelerator_operations(device).matmul(
        device, dtype, x.extent, p.m, p.n, p.k, {a, x.a, p.a_row, p.a_column}, {b, x.b, p.b_row, p.b_column},
        {c, x.c, p.c_row, p.c_column}, accumulate);
    return;
  }
  for (std::int64_t i = 0; i < x.extent; ++i)
    run_batch_on_device(device, dtype, p, axes + 1, count - 1, a + i * x.a * bytes, b + i * x.b * bytes,
                        c + i * x.c * bytes, accumulate || (x.summed && i > 0));
}

NAX_ENGINE Frame leading_axes(const Frame& x) {
  Frame f = x;
  f.shape.pop_back();
  f.shape.pop_back();
  return f;
}

NAX_ENGINE Frame product_frame(const char* function, const Frame& a, const Frame& b) {
  Frame all;
  try {
    all = broadcast(function, leading_axes(a), leading_axes(b));
  } catch (const ShapeError&) {
    throw_broadcast(function, a, b);  // with all axes
  }
  all.shape.push_back(a.visible(a.ndim() - 2));
  all.shape.push_back(b.visible(b.ndim() - 1));
  return all;
}

NAX_ENGINE Frame with_new_levels(const Frame& value, const Frame& primal, const Frame& other) {
  Frame frame = value;
  for (int h = 0; h < other.hidden(); ++h) {
    const Level level = other.levels[h];
    if (contains(primal.levels, level) || contains(frame.levels, level)) continue;
    std::size_t at = 0;
    while (at < frame.levels.size() && frame.levels[at] < level) ++at;
    frame.levels.insert(at, level);
    frame.shape.insert(at, other.shape[h]);
  }
  return frame;
}

}  // namespace detail
NAX_END
