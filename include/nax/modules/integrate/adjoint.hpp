#pragma once

#include <bit>

#include "nax/lax/implicit.hpp"
#include "nax/modules/integrate/solver.hpp"
#include "nax/transform/vjp.hpp"

// Gradients of initial value problems by the adjoint equation.
NAX_BEGIN
namespace integrate::detail {

[[noreturn, gnu::cold]] inline void throw_second_derivative() {
  throw TypeError("solve_ivp: gradient 'adjoint' is for first derivatives; 'steps' has others");
}
// Whether a transform other than the one that sweeps depends on a cotangent.
inline bool watched_further(const ArrayBase& cotangent, nax::detail::Reverse& sweep) {
  const nax::detail::Tape* const tape = nax::detail::recording.tape;
  if (!tape) return false;
  nax::detail::Watchers others = 0;
  for (std::size_t depth = 0; depth < tape->scopes.marks.size(); ++depth)
    if (tape != &sweep.tape() || tape->scopes.marks[depth] < sweep.mark())
      others |= nax::detail::watcher_bit(depth);
  return (tape->watchers(nax::detail::serial_of(cotangent)) & others) != 0;
}

// The solution y at some times as a node: its pull solves dl/dt = -(df/dy)^T l backward, l the gradient in y
// at t, with y beside it, which starts anew from the known values at the times. The integral of (df/dp)^T l,
// the gradient in all that f captured, is a sum over points of each step taken (Gauss and Legendre's three).
template <class T>
class AdjointNode final : public nax::detail::CallNode {
 public:
  AdjointNode(Field<T> f, double begin, const Array<T>& y0, std::vector<double> times, const Array<T>& y,
              const SolveIvpOptions<T>& options, bool captures, nax::detail::Watchers watchers)
      : f_(std::move(f)),
        begin_(begin),
        y0_(y0),
        times_(std::move(times)),
        y_(y),
        options_(options),
        captures_(captures),
        watched_by_(watchers),
        scopes_(nax::detail::recording.tape->scopes),
        frames_(nax::detail::vmap_stack().frames) {}
  nax::detail::Watchers watchers(const nax::detail::Tape&) const override { return watched_by_; }

  std::vector<ArrayBase> push_call(nax::detail::Forward&) override { throw nax::detail::NoTangent(); }
  void pull_call(std::vector<ArrayBase> cotangents, nax::detail::Reverse& sweep) override {
    if (!nax::detail::holds_value(cotangents[0])) return;
    const nax::detail::VmapScope vmaps(frames_);
    if (watched_further(cotangents[0], sweep)) throw_second_derivative();
    const Array<T> g = nax::detail::typed<T>(cotangents[0]);
    Array<T> l = zeros_like(flat(Array<T>(y_(ellipsis, 0))));
    for (std::size_t k = times_.size(); k-- > 0;) {
      const std::int64_t at = static_cast<std::int64_t>(k);
      l = l + flat(Array<T>(g(ellipsis, at)));
      const double before = k > 0 ? times_[k - 1] : begin_;
      if (before != times_[k]) l = back(times_[k], before, flat(Array<T>(y_(ellipsis, at))), l, sweep);
    }
    add_share(sweep, l, [&] { return flat(y0_); });
  }

 private:
  static Array<T> flat(const Array<T>& y) { return y.reshape({y.size()}); }

  // The gradient in y at t1 from that at t0.
  Array<T> back(double t0, double t1, const Array<T>& y, const Array<T>& l,
                nax::detail::Reverse& sweep) const {
    const std::int64_t n = y.size();
    const Field<T> f = [&](double t, const Array<T>& at) -> Array<T> {
      return flat(f_(t, at.reshape(y0_.shape())));
    };
    const Field<T> both = [&](double t, const Array<T>& z) -> Array<T> {
      const auto [value, pull] = vjp([&](const Array<T>& at) { return f(t, at); }, Array<T>(z(slice(0, n))));
      return concatenate({value, Array<T>(-std::get<0>(pull(Array<T>(z(slice(n, 2 * n))))))});
    };
    const nax::detail::RecordOn off(nullptr);
    Solver<T> solver(both, {t0, t1}, concatenate({y, l}), options_);
    if (captures_)
      solver.on_step = [&](const Segment<T>& s, double) {
        constexpr double points[3] = {0.112701665379258311, 0.5, 0.887298334620741689};
        constexpr double weights[3] = {5. / 18, 8. / 18, 5. / 18};
        for (int i = 0; i < 3; ++i) {
          const double t = s.t + points[i] * s.h;
          const Array<T> z = s.at(t), at = z(slice(0, n));
          add_share(sweep, Array<T>(z(slice(n, 2 * n)) * static_cast<T>(-weights[i] * s.h)),
                    [&] { return f(t, at); });
        }
      };
    const OdeResult<T> result = solver.solve();
    if (!result.success) raise<Error>({"solve_ivp: gradient 'adjoint': ", result.message});
    return result.y(slice(n, 2 * n), -1);
  }

  // Sweeps l back from a value that is recorded anew.
  template <class Value>
  void add_share(nax::detail::Reverse& sweep, const Array<T>& l, const Value& value) const {
    nax::detail::Tape& tape = sweep.tape();
    const std::size_t mark = tape.size();
    {
      const nax::detail::RecordOn on(&tape);
      const nax::detail::ScopesOf watching(tape, scopes_);
      const Array<T> recorded = value() + zeros_like(l);
      if (nax::detail::is_recorded(recorded)) sweep.add(nax::detail::serial_of(recorded), ArrayBase(l));
    }
    sweep.run_nested(mark);
    if (!nax::detail::recording.tape) tape.pop(mark);
  }

  Field<T> f_;
  double begin_;
  Array<T> y0_;
  std::vector<double> times_;
  Array<T> y_;
  SolveIvpOptions<T> options_;
  bool captures_;
  nax::detail::Watchers watched_by_;
  nax::detail::Tape::Scopes scopes_;
  std::vector<nax::detail::VmapFrame> frames_;
};

template <class T>
OdeResult<T> solve_with_adjoint(const Field<T>& f, Span span, const Array<T>& y0,
                                const SolveIvpOptions<T>& options) {
  nax::detail::Tape* const tape = nax::detail::recording.tape;
  bool captures = false;
  nax::detail::Watchers watchers = 0;
  // Each value of f is recorded for a moment: what f captured may serve at some times or states alone.
  const Field<T> noting = [&](double t, const Array<T>& y) -> Array<T> {
    if (!tape || nax::detail::recording.tape) return f(t, y);  // (the latter within a derivative of f)
    const std::size_t mark = tape->size();
    const nax::detail::RecordOn on(tape);
    Array<T> value = f(t, stop_gradient(y));
    captures = captures || nax::detail::is_recorded(value);
    watchers |= nax::detail::watchers_of(value, *tape);
    value = stop_gradient(value);
    tape->pop(mark);
    return value;
  };
  OdeResult<T> result = [&] {
    const nax::detail::RecordOn off(nullptr);
    return Solver<T>(noting, span, stop_gradient(y0), options).solve();
  }();
  nax::detail::make_constant(result.y);
  if (!tape) return result;
  watchers |= nax::detail::watchers_of(y0, *tape);
  if (!watchers) return result;
  if (std::popcount(watchers) > 1) throw_second_derivative();
  const SolveIvpOptions<T> own{.method = method_named(options.method).name,
                               .rtol = options.rtol,
                               .atol = options.atol,
                               .first_step = options.first_step,
                               .max_step = options.max_step,
                               .max_steps = options.max_steps};
  // y of shape (..., times), with its derivatives.
  const auto recorded = [=, begin = span.begin](std::vector<double> times, Array<T> y) {
    const Array<T> numbers = y;
    nax::detail::record_call<AdjointNode<T>>(y, f, begin, y0, std::move(times), numbers, own, captures,
                                             watchers);
    return y;
  };
  if (result.y.shape(-1) > 0) result.y = recorded(result.t.to_vector(), result.y);
  if (result.sol)
    result.sol = [recorded, numbers = std::move(result.sol)](const Time& t) -> Array<T> {
      const Array<T> y = numbers(t);
      if (!nax::detail::recording.tape) return y;
      return recorded({t}, expand_dims(y, -1))(ellipsis, 0);
    };
  return result;
}

}  // namespace integrate::detail
NAX_END
