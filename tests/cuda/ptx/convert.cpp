#include "cuda/ptx/handlers.hpp"
#include "cuda/ptx/numbers.hpp"

// cvt: between all types of numbers.
namespace ptx {

std::uint8_t float_mode(const Words& w);

namespace {

enum : std::uint8_t { to_whole = 32, relu = 64 };

template <class To, class From>
To integer_of(From x, std::uint8_t) {
  return static_cast<To>(x);
}
// Clamps to what To holds.
template <class To, class From>
To clamped(From x) {
  using Limits = std::numeric_limits<To>;
  const __int128 wide = x, low = Limits::min(), high = Limits::max();
  return static_cast<To>(wide < low ? low : wide > high ? high : wide);
}
template <class T>
T whole(T x, std::uint8_t mode) {
  switch (mode & round_mask) {
    case round_zero:
      return std::trunc(x);
    case round_down:
      return std::floor(x);
    case round_up:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}
// Clamps; NaN becomes 0, or the highest bit where one of the types has 64.
template <class To, class From>
To whole_number(From from, std::uint8_t mode) {
  using Limits = std::numeric_limits<To>;
  if (from != from) {
    if (sizeof(From) < 8 && sizeof(To) < 8) return 0;
    return static_cast<To>(Unsigned<To>{1} << (8 * sizeof(To) - 1));
  }
  const double x = static_cast<double>(whole(flush(from, mode), mode));
  if (x >= std::ldexp(1., Limits::digits)) return Limits::max();
  if (x <= (Limits::is_signed ? -std::ldexp(1., Limits::digits) : 0.)) return Limits::min();
  return static_cast<To>(x);
}

template <class To, class From>
void convert(Thread& t, const Instruction& i) {
  const From from = t.get<From>(i.at[1]);
  constexpr bool to_integer = std::is_integral_v<To>, from_integer = std::is_integral_v<From>;
  if constexpr (to_integer && from_integer) {
    t.put<To>(i.at[0], i.mode & saturates ? clamped<To>(from) : static_cast<To>(from));
  } else if constexpr (to_integer) {
    t.put<To>(i.at[0], whole_number<To>(widen(from), i.mode));
  } else if constexpr (from_integer) {
    volatile From source = from;
    using C = Computed<To>;
    if constexpr (is_small_float<To>) {  // of more bits than float has, by way of odd rounding
      const double exact = static_cast<double>(source);
      t.put<To>(i.at[0], static_cast<To>(static_cast<float>(exact)));
    } else {
      t.put<To>(i.at[0], finish(rounded(i.mode, [&] { return static_cast<C>(From(source)); }), i.mode));
    }
  } else {
    const auto wide = flush(widen(from), i.mode);
    using C = Computed<To>;
    if constexpr (is_small_float<To>) {
      float x = static_cast<float>(wide);
      if constexpr (sizeof(From) == 8) {  // rounded once: to odd on the way
        const double back = static_cast<double>(x);
        if (back != wide && back == back) {
          auto bits = std::bit_cast<std::uint32_t>(x);
          if (std::fabs(back) > std::fabs(wide)) --bits;
          x = std::bit_cast<float>(bits | 1);
        }
      }
      To result = static_cast<To>(finish(x, i.mode));
      if ((i.mode & round_mask) == round_zero && std::fabs(static_cast<float>(result)) > std::fabs(x))
        result = std::bit_cast<To>(static_cast<std::uint16_t>(std::bit_cast<std::uint16_t>(result) - 1));
      if (i.mode & relu && !(static_cast<float>(result) > 0)) result = To(0.f);
      t.put<To>(i.at[0], result);
    } else {
      volatile auto source = wide;
      C x = rounded(i.mode, [&] { return static_cast<C>(source); });
      if (i.mode & to_whole) x = whole(static_cast<C>(wide), i.mode);
      t.put<To>(i.at[0], finish(x, i.mode));
    }
  }
}

// cvt.rn.f16x2.f32 d, a, b: a is the upper half.
template <class T>
void convert_pair(Thread& t, const Instruction& i) {
  std::uint32_t result = 0;
  for (int part = 0; part < 2; ++part) {
    T x = static_cast<T>(flush(t.get<float>(i.at[2 - part]), i.mode));
    if (i.mode & relu && !(static_cast<float>(x) > 0)) x = T(0.f);
    result |= std::uint32_t{std::bit_cast<std::uint16_t>(x)} << (16 * part);
  }
  t.put(i.at[0], result);
}

template <class F>
bool with_number(std::string_view type, const F& f) {
  return with_small_integer(type, f) || with_float(type, f);
}

}  // namespace

bool decode_convert(const Words& w, Instruction& i) {
  if (w.root == "cvta") {  // generic addresses have the space on top
    const bool to = w.has("to");
    const std::uint64_t base = w.has("shared")  ? generic_base(Space::shared)
                               : w.has("local") ? generic_base(Space::local)
                               : w.has("param") ? generic_base(Space::param)
                                                : 0;
    i.offset = static_cast<std::int64_t>(base);
    if (base == 0)
      i.run = [](Thread& t, const Instruction& one) { t.r[one.at[0]] = t.r[one.at[1]]; };
    else if (to)
      i.run = [](Thread& t, const Instruction& one) { t.r[one.at[0]] = t.r[one.at[1]] & offset_mask; };
    else
      i.run = [](Thread& t, const Instruction& one) {
        t.r[one.at[0]] = t.r[one.at[1]] | static_cast<std::uint64_t>(one.offset);
      };
    return true;
  }
  if (w.root == "isspacep") {
    i.offset = w.has("shared") ? 2 : w.has("local") ? 3 : w.has("param") ? 4 : w.has("global") ? 0 : -1;
    i.run = [](Thread& t, const Instruction& one) {
      const auto top = static_cast<std::int64_t>(t.r[one.at[1]] >> 56);
      t.put<std::uint64_t>(one.at[0], top == one.offset);
    };
    return i.offset >= 0;
  }
  if (w.root != "cvt" || w.mods.size() < 2) return false;
  const std::string_view to = w.mods[w.mods.size() - 2], from = w.type();
  i.mode = float_mode(w);
  for (std::string_view m : w.mods)
    if (m == "rni" || m == "rzi" || m == "rmi" || m == "rpi") i.mode |= to_whole;
  if (w.has("relu")) i.mode |= relu;
  if (w.has("rna") || w.has("satfinite")) return false;
  if (to == "f16x2" && from == "f32") return i.run = convert_pair<half>, true;
  if (to == "bf16x2" && from == "f32") return i.run = convert_pair<bfloat16>, true;
  bool known = false;
  with_number(to, [&]<class To>(std::type_identity<To>) {
    known = with_number(from, [&]<class From>(std::type_identity<From>) { i.run = convert<To, From>; });
  });
  return known;
}

}  // namespace ptx
