#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"

// Learning rates that change with the step, by optax's names and formulas. A schedule is a function from the
// number of steps done (a Count) to the rate; the steps are an array, so that schedules work inside vmap and
// pmap.
NAX_BEGIN
namespace optim {

using Count = Array<std::int32_t>;

namespace detail {
// Array<float>, which the compiler learns only where a function is used: until then it compiles no
// arithmetic.
template <class>
struct Later {
  using Float = Array<float>;
};

template <class C>
Count as_count(const C& steps) {
  return Count(steps);
}
template <class T>
Array<float> as_float(const Array<T>& count) {
  return count.template astype<float>();
}

inline void check_positive(const char* function, const char* what, std::int64_t steps) {
  if (steps <= 0) raise<ValueError>({function, ": ", what, " must be positive, got ", steps});
}
}  // namespace detail

// The value, at every step.
inline auto constant_schedule(double value) {
  return [value](const auto&) { return Array<float>(value); };
}

struct PolynomialOptions {
  std::int64_t transition_begin = 0;
};
// From init_value to end_value in transition_steps, as (1 - t)^power.
inline auto polynomial_schedule(double init_value, double end_value, double power,
                                std::int64_t transition_steps, const PolynomialOptions& options = {}) {
  const double begin = static_cast<double>(std::max<std::int64_t>(options.transition_begin, 0));
  const double steps = static_cast<double>(transition_steps);
  return [=](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    if (steps <= 0) return Float(init_value);
    const Float done = minimum(maximum(detail::as_float(count) - begin, 0), steps) / steps;
    if (power == 1) return Float((1 - done) * (init_value - end_value) + end_value);
    return Float(nax::power(1 - done, power) * (init_value - end_value) + end_value);
  };
}
// From init_value to end_value in transition_steps, along a line.
inline auto linear_schedule(double init_value, double end_value, std::int64_t transition_steps,
                            const PolynomialOptions& options = {}) {
  return polynomial_schedule(init_value, end_value, 1, transition_steps, options);
}

struct ExponentialDecayOptions {
  std::int64_t transition_begin = 0;
  bool staircase = false;                // decay in steps, not smoothly
  std::optional<double> end_value = {};  // where the decay stops
};
// init_value * decay_rate^(count / transition_steps).
inline auto exponential_decay(double init_value, std::int64_t transition_steps, double decay_rate,
                              const ExponentialDecayOptions& options = {}) {
  const double begin = static_cast<double>(std::max<std::int64_t>(options.transition_begin, 0));
  return [=](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    if (transition_steps <= 0 || decay_rate == 0) return Float(init_value);
    const Float done = detail::as_float(count) - begin;
    Float exponent = done / static_cast<double>(transition_steps);
    if (options.staircase) exponent = floor(exponent);
    const Float decay = power(static_cast<float>(decay_rate), exponent);
    Float value = where(done <= 0, static_cast<float>(init_value), decay * init_value);
    if (options.end_value && decay_rate < 1) value = maximum(value, *options.end_value);
    if (options.end_value && decay_rate >= 1) value = minimum(value, *options.end_value);
    return value;
  };
}

struct CosineDecayOptions {
  double alpha = 0;  // the last value, as a part of the first
  double exponent = 1;
};
// Half a cosine, from init_value down to alpha * init_value. Throws ValueError unless decay_steps > 0.
inline auto cosine_decay_schedule(double init_value, std::int64_t decay_steps,
                                  const CosineDecayOptions& options = {}) {
  detail::check_positive("cosine_decay_schedule", "decay_steps", decay_steps);
  return [=](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    const double steps = static_cast<double>(decay_steps);
    const Float done = minimum(detail::as_float(count), steps);
    Float part = 0.5 * (1 + cos(done * 3.14159265358979323846 / steps));
    if (options.exponent != 1) part = power(part, options.exponent);
    return Float(init_value * ((1 - options.alpha) * part + options.alpha));
  };
}

struct WarmupCosineOptions {
  double end_value = 0;
  double exponent = 1;
};
// Linearly from init_value to peak_value in warmup_steps, then half a cosine; decay_steps counts both. Throws
// ValueError unless decay_steps > warmup_steps.
inline auto warmup_cosine_decay_schedule(double init_value, double peak_value, std::int64_t warmup_steps,
                                         std::int64_t decay_steps, const WarmupCosineOptions& options = {}) {
  detail::check_positive("warmup_cosine_decay_schedule", "decay_steps less warmup_steps",
                         decay_steps - warmup_steps);
  const double alpha = peak_value == 0 ? 0 : options.end_value / peak_value;
  const auto warmup = linear_schedule(init_value, peak_value, warmup_steps);
  const auto decay = cosine_decay_schedule(peak_value, decay_steps - warmup_steps,
                                           {.alpha = alpha, .exponent = options.exponent});
  const std::int32_t boundary = static_cast<std::int32_t>(warmup_steps);
  return [=](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    return Float(where(count < boundary, warmup(count), decay(detail::as_count(count - boundary))));
  };
}

// init_value, multiplied by each scale from its boundary on. Throws ValueError for a negative scale.
inline auto piecewise_constant_schedule(double init_value,
                                        std::map<std::int64_t, double> boundaries_and_scales = {}) {
  for (const auto& [boundary, scale] : boundaries_and_scales)
    if (scale < 0) throw ValueError("piecewise_constant_schedule: the scales must not be negative");
  return [=](const auto& done_so_far) {
    using Float = typename detail::Later<decltype(done_so_far)>::Float;
    const auto count = detail::as_count(done_so_far);
    Float value(init_value);
    for (const auto& [boundary, scale] : boundaries_and_scales)
      value = where(count < static_cast<std::int32_t>(boundary), value, value * scale);
    return value;
  };
}

namespace detail {

// A learning rate: a number, or a schedule that is called with an array of steps or else with an int.
template <class R>
concept Rate = Scalar<R> || std::is_invocable_v<const R&, const Count&> || std::is_invocable_v<const R&, int>;

// The rate of this step: a double, or a 0-d array.
template <Rate R>
auto rate_at(const R& rate, const Count& count) {
  if constexpr (Scalar<R>)
    return static_cast<double>(rate);
  else if constexpr (std::is_invocable_v<const R&, const Count&>)
    return Array<float>(rate(count));
  else
    return static_cast<double>(rate(count.item()));
}

}  // namespace detail
}  // namespace optim
NAX_END
