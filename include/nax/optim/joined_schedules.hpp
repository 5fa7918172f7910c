#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/optim/schedules.hpp"

// Schedules made of others, by optax's names and formulas.
NAX_BEGIN
namespace optim {

// The first schedule up to the first boundary, then the next one, whose steps count from there, and so on:
// join_schedules(std::tuple{warmup, decay}, {1000}). Throws ValueError unless there is a boundary between any
// two.
template <class... Schedules>
auto join_schedules(std::tuple<Schedules...> schedules, std::vector<std::int64_t> boundaries) {
  if (boundaries.size() + 1 != sizeof...(Schedules))
    raise<ValueError>({"join_schedules: ", sizeof...(Schedules), " schedules need ", sizeof...(Schedules) - 1,
                       " boundaries, got ", boundaries.size()});
  return [schedules = std::move(schedules), boundaries = std::move(boundaries)](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    Float value = std::get<0>(schedules)(count);
    std::size_t i = 0;
    const auto join = [&](const auto& schedule) {
      if (i++ == 0) return;
      const auto boundary = static_cast<std::int32_t>(boundaries[i - 2]);
      value = where(count < boundary, value, schedule(detail::as_count(count - boundary)));
    };
    std::apply([&](const auto&... each) { (join(each), ...); }, schedules);
    return value;
  };
}

// Linearly from init_value to peak_value in warmup_steps, then constant.
inline auto warmup_constant_schedule(double init_value, double peak_value, std::int64_t warmup_steps) {
  return linear_schedule(init_value, peak_value, warmup_steps);
}

// Linearly from init_value to peak_value in warmup_steps, then exponential_decay with the options given.
template <class O = ExponentialDecayOptions>
auto warmup_exponential_decay_schedule(double init_value, double peak_value, std::int64_t warmup_steps,
                                       std::int64_t transition_steps, double decay_rate,
                                       const ExponentialDecayOptions& options = {}) {
  const O& o = options;
  return join_schedules(std::tuple{linear_schedule(init_value, peak_value, warmup_steps),
                                   exponential_decay(peak_value, transition_steps, decay_rate, o)},
                        {warmup_steps});
}

struct SgdrCycle {
  double init_value = 0, peak_value = 1;
  std::int64_t warmup_steps = 0, decay_steps = 1;
  double end_value = 0, exponent = 1;
};
// Cycles of warmup_cosine_decay_schedule, one after the other (stochastic gradient descent with restarts).
// Throws ValueError without a cycle.
template <class Cycle = SgdrCycle>
auto sgdr_schedule(const std::vector<SgdrCycle>& cycles) {
  if (cycles.empty()) throw ValueError("sgdr_schedule: at least one cycle is needed");
  return [cycles = std::vector<Cycle>(cycles)](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    std::int64_t begin = 0;
    Float value(0.f);
    for (const Cycle& c : cycles) {
      const auto part =
          warmup_cosine_decay_schedule(c.init_value, c.peak_value, c.warmup_steps, c.decay_steps,
                                       {.end_value = c.end_value, .exponent = c.exponent});
      const auto from = static_cast<std::int32_t>(begin);
      const Float here = part(detail::as_count(count - from));
      value = begin == 0 ? here : Float(where(count < from, value, here));
      begin += c.decay_steps;
    }
    return value;
  };
}

namespace detail {
using SchedulePoints = std::vector<std::pair<std::int64_t, double>>;
// The points (step, value) of piecewise_interpolate_schedule. Throws ValueError for its arguments.
NAX_ENGINE SchedulePoints interpolation_points(std::string_view interpolate_type, double init_value,
                                               const std::map<std::int64_t, double>& boundaries_and_scales);
}  // namespace detail

// From each boundary to the next along a line or half a cosine ("linear", "cosine"). The value at a boundary
// is that at the one before, times its scale. Throws ValueError for another type, or a negative scale.
template <class Scales = std::map<std::int64_t, double>>
auto piecewise_interpolate_schedule(std::string_view interpolate_type, double init_value,
                                    const std::map<std::int64_t, double>& boundaries_and_scales = {}) {
  const bool cosine = interpolate_type == "cosine";
  nax::detail::where_used_t<detail::SchedulePoints, Scales> points =
      detail::interpolation_points(interpolate_type, init_value, boundaries_and_scales);
  return [=](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    Float value(points.back().second);
    for (std::size_t i = points.size() - 1; i-- > 0;) {
      const auto [begin, first] = points[i];
      const auto [end, last] = points[i + 1];
      const double steps = static_cast<double>(std::max<std::int64_t>(end - begin, 1));
      const Float part = (detail::as_float(count) - static_cast<double>(begin)) / steps;
      const Float here = cosine ? Float(last + (first - last) / 2 * (cos(3.14159265358979323846 * part) + 1))
                                : Float((last - first) * part + first);
      value = where(count < static_cast<std::int32_t>(end), here, value);
    }
    return value;
  };
}

struct LinearOnecycleOptions {
  double pct_start = 0.3, pct_final = 0.85;
  double div_factor = 25, final_div_factor = 1e4;
};
// Up to peak_value by pct_start of the steps, back by pct_final, then down by final_div_factor, along lines
// (L. Smith and N. Topin, Super-convergence, 2017). Throws ValueError unless transition_steps > 0.
template <class O = LinearOnecycleOptions>
auto linear_onecycle_schedule(std::int64_t transition_steps, double peak_value,
                              const LinearOnecycleOptions& options = {}) {
  const O& o = options;
  detail::check_positive("linear_onecycle_schedule", "transition_steps", transition_steps);
  const auto at = [&](double part) {
    return static_cast<std::int64_t>(part * static_cast<double>(transition_steps));
  };
  using Scales = nax::detail::where_used_t<std::map<std::int64_t, double>, O>;
  return piecewise_interpolate_schedule("linear", peak_value / o.div_factor,
                                        Scales{{at(o.pct_start), o.div_factor},
                                               {at(o.pct_final), 1 / o.div_factor},
                                               {transition_steps, 1 / o.final_div_factor}});
}

struct CosineOnecycleOptions {
  double pct_start = 0.3;
  double div_factor = 25, final_div_factor = 1e4;
};
// Up to peak_value by pct_start of the steps, then down by div_factor times final_div_factor, along half
// cosines. Throws ValueError unless transition_steps > 0.
template <class O = CosineOnecycleOptions>
auto cosine_onecycle_schedule(std::int64_t transition_steps, double peak_value,
                              const CosineOnecycleOptions& options = {}) {
  const O& o = options;
  detail::check_positive("cosine_onecycle_schedule", "transition_steps", transition_steps);
  const auto peak = static_cast<std::int64_t>(o.pct_start * static_cast<double>(transition_steps));
  using Scales = nax::detail::where_used_t<std::map<std::int64_t, double>, O>;
  return piecewise_interpolate_schedule(
      "cosine", peak_value / o.div_factor,
      Scales{{peak, o.div_factor}, {transition_steps, 1 / (o.div_factor * o.final_div_factor)}});
}

}  // namespace optim
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace optim::detail {

NAX_ENGINE SchedulePoints interpolation_points(std::string_view interpolate_type, double init_value,
                                               const std::map<std::int64_t, double>& boundaries_and_scales) {
  if (interpolate_type != "linear" && interpolate_type != "cosine")
    raise<ValueError>({"piecewise_interpolate_schedule: interpolate_type must be 'linear' or 'cosine', not '",
                       interpolate_type, "'"});
  SchedulePoints points = {{0, init_value}};
  for (const auto& [boundary, scale] : boundaries_and_scales) {
    if (scale < 0) throw ValueError("piecewise_interpolate_schedule: the scales must not be negative");
    points.push_back({boundary, points.back().second * scale});
  }
  return points;
}

}  // namespace optim::detail
NAX_END
#endif
