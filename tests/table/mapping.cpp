#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/copy.hpp"
#include "table/checks.hpp"

namespace table {
namespace {

constexpr int kBatch = 3;

// Equal shapes stacked along a new axis, row-major.
Real stacked(const std::vector<Real>& parts, int axis) {
  Dims shape = parts[0].shape();
  std::int64_t inner = 1;
  for (int i = axis; i < parts[0].ndim(); ++i) inner *= parts[0].shape(i);
  const std::int64_t outer = inner == 0 ? 0 : parts[0].size() / inner,
                     n = static_cast<std::int64_t>(parts.size());
  shape.insert(static_cast<std::size_t>(axis), n);
  Numbers to(static_cast<std::size_t>(nax::Shape(shape).count()));
  for (std::int64_t b = 0; b < n; ++b) {
    const Numbers from = parts[static_cast<std::size_t>(b)].to_vector();
    for (std::int64_t i = 0; i < outer; ++i)
      for (std::int64_t j = 0; j < inner; ++j)
        to[static_cast<std::size_t>((i * n + b) * inner + j)] = from[static_cast<std::size_t>(i * inner + j)];
  }
  return array_of(shape, to);
}
int place(int axis, int ndim) { return axis < 0 ? ndim : axis > ndim ? 0 : axis; }

struct Batch {
  Operands x;                      // the mapped operands stacked
  std::vector<nax::Axes> axes;     // where
  std::vector<Operands> examples;  // what each call sees
};
Batch batched(const std::vector<Operands>& points, unsigned mask, int axis) {
  Batch batch;
  batch.examples = points;
  for (std::size_t k = 0; k < points[0].size(); ++k) {
    if (mask >> k & 1) {
      std::vector<Real> parts;
      for (const Operands& p : points) parts.push_back(p[k]);
      const int at = place(axis, points[0][k].ndim());
      batch.x.push_back(stacked(parts, at));
      batch.axes.push_back(axis < 0 ? nax::Axes(-1) : nax::Axes(at));
    } else {
      batch.x.push_back(points[0][k]);
      batch.axes.push_back(nax::none);
      for (Operands& example : batch.examples) example[k] = points[0][k];
    }
  }
  return batch;
}
Real looped(const Function& f, const std::vector<Operands>& examples, int axis) {
  std::vector<Real> rows;
  for (const Operands& x : examples) rows.push_back(f(x));
  return stacked(rows, place(axis, rows[0].ndim()));
}
std::vector<Operands> transposed(const std::vector<Operands>& rows) {
  std::vector<Operands> columns(rows[0].size());
  for (const Operands& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) columns[k].push_back(row[k]);
  return columns;
}

void check_batch(const Row& row, const Batch& batch, int axis, Random& random) {
  const Function& f = row.f;
  const Real want = looped(f, batch.examples, 0);
  expect_close("vmap against a loop", mapped(f, batch.x, batch.axes, 0), want, kExact);
  if (axis < 0)
    expect_close("out_axes -1", mapped(f, batch.x, batch.axes, -1), looped(f, batch.examples, -1), kExact);
  if (row.smooth == Smooth::no) return;

  std::vector<Real> w;
  const nax::Shape shape = f(batch.examples[0]).shape();
  for (int b = 0; b < kBatch; ++b) w.push_back(array_of(Operand{shape, -1, 1}, random));
  const Real ws = stacked(w, 0);
  std::vector<Operands> gradients;
  for (int b = 0; b < kBatch; ++b)
    gradients.push_back(
        gradient(f, batch.examples[static_cast<std::size_t>(b)], w[static_cast<std::size_t>(b)]));
  const std::vector<Operands> columns = transposed(gradients);

  Operands of_vmap;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const nax::Axes& at = batch.axes[k];
    const int ndim = columns[k][0].ndim();
    of_vmap.push_back(at.is_none() ? Real(nax::sum(stacked(columns[k], 0), {.axis = 0}))
                                   : stacked(columns[k], at.axis() < 0 ? ndim : at.axis()));
  }
  const Function all = [&](const Operands& x) { return mapped(f, x, batch.axes, 0); };
  expect_close("grad of vmap", gradient(all, batch.x, ws), of_vmap, kExact);

  // The cotangent is mapped, too, as one more operand; so is a tangent.
  Operands x = batch.x;
  std::vector<nax::Axes> axes = batch.axes;
  x.push_back(ws);
  axes.push_back(0);
  const auto own = [](const Operands& a, std::size_t n) {
    return Operands(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n));
  };
  const std::size_t n = batch.x.size();
  Operands rows;
  for (const Operands& column : columns) rows.push_back(stacked(column, 0));
  expect_close("vmap of grad",
               mapped([&](const Operands& a) { return gradient(f, own(a, n), a[n]); }, x, axes), rows,
               kExact);
  if (row.smooth != Smooth::twice || axis != 0) return;

  const Operands v = like(batch.examples[0], random);
  rows.clear();
  std::vector<Operands> seconds;
  for (int b = 0; b < kBatch; ++b)
    seconds.push_back(
        second(f, batch.examples[static_cast<std::size_t>(b)], w[static_cast<std::size_t>(b)], v));
  for (const Operands& column : transposed(seconds)) rows.push_back(stacked(column, 0));
  expect_close("vmap of the second derivative",
               mapped([&](const Operands& a) { return second(f, own(a, n), a[n], v); }, x, axes), rows,
               kExact * 10);
}

}  // namespace

void check_vmap(const Row& row, const std::vector<Operand>& operands, Random& random) {
  std::vector<Operands> points;
  for (int b = 0; b < 2 * kBatch; ++b) points.push_back(point(operands, random));
  const std::vector<Operands> some(points.begin(), points.begin() + kBatch);
  for (unsigned mask = 1; mask < 1u << operands.size(); ++mask) {
    for (int axis : {0, 1, -1}) {
      SCOPED_TRACE("operands mapped (bits) " + std::to_string(mask) + ", axis " + std::to_string(axis));
      check_batch(row, batched(some, mask, axis), axis, random);
      if (testing::Test::HasFailure()) return;
    }
  }
  // Two levels: the outer one over the last axis.
  const unsigned every = (1u << operands.size()) - 1;
  const std::vector<Operands> others(points.begin() + kBatch, points.end());
  const Batch a = batched(some, every, 0), b = batched(others, every, 0);
  const Batch both = batched({a.x, b.x}, every, -1);
  const Function inner = [&](const Operands& x) { return mapped(row.f, x, a.axes, 0); };
  expect_close("vmap of vmap", mapped(inner, both.x, both.axes, 0),
               stacked({looped(row.f, some, 0), looped(row.f, others, 0)}, 0), kExact);
}

}  // namespace table
