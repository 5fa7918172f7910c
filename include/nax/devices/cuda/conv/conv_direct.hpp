#pragma once

#include "nax/devices/cuda/conv/conv_loop.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"
#include "nax/devices/cuda/rows/row_loops.hpp"

// Convolutions without patches, for groups of few channels, as in depthwise ones, and for empty operands.
NAX_BEGIN
namespace cuda {

// A convolution's operands and its result. Depthwise ones, whose groups have one input and one output, take a
// piece of neighbouring channels as one channel.
template <class T, int per, class Index>
struct DirectBody {
  using Unit = Piece<per* static_cast<int>(sizeof(T))>;
  ConvLoopOf<Index> s;
  const Unit *a, *b;
  Unit* to;

  // sum += x y
  static constexpr void add_product(T (&sum)[per], Unit x, Unit y) {
    NAX_GPU_UNROLL
    for (int j = 0; j < per; ++j) sum[j] += x.template get<T>(j) * y.template get<T>(j);
  }
  static constexpr Unit joined(const T (&sum)[per]) {
    Unit unit{};
    NAX_GPU_UNROLL
    for (int j = 0; j < per; ++j) unit.set(j, sum[j]);
    return unit;
  }
};

// One thread a piece of y.
template <class T, int per, class Index>
struct DirectForward : DirectBody<T, per, Index> {
  using Base = DirectBody<T, per, Index>;
  using Base::s, typename Base::Unit;

  constexpr void operator()(std::int64_t i) const {
    Index row = static_cast<Index>(i), p[3] = {};
    const Index o = s.by_o.split(row), channel = s.by_outputs.quotient(o) * s.inputs,
                image = s.split(s.by_out, row, p);
    T sum[per] = {};
    s.for_each_read(p, [&](Index tap, Index at) {
      const Unit* const from = this->a + ((image * s.places + at) * s.c + channel);
      const Unit* const by = this->b + (tap * s.inputs * s.o + o);
      for (Index j = 0; j < (per > 1 ? 1 : s.inputs); ++j) this->add_product(sum, from[j], by[j * s.o]);
    });
    this->to[i] = this->joined(sum);
  }
};

// One thread a piece of x.
template <class T, int per, class Index>
struct DirectInput : DirectBody<T, per, Index> {
  using Base = DirectBody<T, per, Index>;
  using Base::s, typename Base::Unit;

  constexpr void operator()(std::int64_t i) const {
    Index place = static_cast<Index>(i), v[3] = {};
    const Index channel = s.by_c.split(place), group = s.by_inputs.quotient(channel), o = group * s.outputs,
                input = channel - group * s.inputs, image = s.split(s.by_in, place, v);
    T sum[per] = {};
    s.for_each_reader(v, [&](Index tap, Index at) {
      const Unit* const from = this->a + ((image * s.image_rows + at) * s.o + o);
      const Unit* const by = this->b + ((tap * s.inputs + input) * s.o + o);
      for (Index j = 0; j < (per > 1 ? 1 : s.outputs); ++j) this->add_product(sum, from[j], by[j]);
    });
    this->to[i] = this->joined(sum);
  }
};

// One team an element of w: each thread adds up its rows in short chains, and these in double.
template <class T, class Index>
struct DirectWeights {
  ConvLoopOf<Index> s;
  const T *x, *g;
  T* w;
  bool accumulate;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    constexpr int chain = 32;
    const std::int64_t rows = s.rows();
    Index tap = static_cast<Index>(i), k[3] = {};
    const Index o = s.by_o.split(tap), input = s.by_inputs.split(tap),
                channel = s.by_outputs.quotient(o) * s.inputs + input;
    s.split(s.by_kernel, tap, k);
    double sum = 0;
    for (std::int64_t row = team.thread(); row < rows;) {
      T part(0);
      for (int j = 0; j < chain && row < rows; ++j, row += team.threads())
        part += product(static_cast<Index>(row), o, channel, k);
      sum += static_cast<double>(part);
    }
    sum = team.combine(sum, RowSum());
    if (team.thread() == 0) w[i] = static_cast<T>(accumulate ? static_cast<double>(w[i]) + sum : sum);
  }

 private:
  constexpr T product(Index row, Index o, Index channel, const Index (&k)[3]) const {
    Index p[3] = {}, at = s.split(s.by_out, row, p);
    for (int axis = 0; axis < 3; ++axis) {
      const Index v = s.place(axis, p[axis], k[axis]);
      if (v < 0) return T(0);
      at = at * s.in[axis] + v;
    }
    return x[at * s.c + channel] * g[row * s.o + o];
  }
};

template <class T>
void launch_direct_convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& g, const T* a,
                            const T* b, T* to, bool accumulate) {
  const auto launch_in = [&]<class Index, int per>(const ConvLoopOf<Index>& s,
                                                   std::integral_constant<int, per>) {
    using Body = DirectBody<T, per, Index>;
    using Unit = typename Body::Unit;
    const Body body{s, reinterpret_cast<const Unit*>(a), reinterpret_cast<const Unit*>(b),
                    reinterpret_cast<Unit*>(to)};
    if (part == loops::ConvPart::forward)
      launch(device, std::int64_t{s.rows()} * s.o, DirectForward<T, per, Index>{body});
    else if (part == loops::ConvPart::input)
      launch(device, std::int64_t{s.n} * s.places * s.c, DirectInput<T, per, Index>{body});
    else
      launch_teams(device, std::int64_t{s.width} * s.o, row_threads(s.rows()),
                   DirectWeights<T, Index>{s, a, b, to, accumulate});
  };
  constexpr int per = piece_bytes / static_cast<int>(sizeof(T));
  const std::uintptr_t addresses = reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) |
                                   reinterpret_cast<std::uintptr_t>(to);
  using One = std::integral_constant<int, 1>;
  if (!is_narrow_conv(g, 0)) return launch_in(ConvLoop(g), One());
  if (part == loops::ConvPart::weights || g.c != g.groups || g.o != g.groups || g.c % per != 0 ||
      addresses % piece_bytes != 0)
    return launch_in(ConvLoopOf<std::int32_t>(g), One());
  loops::ConvGeometry pieces = g;
  pieces.c = pieces.o = pieces.groups = g.c / per;
  launch_in(ConvLoopOf<std::int32_t>(pieces), std::integral_constant<int, per>());
}

}  // namespace cuda
NAX_END
