#pragma once

#include <algorithm>

#include "nax/io/exporting/step_writer.hpp"

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
    const int all = sum(make(NodeKind::exp, {below_most()}), 1);
    give(0, make(NodeKind::add, {make(NodeKind::log, {all}), graph_.reduce(NodeKind::max, x, {1})}));
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

}  // namespace io::detail
NAX_END
