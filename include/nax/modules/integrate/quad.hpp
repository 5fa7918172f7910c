#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nax/modules/integrate/field.hpp"
#include "nax/transform/checkpoint.hpp"

// Integrals of functions of one number.
NAX_BEGIN
namespace integrate {

struct QuadOptions {
  double epsabs = 1.49e-8, epsrel = 1.49e-8;
  int limit = 50;  // intervals
};
template <class T>
struct QuadResult {
  Array<T> value;
  double error;  // an estimate of its absolute error
};

namespace detail {

// The rule of 21 points and its embedded one of 10 (QUADPACK's QK21): points, weights of both.
inline constexpr std::size_t quad_points = 21;
inline constexpr double quad_nodes[11] = {0.995657163025808080735527280689003,
                                          0.973906528517171720077964012084452,
                                          0.930157491355708226001207180059508,
                                          0.865063366688984510732096688423493,
                                          0.780817726586416897063717578345042,
                                          0.679409568299024406234327365114874,
                                          0.562757134668604683339000099272694,
                                          0.433395394129247190799265943165784,
                                          0.294392862701460198131126603103866,
                                          0.148874338981631210884826001129720,
                                          0};
inline constexpr double quad_weights[11] = {
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390,
    0.054755896574351996031381300244580, 0.075039674810919952767043140916190,
    0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109831074, 0.134709217311473325928054001771707,
    0.142775938577060080797094273138717, 0.147739104901338491374841515972068,
    0.149445554002916905664936468389821};
inline constexpr double gauss_weights[5] = {
    0.066671344308688137593568809893332, 0.149451349150580593145776339657697,
    0.219086362515982043995534934228163, 0.269266719309996355091226921569469,
    0.295524224714752870173892994651338};

// An interval that was measured: part of the sums of the stages from `born` until before `gone`.
struct QuadInterval {
  double begin, end, value = 0, error = 0;
  std::size_t born = 0, gone = std::size_t(-1);
  double length() const { return end - begin; }
};

// Points of an interval of s, where x = s, or, for infinite bounds, x = map(s), and dx/ds. Infinity is at s =
// 0, where floating numbers lie densest (QUADPACK's QAGI).
struct QuadMap {
  double a, b;  // as given
  std::vector<QuadInterval> intervals() const {
    if (std::isfinite(a) && std::isfinite(b)) return {{a, b}};
    if (std::isfinite(a) || std::isfinite(b)) return {{0, 1}};
    return {{-1, 0}, {0, 1}};
  }
  std::pair<double, double> operator()(double s) const {
    if (std::isfinite(a) && std::isfinite(b)) return {s, 1};
    const double far = (1 - std::abs(s)) / s, slope = 1 / (s * s);
    return {std::isfinite(a) ? a + far : std::isfinite(b) ? b - far : far, slope};
  }
};

// The limit of a sequence by Wynn's epsilon algorithm. It is a homogeneous function of the sequence: the sum
// of its numbers times `weights`, its derivatives by them.
struct QuadLimit {
  double value = 0, error = std::numeric_limits<double>::infinity();
  std::vector<double> weights;

  static QuadLimit of(const std::vector<double>& sequence) {
    struct Number {
      double value;
      std::vector<double> slopes;
    };
    const std::size_t n = sequence.size();
    std::vector<Number> before(n + 1, Number{0, std::vector<double>(n, 0)}), now;
    for (std::size_t i = 0; i < n; ++i) {
      now.push_back({sequence[i], std::vector<double>(n, 0)});
      now.back().slopes[i] = 1;
    }
    QuadLimit best;
    for (int column = 1; now.size() > 1; ++column) {
      std::vector<Number> next;
      for (std::size_t i = 0; i + 1 < now.size(); ++i) {
        const double difference = now[i + 1].value - now[i].value, inverse = 1 / difference;
        if (!std::isfinite(inverse)) return best;
        next.push_back(before[i + 1]);
        next.back().value += inverse;
        for (std::size_t k = 0; k < n; ++k)
          next.back().slopes[k] -= inverse * inverse * (now[i + 1].slopes[k] - now[i].slopes[k]);
      }
      if (column % 2 == 0 && next.size() > 1) {
        const Number& last = next.back();
        const double apart =
            std::abs(last.value - next[next.size() - 2].value) + std::abs(last.value - before.back().value);
        if (apart < best.error) best = {last.value, apart, last.slopes};
      }
      before = std::exchange(now, std::move(next));
    }
    return best;
  }
};

// The rule's points in intervals of s, as x, with dx/ds and the weights of f's values.
template <class T>
struct QuadPoints {
  std::vector<T> x, slopes, weights;

  // `by`: a factor of each interval's weights.
  template <class By>
  QuadPoints(const QuadMap& map, const std::vector<QuadInterval>& intervals, const By& by) {
    for (const QuadInterval& i : intervals) {
      const double factor = by(i);
      if (factor == 0) continue;
      for (std::size_t k = 0; k < quad_points; ++k) {
        const std::size_t at = k <= 10 ? k : 20 - k;
        const double half = (i.end - i.begin) / 2, node = k <= 10 ? quad_nodes[at] : -quad_nodes[at];
        const auto [point, slope] = map((i.begin + i.end) / 2 + half * node);
        x.push_back(static_cast<T>(point));
        slopes.push_back(static_cast<T>(slope));
        weights.push_back(static_cast<T>(quad_weights[at] * half * slope * factor));
      }
    }
  }
};

}  // namespace detail

// The integral of f from a to b, either of which may be infinite, by adaptive Gauss-Kronrod quadrature whose
// sums are extrapolated where f is singular (QUADPACK's QAGS and QAGI, for their limits). f
// maps an array of numbers to one of its shape, element by element; it is called for all points of two
// intervals at a time. `value` is 0-d and differentiable in what f captured; `error` estimates its error,
// which is larger than asked for where .limit intervals do not reach max(epsabs, epsrel |value|). Throws
// ValueError for NaN bounds and a limit below 1, ShapeError where f's result has another shape than its
// argument.
template <class T = double, class F>
QuadResult<T> quad(const F& f, double a, double b, const QuadOptions& options = {}) {
  using namespace detail;
  if (a != a || b != b || options.limit < 1)
    raise<ValueError>(
        {"quad: bounds must be numbers and limit at least 1, got ", a, ", ", b, " and ", options.limit});
  if (a == b) return {Array<T>(T(0)), 0};
  if (a > b) {
    const QuadResult<T> back = quad<T>(f, b, a, options);
    return {Array<T>(-back.value), back.error};
  }
  const QuadMap map{a, b};
  // The integrals over intervals and their errors.
  const auto measured = [&](const std::vector<QuadInterval>& intervals) {
    const QuadPoints<T> points(map, intervals, [](const QuadInterval&) { return 1.; });
    const Array<T> x = array(points.x);
    const Array<T> y = f(x);
    if (y.shape() != x.shape())
      raise<ShapeError>(
          {"quad: f must return an array of its argument's shape ", x.shape(), ", not ", y.shape()});
    const std::vector<T> numbers = stop_gradient(y).to_vector();
    std::vector<QuadInterval> done = intervals;
    for (std::size_t n = 0; n < done.size(); ++n) {
      const double half = (done[n].end - done[n].begin) / 2;
      double fine = 0, coarse = 0;
      for (std::size_t k = 0; k < quad_points; ++k) {
        const std::size_t at = k <= 10 ? k : 20 - k;
        const double value =
            double(numbers[n * quad_points + k]) * double(points.slopes[n * quad_points + k]);
        fine += quad_weights[at] * value;
        if (at % 2 == 1) coarse += gauss_weights[at / 2] * value;
      }
      done[n].value = fine * half;
      done[n].error = std::abs((fine - coarse) * half);
    }
    return done;
  };
  std::vector<QuadInterval> all = measured(map.intervals());
  int active = static_cast<int>(all.size());
  double small = all[0].length() / 2, error = 0;
  std::vector<double> sums;  // of the stages: in each one all longer intervals are measured well
  QuadLimit limit;
  const auto tolerance = [&](double value) {
    return std::max(options.epsabs, options.epsrel * std::abs(value));
  };
  for (;;) {
    double value = 0, large_error = 0;
    QuadInterval *worst = nullptr, *large = nullptr;
    error = 0;
    for (QuadInterval& i : all) {
      if (i.gone != std::size_t(-1)) continue;
      value += i.value, error += i.error;
      if (!worst || i.error > worst->error) worst = &i;
      if (i.length() <= small * 1.001) continue;
      large_error += i.error;
      if (!large || i.error > large->error) large = &i;
    }
    if (!(error > tolerance(value)) || !(limit.error > tolerance(limit.value)) || active >= options.limit)
      break;
    if (worst->length() <= small * 1.001) {
      if (large && large_error > tolerance(value)) {
        worst = large;
      } else {
        sums.push_back(value);
        if (QuadLimit next = QuadLimit::of(sums); next.error < limit.error) limit = std::move(next);
        small /= 2;
      }
    }
    const double begin = worst->begin, end = worst->end, middle = (begin + end) / 2;
    if (middle == begin || middle == end) break;
    worst->gone = sums.size();
    ++active;
    for (QuadInterval& half : measured({{begin, middle}, {middle, end}})) {
      half.born = sums.size();
      all.push_back(half);
    }
  }
  // The sum once more, over all intervals at once: what the tape sees.
  const bool extrapolated = limit.error < error;
  const QuadPoints<T> points(map, all, [&](const QuadInterval& i) {
    if (!extrapolated) return i.gone == std::size_t(-1) ? 1. : 0.;
    double factor = 0;
    for (std::size_t k = i.born; k < std::min(i.gone, limit.weights.size()); ++k) factor += limit.weights[k];
    return factor;
  });
  const Array<T> value = sum(f(array(points.x)) * array(points.weights));
  if (!extrapolated) return {value, error};
  const Array<T> rounding = Array<T>(static_cast<T>(limit.value)) - stop_gradient(value);
  return {Array<T>(value + rounding), limit.error};
}

}  // namespace integrate
NAX_END
