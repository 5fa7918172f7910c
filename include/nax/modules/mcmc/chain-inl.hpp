#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/modules/mcmc/chain.hpp"
#include "nax/random/continuous.hpp"
#include "nax/random/uniform.hpp"

// Hamiltonian Monte Carlo as Stan runs it. M. Betancourt, A conceptual introduction to Hamiltonian Monte
// Carlo (2017), appendix A: trajectories by doubling, states by their weights, an end where a trajectory or a
// part of it turns back. M. D. Hoffman, A. Gelman, The No-U-Turn Sampler (2014): the step length.
NAX_BEGIN
namespace mcmc::detail {

using optimize::detail::dot;

NAX_ENGINE Metric metric_named(const char* function, std::string_view name) {
  if (name == "diag") return Metric::diag;
  if (name == "dense") return Metric::dense;
  if (name == "unit") return Metric::unit;
  raise<ValueError>({function, ": metric must be 'diag', 'dense' or 'unit', not '", name, "'"});
}

// Random numbers of a key, drawn by blocks.
class Stream {
 public:
  explicit Stream(const random::Key& key) : key_(key) {}
  double uniform() {
    return next(uniforms_, [](const random::Key& k) { return random::uniform<double>(k, {block}); });
  }
  double normal() {
    return next(normals_, [](const random::Key& k) { return random::normal<double>(k, {block}); });
  }

 private:
  static constexpr std::int64_t block = 1024;
  template <class Draw>
  double next(Vector& left, const Draw& draw) {
    if (left.empty()) left = draw(random::fold_in(key_, blocks_++)).to_vector();
    const double value = left.back();
    left.pop_back();
    return value;
  }

  random::Key key_;
  std::int64_t blocks_ = 0;
  Vector uniforms_, normals_;
};

// The inverse mass matrix, an estimate of the covariance.
struct Mass {
  Metric metric;
  Vector inverse;            // of Metric::diag and unit: n numbers
  Matrix covariance, lower;  // of Metric::dense, and its Cholesky factor

  Mass(Metric kind, std::size_t n) : metric(kind), inverse(n, 1) {
    if (metric != Metric::dense) return;
    covariance = Matrix(n, n);
    for (std::size_t i = 0; i < n; ++i) covariance(i, i) = 1;
    lower = covariance;
  }
  Vector velocity(const Vector& p) const {
    if (metric == Metric::dense) return times(covariance, p);
    Vector v(p.size());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = inverse[i] * p[i];
    return v;
  }
  Vector momentum(Stream& random) const {
    const std::size_t n = inverse.size();
    Vector p(n);
    for (double& each : p) each = random.normal();
    if (metric != Metric::dense) {
      for (std::size_t i = 0; i < n; ++i) p[i] /= std::sqrt(inverse[i]);
      return p;
    }
    for (std::size_t i = n; i-- > 0;) {  // lower^T p = normal numbers
      for (std::size_t j = i + 1; j < n; ++j) p[i] -= lower(j, i) * p[j];
      p[i] /= lower(i, i);
    }
    return p;
  }
};

// Means and products of deviations of the states of a window (Welford), and the mass of them, drawn toward
// 1e-3.
class Moments {
 public:
  Moments(bool dense, std::size_t n) : dense_(dense), mean_(n), products_(n, dense ? n : 1) {}
  void add(const Vector& x) {
    const std::size_t n = x.size();
    ++count_;
    Vector before(n);
    for (std::size_t i = 0; i < n; ++i) {
      before[i] = x[i] - mean_[i];
      mean_[i] += before[i] / count_;
    }
    for (std::size_t j = 0; j < products_.columns; ++j)
      for (std::size_t i = 0; i < n; ++i)
        products_(i, j) += before[i] * (x[dense_ ? j : i] - mean_[dense_ ? j : i]);
  }
  void put(Mass& mass) const {
    const double weight = 1 / ((count_ - 1) * (1 + 5 / count_)), least = 1e-3 * 5 / (count_ + 5);
    const std::size_t n = mean_.size();
    for (std::size_t i = 0; i < n && !dense_; ++i) mass.inverse[i] = products_(i, 0) * weight + least;
    if (!dense_) return;
    Matrix covariance = products_;
    for (double& each : covariance.data) each *= weight;
    for (std::size_t i = 0; i < n; ++i) covariance(i, i) += least;
    Matrix lower = covariance;
    if (!optimize::detail::cholesky_in_place(lower)) return;
    mass.covariance = std::move(covariance);
    mass.lower = std::move(lower);
  }

 private:
  bool dense_;
  double count_ = 0;
  Vector mean_;
  Matrix products_;
};

// The step length by dual averaging of the acceptance.
class StepLength {
 public:
  void start(double step) {
    center_ = std::log(10 * step);
    error_ = log_mean_ = 0;
    count_ = 0;
  }
  double next(double accept, double target) {
    ++count_;
    const double part = 1 / (count_ + 10);
    error_ = (1 - part) * error_ + part * (target - (accept == accept ? std::min(accept, 1.) : 0));
    const double log_step = center_ - error_ * std::sqrt(count_) / 0.05;
    const double forget = std::pow(count_, -0.75);
    log_mean_ = (1 - forget) * log_mean_ + forget * log_step;
    return std::exp(log_step);
  }
  bool used() const { return count_ > 0; }
  double mean() const { return std::exp(log_mean_); }

 private:
  double center_ = 0, error_ = 0, log_mean_ = 0, count_ = 0;
};

// The windows of warm-up in which the mass is estimated, each twice as long as the one before; first and last
// draws adapt the step length alone.
class Windows {
 public:
  explicit Windows(std::int64_t warmup) : begin_(75), end_(warmup - 50), length_(25) {
    if (warmup < 20) {
      begin_ = end_ = warmup;
    } else if (warmup < 150) {
      begin_ = warmup * 15 / 100;
      end_ = warmup - warmup / 10;
      length_ = end_ - begin_;
    }
    end_with(begin_ + length_ - 1);
  }
  bool holds(std::int64_t draw) const { return draw >= begin_ && draw < end_; }
  // Does a window end with this draw?
  bool ends(std::int64_t draw) {
    if (!holds(draw) || draw != last_) return false;
    length_ *= 2;
    end_with(draw + length_);
    return true;
  }

 private:
  // Ends a window with this draw, or with the last one of all where the window behind would not fit.
  void end_with(std::int64_t draw) { last_ = draw + 2 * length_ >= end_ ? end_ - 1 : draw; }

  std::int64_t begin_, end_, length_, last_;
};

struct Point {
  Vector x, p, gradient;
  double log_density = 0;
};

class ChainSampler {
 public:
  ChainSampler(const ChainSettings& settings, Density density, const random::Key& key, std::size_t n)
      : set_(settings), density_(density), random_(key), mass_(settings.metric, n) {}

  Chain run(const Vector& x0) {
    const std::size_t n = x0.size();
    find_start(x0);
    const bool adapts = set_.warmup > 0;
    step_ = set_.step_size > 0 ? set_.step_size : reasonable_step(1);
    StepLength length;
    length.start(step_);
    Windows windows(set_.warmup);
    Moments moments(set_.metric == Metric::dense, n);
    for (std::int64_t draw = -set_.warmup; draw < set_.draws; ++draw) {
      if (draw == 0 && adapts && length.used()) step_ = length.mean();
      steps_ = 0;
      accept_sum_ = 0;
      divergent_ = false;
      set_.trajectory == Trajectory::nuts ? double_trajectory() : follow_path();
      const double accept = accept_sum_ / static_cast<double>(std::max<std::int64_t>(steps_, 1));
      if (draw >= 0) {
        keep(accept);
        continue;
      }
      step_ = length.next(accept, set_.target_accept);
      const std::int64_t at = draw + set_.warmup;
      if (set_.metric == Metric::unit) continue;
      if (windows.holds(at)) moments.add(state_.x);
      if (windows.ends(at)) {
        moments.put(mass_);
        moments = Moments(set_.metric == Metric::dense, n);
        step_ = reasonable_step(step_);
        length.start(step_);
      }
    }
    out_.step_size = step_;
    out_.inverse_mass = set_.metric == Metric::dense ? mass_.covariance.data : mass_.inverse;
    return std::move(out_);
  }

 private:
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static double log_sum(double a, double b) {
    const double most = std::max(a, b);
    return most == -inf ? most : most + std::log(std::exp(a - most) + std::exp(b - most));
  }

  void evaluate(Point& z) {
    ++out_.evaluations;
    z.log_density = density_(z.x, z.gradient);
  }
  static bool usable(const Point& z) {
    return std::isfinite(z.log_density) && optimize::detail::all_finite(z.gradient);
  }
  void find_start(const Vector& x0) {
    for (int turn = 0; turn < (set_.jitter > 0 ? 100 : 1); ++turn) {
      state_.x = x0;
      if (set_.jitter > 0)
        for (double& each : state_.x) each += set_.jitter * (2 * random_.uniform() - 1);
      evaluate(state_);
      if (usable(state_)) return;
    }
    raise<ValueError>({set_.function, ": the log density and its gradient must be finite at the start: ",
                       optimize::detail::InText{state_.log_density}, " and ",
                       optimize::detail::InText{optimize::detail::norm(state_.gradient)}});
  }

  // The negative logarithm of the joint density of state and momentum; infinite where it is NaN.
  double energy(const Point& z) const {
    const double h = dot(z.p, mass_.velocity(z.p)) / 2 - z.log_density;
    return h == h ? h : inf;
  }
  void leap(Point& z, double step) {
    for (std::size_t i = 0; i < z.p.size(); ++i) z.p[i] += step / 2 * z.gradient[i];
    const Vector v = mass_.velocity(z.p);
    for (std::size_t i = 0; i < z.x.size(); ++i) z.x[i] += step * v[i];
    evaluate(z);
    for (std::size_t i = 0; i < z.p.size(); ++i) z.p[i] += step / 2 * z.gradient[i];
  }

  // A step length whose first step is accepted with a probability that passes 0.8, by doubling or halving.
  double reasonable_step(double step) {
    int way = 0;
    for (;;) {
      Point z = state_;
      z.p = mass_.momentum(random_);
      const double before = energy(z);
      leap(z, step);
      const int wanted = before - energy(z) > std::log(0.8) ? 1 : -1;
      if (way == 0) way = wanted;
      if (wanted != way) return step;
      step *= way > 0 ? 2 : 0.5;
      if (step > 1e7 || step == 0)
        raise<ValueError>({set_.function, ": no step length fits the density: ",
                           step == 0 ? "its gradient is wrong, or it is not continuous" : "it is improper"});
    }
  }

  // A part of a trajectory, in the order in which it was walked.
  struct Part {
    Vector first_p, first_v, last_p, last_v;  // momentum and velocity of its ends
    Vector sum_p;
    double log_weight = -inf;
    Point proposal;
  };
  static void add(Vector& to, const Vector& more) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += more[i];
  }
  static Vector sum_of(Vector a, const Vector& b) {
    add(a, b);
    return a;
  }
  static bool goes_on(const Vector& first_v, const Vector& last_v, const Vector& sum_p) {
    return dot(first_v, sum_p) > 0 && dot(last_v, sum_p) > 0;
  }
  // Does b, walked after a, lead on, with regard to both, and to each with the next state of the other?
  static bool goes_on(const Part& a, const Part& b, const Vector& sum_p) {
    return goes_on(a.first_v, b.last_v, sum_p) && goes_on(a.first_v, b.first_v, sum_of(a.sum_p, b.first_p)) &&
           goes_on(a.last_v, b.last_v, sum_of(b.sum_p, a.last_p));
  }
  bool chosen(double log_probability) {
    return log_probability >= 0 || random_.uniform() < std::exp(log_probability);
  }

  // Walks 2^depth steps from z, which becomes the last state. False where they turn back or diverge.
  bool build(int depth, Point& z, double before, double step, Part& part) {
    if (depth == 0) {
      leap(z, step);
      ++steps_;
      const double gain = before - energy(z);
      if (!(gain >= -set_.max_energy_error)) divergent_ = true;
      part.log_weight = gain;
      accept_sum_ += gain > 0 ? 1 : std::exp(gain);
      part.proposal = z;
      part.sum_p = part.first_p = part.last_p = z.p;
      part.first_v = part.last_v = mass_.velocity(z.p);
      return !divergent_;
    }
    Part second;
    if (!build(depth - 1, z, before, step, part) || !build(depth - 1, z, before, step, second)) return false;
    const double both = log_sum(part.log_weight, second.log_weight);
    if (chosen(second.log_weight - both)) part.proposal = std::move(second.proposal);
    const Vector sum_p = sum_of(part.sum_p, second.sum_p);
    const bool on = goes_on(part, second, sum_p);
    part.log_weight = both;
    part.sum_p = sum_p;
    part.last_p = std::move(second.last_p);
    part.last_v = std::move(second.last_v);
    return on;
  }
  void double_trajectory() {
    state_.p = mass_.momentum(random_);
    const double before = energy(state_);
    Point ends[2] = {state_, state_};  // backward, forward
    Part whole;                        // from the first to the last state in time
    whole.sum_p = whole.first_p = whole.last_p = state_.p;
    whole.first_v = whole.last_v = mass_.velocity(state_.p);
    whole.log_weight = 0;
    for (int depth = 0; depth < set_.max_depth; ++depth) {
      const bool forward = random_.uniform() > 0.5;
      Part part;
      if (!build(depth, ends[forward], before, forward ? step_ : -step_, part)) return;
      if (chosen(part.log_weight - whole.log_weight)) state_ = part.proposal;
      if (!forward) {
        std::swap(part.first_p, part.last_p);
        std::swap(part.first_v, part.last_v);
      }
      Part& a = forward ? whole : part;
      Part& b = forward ? part : whole;
      const Vector sum_p = sum_of(a.sum_p, b.sum_p);
      const bool on = goes_on(a, b, sum_p);
      whole.log_weight = log_sum(whole.log_weight, part.log_weight);
      Vector first_p = std::move(a.first_p), first_v = std::move(a.first_v);
      Vector last_p = std::move(b.last_p), last_v = std::move(b.last_v);
      whole.first_p = std::move(first_p), whole.first_v = std::move(first_v);
      whole.last_p = std::move(last_p), whole.last_v = std::move(last_v);
      whole.sum_p = sum_p;
      if (!on) return;
    }
  }

  // A path of random length (of one length, paths of some densities end where they began), accepted by
  // Metropolis' rule.
  void follow_path() {
    state_.p = mass_.momentum(random_);
    Point z = state_;
    const double before = energy(z);
    const double most = std::ldexp(1, set_.max_depth);
    const double count = std::ceil(std::min(most, random_.uniform() * set_.path_length / step_));
    double gain = 0;
    for (double i = 0; i < std::max(count, 1.); ++i) {
      leap(z, step_);
      ++steps_;
      gain = before - energy(z);
      if (!(gain >= -set_.max_energy_error)) {
        divergent_ = true;
        break;
      }
    }
    accept_sum_ = static_cast<double>(steps_) * std::min(1., std::exp(gain));
    if (!divergent_ && chosen(gain)) state_ = std::move(z);
  }

  void keep(double accept) {
    out_.x.insert(out_.x.end(), state_.x.begin(), state_.x.end());
    out_.log_density.push_back(state_.log_density);
    out_.accept.push_back(accept);
    out_.steps.push_back(static_cast<std::int32_t>(steps_));
    out_.divergent.push_back(divergent_);
  }

  const ChainSettings& set_;
  Density density_;
  Stream random_;
  Mass mass_;
  Point state_;
  Chain out_;
  double step_ = 1, accept_sum_ = 0;
  std::int64_t steps_ = 0;
  bool divergent_ = false;
};

NAX_ENGINE Chain run_chain(const ChainSettings& settings, Density density, const Vector& x0,
                           const random::Key& key) {
  return ChainSampler(settings, density, key, x0.size()).run(x0);
}

}  // namespace mcmc::detail
NAX_END
