#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "nax/modules/integrate/segment.hpp"
#include "nax/transform/jvp.hpp"

// Steps of adaptive length, the events on their way, and what is kept of both.
NAX_BEGIN
namespace integrate {

struct TimeSpan {
  detail::Time begin, end;
};

// A function g(t, y) whose zeros are looked for.
template <class T>
struct Event {
  detail::Field<T> function;
  bool terminal = false;  // does the first one end the solution?
  int direction = 0;      // 1: only where g rises, -1: only where it falls
};
// One function, or a list of events.
template <class T>
class Events {
 public:
  Events() = default;
  template <class G>
  requires std::is_invocable_v < const G&, double, const Array<T>
  & > Events(G g) : all_{Event<T>{detail::Field<T>(std::move(g))}} {}
  Events(Event<T> event) : all_{std::move(event)} {}
  Events(std::initializer_list<Event<T>> events) : all_(events) {}
  const std::vector<Event<T>>& all() const { return all_; }

 private:
  std::vector<Event<T>> all_;
};

template <class T>
struct SolveIvpOptions {
  // "dopri5" (SciPy's RK45); for stiff systems "rodas4", "rodas5", "kvaerno5"
  std::string_view method = "tsit5";
  // kvaerno5 takes no rtol below 100 times the type's epsilon: it is raised to that, and .message says so.
  double rtol = 1e-3, atol = 1e-6;
  detail::Numbers t_eval = {};  // the times of the result; the solver's own where none are given
  bool dense_output = false;    // is .sol wanted?
  Events<T> events = {};
  double first_step = 0;  // 0: chosen
  double max_step = std::numeric_limits<double>::infinity();
  std::int64_t max_steps = 100000;
  // "steps": through the steps taken; "checkpoint": these are taken once more in the backward pass;
  // "adjoint": a differential equation of its own is solved backward, in memory that does not grow.
  std::string_view gradient = "steps";
  Arguments args = {};  // behind t and y: one, or a std::tuple
};

namespace detail {
enum class GradientMode { steps, checkpoint, adjoint };
inline GradientMode gradient_mode(std::string_view name) {
  if (name == "steps") return GradientMode::steps;
  if (name == "checkpoint") return GradientMode::checkpoint;
  if (name == "adjoint") return GradientMode::adjoint;
  raise<ValueError>({"solve_ivp: gradient must be 'steps', 'checkpoint' or 'adjoint', not '", name, "'"});
}
}  // namespace detail

template <class T>
struct OdeResult {
  Array<double> t;                      // (points,)
  Array<T> y;                           // y0's shape, then (points,)
  std::vector<Array<double>> t_events;  // one for each event
  std::vector<Array<T>> y_events;
  std::int64_t nfev = 0, njev = 0, nsteps = 0;
  int status = 0;  // 0: the end was reached, 1: a terminal event, -1: a step failed, -2: max_steps
  std::string message;
  bool success = true;
  std::function<Array<T>(const detail::Time&)> sol;  // with .dense_output
};

namespace detail {

// The states at times within a step, which a backward pass takes once more.
template <class T>
std::vector<Array<T>> states_again(const Field<T>& f, const Segment<T>& s, double end,
                                   const std::vector<double>& times, double rtol, double atol, double span) {
  return checkpoint([=, method = s.method, t = s.t, h = s.h](const Array<T>& y) {
    Segment<T> again{method, t, h, y, y, {}};
    const Linearised<T> at = method.explicit_method ? Linearised<T>{} : linearise(f, t, y, span);
    static_cast<void>(take_step(f, method.rosenbrock ? y : f(t, y), at, rtol, atol, again));
    if (again.k.size() < 6) throw Error("solve_ivp: gradient 'checkpoint': a step failed when taken again");
    std::vector<Array<T>> states;
    for (const double time : times) states.push_back(time == end ? again.end : again.at(time));
    return states;
  })(s.y);
}

struct Span {
  double begin, end;
};

template <class T>
class Solver {
 public:
  Solver(const Field<T>& f, Span span, const Array<T>& y0, const SolveIvpOptions<T>& options)
      : own_(f),
        f_([this](double t, const Array<T>& y) {
          ++result_.nfev;
          return own_(t, y);
        }),
        span_(span),
        options_(options),
        method_(method_named(options.method)),
        mode_(gradient_mode(options.gradient)),
        direction_(span.end >= span.begin ? 1 : -1),
        t_(span.begin),
        y_(y0) {
    check();
    if (method_.implicit && rtol_ < least_rtol) {
      rtol_ = least_rtol;
      note_ = "; rtol was raised to 100 times the type's epsilon";
    }
    shape_ = y0.shape();
    if (!method_.explicit_method) {  // a system of vectors
      y_ = y0.reshape({-1});
      own_ = [f, shape = shape_](double t, const Array<T>& y) -> Array<T> {
        return f(t, y.reshape(shape)).reshape({-1});
      };
    }
  }

  std::function<void(const Segment<T>&, double end)> on_step = {};  // called with the numbers of each

  OdeResult<T> solve() {
    if (options_.t_eval.values().empty()) keep(t_, y_);
    for (std::size_t i = 0; i < events().size(); ++i) {
      before_.push_back(event_at(i, t_, y_));
      times_.emplace_back(), states_.emplace_back();
    }
    while (next_ < wanted().size() && wanted()[next_] == t_) keep(wanted()[next_++], y_);
    while (t_ != span_.end && result_.status == 0) advance();
    finish();
    return std::move(result_);
  }

 private:
  const std::vector<Event<T>>& events() const { return options_.events.all(); }
  double duration() const { return span_.end - span_.begin; }
  const std::vector<double>& wanted() const { return options_.t_eval.values(); }

  void check() const {
    const SolveIvpOptions<T>& o = options_;
    if (!std::isfinite(span_.begin) || !std::isfinite(span_.end))
      raise<ValueError>({"solve_ivp: t_span must be finite, got {", span_.begin, ", ", span_.end, "}"});
    if (!(o.rtol >= 0) || !(o.atol >= 0) || o.rtol + o.atol == 0)
      raise<ValueError>(
          {"solve_ivp: rtol and atol must not be negative, and not both 0, got ", o.rtol, " and ", o.atol});
    if (mode_ == GradientMode::adjoint && !events().empty())
      raise<ValueError>({"solve_ivp: events need gradient 'steps' or 'checkpoint', not 'adjoint'"});
    if (!(o.max_step > 0) || !(o.first_step >= 0) || o.max_steps < 1)
      raise<ValueError>({"solve_ivp: max_step and max_steps must be positive, first_step not negative"});
    for (std::size_t i = 0; i < wanted().size(); ++i) {
      const double t = wanted()[i];
      if (!(t >= std::min(span_.begin, span_.end) && t <= std::max(span_.begin, span_.end)))
        raise<ValueError>(
            {"solve_ivp: t_eval: ", t, " does not lie within t_span {", span_.begin, ", ", span_.end, "}"});
      if (i > 0 && !(direction_ * (t - wanted()[i - 1]) > 0))
        raise<ValueError>({"solve_ivp: t_eval must run from t_span's begin to its end, but ", t, " follows ",
                           wanted()[i - 1]});
    }
  }

  void keep(double t, const Array<T>& y) {
    kept_times_.push_back(t);
    kept_states_.push_back(y);
  }
  double event_at(std::size_t i, double t, const Array<T>& y) const {
    const Array<T> value = events()[i].function(t, y.reshape(shape_));
    if (value.size() != 1)
      raise<ShapeError>(
          {"solve_ivp: events: event ", i, " must return one number, not shape ", value.shape()});
    if (nax::detail::is_batched(value))
      raise<ValueError>({"solve_ivp: events do not go under vmap: event ", i, " differs from lane to lane"});
    return static_cast<double>(stop_gradient(value).to_vector()[0]);
  }
  Array<T> field(double t, const Array<T>& y) {
    Array<T> out = f_(t, y);
    if (out.shape() != y.shape())
      raise<ShapeError>({"solve_ivp: f must return an array of y's shape ", shape_, ", not ", out.shape()});
    return out;
  }

  // E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.4.
  double first_step() {
    const double length = std::abs(duration());
    if (options_.first_step > 0) return std::min(options_.first_step, length);
    const Array<T> none = zeros_like(y_);
    const auto norm = [&](const Array<T>& x) {
      norms_ = error_norms(x, y_, y_, rtol_, options_.atol);
      for (double& each : norms_) each = std::isfinite(each) ? 0 : each;
      return error_norm(x, y_, y_, rtol_, options_.atol);
    };
    const double d0 = norm(y_), d1 = norm(slope_);
    if (!std::isfinite(d1)) return std::numeric_limits<double>::quiet_NaN();
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h = std::min(h, length);
    const Array<T> ahead = field(t_ + direction_ * h, y_ + static_cast<T>(direction_ * h) * slope_);
    const double d2 = norm(Array<T>(ahead - slope_)) / h;
    const double other = d1 <= 1e-15 && d2 <= 1e-15 ? std::max(1e-6, h * 1e-3)
                                                    : std::pow(0.01 / std::max(d1, d2), -method_.exponent);
    return std::min({100 * h, other, length, options_.max_step});
  }

  void fail(int status, std::string message) {
    result_.status = status;
    result_.success = false;
    result_.message = std::move(message);
  }

  void begin() {
    slope_ = field(t_, y_);
    h_ = first_step();
  }

  // Lanes of a vmap that failed the last trial, or made its step as short as it is, become NaN, and the
  // others go on; false where there are no others.
  bool lose_lanes() {
    const double most = largest(norms_);
    const std::vector<T> y = lane_values(y_);
    std::vector<T> lost(norms_.size());
    bool all = true;
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const bool fails = most < 1 ? norms_[i] >= 0.5 * most : !(norms_[i] < 1);
      lost[i] = fails ? std::numeric_limits<T>::quiet_NaN() : T(0);
      all = all && (fails || is_stopped(y, static_cast<std::size_t>(y_.size()), i));
    }
    if (all) return false;
    y_ = y_ + lane_array(lost);
    lost_lanes_ = true;
    begin();
    return true;
  }

  void advance() {
    if (result_.nsteps == options_.max_steps)
      return fail(-2, "max_steps steps did not reach the end of t_span");
    // (With checkpoints only the numbers are wanted here.)
    const nax::detail::RecordOn on(mode_ == GradientMode::checkpoint ? nullptr : nax::detail::recording.tape);
    if (result_.nsteps == 0) begin();
    ++result_.nsteps;
    if (!method_.explicit_method) {
      linearised_ = linearise(f_, t_, y_, duration());
      ++result_.njev;
    }
    bool rejected = false;
    for (;;) {
      const double least =
          10 * std::abs(std::nextafter(t_, direction_ * std::numeric_limits<double>::infinity()) - t_);
      h_ = std::min(h_, options_.max_step);
      if (!(h_ >= least)) {
        if (lose_lanes()) return;
        return fail(-1, "the step that the tolerances ask for is smaller than the distance of two numbers");
      }
      Segment<T> s{method_, t_, direction_ * h_, y_, y_, {}};
      if (direction_ * (s.end_time() - span_.end) >= 0) s.h = span_.end - t_;
      const Array<T> error = take_step(f_, slope_, linearised_, rtol_, options_.atol, s);
      norms_ = error_norms(error, y_, s.end, rtol_, options_.atol);
      const double norm = largest(norms_);
      if (norm < 1) {
        const double factor = norm == 0 ? 10 : std::min(10., 0.9 * std::pow(norm, method_.exponent));
        h_ = std::abs(s.h) * (rejected ? std::min(1., factor) : factor);
        if (s.h == span_.end - t_)
          end_ = span_.end;
        else
          end_ = s.end_time();
        return accept(s);
      }
      // (A step that ends in NaN is tried again, much shorter.)
      h_ = std::abs(s.h) * (norm == norm ? std::max(0.2, 0.9 * std::pow(norm, method_.exponent)) : 0.1);
      rejected = true;
    }
  }

  Array<T> at(const Segment<T>& s, double t) const { return t == end_ ? s.end : s.at(t); }

  // The zero of an event between the ends of a step, by bisection and the secant (Dekker's method).
  double zero(std::size_t i, const Segment<T>& s, double before, double after) const {
    double a = s.t, b = end_, fa = before, fb = after;
    for (int turn = 0; turn < 200 && fb != 0; ++turn) {
      const double middle = a + (b - a) / 2;
      if (middle == a || middle == b) break;
      double m = turn % 3 == 2 ? middle : b - fb * (b - a) / (fb - fa);
      if (!(direction_ * (m - a) > 0 && direction_ * (b - m) > 0)) m = middle;
      const double fm = event_at(i, m, at(s, m));
      if ((fm > 0) == (fb > 0) && fm != 0)
        b = m, fb = fm;
      else if (fm == 0)
        return m;
      else
        a = m, fa = fm;
      if (std::abs(b - a) <= 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b)))
        break;
    }
    return b;
  }

  void accept(Segment<T>& s) {
    double end = end_;
    std::vector<std::pair<double, std::size_t>> found;
    std::vector<double> after;
    for (std::size_t i = 0; i < events().size(); ++i) {
      after.push_back(event_at(i, end_, s.end));
      // (A zero at the end of a step is found there, one at the begin of the first step here.)
      const bool begins = before_[i] == 0 && result_.nsteps == 1;
      const bool rises = (before_[i] < 0 && after[i] >= 0) || (begins && after[i] > 0),
                 falls = (before_[i] > 0 && after[i] <= 0) || (begins && after[i] < 0);
      const int way = rises ? 1 : falls ? -1 : 0;
      if (way == 0) continue;
      if (events()[i].direction == 0 || events()[i].direction == way)
        found.emplace_back(begins ? s.t : zero(i, s, before_[i], after[i]), i);
    }
    std::sort(found.begin(), found.end(),
              [&](const auto& a, const auto& b) { return direction_ * (a.first - b.first) < 0; });
    std::vector<double> times;
    for (std::size_t k = 0; k < found.size(); ++k) {
      times.push_back(found[k].first);
      if (!events()[found[k].second].terminal) continue;
      end = found[k].first;
      found.resize(k + 1);
      result_.status = 1;
      result_.message = "a terminal event ended the solution";
    }
    const std::size_t first = next_;
    while (next_ < wanted().size() && direction_ * (end - wanted()[next_]) >= 0)
      times.push_back(wanted()[next_++]);
    times.push_back(end);
    std::vector<Array<T>> states = states_at(s, times);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const std::size_t i = found[k].second;
      auto [time, state] = moved_with_event(i, times[k], states[k]);
      times_[i].push_back(time), states_[i].push_back(state);
      if (events()[i].terminal) states.back() = state, end_time_ = time;
    }
    for (std::size_t k = first; k < next_; ++k) keep(wanted()[k], states[found.size() + k - first]);
    if (wanted().empty()) keep(end, states.back());
    if (on_step) on_step(s, end);
    if (!method_.rosenbrock) slope_ = s.k.back();
    t_ = end;
    y_ = states.back();
    before_ = std::move(after);
    if (options_.dense_output) segments_.push_back(std::move(s));
  }

  // The states at times within the step.
  std::vector<Array<T>> states_at(const Segment<T>& s, const std::vector<double>& times) const {
    if (mode_ == GradientMode::checkpoint && tape_) {
      const nax::detail::RecordOn on(tape_);
      return states_again(own_, s, end_, times, rtol_, options_.atol, duration());
    }
    std::vector<Array<T>> states;
    for (const double time : times) states.push_back(at(s, time));
    return states;
  }

  // The time and the state of an event with the derivatives that they have by g(t, y(t)) = 0.
  std::pair<Array<double>, Array<T>> moved_with_event(std::size_t i, double t, const Array<T>& y) const {
    Array<double> time(t);
    if (!tape_) return {time, y};
    const nax::detail::RecordOn on(tape_);
    const auto g = [&](double at, const Array<T>& state) -> Array<T> {
      return events()[i].function(at, state.reshape(shape_)).reshape(Shape{});
    };
    const Array<T> value = g(t, y);
    if (!nax::detail::is_recorded(value)) return {time, y};
    if (std::popcount(tape_->watchers(nax::detail::serial_of(value))) > 1)
      throw TypeError("solve_ivp: events have first derivatives alone");
    const auto [slope, rate] = [&] {
      const nax::detail::RecordOn off(nullptr);
      const Array<T> here = stop_gradient(y), field = own_(t, here);
      const double dt = time_difference<T>(t, duration());
      const Array<T> along =
          jvp([&](const Array<T>& at) { return g(t, at); }, std::tuple{here}, std::tuple{field}).second;
      return std::pair{field, Array<T>(along + (g(t + dt, here) - g(t - dt, here)) / static_cast<T>(2 * dt))};
    }();
    if (rate.item() == 0) return {time, y};
    const Array<T> shift = (stop_gradient(value) - value) / rate;
    return {time + shift.template astype<double>(), y + slope * shift};
  }

  Array<T> joined(const std::vector<Array<T>>& states) const {
    if (states.empty()) {
      Shape shape = shape_;
      shape.push_back(0);
      return zeros<T>(shape);
    }
    std::vector<Array<T>> shaped;
    for (const Array<T>& y : states) shaped.push_back(y.reshape(shape_));
    return stack(shaped, {.axis = -1});
  }
  void finish() {
    result_.t = array(kept_times_);
    if (wanted().empty() && nax::detail::is_recorded(end_time_)) result_.t = result_.t.at(-1).set(end_time_);
    result_.y = joined(kept_states_);
    for (std::size_t i = 0; i < events().size(); ++i) {
      result_.t_events.push_back(times_[i].empty() ? zeros<double>({0}) : stack(times_[i]));
      result_.y_events.push_back(joined(states_[i]));
    }
    if (result_.status == 0) result_.message = "the end of t_span was reached" + note_;
    if (lost_lanes_ && result_.status == 0)
      fail(-1, "a step failed in some lanes of a vmap, which are NaN from there on");
    if (!options_.dense_output) return;
    const auto shared = std::make_shared<std::vector<Segment<T>>>(std::move(segments_));
    const bool again = mode_ == GradientMode::checkpoint;
    result_.sol = [shared, again, f = own_, shape = shape_, first = y_, direction = direction_, rtol = rtol_,
                   atol = options_.atol, span = duration()](double t) -> Array<T> {
      if (shared->empty()) return first.reshape(shape);
      const auto found = std::partition_point(shared->begin(), shared->end() - 1, [&](const Segment<T>& s) {
        return direction * (t - s.end_time()) > 0;
      });
      if (!again || !nax::detail::recording.tape) return found->at(t).reshape(shape);
      return states_again(f, *found, found->end_time(), {t}, rtol, atol, span)[0].reshape(shape);
    };
  }

  OdeResult<T> result_;
  Field<T> own_, f_;  // f_ counts calls
  Span span_;
  const SolveIvpOptions<T>& options_;
  // Stages that Newton's method finds are exact to a few units in the last place, and no further.
  static constexpr double least_rtol = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
  double rtol_ = options_.rtol;
  std::string note_;  // of the message
  Method method_;
  GradientMode mode_;
  int direction_;
  double t_, h_ = 0, end_ = 0;  // end_: of the step that is being taken
  Array<T> y_, slope_;
  Shape shape_;
  Linearised<T> linearised_;
  std::size_t next_ = 0;  // of wanted()
  std::vector<double> before_, kept_times_;
  std::vector<Array<T>> kept_states_;
  std::vector<std::vector<Array<double>>> times_;
  std::vector<std::vector<Array<T>>> states_;
  Array<double> end_time_;
  std::vector<Segment<T>> segments_;
  std::vector<double> norms_;  // of the last trial's error, lane by lane
  bool lost_lanes_ = false;
  nax::detail::Tape* const tape_ = nax::detail::recording.tape;
};

}  // namespace detail

}  // namespace integrate
NAX_END
