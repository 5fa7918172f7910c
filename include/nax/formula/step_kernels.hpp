#pragma once

#include "nax/backend/cpu/packets/packet_more.hpp"
#include "nax/core/error.hpp"
#include "nax/formula/formula.hpp"

// Each operation of lowered formulas as a loop over packets. Truths are stored as 1 and 0.
NAX_BEGIN
namespace formula::detail {

// n is a multiple of the packets' size.
template <class T>
using StepKernel = void (*)(const T* const* in, T* out, std::int64_t n);

// ---- steps that packets have on some machines only

template <class T>
inline constexpr T most_power = std::is_same_v<T, float> ? T(252) : T(2044);

template <class T>
simd::Packet<T> scaled(simd::Packet<T> x, simd::Packet<T> k) {
#ifdef NAX_AVX512
  return simd::detail::scale(x, k);
#else
  using Packet = simd::Packet<T>;
  const Packet within = clamp(k, Packet(-most_power<T>), Packet(most_power<T>));
  return select(k == k, simd::detail::scale(x, select(k == k, within, Packet(0))), k);
#endif
}
template <class T>
simd::Packet<T> mantissa(simd::Packet<T> x) {
  using Packet = simd::Packet<T>;
  Packet e;
  const Packet m = simd::detail::split(x, e);
  if constexpr (simd::detail::split_marks<Packet>) return m;
  const Packet beyond = select(x >= Packet(0), Packet(1), Packet(simd::nan<T>));
  return select((x > Packet(0)) & (x < Packet(simd::infinity<T>)), m, beyond);
}
template <class T>
simd::Packet<T> exponent(simd::Packet<T> x) {
  using Packet = simd::Packet<T>;
  Packet e;
  simd::detail::split(x, e);
  if constexpr (simd::detail::split_marks<Packet>) return e;
  const Packet beyond = select(x == Packet(0), Packet(-simd::infinity<T>), x);
  return select((x > Packet(0)) & (x < Packet(simd::infinity<T>)), e, beyond);
}
template <class T>
simd::Packet<T> limited(simd::Packet<T> x) {
#ifdef NAX_AVX512DQ
  return simd::detail::limited(x);
#else
  const simd::Packet<T> size = abs(x), most(T(0.5));
  return with_sign(select(size < most, size, most), x);
#endif
}

template <class T, class F>
void over_packets(const T* const* in, T* out, std::int64_t n, F f) {
  using Packet = simd::Packet<T>;
  for (std::int64_t i = 0; i < n; i += Packet::size) {
    const auto number = [&](int k) { return Packet::load(in[k] + i); };
    const auto truth = [&](int k) { return Packet::load(in[k] + i) != Packet(0); };
    const auto y = f(number, truth);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(y)>, Packet>)
      y.store(out + i);
    else
      select(y, Packet(1), Packet(0)).store(out + i);
  }
}

#define NAX_STEP(operation, value)                                                                         \
  case Operation::operation:                                                                               \
    return [](const T* const* in, T* out, std::int64_t n) {                                                \
      over_packets(in, out, n,                                                                             \
                   []([[maybe_unused]] const auto& x, [[maybe_unused]] const auto& is) { return value; }); \
    };
template <class T>
StepKernel<T> step_kernel(Operation operation, std::uint64_t detail) {
  using Packet = simd::Packet<T>;
  switch (operation) {
    NAX_STEP(add, x(0) + x(1))
    NAX_STEP(subtract, x(0) - x(1))
    NAX_STEP(multiply, x(0) * x(1))
    NAX_STEP(divide, x(0) / x(1))
    NAX_STEP(negative, -x(0))
    NAX_STEP(absolute, abs(x(0)))
    NAX_STEP(sqrt, sqrt(x(0)))
    NAX_STEP(floor, floor(x(0)))
    NAX_STEP(ceil, ceil(x(0)))
    NAX_STEP(trunc, trunc(x(0)))
    NAX_STEP(rint, rint(x(0)))
    NAX_STEP(maximum, max(x(0), x(1)))
    NAX_STEP(minimum, min(x(0), x(1)))
    NAX_STEP(at_least, select(x(0) < x(1), x(1), x(0)))
    NAX_STEP(at_most, select(x(1) < x(0), x(1), x(0)))
    NAX_STEP(copysign, copysign(x(0), x(1)))
    NAX_STEP(with_sign, with_sign(x(0), x(1)))
    NAX_STEP(fma, fma(x(0), x(1), x(2)))
    NAX_STEP(fms, fma(x(0), x(1), -x(2)))
    NAX_STEP(fnma, fma(-x(0), x(1), x(2)))
    NAX_STEP(scale, scaled(x(0), x(1)))
    NAX_STEP(mantissa, mantissa(x(0)))
    NAX_STEP(exponent, exponent(x(0)))
    NAX_STEP(limited, limited(x(0)))
    NAX_STEP(equal, x(0) == x(1))
    NAX_STEP(not_equal, x(0) != x(1))
    NAX_STEP(less, x(0) < x(1))
    NAX_STEP(less_equal, x(0) <= x(1))
    NAX_STEP(sign_bit, copysign(Packet(1), x(0)) < Packet(0))
    NAX_STEP(both, is(0) & is(1))
    NAX_STEP(either, is(0) | is(1))
    NAX_STEP(differ, is(0) ^ is(1))
    NAX_STEP(opposite, !is(0))
    NAX_STEP(select, select(is(0), x(1), x(2)))
    NAX_STEP(keep, kept(is(0), x(1)))
    case Operation::bit:
      if (detail == 0)
        return [](const T* const* in, T* out, std::int64_t n) {
          over_packets(in, out, n, [](const auto& x, const auto&) { return simd::detail::bit<0>(x(0)); });
        };
      return [](const T* const* in, T* out, std::int64_t n) {
        over_packets(in, out, n, [](const auto& x, const auto&) { return simd::detail::bit<1>(x(0)); });
      };
    default:
      return nullptr;
  }
}
#undef NAX_STEP

template <class T>
void run_step(const Step& step, const T* const* in, T* out, std::int64_t n) {
  if (step.operation == Operation::call) {
    step.function().run(reinterpret_cast<const void* const*>(in), out, n);
  } else if (step.operation == Operation::rescue) {
    bool whole = true;
    for (std::int64_t i = 0; i < n; ++i) whole &= in[0][i] != 0;
    if (!whole) {
      const void* const* const rest = reinterpret_cast<const void* const*>(in + 2);
      if (out == in[1] || out == in[0]) throw ValueError("formula: a rescued step needs a place of its own");
      step.function().run(rest, out, n);
    }
    for (std::int64_t i = 0; i < n; ++i)
      if (in[0][i] != 0) out[i] = in[1][i];
  } else if (const StepKernel<T> kernel = step_kernel<T>(step.operation, step.detail)) {
    kernel(in, out, n);
  } else {
    throw ValueError(std::string("formula: no way to run ") + facts(step.operation).name);
  }
}

}  // namespace formula::detail
NAX_END
