#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "nax/integrate/segment.hpp"

// Initial value problems.
NAX_BEGIN
namespace integrate {

struct TimeSpan {
  double begin, end;
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
  std::string_view method = "tsit5";  // "dopri5" (SciPy's RK45); for stiff systems "rodas4", "kvaerno5"
  double rtol = 1e-3, atol = 1e-6;
  detail::Numbers t_eval = {};  // the times of the result; the solver's own where none are given
  bool dense_output = false;    // is .sol wanted?
  Events<T> events = {};
  double first_step = 0;  // 0: chosen
  double max_step = std::numeric_limits<double>::infinity();
  std::int64_t max_steps = 100000;
  Arguments args = {};  // behind t and y: one, or a std::tuple
};

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
  std::function<Array<T>(double)> sol;  // with .dense_output
};

namespace detail {

template <class T>
class Solver {
 public:
  Solver(const Field<T>& f, TimeSpan span, const Array<T>& y0, const SolveIvpOptions<T>& options)
      : f_([this, &f](double t, const Array<T>& y) {
          ++result_.nfev;
          return f(t, y);
        }),
        span_(span),
        options_(options),
        method_(method_named(options.method)),
        direction_(span.end >= span.begin ? 1 : -1),
        t_(span.begin),
        y_(y0) {
    check();
    shape_ = y0.shape();
    if (!method_.explicit_method) {  // a system of vectors
      y_ = y0.reshape({-1});
      f_ = [this, &f](double t, const Array<T>& y) -> Array<T> {
        ++result_.nfev;
        return f(t, y.reshape(shape_)).reshape({-1});
      };
    }
  }

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
  const std::vector<double>& wanted() const { return options_.t_eval.values(); }

  void check() const {
    const SolveIvpOptions<T>& o = options_;
    if (!std::isfinite(span_.begin) || !std::isfinite(span_.end))
      raise<ValueError>({"solve_ivp: t_span must be finite, got {", span_.begin, ", ", span_.end, "}"});
    if (!(o.rtol >= 0) || !(o.atol >= 0) || o.rtol + o.atol == 0)
      raise<ValueError>(
          {"solve_ivp: rtol and atol must not be negative, and not both 0, got ", o.rtol, " and ", o.atol});
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
    const double length = std::abs(span_.end - span_.begin);
    if (options_.first_step > 0) return std::min(options_.first_step, length);
    const Array<T> none = zeros_like(y_);
    const auto norm = [&](const Array<T>& x) { return error_norm(x, y_, y_, options_.rtol, options_.atol); };
    const double d0 = norm(y_), d1 = norm(slope_);
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

  void advance() {
    if (result_.nsteps == options_.max_steps)
      return fail(-2, "max_steps steps did not reach the end of t_span");
    if (result_.nsteps == 0) {
      slope_ = field(t_, y_);
      h_ = first_step();
    }
    ++result_.nsteps;
    if (!method_.explicit_method) {
      linearised_ = linearise(f_, t_, y_, span_.end - span_.begin);
      ++result_.njev;
    }
    bool rejected = false;
    for (;;) {
      const double least =
          10 * std::abs(std::nextafter(t_, direction_ * std::numeric_limits<double>::infinity()) - t_);
      h_ = std::min(h_, options_.max_step);
      if (!(h_ >= least))
        return fail(-1, "the step that the tolerances ask for is smaller than the distance of two numbers");
      Segment<T> s{method_, t_, direction_ * h_, y_, y_, {}};
      if (direction_ * (s.end_time() - span_.end) >= 0) s.h = span_.end - t_;
      Array<T> error;
      if (!method_.rosenbrock) s.k.push_back(slope_);
      if (method_.explicit_method) {
        error = take_step(*method_.explicit_method, f_, s);
      } else if (method_.implicit) {
        error = take_step(*method_.implicit, f_, linearised_, s, options_.rtol, options_.atol);
      } else {
        error = take_step(*method_.rosenbrock, f_, linearised_, s);
      }
      const double norm = error_norm(error, y_, s.end, options_.rtol, options_.atol);
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
      const bool rises = before_[i] <= 0 && after[i] > 0, falls = before_[i] >= 0 && after[i] < 0,
                 touches = after[i] == 0 && before_[i] != 0;
      const int way = rises || (touches && before_[i] < 0) ? 1 : falls || touches ? -1 : 0;
      if (way == 0 || before_[i] == 0) continue;
      if (events()[i].direction == 0 || events()[i].direction == way)
        found.emplace_back(zero(i, s, before_[i], after[i]), i);
    }
    std::sort(found.begin(), found.end(),
              [&](const auto& a, const auto& b) { return direction_ * (a.first - b.first) < 0; });
    for (const auto& [t, i] : found) {
      times_[i].push_back(t);
      states_[i].push_back(at(s, t));
      if (events()[i].terminal) {
        end = t;
        result_.status = 1;
        result_.message = "a terminal event ended the solution";
        break;
      }
    }
    const Array<T> state = at(s, end);
    while (next_ < wanted().size() && direction_ * (end - wanted()[next_]) >= 0) {
      keep(wanted()[next_], at(s, wanted()[next_]));
      ++next_;
    }
    if (wanted().empty()) keep(end, state);
    if (!method_.rosenbrock) slope_ = s.k.back();
    t_ = end;
    y_ = state;
    before_ = std::move(after);
    if (options_.dense_output) segments_.push_back(std::move(s));
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
    result_.y = joined(kept_states_);
    for (std::size_t i = 0; i < events().size(); ++i) {
      result_.t_events.push_back(array(times_[i]));
      result_.y_events.push_back(joined(states_[i]));
    }
    if (result_.status == 0) result_.message = "the end of t_span was reached";
    if (!options_.dense_output) return;
    const auto shared = std::make_shared<std::vector<Segment<T>>>(std::move(segments_));
    result_.sol = [shared, shape = shape_, first = y_, direction = direction_](double t) -> Array<T> {
      if (shared->empty()) return first.reshape(shape);
      const auto found = std::partition_point(shared->begin(), shared->end() - 1, [&](const Segment<T>& s) {
        return direction * (t - s.end_time()) > 0;
      });
      return found->at(t).reshape(shape);
    };
  }

  OdeResult<T> result_;
  Field<T> f_;
  TimeSpan span_;
  const SolveIvpOptions<T>& options_;
  Method method_;
  int direction_;
  double t_, h_ = 0, end_ = 0;  // end_: of the step that is being taken
  Array<T> y_, slope_;
  Shape shape_;
  Linearised<T> linearised_;
  std::size_t next_ = 0;  // of wanted()
  std::vector<double> before_, kept_times_;
  std::vector<Array<T>> kept_states_;
  std::vector<std::vector<double>> times_;
  std::vector<std::vector<Array<T>>> states_;
  std::vector<Segment<T>> segments_;
};

}  // namespace detail

// Solves dy/dt = f(t, y, args...) over t_span, which may run backward, from y0: an array of float or double;
// t is a double. Adapts the length of steps to rtol |y| + atol, and gives the solution at .t_eval or at its
// steps. y and y_events are differentiable in y0 and in what f captured or takes as args, through the steps
// taken; the times of events are not. Throws ValueError for a method that is not there, a span that is not
// finite, negative tolerances, and times outside of the span; ShapeError where f's result is not of y's
// shape. A step that cannot meet the tolerances, and more than .max_steps, are told by .status and .message.
template <class F, class Y>
OdeResult<typename Y::value_type> solve_ivp(const F& f, TimeSpan t_span, const Y& y0,
                                            const SolveIvpOptions<typename Y::value_type>& options = {}) {
  using T = typename Y::value_type;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "solve_ivp: y0 must be of float or double");
  const detail::Field<T> field = [&](double t, const Array<T>& y) {
    return detail::call_field<T>("solve_ivp", f, t, y, options.args);
  };
  return detail::Solver<T>(field, t_span, nax::detail::as_array(y0), options).solve();
}

}  // namespace integrate
NAX_END
