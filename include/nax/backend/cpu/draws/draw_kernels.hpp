#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "nax/backend/cpu/draws/threefry.hpp"
#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/rules/draw.hpp"
#include "nax/rules/quantiles.hpp"
#include "nax/rules/unit_interval.hpp"

// Draws that the host's operations find by kind and dtype: elements first ... first + n - 1 of a key's draw.
// Which elements are computed together makes no difference to what they are.
NAX_BEGIN
namespace cpu {

using nax::detail::compute_t, nax::detail::Draw, nax::detail::DrawKind;

template <class U>
void fill_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, U* out) {
  if constexpr (sizeof(U) >= 4) {
    random_bits(key, first, n, out);
  } else {
    for_each_block(key, first, n,
                   [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                     for (int i = 0; i < count; ++i) out[at + i] = static_cast<U>(x[i] ^ y[i]);
                   });
  }
}

// Numbers in [low, high) as JAX draws them, whose compiler fuses the product and the sum. Where the length
// of the interval is a power of two the product is exact, and the fused operation (slow on old machines) is
// not needed. Rounding may give `high`, which becomes the number below it. T: the type of the draw; Out: the
// one that it is stored in.
template <class T, class Out>
void fill_uniform(const Draw& form, std::uint64_t key, std::uint64_t first, std::int64_t n, Out* out) {
  using C = compute_t<T>;
  const nax::detail::UniformInterval<T> interval(static_cast<C>(form.low), static_cast<C>(form.high));
  const C least = interval.low, span = interval.span, most = interval.most;
  int exponent;
  const bool exact = std::is_same_v<T, Out> && std::abs(std::frexp(span, &exponent)) == C(0.5);
  if (interval.halved) {
    for_each_block(key, first, n,
                   [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                     for (int i = 0; i < count; ++i)
                       out[at + i] = static_cast<Out>(interval(C(nax::detail::unit<T>(x[i], y[i]))));
                   });
    return;
  }
  for_each_block(key, first, n,
                 [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                   if (exact) {
                     for (int i = 0; i < count; ++i) {
                       const C u = C(nax::detail::unit<T>(x[i], y[i])) * span + least;
                       out[at + i] = static_cast<Out>(u < least ? least : u > most ? most : u);
                     }
                   } else {
                     for (int i = 0; i < count; ++i) {
                       const C u = C(T(std::fma(C(nax::detail::unit<T>(x[i], y[i])), span, least)));
                       out[at + i] = static_cast<Out>(u < least ? least : u > most ? most : u);
                     }
                   }
                 });
}

// Quantile::value of each of the uniform numbers, in packets.
template <class T, class Quantile>
void fill_quantile(const Quantile& quantile, const Draw& form, std::uint64_t key, std::uint64_t first,
                   std::int64_t n, T* out) {
  using C = compute_t<T>;
  using P = simd::Packet<C>;
  constexpr std::int64_t block = 256;
  alignas(64) C u[block];
  for (std::int64_t done = 0; done < n; done += block) {
    const std::int64_t count = n - done < block ? n - done : block;
    fill_uniform<T>(form, key, first + static_cast<std::uint64_t>(done), count, u);
    for (std::int64_t i = count; i % P::size != 0; ++i) u[i] = C(0.5);
    for (std::int64_t i = 0; i < count; i += P::size) quantile.template value<T>(P::load(u + i)).store(u + i);
    for (std::int64_t i = 0; i < count; ++i) out[done + i] = static_cast<T>(u[i]);
  }
}

// Remainders of many numbers by one, without dividing: the quotient is the upper half of a product, corrected
// (Granlund and Montgomery, 1994). By 0, the number itself.
class Divisor {
 public:
  explicit Divisor(std::uint32_t d) : d_(d) {
    if (d == 0) return;
    const int bits =
        static_cast<int>(std::bit_width(d - 1));  // 2^bits is the first power of two that is not below d
    factor_ = static_cast<std::uint32_t>((((std::uint64_t{1} << bits) - d) << 32) / d + 1);
    first_ = std::min(bits, 1);
    second_ = std::max(bits - 1, 0);
  }
  std::uint32_t remainder(std::uint32_t x) const {
    const auto high = static_cast<std::uint32_t>(std::uint64_t{x} * factor_ >> 32);
    return x - ((high + ((x - high) >> first_)) >> second_) * d_;
  }

 private:
  std::uint32_t d_, factor_ = 0;
  int first_ = 0, second_ = 0;
};

// Integers are made from two draws of as many bits as they have, so that the bias of the remainder is small.
// A span of 0 stands for all of U.
template <class T, class U>
void fill_integers(const Draw& form, std::uint64_t key, std::uint64_t first, std::int64_t n, T* out) {
  const std::uint64_t k1 = word_pair(threefry(key, 0)), k2 = word_pair(threefry(key, 1));
  constexpr std::int64_t block = 256;
  U higher[block], lower[block];
  const U start = static_cast<U>(form.offset), span = static_cast<U>(form.span),
          multiplier = static_cast<U>(form.multiplier);
  [[maybe_unused]] const Divisor by(static_cast<std::uint32_t>(span));
  [[maybe_unused]] const auto remainder = [span](U x) { return span == 0 ? x : x % span; };
  for (std::int64_t done = 0; done < n; done += block) {
    const std::int64_t count = n - done < block ? n - done : block;
    fill_bits(k1, first + static_cast<std::uint64_t>(done), count, higher);
    fill_bits(k2, first + static_cast<std::uint64_t>(done), count, lower);
    if constexpr (sizeof(U) == 4) {
      for (std::int64_t i = 0; i < count; ++i)
        lower[i] = by.remainder(by.remainder(higher[i]) * multiplier + by.remainder(lower[i]));
      for (std::int64_t i = 0; i < count; ++i) out[done + i] = static_cast<T>(start + lower[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i)
        out[done + i] =
            static_cast<T>(start + remainder(remainder(higher[i]) * multiplier + remainder(lower[i])));
    }
  }
}

// f(unit interval's number) for each element.
template <class T, class Out, class F>
void fill_by_unit(std::uint64_t key, std::uint64_t first, std::int64_t n, Out* out, const F& f) {
  for_each_block(key, first, n,
                 [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                   for (int i = 0; i < count; ++i)
                     out[at + i] = f(compute_t<T>(nax::detail::unit<T>(x[i], y[i])));
                 });
}

using DrawFunction = void(const Draw&, std::uint64_t key, std::uint64_t first, std::int64_t n, void* out);

template <DrawKind kind>
struct DrawKernel {
  static constexpr const char* name = "random";
  using Function = DrawFunction;

  template <class T>
  static void run(const Draw& form, std::uint64_t key, std::uint64_t first, std::int64_t n, void* out_) {
    T* const out = static_cast<T*>(out_);
    const auto by_quantile = [&](const auto& quantile) { fill_quantile(quantile, form, key, first, n, out); };
    if constexpr (kind == DrawKind::bits) {
      fill_bits(key, first, n, out);
    } else if constexpr (kind == DrawKind::uniform) {
      fill_uniform<T>(form, key, first, n, out);
    } else if constexpr (kind == DrawKind::bernoulli) {
      fill_by_unit<float>(key, first, n, out,
                          [limit = static_cast<float>(form.high)](float u) { return u < limit; });
    } else if constexpr (kind == DrawKind::rademacher) {
      fill_by_unit<float>(key, first, n, out, [](float u) { return u < 0.5f ? T(1) : T(-1); });
    } else if constexpr (kind == DrawKind::integers) {
      using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      fill_integers<T, U>(form, key, first, n, out);
    } else if constexpr (kind == DrawKind::normal) {
      by_quantile(rules::NormalQuantile());
    } else if constexpr (kind == DrawKind::gumbel) {
      by_quantile(rules::GumbelQuantile());
    } else if constexpr (kind == DrawKind::exponential) {
      by_quantile(rules::ExponentialQuantile());
    } else if constexpr (kind == DrawKind::laplace) {
      by_quantile(rules::LaplaceQuantile());
    } else if constexpr (kind == DrawKind::logistic) {
      by_quantile(rules::LogisticQuantile());
    } else if constexpr (kind == DrawKind::cauchy) {
      by_quantile(rules::CauchyQuantile());
    } else {
      static_assert(kind == DrawKind::clipped_normal);
      using C = compute_t<T>;
      by_quantile(rules::ClippedNormalQuantile<T>{static_cast<C>(form.least), static_cast<C>(form.most)});
    }
  }
};

inline DrawFunction* draw_kernel(DrawKind kind, DType dtype) {
  switch (kind) {
#define NAX_DRAW(name) \
  case DrawKind::name: \
    return kernel_for<DrawKernel<DrawKind::name>>(dtype);
    NAX_DRAW(bits)
    NAX_DRAW(uniform)
    NAX_DRAW(bernoulli)
    NAX_DRAW(rademacher)
    NAX_DRAW(integers)
    NAX_DRAW(normal)
    NAX_DRAW(gumbel)
    NAX_DRAW(exponential)
    NAX_DRAW(laplace)
    NAX_DRAW(logistic)
    NAX_DRAW(cauchy)
    NAX_DRAW(clipped_normal)
#undef NAX_DRAW
  }
  return nullptr;
}

}  // namespace cpu
NAX_END
