#pragma once

#include "nax/backend/cuda/conv_loop.hpp"
#include "nax/backend/cuda/row_loops.hpp"

// Convolutions without patches, for groups of few channels, as in depthwise ones, and for empty operands.
NAX_BEGIN
namespace cuda {

// One thread an element of y.
template <class T>
struct DirectForward {
  ConvLoop s;
  const T *x, *w;
  T* y;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t row = s.by_o.quotient(i), o = i - row * s.o,
                       channel = s.by_outputs.quotient(o) * s.inputs;
    std::int64_t p[3] = {};
    const std::int64_t image = ConvLoop::split(s.by_out, row, p);
    T sum(0);
    s.for_each_read(p, [&](std::int64_t tap, std::int64_t at) {
      const T* const from = x + (image * s.places + at) * s.c + channel;
      const T* const by = w + tap * s.inputs * s.o + o;
      for (std::int64_t j = 0; j < s.inputs; ++j) sum += from[j] * by[j * s.o];
    });
    y[i] = sum;
  }
};

// One thread an element of x.
template <class T>
struct DirectInput {
  ConvLoop s;
  const T *g, *w;
  T* x;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t place = s.by_c.quotient(i), channel = i - place * s.c,
                       group = s.by_inputs.quotient(channel), o = group * s.outputs,
                       input = channel - group * s.inputs;
    std::int64_t v[3] = {};
    const std::int64_t image = ConvLoop::split(s.by_in, place, v);
    T sum(0);
    s.for_each_reader(v, [&](std::int64_t tap, std::int64_t at) {
      const T* const from = g + (image * s.image_rows + at) * s.o + o;
      const T* const by = w + (tap * s.inputs + input) * s.o + o;
      for (std::int64_t j = 0; j < s.outputs; ++j) sum += from[j] * by[j];
    });
    x[i] = sum;
  }
};

// One team an element of w: each thread adds up its rows in short chains, and these in double.
template <class T>
struct DirectWeights {
  ConvLoop s;
  const T *x, *g;
  T* w;
  bool accumulate;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    constexpr int chain = 32;
    const std::int64_t of_tap = s.by_o.quotient(i), o = i - of_tap * s.o, tap = s.by_inputs.quotient(of_tap),
                       channel = s.by_outputs.quotient(o) * s.inputs + of_tap - tap * s.inputs,
                       rows = s.n * s.image_rows;
    std::int64_t k[3] = {};
    ConvLoop::split(s.by_kernel, tap, k);
    double sum = 0;
    for (std::int64_t row = team.thread(); row < rows;) {
      T part(0);
      for (int j = 0; j < chain && row < rows; ++j, row += team.threads())
        part += product(row, o, channel, k);
      sum += static_cast<double>(part);
    }
    sum = team.combine(sum, RowSum());
    if (team.thread() == 0) w[i] = static_cast<T>(accumulate ? static_cast<double>(w[i]) + sum : sum);
  }

 private:
  constexpr T product(std::int64_t row, std::int64_t o, std::int64_t channel,
                      const std::int64_t (&k)[3]) const {
    std::int64_t p[3] = {};
    std::int64_t at = ConvLoop::split(s.by_out, row, p);
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t v = s.place(axis, p[axis], k[axis]);
      if (v < 0) return T(0);
      at = at * s.in[axis] + v;
    }
    return x[at * s.c + channel] * g[row * s.o + o];
  }
};

}  // namespace cuda
NAX_END
