#pragma once

#include <cstring>

#include "nax/formula/interpret.hpp"
#include "nax/formula/recorder.hpp"
#include "nax/formula/symbol.hpp"
#include "nax/formula/whole_kernels.hpp"

NAX_BEGIN
namespace formula {
namespace detail {

inline Recorder*& recorder_of_thread() {
  static thread_local Recorder* recorder = nullptr;
  return recorder;
}
// In lowered-inl.hpp.
template <class T>
Symbol<T> written(Operation operation, Symbol<T> x, Symbol<T> y);

constexpr bool commutes(Operation operation) {
  switch (operation) {
    case Operation::add:
    case Operation::multiply:
    case Operation::equal:
    case Operation::not_equal:
    case Operation::both:
    case Operation::either:
    case Operation::differ:
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor:
      return true;
    default:
      return false;
  }
}
constexpr bool converts(Operation operation) {
  return operation == Operation::convert || operation == Operation::truth_as;
}
// Whether x * factor is x / c to the last bit, with c = 1 / factor a power of two.
inline bool has_exact_reciprocal(double c, DType type) {
  return type == DType::float32 ? rules::math::is_power_of_two(static_cast<float>(c))
                                : rules::math::is_power_of_two(c);
}

}  // namespace detail

NAX_ENGINE Recorder::Recorder(DType type, bool lowers)
    : lowers_(lowers), outer_(detail::recorder_of_thread()) {
  if (dtype_kind(type) == Kind::complex) throw TypeError("formula: numbers must be real");
  formula_.type = type;
  detail::recorder_of_thread() = this;
}
NAX_ENGINE Recorder::~Recorder() { detail::recorder_of_thread() = outer_; }
NAX_ENGINE Recorder& Recorder::current() {
  Recorder* const recorder = detail::recorder_of_thread();
  if (recorder == nullptr) throw ValueError("formula: a symbol is used where nothing is recorded");
  return *recorder;
}

NAX_ENGINE std::size_t Recorder::HashStep::operator()(const Step& step) const {
  return static_cast<std::size_t>(detail::hash_of(step, 0));
}
NAX_ENGINE bool Recorder::is_number(int at, double value) const {
  return is_constant(at) && dtype_kind(step(at).type) == Kind::floating &&
         step(at).detail == std::bit_cast<std::uint64_t>(value);
}

NAX_ENGINE int Recorder::input(int number, DType type) {
  if (number >= formula_.inputs) formula_.inputs = number + 1;
  return append(Step{Operation::input, 0, {}, static_cast<std::uint64_t>(number), type});
}
NAX_ENGINE int Recorder::truth(bool value) {
  return append(Step{Operation::known, 0, {}, value, lane_of(formula_.type)});
}
NAX_ENGINE int Recorder::constant(double value, DType type) {
  const std::uint64_t bits = detail::with_lane(type, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<std::uint64_t>(value);
    else if constexpr (std::is_same_v<T, std::uint64_t>)
      return to_integer<T>(value);
    else
      return static_cast<std::uint64_t>(static_cast<T>(to_integer<std::int64_t>(value)));
  });
  return append(Step{Operation::constant, 0, {}, bits, type});
}
NAX_ENGINE int Recorder::constant_at(const void* place, DType stored) {
  return detail::with_stored(stored, [&]<class T>(T value) {
    std::memcpy(&value, place, sizeof value);
    if constexpr (std::is_integral_v<T>)
      return append(Step{Operation::constant, 0, {}, static_cast<std::uint64_t>(value), stored});
    else
      return constant(static_cast<double>(value), stored);
  });
}
NAX_ENGINE int Recorder::convert(int x, DType to) {
  const Step& from = step(x);
  if (to == DType::boolean && from.type != to && !from.truth())
    x = record(Operation::not_equal, {x, constant(0, from.type)});
  return record_step(Step{Operation::convert, 1, {x}, 0, to});
}

// The type of what the step computes.
NAX_ENGINE DType Recorder::inferred(const Step& step) const {
  switch (step.operation) {
    case Operation::convert:
    case Operation::truth_as:
      return step.type;
    case Operation::select:
    case Operation::keep:
    case Operation::unless_ended:
    case Operation::rescue:
      return lane_of(this->step(step.operand[1]).type);
    default:
      return step.arity == 0 ? step.type : lane_of(this->step(step.operand[0]).type);
  }
}

NAX_ENGINE int Recorder::record(Operation operation, Places operands, std::uint64_t detail) {
  Step step{operation, static_cast<unsigned char>(operands.size()), {}, detail, formula_.type};
  std::size_t j = 0;
  for (int operand : operands) step.operand[j++] = operand;
  return record_step(step);
}

NAX_ENGINE int Recorder::record_step(const Step& given) {
  Step step = given;
  if (step.operation == Operation::input) return input(static_cast<int>(step.detail), step.type);
  step.type = inferred(step);
  for (std::size_t j = 0; j < step.arity && !detail::converts(step.operation); ++j) {
    const Step& operand = this->step(step.operand[j]);
    if (lane_of(operand.type) == step.type) continue;
    if (!operand.truth()) throw ValueError("formula: an operation on numbers of several types");
    step.operand[j] = record_step(Step{Operation::truth_as, 1, {step.operand[j]}, 0, step.type});
  }
  if (detail::commutes(step.operation) && step.operand[1] < step.operand[0])
    std::swap(step.operand[0], step.operand[1]);
  const int equal = simplified(step);
  if (equal >= 0) return equal;
  if (lowers_ && is_written(step.operation)) {
    const auto write = [&]<class T>(T) {
      return detail::written(step.operation, Symbol<T>::of(step.operand[0]), Symbol<T>::of(step.operand[1]))
          .at;
    };
    return step.type == DType::float32 ? write(0.0f) : write(0.0);
  }
  return append(step);
}

NAX_ENGINE int Recorder::append(const Step& step) {
  const auto [place, added] = known_.try_emplace(step, size());
  if (added) formula_.steps.push_back(step);
  return place->second;
}

NAX_ENGINE int Recorder::folded(const Step& step) {
  if (step.arity == 0 || is_written(step.operation) || dtype_kind(step.type) != Kind::floating) return -1;
  double values[Step::most_operands];
  DType types[Step::most_operands];
  for (int j = 0; j < step.arity; ++j) {
    const Step& operand = this->step(step.operand[static_cast<std::size_t>(j)]);
    types[j] = operand.type;
    if (dtype_kind(operand.type) != Kind::floating) return -1;
    if (operand.operation == Operation::constant)
      values[j] = operand.number();
    else if (operand.operation == Operation::known)
      values[j] = static_cast<double>(operand.detail);
    else
      return -1;
  }
  const double value = detail::value_of_step(step, types, values);
  if (step.truth()) return append(Step{Operation::known, 0, {}, value != 0, step.type});
  return constant(value, step.type);
}

NAX_ENGINE int Recorder::simplified(const Step& step) {
  const int fold = folded(step);
  if (fold >= 0) return fold;
  const auto [x, y, z, unused] = step.operand;
  switch (step.operation) {
    case Operation::add:
      if (is_number(x, -0.0)) return y;
      if (is_number(y, -0.0)) return x;
      return -1;
    case Operation::subtract:
      return is_number(y, 0.0) ? x : -1;
    case Operation::multiply:
      if (is_number(x, 1.0)) return y;
      if (is_number(y, 1.0)) return x;
      if (is_number(x, -1.0)) return record(Operation::negative, {y});
      if (is_number(y, -1.0)) return record(Operation::negative, {x});
      return -1;
    case Operation::divide:
      if (is_number(y, 1.0)) return x;
      if (is_constant(y) && detail::has_exact_reciprocal(this->step(y).number(), step.type))
        return record(Operation::multiply, {x, constant(1 / this->step(y).number(), step.type)});
      return -1;
    case Operation::negative:
      return is(x, Operation::negative) ? this->step(x).operand[0] : -1;
    case Operation::absolute:
      if (is(x, Operation::absolute) || is(x, Operation::sqrt)) return is(x, Operation::absolute) ? x : -1;
      return is(x, Operation::negative) ? record(Operation::absolute, {this->step(x).operand[0]}) : -1;
    case Operation::guarded:
      if (is_constant(x) && this->step(x).number() != 0) return record(Operation::multiply, {x, y});
      return -1;
    case Operation::select:
      if (y == z) return y;
      if (is(x, Operation::known)) return this->step(x).detail != 0 ? y : z;
      if (is_number(z, 0.0)) return record(Operation::keep, {x, y});
      if (is(x, Operation::opposite)) return record(Operation::select, {this->step(x).operand[0], z, y});
      return -1;
    case Operation::keep:
    case Operation::unless_ended:
      if (is_number(y, 0.0)) return y;
      if (is(x, Operation::known)) return this->step(x).detail != 0 ? y : constant(0.0, step.type);
      return -1;
    case Operation::convert:
      return this->step(x).type == step.type && !this->step(x).truth() ? x : -1;
    case Operation::rescue:
      return is(x, Operation::known) && this->step(x).detail != 0 ? y : -1;
    default:
      return step.truth() ? simplified_truth(step) : -1;
  }
}

NAX_ENGINE int Recorder::simplified_truth(const Step& step) {
  const auto [x, y, z, unused] = step.operand;
  switch (step.operation) {
    case Operation::not_equal:  // a truth that was stored
      for (const auto& [stored, zero] : {std::pair{x, y}, std::pair{y, x}})
        if (step.type == DType::boolean && is(stored, Operation::convert) && is_constant(zero) &&
            this->step(zero).detail == 0 && this->step(this->step(stored).operand[0]).truth())
          return this->step(stored).operand[0];
      return -1;
    case Operation::truth_as:
      if (this->step(x).type == step.type) return x;
      if (is(x, Operation::truth_as))
        return record_step({Operation::truth_as, 1, {this->step(x).operand[0]}, 0, step.type});
      if (is(x, Operation::known))
        return append(Step{Operation::known, 0, {}, this->step(x).detail, step.type});
      return -1;
    case Operation::opposite:
      return is(x, Operation::opposite) ? this->step(x).operand[0] : -1;
    case Operation::both:
    case Operation::either: {
      if (x == y) return x;
      const bool absorbs = step.operation == Operation::either;  // the truth that decides by itself
      if (is(x, Operation::known)) return (this->step(x).detail != 0) == absorbs ? x : y;
      if (is(y, Operation::known)) return (this->step(y).detail != 0) == absorbs ? y : x;
      return -1;
    }
    case Operation::differ:
      if (is(x, Operation::known)) return this->step(x).detail != 0 ? record(Operation::opposite, {y}) : y;
      if (is(y, Operation::known)) return this->step(y).detail != 0 ? record(Operation::opposite, {x}) : x;
      return -1;
    default:
      return -1;
  }
}

NAX_ENGINE Formula Recorder::finish(const std::vector<int>& results) {
  Formula f = formula_;
  f.results = results;
  return without_dead_steps(f);
}

namespace detail {
// For each step a number that says what it computes. Inputs come first, constants last. `of_forms`: all
// inputs are one, so that formulas of other inputs have equal ranks.
inline std::vector<std::uint64_t> ranks_of(const Formula& f, bool of_forms = false) {
  std::vector<std::uint64_t> ranks;
  for (Step step : f.steps) {
    std::uint64_t rank = static_cast<std::uint64_t>(step.operation) << 8 | step.arity, commuted = 0;
    if (step.type != DType::float32 && step.type != DType::float64)
      rank |= (static_cast<std::uint64_t>(step.type) + 1) << 16;
    const bool leaf = step.arity == 0;
    for (int j = 0; j < step.arity; ++j) {
      const std::uint64_t operand =
          ranks[static_cast<std::size_t>(step.operand[static_cast<std::size_t>(j)])];
      if (commutes(step.operation))
        commuted += mixed(1, operand);
      else
        rank = mixed(rank, operand);
    }
    const bool called = step.operation == Operation::call || step.operation == Operation::rescue;
    rank = mixed(rank, commuted + (called ? 0 : step.detail)) >> 2 | std::uint64_t(1) << 62;
    const std::uint64_t number = of_forms ? 0 : step.detail;
    if (leaf) rank = step.operation == Operation::input ? number : rank | std::uint64_t(1) << 63;
    ranks.push_back(rank);
  }
  return ranks;
}
}  // namespace detail

// The order of steps, and of operands that commute, is that of what they compute: it does not depend on the
// order in which a compiler has called the functions that recorded them.
NAX_ENGINE Formula without_dead_steps(const Formula& f) {
  const std::vector<std::uint64_t> ranks = detail::ranks_of(f);
  Formula kept{f.type, f.inputs, {}, {}};
  std::vector<int> place(f.steps.size(), -1), waiting;
  const auto ordered = [&](int at) {
    Step step = f.steps[static_cast<std::size_t>(at)];
    if (detail::commutes(step.operation) &&
        ranks[static_cast<std::size_t>(step.operand[1])] < ranks[static_cast<std::size_t>(step.operand[0])])
      std::swap(step.operand[0], step.operand[1]);
    return step;
  };
  for (int result : f.results) {
    waiting.push_back(result);
    while (!waiting.empty()) {
      const int at = waiting.back();
      Step step = ordered(at);
      bool ready = true;
      if (place[static_cast<std::size_t>(at)] < 0)
        for (int j = step.arity; j-- > 0;)
          if (const int x = step.operand[static_cast<std::size_t>(j)];
              place[static_cast<std::size_t>(x)] < 0) {
            waiting.push_back(x);
            ready = false;
          }
      if (!ready) continue;
      waiting.pop_back();
      if (place[static_cast<std::size_t>(at)] >= 0) continue;
      for (int j = 0; j < step.arity; ++j) {
        int& x = step.operand[static_cast<std::size_t>(j)];
        x = place[static_cast<std::size_t>(x)];
      }
      place[static_cast<std::size_t>(at)] = static_cast<int>(kept.steps.size());
      kept.steps.push_back(step);
    }
    kept.results.push_back(place[static_cast<std::size_t>(result)]);
  }
  if (!kept.steps.empty()) kept.type = common_type(kept.steps);
  return kept;
}

}  // namespace formula
NAX_END
