#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nax/modules/exporting/step_writer.hpp"

NAX_BEGIN
namespace io::detail {

inline void StepWriter::write(const ops::Convolve& f) {
  const loops::ConvGeometry& g = f.geometry;
  if (f.part != loops::ConvPart::forward || f.accumulate) slots_.refuse("the gradient of a convolution");
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < 3; ++i)
    if (g.in[i] != 1 || g.kernel[i] != 1 || g.out[i] != 1) axes.push_back(i);
  if (axes.empty()) axes.push_back(0);
  Dims x(1, g.n), w, y(1, g.n);
  std::vector<std::int64_t> numbers(1, g.groups);
  for (const std::size_t i : axes) {
    x.push_back(g.in[i]), w.push_back(g.kernel[i]), y.push_back(g.out[i]);
    const std::int64_t wide = (g.in[i] - 1) * g.lhs[i] + 1, reach = (g.kernel[i] - 1) * g.rhs[i] + 1;
    const std::int64_t high = (g.out[i] - 1) * g.stride[i] + reach - g.low[i] - wide;
    numbers.insert(numbers.end(), {g.stride[i], g.low[i], high, g.lhs[i], g.rhs[i]});
  }
  x.push_back(g.c), w.push_back(g.c / g.groups), w.push_back(g.o), y.push_back(g.o);
  const int from = read_as(0, x), by = read_as(1, w);
  put(2, graph_.reshape(graph_.add({NodeKind::convolve, {from, by}, f.dtype, y, std::move(numbers)}),
                        operand(2)->shape));
}

// Rows are rounded as the kernel does; the weights are floats of the codes' values.
inline void StepWriter::write(const ops::Int8Matmul& f) {
  using enum NodeKind;
  const auto both = [&](NodeKind kind, int a, int b) { return make(kind, {a, b}); };
  loops::Int8Weights weights = f.weights;
  const auto data = [&](std::size_t i) { return reinterpret_cast<const void*>(operand(i)->place.offset); };
  for (std::size_t i = 1; i < 4; ++i)
    if (operand(i)->place.slot != program::Place::constant) refuse();
  weights.codes = static_cast<const std::int8_t*>(data(1));
  weights.scales = static_cast<const float*>(data(2));
  std::vector<float> floats;
  for (std::int64_t l = 0; l < weights.k; ++l)
    for (std::int64_t j = 0; j < weights.n; ++j) floats.push_back(weights.value(l, j));
  Dims rows(1, f.m), matrix(1, weights.k), result(1, f.m);
  rows.push_back(weights.k), matrix.push_back(weights.n), result.push_back(weights.n);
  const int x = read_as(0, rows), most = graph_.reduce(max, make(absolute, {x}), {1}), zero = number(0, x);
  const int codes = make(rint, {both(multiply, x, both(divide, number(127, x), most))});
  const int rounded = both(multiply, codes, both(divide, most, number(127, x)));
  const int known = make(select, {truth(equal, {most, zero}), zero, rounded});
  int y = graph_.add(
      {matmul, {known, graph_.own_constant(floats.data(), DType::float32, matrix)}, DType::float32, result});
  if (operand(4)) y = both(add, y, read_as(4, Dims(1, weights.n)));
  if (f.activation == loops::Activation::relu) {
    y = both(maximum, y, zero);
  } else if (f.activation == loops::Activation::gelu) {
    const int cube = both(multiply, y, both(multiply, y, y));
    const int inner = both(add, y, both(multiply, cube, number(0.044715, y)));
    const int bent = make(tanh, {both(multiply, inner, number(0.7978845608028654, y))});
    y = both(multiply, both(multiply, y, number(0.5, y)), both(add, bent, number(1, y)));
  }
  put(6, graph_.reshape(y, operand(6)->shape));
}

inline void StepWriter::write(const ops::Rows& f) {
  using enum loops::RowFunction;
  const loops::Rows& what = f.what;
  const std::size_t results = loops::Rows::most_operands;
  Dims shape(1, what.rows);
  shape.push_back(what.n);
  if (what.function != softmax && what.function != log_softmax && what.function != logsumexp &&
      what.function != variance && what.function != standardize && what.function != rms_norm)
    refuse();
  const int x = read_as(0, shape);
  const double n = static_cast<double>(what.n);
  const auto give = [&](std::size_t result, int node) {
    if (const program::Operand* const to = operand(results + result))
      put(results + result, graph_.reshape(node, to->shape));
  };
  const auto mean = [&](int of) { return make(NodeKind::multiply, {sum(of, 1), number(1 / n, of)}); };
  const auto square = [&](int of) { return make(NodeKind::multiply, {of, of}); };
  const auto inverse_root = [&](int of) {
    const int root = make(NodeKind::sqrt, {make(NodeKind::add, {of, number(what.number, of)})});
    return make(NodeKind::divide, {number(1, of), root});
  };
  const auto centred = [&] { return make(NodeKind::subtract, {x, mean(x)}); };
  const auto below_most = [&] { return make(NodeKind::subtract, {x, graph_.reduce(NodeKind::max, x, {1})}); };
  if (what.function == softmax || what.function == log_softmax) {
    const bool logs = what.function == log_softmax;
    if (graph_.system != System::stablehlo)
      return give(0, graph_.add({logs ? NodeKind::log_softmax : NodeKind::softmax, {x}, f.dtype, shape}));
    const int y = below_most(), exps = make(NodeKind::exp, {y}), all = sum(exps, 1);
    give(0, logs ? make(NodeKind::subtract, {y, make(NodeKind::log, {all})})
                 : make(NodeKind::divide, {exps, all}));
  } else if (what.function == logsumexp) {
    // Infinite numbers keep their place: of two the difference would be NaN.
    const int most = graph_.reduce(NodeKind::max, x, {1}), zero = number(0, x),
              infinity = number(std::numeric_limits<double>::infinity(), x);
    const int finite = truth(NodeKind::less, {make(NodeKind::absolute, {most}), infinity});
    const int base = make(NodeKind::select, {finite, most, zero});
    const int all = sum(make(NodeKind::exp, {make(NodeKind::subtract, {x, base})}), 1);
    give(0, make(NodeKind::add, {make(NodeKind::log, {all}), base}));
  } else if (what.function == variance) {
    give(0, make(NodeKind::divide, {sum(square(centred()), 1), number(what.number, x)}));
  } else if (what.function == rms_norm) {
    const int inverse = inverse_root(mean(square(x)));
    give(0, make(NodeKind::multiply, {make(NodeKind::multiply, {x, inverse}), read_as(1, Dims(1, what.n))}));
    give(1, inverse);
  } else {
    const auto inverse = [&] { return inverse_root(mean(square(centred()))); };
    const int scale = operand(1) ? read_as(1, Dims(1, what.n)) : -1,
              bias = operand(2) ? read_as(2, Dims(1, what.n)) : -1;
    if (graph_.system != System::stablehlo && scale >= 0 && bias >= 0) {
      Node norm{NodeKind::layer_norm, {x, scale, bias}, f.dtype, shape};
      norm.number = what.number;
      give(0, graph_.add(std::move(norm)));
    } else {
      int y = make(NodeKind::multiply, {centred(), inverse()});
      if (scale >= 0) y = make(NodeKind::multiply, {y, scale});
      give(0, bias >= 0 ? make(NodeKind::add, {y, bias}) : y);
    }
    if (operand(results + 1)) give(1, mean(x));
    if (operand(results + 2)) give(2, inverse());
  }
}

// ---- transforms and factors of matrices

inline void StepWriter::write(const ops::Fft& f) {
  const loops::FftLines& l = f.lines;
  if (graph_.system != System::stablehlo || l.middle != 1 || l.conjugate) refuse();
  const bool inverse = l.inverse || l.kind == loops::FftKind::to_real;
  const program::Operand& to = *operand(1);
  const double scale = inverse ? l.scale * static_cast<double>(l.n) : l.scale;
  int y = graph_.add({NodeKind::fft,
                      {slots_.read_whole(*operand(0))},
                      to.dtype,
                      to.shape,
                      {static_cast<std::int64_t>(l.kind), inverse, l.n}});
  if (std::abs(scale - 1) > 1e-15) y = make(NodeKind::multiply, {y, number(scale, y)});
  put(1, y);
}

inline int StepWriter::triangle(int x, bool lower, double diagonal) {
  const Dims shape = graph_[x].shape;
  const std::int64_t m = shape[shape.size() - 2], n = shape.back();
  std::vector<char> kept;
  std::vector<float> factors;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      kept.push_back(lower ? j <= i : j >= i);
      factors.push_back(i == j ? static_cast<float>(diagonal) : 1);
    }
  Dims square(1, m);
  square.push_back(n);
  if (diagonal != 1)
    x = make(NodeKind::multiply,
             {graph_.cast(graph_.own_constant(factors.data(), DType::float32, square), dtype(x)), x});
  return make(NodeKind::select, {graph_.own_constant(kept.data(), DType::boolean, square), x, number(0, x)});
}

inline void StepWriter::write(const ops::Factorise& f) {
  const loops::Factoring& what = f.what;
  Dims shape(1, what.batch);
  shape.push_back(what.m), shape.push_back(what.n);
  const bool is_cholesky = what.kind == loops::Factorisation::cholesky;
  if (is_cholesky ? graph_.system != System::stablehlo : what.kind != loops::Factorisation::triangle)
    refuse();
  int x = read_as(0, shape);
  if (is_cholesky) x = graph_.add({NodeKind::cholesky, {x}, f.dtype, shape});
  x = triangle(x, is_cholesky || what.lower, is_cholesky ? 1 : what.diagonal);
  put(1, graph_.reshape(x, operand(1)->shape));
}

inline void StepWriter::write(const ops::Solve& f) {
  const loops::LinearSystems& s = f.systems;
  if (graph_.system != System::stablehlo || s.kind == loops::SystemKind::general || !operand(1)) refuse();
  const int a = slots_.read_whole(*operand(0)), b = slots_.read_whole(*operand(1));
  Dims shape = s.batches;
  shape.push_back(s.n), shape.push_back(s.m);
  const int x = graph_.add(
      {NodeKind::solve, {a, b}, f.dtype, shape, {loops::is_lower(s.kind), loops::is_unit(s.kind)}});
  put(2, graph_.reshape(x, operand(2)->shape));
}

}  // namespace io::detail
NAX_END
