#pragma once

#include <algorithm>

#include "nax/backend/cpu/fft/fft.hpp"
#include "nax/backend/cpu/fft/fft_plan.hpp"
#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/core/thread_pool.hpp"

// Lines into the buffers of a plan and out of them, several lines at a time.
NAX_BEGIN
namespace cpu {
namespace detail {

inline constexpr int most_lines = 16;

// The lines that are transformed together.
struct LineGroup {
  std::int64_t count = 0;
  std::int64_t from[most_lines], to[most_lines];      // where each begins
  bool neighbours_from = true, neighbours_to = true;  // line l at the first plus l
};

class LineWalk {
 public:
  explicit LineWalk(const FftLines& lines) : lines_(lines) {}
  LineGroup group(std::int64_t first, std::int64_t count) const {
    LineGroup g;
    g.count = count;
    for (std::int64_t l = 0; l < count; ++l) {
      std::int64_t at = first + l, from = 0, to = 0;
      for (std::size_t axis = lines_.others.size(); axis-- > 0; at /= lines_.others[axis]) {
        from += at % lines_.others[axis] * lines_.from[axis];
        to += at % lines_.others[axis] * lines_.to[axis];
      }
      g.from[l] = from;
      g.to[l] = to;
      g.neighbours_from = g.neighbours_from && from == g.from[0] + l;
      g.neighbours_to = g.neighbours_to && to == g.to[0] + l;
    }
    return g;
  }

 private:
  const FftLines& lines_;
};

// Every complex number of a group, place by place: f(place, line, re, im).
template <class R, class F>
[[gnu::always_inline]] inline void read_complex(const LineGroup& g, const FftLines& lines, const R* from,
                                                std::int64_t n, const F& f) {
  if (g.count == 1 && lines.from_axis == 1) {
    const R* x = from + 2 * g.from[0];
    for (std::int64_t j = 0; j < n; ++j) f(j, 0, x[2 * j], x[2 * j + 1]);
  } else {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < g.count; ++l) {
        const R* x = from + 2 * ((g.neighbours_from ? g.from[0] + l : g.from[l]) + j * lines.from_axis);
        f(j, l, x[0], x[1]);
      }
  }
}

template <class R>
class LineTransforms {
  using C = ComplexOf<R>;

 public:
  LineTransforms(const FftLines& lines, const void* from, void* to)
      : lines_(lines),
        from_(static_cast<const R*>(from)),
        to_(static_cast<R*>(to)),
        scale_(static_cast<R>(lines.scale)) {
    const bool halves = lines.kind != FftKind::complex && lines.n % 2 == 0;
    if (halves)
      real_ = kept_plan<RealFftPlan<R>>(lines.n);
    else
      whole_ = kept_plan<FftPlan<R>>(lines.n);
    plan_ = halves ? &real_->half() : whole_.get();
    places_ = halves ? lines.n / 2 : lines.n;
  }

  void run() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : lines_.others) count *= extent;
    if (count == 0) return;
    // Together as many as caches hold; more of them where a line's places lie apart, for these share
    // cache lines with their neighbours'.
    const std::int64_t most = lines_.from_axis == 1 ? std::int64_t{1} << 13 : std::int64_t{1} << 17;
    std::int64_t together = most_lines;
    while (together > 1 && (together * places_ > most || together > count)) together /= 2;
    const std::int64_t groups = (count + together - 1) / together;
    const LineWalk walk(lines_);
    parallel_for(groups, 1 + (std::int64_t{1} << 14) / (places_ * together + 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   const std::int64_t part = plan_->places() * together;
                   const Scratch<R> buffer(4 * part);
                   R* const b = buffer.data();
                   for (std::int64_t i = begin; i < end; ++i)
                     transform(walk.group(i * together, std::min(together, count - i * together)),
                               {b, b + part}, {b + 2 * part, b + 3 * part});
                 });
  }

 private:
  void transform(const LineGroup& g, const Split<R>& x, const Split<R>& y) const {
    const std::int64_t w = g.count;
    switch (lines_.kind) {
      case FftKind::complex: {
        const Split<R> in = lines_.inverse ? x.swapped() : x;
        read_complex(g, lines_, from_, places_, [&](std::int64_t j, std::int64_t l, R re, R im) {
          in.re[j * w + l] = re;
          in.im[j * w + l] = im;
        });
        const Split<R> out = plan_->run(x, y, w);
        write_complex(g, places_, lines_.inverse ? out.swapped() : out);
        return;
      }
      case FftKind::to_complex:
        return real_ ? to_complex_by_halves(g, x, y) : to_complex(g, x, y);
      case FftKind::to_real:
        return real_ ? to_real_by_halves(g, x, y) : to_real(g, x, y);
    }
  }

  void put(std::int64_t at, R re, R im) const {
    to_[2 * at] = re * scale_;
    to_[2 * at + 1] = im * scale_;
  }
  void write_complex(const LineGroup& g, std::int64_t n, const Split<R>& out) const {
    if (g.count == 1 && lines_.to_axis == 1) {
      const R* const re = out.re;
      const R* const im = out.im;
      R* const to = to_ + 2 * g.to[0];
      const R scale = scale_;
      for (std::int64_t j = 0; j < n; ++j) to[2 * j] = re[j] * scale, to[2 * j + 1] = im[j] * scale;
      return;
    }
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < g.count; ++l)
        put((g.neighbours_to ? g.to[0] + l : g.to[l]) + j * lines_.to_axis, out.re[j * g.count + l],
            out.im[j * g.count + l]);
  }

  // An odd number of real ones: as complex ones.
  void to_complex(const LineGroup& g, const Split<R>& x, const Split<R>& y) const {
    const std::int64_t w = g.count;
    for (std::int64_t j = 0; j < places_; ++j)
      for (std::int64_t l = 0; l < w; ++l) {
        x.re[j * w + l] = from_[g.from[l] + j * lines_.from_axis];
        x.im[j * w + l] = R(0);
      }
    write_complex(g, lines_.n / 2 + 1, plan_->run(x, y, w));
  }
  void to_real(const LineGroup& g, const Split<R>& x, const Split<R>& y) const {
    const std::int64_t w = g.count;
    const Split<R> in = x.swapped();
    read_complex(g, lines_, from_, lines_.n / 2 + 1, [&](std::int64_t j, std::int64_t l, R re, R im) {
      in.re[j * w + l] = re;
      in.im[j * w + l] = j == 0 ? R(0) : im;
      if (j > 0) {
        in.re[(places_ - j) * w + l] = re;
        in.im[(places_ - j) * w + l] = -im;
      }
    });
    const Split<R> out = plan_->run(x, y, w).swapped();
    for (std::int64_t j = 0; j < places_; ++j)
      for (std::int64_t l = 0; l < w; ++l) to_[g.to[l] + j * lines_.to_axis] = out.re[j * w + l] * scale_;
  }

  // An even number n = 2 m of real ones: those at even and at odd places are the real and the imaginary parts
  // of m complex numbers, with transform Z. The two halves have transforms E and O, and the whole E + w O:
  //   E = (Z[k] + conj(Z[m - k])) / 2,  O = (Z[k] - conj(Z[m - k])) / 2i,  w = e^(-2 pi i k / n)
  // with conj(E - w O) at m - k.
  void to_complex_by_halves(const LineGroup& g, const Split<R>& x, const Split<R>& y) const {
    const std::int64_t w = g.count, m = places_;
    if (w == 1 && lines_.from_axis == 1) {
      const R* const from = from_ + g.from[0];
      for (std::int64_t j = 0; j < m; ++j) x.re[j] = from[2 * j], x.im[j] = from[2 * j + 1];
    } else {
      for (std::int64_t j = 0; j < m; ++j)
        for (std::int64_t l = 0; l < w; ++l) {
          const R* from = from_ + (g.neighbours_from ? g.from[0] + l : g.from[l]) + 2 * j * lines_.from_axis;
          x.re[j * w + l] = from[0];
          x.im[j * w + l] = from[lines_.from_axis];
        }
    }
    const Split<R> z = plan_->run(x, y, w);
    for (std::int64_t k = 0; k <= m / 2; ++k) {
      const C root = real_->root(k);
      const std::int64_t other = k == 0 ? 0 : m - k;
      for (std::int64_t l = 0; l < w; ++l) {
        const C a{z.re[k * w + l], z.im[k * w + l]}, b{z.re[other * w + l], -z.im[other * w + l]};
        const C even = R(0.5) * (a + b), odd = root * (R(0.5) * (a - b).times_minus_i());
        const C front = even + odd, back = even - odd;
        put(g.to[l] + k * lines_.to_axis, front.re, front.im);
        put(g.to[l] + (m - k) * lines_.to_axis, back.re, -back.im);
      }
    }
  }
  // The way back: Z = E + i O, twice.
  void to_real_by_halves(const LineGroup& g, const Split<R>& x, const Split<R>& y) const {
    const std::int64_t w = g.count, m = places_, step = 2 * lines_.from_axis;
    const Split<R> in = x.swapped();
    for (std::int64_t k = 0; k <= m / 2; ++k) {
      const C root = real_->root(k);
      for (std::int64_t l = 0; l < w; ++l) {
        const R *p = from_ + 2 * g.from[l] + k * step, *q = from_ + 2 * g.from[l] + (m - k) * step;
        const C a{p[0], k == 0 ? R(0) : p[1]}, b{q[0], k == 0 ? R(0) : -q[1]};
        const C sum = a + b, d = C{root.re, -root.im} * (a - b);
        const C turned{-d.im, d.re};  // i times d
        in.re[k * w + l] = sum.re + turned.re;
        in.im[k * w + l] = sum.im + turned.im;
        if (k > 0) {
          in.re[(m - k) * w + l] = sum.re - turned.re;
          in.im[(m - k) * w + l] = turned.im - sum.im;
        }
      }
    }
    const Split<R> z = plan_->run(x, y, w).swapped();
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t l = 0; l < w; ++l) {
        R* to = to_ + (g.neighbours_to ? g.to[0] + l : g.to[l]) + 2 * j * lines_.to_axis;
        to[0] = z.re[j * w + l] * scale_;
        to[lines_.to_axis] = z.im[j * w + l] * scale_;
      }
  }

  const FftLines& lines_;
  const R* from_;
  R* to_;
  R scale_;
  std::shared_ptr<const FftPlan<R>> whole_;
  std::shared_ptr<const RealFftPlan<R>> real_;
  const FftPlan<R>* plan_;
  std::int64_t places_;
};

}  // namespace detail

namespace detail {

// Half transforms, conjugated and multiplied as `lines` says: from lines at `from`, to those at `to`.
template <class R>
void adjust_halves(const FftLines& lines, const R* from, const Dims& from_strides, std::int64_t from_axis,
                   R* to, const Dims& to_strides, std::int64_t to_axis) {
  FftLines walked = lines;
  walked.from = from_strides;
  walked.to = to_strides;
  const LineWalk walk(walked);
  const R middle = static_cast<R>(lines.middle), sign = lines.conjugate ? R(-1) : R(1);
  std::int64_t count = 1;
  for (const std::int64_t extent : lines.others) count *= extent;
  const std::int64_t places = lines.n / 2 + 1;
  parallel_for(count, 1 + (std::int64_t{1} << 14) / places, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const LineGroup line = walk.group(i, 1);
      for (std::int64_t k = 0; k < places; ++k) {
        const R factor = k == 0 || 2 * k == lines.n ? R(1) : middle;
        const R* const x = from + 2 * (line.from[0] + k * from_axis);
        R* const y = to + 2 * (line.to[0] + k * to_axis);
        y[0] = x[0] * factor;
        y[1] = x[1] * sign * factor;
      }
    }
  });
}

// The operand of a transform to real numbers is adjusted in a copy.
template <class R>
void adjusted_to_real(FftLines lines, const void* from, void* to) {
  const std::int64_t places = lines.n / 2 + 1;
  Dims strides = lines.others;
  std::int64_t size = places;
  for (std::size_t axis = strides.size(); axis-- > 0; size *= lines.others[axis]) strides[axis] = size;
  const Scratch<R> copy(2 * size);
  adjust_halves<R>(lines, static_cast<const R*>(from), lines.from, lines.from_axis, copy.data(), strides, 1);
  lines.from = strides;
  lines.from_axis = 1;
  LineTransforms<R>(lines, copy.data(), to).run();
}

}  // namespace detail

template <class R>
void fft(const FftLines& lines, const void* from, void* to) {
  const bool adjusts = lines.conjugate || lines.middle != 1;
  if (adjusts && lines.kind == FftKind::to_real) return detail::adjusted_to_real<R>(lines, from, to);
  detail::LineTransforms<R>(lines, from, to).run();
  R* const out = static_cast<R*>(to);
  if (adjusts) detail::adjust_halves<R>(lines, out, lines.to, lines.to_axis, out, lines.to, lines.to_axis);
}

}  // namespace cpu
NAX_END
