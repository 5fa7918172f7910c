#pragma once

#include "nax/formula/symbol.hpp"
#include "nax/rules/special_math.hpp"

// Functions, written out in steps that machines have: packet functions called with symbols, or, where those
// go lane by lane themselves, a call of them.
NAX_BEGIN
namespace formula {
namespace detail {

// A packet function on lanes, packet by packet.
template <class F, class T, int arity>
void run_on_packets(const void* const* in, void* out, std::int64_t n) {
  using Packet = simd::Packet<T>;
  constexpr std::int64_t width = Packet::size;
  for (std::int64_t i = 0; i < n; i += width) {
    const std::int64_t count = n - i < width ? n - i : width;
    const auto at = [&](int k) {
      const T* const from = static_cast<const T*>(in[k]) + i;
      return count == width ? Packet::load(from) : Packet::load(from, count);
    };
    Packet y;
    if constexpr (arity == 1)
      y = F{}(at(0));
    else
      y = F{}(at(0), at(1));
    if (count == width)
      y.store(static_cast<T*>(out) + i);
    else
      y.store(static_cast<T*>(out) + i, count);
  }
}
template <class F, class T, int arity>
inline constexpr LaneFunction packet_function{F::name, arity, run_on_packets<F, T, arity>};

template <class F, class T, class... V>
Symbol<T> called(Symbol<T> x, V... y) {
  constexpr int arity = 1 + static_cast<int>(sizeof...(V));
  return Symbol<T>::of(Recorder::current().record(Operation::call, Places{x.at, y.at...},
                                                  address_of(packet_function<F, T, arity>)));
}

#define NAX_CALLED(function)                       \
  struct function##_of_packets {                   \
    static constexpr const char* name = #function; \
    template <class... V>                          \
    auto operator()(V... x) const {                \
      return simd::function(x...);                 \
    }                                              \
  };
NAX_CALLED(lgamma)
NAX_CALLED(tgamma)
NAX_CALLED(pow)
NAX_CALLED(fmod)
NAX_CALLED(remainder)
NAX_CALLED(nextafter)
#undef NAX_CALLED
struct polygamma_of_packets {
  static constexpr const char* name = "polygamma";
  template <class V>
  V operator()(V n, V x) const {
    return simd::polygamma_at(n, x);
  }
};

template <class T>
Symbol<T> written(Operation operation, Symbol<T> x, Symbol<T> y) {
  switch (operation) {
    case Operation::guarded:
      return kept(x != Symbol<T>(0), x * y);
    case Operation::unless_ended:
      return kept(Truth<T>::of(x.at), y);
    case Operation::one_minus_square:
      return (Symbol<T>(1) - x) * (Symbol<T>(1) + x);
#define NAX_ONE(function)   \
  case Operation::function: \
    return simd::function(x);
      NAX_ONE(exp)
      NAX_ONE(exp2)
      NAX_ONE(expm1)
      NAX_ONE(expit)
      NAX_ONE(log)
      NAX_ONE(log2)
      NAX_ONE(log10)
      NAX_ONE(log1p)
      NAX_ONE(tanh)
      NAX_ONE(sinh)
      NAX_ONE(cosh)
      NAX_ONE(asinh)
      NAX_ONE(acosh)
      NAX_ONE(atanh)
      NAX_ONE(sin)
      NAX_ONE(cos)
      NAX_ONE(tan)
      NAX_ONE(atan)
      NAX_ONE(asin)
      NAX_ONE(acos)
      NAX_ONE(erf)
      NAX_ONE(erfc)
      NAX_ONE(cbrt)
#undef NAX_ONE
#define NAX_ONE(function)   \
  case Operation::function: \
    return called<function##_of_packets>(x);
      NAX_ONE(lgamma)
      NAX_ONE(tgamma)
#undef NAX_ONE
#define NAX_ONE(function)   \
  case Operation::function: \
    return called<function##_of_packets>(x, y);
      NAX_ONE(pow)
      NAX_ONE(fmod)
      NAX_ONE(remainder)
      NAX_ONE(nextafter)
      NAX_ONE(polygamma)
#undef NAX_ONE
    case Operation::atan2:
      return simd::atan2(x, y);
    case Operation::hypot:
      return simd::hypot(x, y);
    default:
      throw ValueError("formula: no way to write out " + std::string(facts(operation).name));
  }
}

// In recorder-inl.hpp.
inline std::vector<std::uint64_t> ranks_of(const Formula& f, bool of_forms);

// x y + z in one step, where nothing else reads the product. Of two products the form decides which one is
// rounded, and neither is left out where the forms are equal: elements that a formula computes alike, of
// other inputs, have equal bits.
inline void contract(Formula& f) {
  const std::vector<std::uint64_t> forms = ranks_of(f, true);
  std::vector<int> reads(f.steps.size());
  for (const Step& step : f.steps)
    for (int j = 0; j < step.arity; ++j)
      ++reads[static_cast<std::size_t>(step.operand[static_cast<std::size_t>(j)])];
  for (int result : f.results) reads[static_cast<std::size_t>(result)] += 2;
  const auto product = [&](int at) -> const Step* {
    const Step& step = f.steps[static_cast<std::size_t>(at)];
    return step.operation == Operation::multiply && reads[static_cast<std::size_t>(at)] == 1 ? &step
                                                                                             : nullptr;
  };
  for (Step& step : f.steps) {
    const auto [x, y, unused, unused_too] = step.operand;
    const DType type = step.type;
    if (type != DType::float32 && type != DType::float64) continue;
    if (step.operation == Operation::add) {
      const Step *p = product(x), *q = product(y);
      if (p && q) {
        const std::uint64_t of_x = forms[static_cast<std::size_t>(x)],
                            of_y = forms[static_cast<std::size_t>(y)];
        if (of_x == of_y) continue;
        (of_x < of_y ? q : p) = nullptr;
      }
      if (p)
        step = Step{Operation::fma, 3, {p->operand[0], p->operand[1], y}, 0, type};
      else if (q)
        step = Step{Operation::fma, 3, {q->operand[0], q->operand[1], x}, 0, type};
    } else if (step.operation == Operation::subtract) {
      if (const Step* p = product(x))
        step = Step{Operation::fms, 3, {p->operand[0], p->operand[1], y}, 0, type};
      else if (const Step* q = product(y))
        step = Step{Operation::fnma, 3, {q->operand[0], q->operand[1], x}, 0, type};
    }
  }
}

}  // namespace detail

NAX_ENGINE Formula lowered(const Formula& f, bool contracts) {
  Recorder recorder(f.type == Formula::mixed ? DType::float32 : f.type, true);
  std::vector<int> made(f.steps.size());
  for (std::size_t i = 0; i < f.steps.size(); ++i) {
    Step step = f.steps[i];
    for (int j = 0; j < step.arity; ++j) {
      int& at = step.operand[static_cast<std::size_t>(j)];
      at = made[static_cast<std::size_t>(at)];
    }
    made[i] = recorder.record_step(step);
  }
  std::vector<int> results;
  for (int result : f.results) {
    const Step& step = f.steps[static_cast<std::size_t>(result)];
    const int at = made[static_cast<std::size_t>(result)];
    results.push_back(step.truth() ? at : recorder.convert(at, step.type));
  }
  Formula low = recorder.finish(results);
  low.inputs = f.inputs;
  if (simd::fused && contracts) {
    detail::contract(low);
    low = without_dead_steps(low);
  }
  return low;
}

}  // namespace formula
NAX_END
