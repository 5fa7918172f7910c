#pragma once

#include <limits>
#include <utility>

#include "nax/core/where_used.hpp"
#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct ReduceOnPlateauOptions {
  double factor = 0.1;
  std::int32_t patience = 10;          // values without progress before the scale falls
  double rtol = 1e-4, atol = 0;        // what counts as progress
  std::int32_t cooldown = 0;           // values after a fall that do not count
  std::int32_t accumulation_size = 1;  // values whose mean counts as one
  double min_scale = 0;
};
struct ReduceOnPlateauState {
  Array<float> scale, best_value, avg_value;
  Count plateau_count, cooldown_count, count;
};

class ReduceOnPlateau {
 public:
  explicit ReduceOnPlateau(const ReduceOnPlateauOptions& options) : options_(options) {
    const ReduceOnPlateauOptions& o = options;
    if (!(o.factor > 0 && o.factor < 1))
      raise<ValueError>({"reduce_on_plateau: factor must be between 0 and 1, got ", o.factor});
    if (!(o.rtol >= 0 && o.rtol <= 1 && o.atol >= 0 && o.rtol + o.atol > 0))
      raise<ValueError>(
          {"reduce_on_plateau: rtol must be in [0, 1], atol not negative, one of them positive: ", o.rtol,
           " and ", o.atol});
    detail::check_positive("reduce_on_plateau", "accumulation_size", o.accumulation_size);
  }
  template <class P>
  ReduceOnPlateauState init(const P&) const {
    return {Array<float>(1.f),  Array<float>(std::numeric_limits<float>::infinity()),
            Array<float>(0.f),  detail::no_steps(),
            detail::no_steps(), detail::no_steps()};
  }
  // `value`, a number or a 0-d array, is the loss or another quantity that falls with progress.
  template <class G, class P, class V>
  [[nodiscard]] auto update(const G& grads, ReduceOnPlateauState state, const P&, const V& value) const {
    using Real = nax::detail::where_used_t<Array<float>, V>;
    state = observe(std::move(state), Real(value));
    auto updates = detail::map(
        "reduce_on_plateau",
        [&]<class T>(const Array<T>& g) { return Array<T>(g * state.scale.template astype<T>()); }, grads);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  template <class State, class A>
  State observe(State s, const A& value) const {
    using Bools = nax::detail::where_used_t<Array<bool>, A>;
    using Counts = nax::detail::where_used_t<Count, A>;
    const ReduceOnPlateauOptions& o = options_;
    const A before = s.count.template astype<float>();
    s.count = detail::next(s.count);
    s.avg_value = (before * s.avg_value + value) / (before + 1.f);
    const Bools due = s.count == o.accumulation_size;
    const Bools better =
        due & Bools(s.avg_value < static_cast<float>(1 - o.rtol) * s.best_value - static_cast<float>(o.atol));
    const Bools cool = s.cooldown_count > 0;
    const Counts waited = where(better, 0, s.plateau_count + 1);
    const Bools falls = due & !cool & Bools(waited == o.patience);
    s.best_value = where(better, s.avg_value, s.best_value);
    s.scale = where(due & !cool,
                    maximum(where(falls, s.scale * static_cast<float>(o.factor), s.scale),
                            static_cast<float>(o.min_scale)),
                    s.scale);
    s.plateau_count = where(due, where(falls | cool, 0, waited), s.plateau_count);
    s.cooldown_count =
        where(due, where(cool, s.cooldown_count - 1, where(falls, o.cooldown, 0)), s.cooldown_count);
    s.avg_value = where(due, 0.f, s.avg_value);
    s.count = where(due, 0, s.count);
    return s;
  }
  ReduceOnPlateauOptions options_;
};

// Multiplies updates by a scale that falls by `factor` where a value has made no progress for `patience`
// steps. The value comes after the parameters: `chain(adam(1e-3), reduce_on_plateau()).update(grads, state,
// params, loss)`. Throws ValueError for options out of range.
inline ReduceOnPlateau reduce_on_plateau(const ReduceOnPlateauOptions& options = {}) {
  return ReduceOnPlateau(options);
}

}  // namespace optim
NAX_END
