#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nax/backend/cpu/fft/fft_butterflies.hpp"
#include "nax/core/at_fork.hpp"

// The transform of one length, for any number of lines at once. Numbers lie as [place][line], real and
// imaginary parts apart, so that all loops are over runs of neighbours.
//
// Stockham's algorithm: a pass with radix r turns [r][m][s] into [m][r][s], where s, the product of the
// radices before and the number of lines, is the length of the runs; what is sorted grows from the inside,
// and the last pass leaves everything in order. A prime factor beyond what passes are worth makes the whole
// length go by Bluestein's chirps: a convolution, computed by transforms of a length that has small factors.
//
// Inverse transforms are these, with the real and the imaginary parts taken for each other.
NAX_BEGIN
namespace cpu {
namespace detail {

// e^(-2 pi i k / n) for k < n from two tables of about sqrt(n) entries.
class UnitRoots {
 public:
  explicit UnitRoots(std::int64_t n) {
    while ((std::int64_t{1} << (2 * shift_)) < n) ++shift_;
    const std::int64_t block = std::int64_t{1} << shift_;
    for (std::int64_t k = 0; k < block; ++k) low_.push_back(root(k, n));
    for (std::int64_t k = 0; k < n; k += block) high_.push_back(root(k, n));
  }
  std::complex<double> operator()(std::int64_t k) const {
    const std::complex<double> a = low_[static_cast<std::size_t>(k & ((std::int64_t{1} << shift_) - 1))],
                               b = high_[static_cast<std::size_t>(k >> shift_)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  // A function and no lambda: lambdas are constexpr where they can be, so nvcc would compile one for the
  // device as well, where long double is double.
  static std::complex<double> root(std::int64_t k, std::int64_t n) {
    const long double angle =
        6.283185307179586476925286766559005768L * static_cast<long double>(k) / static_cast<long double>(n);
    return {static_cast<double>(std::cos(angle)), -static_cast<double>(std::sin(angle))};
  }

  int shift_ = 0;
  std::vector<std::complex<double>> low_, high_;
};

template <class R>
struct Split {
  R *re, *im;
  Split swapped() const { return {im, re}; }
};

// y[p][j][q] = e^(-2 pi i j p / (radix m)) times transform j of x[.][p][q], for p < m and q < s.
// The factors: for j = 1, ...: m real parts, m imaginary ones.
template <int radix, class V, class R>
[[gnu::always_inline]] inline void pass_at(const Split<R>& x, const Split<R>& y, std::int64_t from,
                                           std::int64_t from_step, std::int64_t to, std::int64_t to_step,
                                           const ComplexOf<R>* factors) {
  ComplexOf<V> a[radix];
  NAX_UNROLL
  for (int k = 0; k < radix; ++k) {
    if constexpr (std::is_same_v<V, R>)
      a[k] = {x.re[from + k * from_step], x.im[from + k * from_step]};
    else
      a[k] = {V::load(x.re + from + k * from_step), V::load(x.im + from + k * from_step)};
  }
  Butterfly<radix, V>::run(a);
  if (factors) {
    NAX_UNROLL
    for (int j = 1; j < radix; ++j) a[j] = a[j] * ComplexOf<V>{V(factors[j].re), V(factors[j].im)};
  }
  NAX_UNROLL
  for (int j = 0; j < radix; ++j) {
    if constexpr (std::is_same_v<V, R>) {
      y.re[to + j * to_step] = a[j].re;
      y.im[to + j * to_step] = a[j].im;
    } else {
      a[j].re.store(y.re + to + j * to_step);
      a[j].im.store(y.im + to + j * to_step);
    }
  }
}

// s = 1: packets run along p, and are stored crosswise.
template <int radix, class R>
void first_pass(const Split<R>& x, const Split<R>& y, std::int64_t m, const R* twiddles) {
  std::int64_t p = 0;
  if constexpr (simd::has_packet<R>) {
    using V = simd::Packet<R>;
    for (; p + V::size <= m; p += V::size) {
      ComplexOf<V> a[radix];
      NAX_UNROLL
      for (int k = 0; k < radix; ++k) a[k] = {V::load(x.re + p + k * m), V::load(x.im + p + k * m)};
      Butterfly<radix, V>::run(a);
      alignas(64) R re[radix][V::size], im[radix][V::size];
      a[0].re.store(re[0]);
      a[0].im.store(im[0]);
      NAX_UNROLL
      for (int j = 1; j < radix; ++j) {
        const R* t = twiddles + 2 * (j - 1) * m + p;
        a[j] = a[j] * ComplexOf<V>{V::load(t), V::load(t + m)};
        a[j].re.store(re[j]);
        a[j].im.store(im[j]);
      }
      R *to_re = y.re + p * radix, *to_im = y.im + p * radix;
      NAX_UNROLL
      for (int i = 0; i < V::size; ++i) {
        NAX_UNROLL
        for (int j = 0; j < radix; ++j) {
          to_re[i * radix + j] = re[j][i];
          to_im[i * radix + j] = im[j][i];
        }
      }
    }
  }
  for (; p < m; ++p) {
    ComplexOf<R> factors[radix];
    for (int j = 1; j < radix; ++j)
      factors[j] = {twiddles[2 * (j - 1) * m + p], twiddles[(2 * (j - 1) + 1) * m + p]};
    pass_at<radix, R, R>(x, y, p, m, p * radix, 1, factors);
  }
}

template <int radix, class R>
void pass(const Split<R>& x, const Split<R>& y, std::int64_t m, std::int64_t s, const R* twiddles) {
  if (s == 1 && m > 1) return first_pass<radix>(x, y, m, twiddles);
  for (std::int64_t p = 0; p < m; ++p) {
    ComplexOf<R> table[radix];
    for (int j = 1; j < radix; ++j)
      table[j] = {twiddles[2 * (j - 1) * m + p], twiddles[(2 * (j - 1) + 1) * m + p]};
    const ComplexOf<R>* factors = p == 0 ? nullptr : table;
    const std::int64_t from = s * p, to = s * p * radix;
    std::int64_t q = 0;
    if constexpr (simd::has_packet<R>) {
      using V = simd::Packet<R>;
      for (; q + V::size <= s; q += V::size) pass_at<radix, V, R>(x, y, from + q, s * m, to + q, s, factors);
    }
    for (; q < s; ++q) pass_at<radix, R, R>(x, y, from + q, s * m, to + q, s, factors);
  }
}

// Any odd radix: `roots` are its powers e^(-2 pi i k / radix).
inline constexpr int most_radix = 61;
template <class V, class R>
void odd_pass_at(int radix, const ComplexOf<R>* roots, const Split<R>& x, const Split<R>& y,
                 std::int64_t from, std::int64_t from_step, std::int64_t to, std::int64_t to_step,
                 const ComplexOf<R>* factors) {
  const auto load = [&](int k) -> ComplexOf<V> {
    const std::int64_t at = from + k * from_step;
    if constexpr (std::is_same_v<V, R>)
      return {x.re[at], x.im[at]};
    else
      return {V::load(x.re + at), V::load(x.im + at)};
  };
  const auto store = [&](int j, ComplexOf<V> a) {
    if (factors && j > 0) a = a * ComplexOf<V>{V(factors[j].re), V(factors[j].im)};
    const std::int64_t at = to + j * to_step;
    if constexpr (std::is_same_v<V, R>) {
      y.re[at] = a.re;
      y.im[at] = a.im;
    } else {
      a.re.store(y.re + at);
      a.im.store(y.im + at);
    }
  };
  ComplexOf<V> sums[most_radix / 2 + 1], differences[most_radix / 2 + 1];
  const int half = radix / 2;
  const ComplexOf<V> first = load(0);
  ComplexOf<V> all = first;
  for (int k = 1; k <= half; ++k) {
    const ComplexOf<V> a = load(k), b = load(radix - k);
    sums[k] = a + b;
    differences[k] = (a - b).times_minus_i();
    all = all + sums[k];
  }
  store(0, all);
  for (int j = 1; j <= half; ++j) {
    ComplexOf<V> even = first, odd{V(0), V(0)};
    for (int k = 1, jk = j; k <= half; ++k, jk = jk + j >= radix ? jk + j - radix : jk + j) {
      even = even + V(roots[jk].re) * sums[k];
      odd = odd + V(-roots[jk].im) * differences[k];
    }
    store(j, even + odd);
    store(radix - j, even - odd);
  }
}
template <class R>
void odd_pass(int radix, const ComplexOf<R>* roots, const Split<R>& x, const Split<R>& y, std::int64_t m,
              std::int64_t s, const R* twiddles) {
  for (std::int64_t p = 0; p < m; ++p) {
    ComplexOf<R> table[most_radix];
    for (int j = 1; j < radix; ++j)
      table[j] = {twiddles[2 * (j - 1) * m + p], twiddles[(2 * (j - 1) + 1) * m + p]};
    const ComplexOf<R>* factors = p == 0 ? nullptr : table;
    const std::int64_t from = s * p, to = s * p * radix;
    std::int64_t q = 0;
    if constexpr (simd::has_packet<R>) {
      using V = simd::Packet<R>;
      for (; q + V::size <= s; q += V::size)
        odd_pass_at<V, R>(radix, roots, x, y, from + q, s * m, to + q, s, factors);
    }
    for (; q < s; ++q) odd_pass_at<R, R>(radix, roots, x, y, from + q, s * m, to + q, s, factors);
  }
}

// The radices for n; what is left is 1, or has a prime factor that no pass has.
struct Radices {
  std::vector<int> list;
  std::int64_t rest;
};
inline Radices radices_of(std::int64_t n) {
  Radices r{{}, n};
  const auto take = [&](int radix) {
    while (r.rest % radix == 0) r.list.push_back(radix), r.rest /= radix;
  };
  if (r.rest % 8 == 0) r.list.push_back(8), r.rest /= 8;  // in packets from the second pass on
  take(4), take(2), take(5), take(3);
  for (int radix = 7; radix <= most_radix; radix += 2) take(radix);
  return r;
}
// Estimates the cost of the passes over n numbers.
inline double cost_of(std::int64_t n, const Radices& r) {
  double sum = 0;
  for (const int radix : r.list) sum += radix > 5 && radix != 8 ? 1.5 * radix : 4;
  return sum * static_cast<double>(n);
}
// The cheapest length from n on whose factors are 2, 3 and 5.
inline std::int64_t good_length(std::int64_t n) {
  std::int64_t best = 0;
  for (std::int64_t five = 1; five < 5 * n; five *= 5)
    for (std::int64_t three = five; three < 3 * n; three *= 3) {
      std::int64_t all = three;
      while (all < n) all *= 2;
      if (best == 0 || all < best) best = all;
    }
  return best;
}

}  // namespace detail

template <class R>
class FftPlan {
 public:
  explicit FftPlan(std::int64_t n) : n_(n) {
    const detail::Radices radices = detail::radices_of(n);
    const std::int64_t other = detail::good_length(2 * n - 1);
    const bool little = radices.rest == 1;
    if (!little || detail::cost_of(n, radices) > 3 * detail::cost_of(other, detail::radices_of(other)))
      make_chirps(other);
    else
      make_passes(radices.list);
  }

  // How many places the two buffers need a line.
  std::int64_t places() const { return inner_ ? inner_->places() : n_; }
  std::size_t bytes() const {
    return (twiddles_.size() + 2 * chirp_.size() + 2 * kernel_.size()) * sizeof(R) +
           (inner_ ? inner_->bytes() : 0);
  }

  // The transforms of `lines` lines in x; where they are then: in x or in y, the other being lost.
  detail::Split<R> run(const detail::Split<R>& x, const detail::Split<R>& y, std::int64_t lines) const {
    if (inner_) return run_chirps(x, y, lines);
    detail::Split<R> from = x, to = y;
    for (const Pass& p : passes_) {
      const R* twiddles = twiddles_.data() + p.twiddles;
      const std::int64_t s = p.before * lines;
      switch (p.radix) {
        case 2:
          detail::pass<2>(from, to, p.m, s, twiddles);
          break;
        case 3:
          detail::pass<3>(from, to, p.m, s, twiddles);
          break;
        case 4:
          detail::pass<4>(from, to, p.m, s, twiddles);
          break;
        case 5:
          detail::pass<5>(from, to, p.m, s, twiddles);
          break;
        case 8:
          detail::pass<8>(from, to, p.m, s, twiddles);
          break;
        default:
          detail::odd_pass(p.radix, roots_.data() + p.roots, from, to, p.m, s, twiddles);
      }
      std::swap(from, to);
    }
    return from;
  }

 private:
  struct Pass {
    int radix;
    std::int64_t m, before;
    std::size_t twiddles, roots;
  };

  void make_passes(const std::vector<int>& radices) {
    const detail::UnitRoots root(n_);
    std::int64_t before = 1, length = n_;
    for (const int radix : radices) {
      const std::int64_t m = length / radix;
      passes_.push_back({radix, m, before, twiddles_.size(), roots_.size()});
      for (int j = 1; j < radix; ++j) {
        const std::size_t at = twiddles_.size(), part = static_cast<std::size_t>(m);
        twiddles_.resize(at + 2 * part);
        for (std::size_t p = 0; p < part; ++p) {
          const std::complex<double> w = root(before * j * static_cast<std::int64_t>(p));
          twiddles_[at + p] = static_cast<R>(w.real());
          twiddles_[at + part + p] = static_cast<R>(w.imag());
        }
      }
      if (radix > 5 && radix != 8)
        for (int k = 0; k < radix; ++k) {
          const std::complex<double> w = root(n_ / radix * k);
          roots_.push_back({static_cast<R>(w.real()), static_cast<R>(w.imag())});
        }
      before *= radix;
      length = m;
    }
  }

  // c_k = e^(-pi i k^2 / n): j k = (j^2 + k^2 - (j - k)^2) / 2 makes the transform a convolution with
  // conj(c).
  void make_chirps(std::int64_t length) {
    const detail::UnitRoots root(2 * n_);
    inner_ = std::make_unique<FftPlan>(length);
    const std::size_t n = static_cast<std::size_t>(n_), all = static_cast<std::size_t>(length);
    std::vector<R> buffer(4 * all, R(0));
    const detail::Split<R> x{buffer.data(), buffer.data() + all},
        y{buffer.data() + 2 * all, buffer.data() + 3 * all};
    std::int64_t square = 0;  // k^2 modulo 2 n
    for (std::size_t k = 0; k < n; ++k) {
      const std::complex<double> w = root(square);
      square = (square + 2 * static_cast<std::int64_t>(k) + 1) % (2 * n_);
      chirp_.push_back({static_cast<R>(w.real()), static_cast<R>(w.imag())});
      const R by = static_cast<R>(1.0 / static_cast<double>(length));
      x.re[k] = chirp_[k].re * by;
      x.im[k] = -chirp_[k].im * by;
      if (k > 0) x.re[all - k] = x.re[k], x.im[all - k] = x.im[k];
    }
    const detail::Split<R> kernel = inner_->run(x, y, 1);
    for (std::size_t k = 0; k < all; ++k) kernel_.push_back({kernel.re[k], kernel.im[k]});
  }

  static void multiply(const detail::Split<R>& x, const std::vector<detail::ComplexOf<R>>& by,
                       std::int64_t lines) {
    for (std::size_t k = 0; k < by.size(); ++k) {
      R *re = x.re + static_cast<std::int64_t>(k) * lines, *im = x.im + static_cast<std::int64_t>(k) * lines;
      const R c = by[k].re, d = by[k].im;
      for (std::int64_t l = 0; l < lines; ++l) {
        const R a = re[l], b = im[l];
        re[l] = a * c - b * d;
        im[l] = a * d + b * c;
      }
    }
  }
  detail::Split<R> run_chirps(const detail::Split<R>& x, const detail::Split<R>& y,
                              std::int64_t lines) const {
    multiply(x, chirp_, lines);
    const std::size_t rest = static_cast<std::size_t>((inner_->n_ - n_) * lines) * sizeof(R);
    std::memset(x.re + n_ * lines, 0, rest);
    std::memset(x.im + n_ * lines, 0, rest);
    const detail::Split<R> there = inner_->run(x, y, lines);
    multiply(there, kernel_, lines);
    const detail::Split<R> free = there.re == x.re || there.re == x.im ? y : x;
    const detail::Split<R> back = inner_->run(there.swapped(), free, lines).swapped();
    multiply(back, chirp_, lines);
    return back;
  }

  std::int64_t n_;
  std::vector<Pass> passes_;
  std::vector<R> twiddles_;
  std::vector<detail::ComplexOf<R>> roots_, chirp_, kernel_;
  std::unique_ptr<FftPlan> inner_;  // where there are chirps
};

// Plan of the transforms of n real numbers, n even: that of half as many complex ones, and e^(-2 pi i k /
// n).
template <class R>
class RealFftPlan {
 public:
  explicit RealFftPlan(std::int64_t n) : half_(n / 2) {
    const detail::UnitRoots root(n);
    for (std::int64_t k = 0; k <= n / 4; ++k) {
      const std::complex<double> w = root(k);
      roots_.push_back({static_cast<R>(w.real()), static_cast<R>(w.imag())});
    }
  }
  const FftPlan<R>& half() const { return half_; }
  detail::ComplexOf<R> root(std::int64_t k) const { return roots_[static_cast<std::size_t>(k)]; }
  std::size_t bytes() const { return half_.bytes() + roots_.size() * sizeof roots_[0]; }

 private:
  FftPlan<R> half_;
  std::vector<detail::ComplexOf<R>> roots_;
};

// Plans of the lengths met last are kept.
template <class Plan>
std::shared_ptr<const Plan> kept_plan(std::int64_t n) {
  struct Kept {
    std::int64_t n;
    std::shared_ptr<const Plan> plan;
  };
  static auto& mutex = *new nax::detail::ForkMutex;
  static std::vector<Kept> kept;  // the last used comes first
  constexpr std::size_t most_plans = 16, most_bytes = std::size_t{64} << 20;
  {
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i].n == n) {
        for (; i > 0; --i) std::swap(kept[i], kept[i - 1]);
        return kept[0].plan;
      }
  }
  auto plan = std::make_shared<const Plan>(n);
  const std::lock_guard lock(mutex);
  kept.insert(kept.begin(), Kept{n, plan});
  std::size_t bytes = 0, count = 0;
  while (count < kept.size() && count < most_plans && (bytes += kept[count].plan->bytes()) <= most_bytes)
    ++count;
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end());
  return plan;
}

}  // namespace cpu
NAX_END
