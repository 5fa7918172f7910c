#include "cuda/ptx/handlers.hpp"
#include "cuda/ptx/numbers.hpp"

// Arithmetic of floating numbers, alone and in pairs of 16 bits.
namespace ptx {
namespace {

struct Add {
  template <class T>
  static T of(T a, T b, T, std::uint8_t mode) {
    volatile T x = a, y = b;
    return rounded(mode, [&] { return T(x + y); });
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b, T, std::uint8_t mode) {
    volatile T x = a, y = b;
    return rounded(mode, [&] { return T(x - y); });
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b, T, std::uint8_t mode) {
    volatile T x = a, y = b;
    return rounded(mode, [&] { return T(x * y); });
  }
};
struct Divide {
  template <class T>
  static T of(T a, T b, T, std::uint8_t mode) {
    volatile T x = a, y = b;
    return rounded(mode, [&] { return T(x / y); });
  }
};
struct FusedAdd {
  template <class T>
  static T of(T a, T b, T c, std::uint8_t mode) {
    volatile T x = a, y = b, z = c;
    return rounded(mode, [&] { return T(std::fma(T(x), T(y), T(z))); });
  }
};
template <bool greatest>
struct Extreme {
  template <class T>
  static T of(T a, T b, T, std::uint8_t mode) {
    if (a != a || b != b) {
      if (mode & keeps_nan || (a != a && b != b)) return std::numeric_limits<T>::quiet_NaN();
      return a != a ? b : a;
    }
    if (a == b) return std::signbit(a) == greatest ? b : a;  // -0 is less than +0
    return (a < b) == greatest ? b : a;
  }
};
struct Negate {
  template <class T>
  static T of(T a, T, T, std::uint8_t) {
    return -a;
  }
};
struct Absolute {
  template <class T>
  static T of(T a, T, T, std::uint8_t) {
    return std::fabs(a);
  }
};
struct CopySign {
  template <class T>
  static T of(T a, T b, T, std::uint8_t) {
    return std::copysign(b, a);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a, T, T, std::uint8_t mode) {
    return Divide::of(T(1), a, T(0), mode);
  }
};
struct Root {
  template <class T>
  static T of(T a, T, T, std::uint8_t mode) {
    volatile T x = a;
    return rounded(mode, [&] { return T(std::sqrt(T(x))); });
  }
};
struct InverseRoot {
  template <class T>
  static T of(T a, T, T, std::uint8_t) {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
  }
};
template <auto f>
struct Approximate {
  template <class T>
  static T of(T a, T, T, std::uint8_t) {
    return static_cast<T>(f(static_cast<double>(a)));
  }
};

template <class T, class Op>
void compute(Thread& t, const Instruction& i) {
  const auto operand = [&](int k) {
    return i.at[k] == no_slot ? Computed<T>(0) : flush(widen(t.get<T>(i.at[k])), i.mode);
  };
  t.put<T>(i.at[0], static_cast<T>(finish(Op::of(operand(1), operand(2), operand(3), i.mode), i.mode)));
}
template <class T, class Op>
void compute_pairs(Thread& t, const Instruction& i) {
  const auto operand = [&](int k, int part) {
    if (i.at[k] == no_slot) return 0.f;
    const auto bits = static_cast<std::uint16_t>(t.get<std::uint32_t>(i.at[k]) >> (16 * part));
    return static_cast<float>(std::bit_cast<T>(bits));
  };
  std::uint32_t result = 0;
  for (int part = 0; part < 2; ++part) {
    const T x =
        static_cast<T>(finish(Op::of(operand(1, part), operand(2, part), operand(3, part), i.mode), i.mode));
    result |= std::uint32_t{std::bit_cast<std::uint16_t>(x)} << (16 * part);
  }
  t.put(i.at[0], result);
}
// Reciprocals of the upper half of a double: what rcp.approx.ftz.f64 gives.
template <bool of_root>
void approximate_f64(Thread& t, const Instruction& i) {
  const double x = std::bit_cast<double>(t.get<std::uint64_t>(i.at[1]) & 0xFFFFFFFF00000000u);
  const double y = std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0., x) : x;
  const double result = of_root ? 1 / std::sqrt(y) : 1 / y;
  t.put(i.at[0], std::bit_cast<std::uint64_t>(result) & 0xFFFFFFFF00000000u);
}

template <class Op>
bool choose(std::string_view type, Instruction& i) {
  if (type == "f16x2") return i.run = compute_pairs<half, Op>, true;
  if (type == "bf16x2") return i.run = compute_pairs<bfloat16, Op>, true;
  return with_float(type, [&]<class T>(std::type_identity<T>) { i.run = compute<T, Op>; });
}

bool has_three(const Instruction& i) { return i.at[3] != no_slot; }

}  // namespace

// Reads modifiers that arithmetic and conversions share.
std::uint8_t float_mode(const Words& w) {
  std::uint8_t mode = 0;
  if (w.has("rz") || w.has("rzi")) mode = round_zero;
  if (w.has("rm") || w.has("rmi")) mode = round_down;
  if (w.has("rp") || w.has("rpi")) mode = round_up;
  if (w.has("ftz")) mode |= flushes;
  if (w.has("sat")) mode |= saturates;
  if (w.has("NaN")) mode |= keeps_nan;
  return mode;
}

bool decode_float(const Words& w, Instruction& i) {
  const std::string_view type = w.type();
  if (type != "f32" && type != "f64" && type != "f16" && type != "bf16" && type != "f16x2" &&
      type != "bf16x2")
    return false;
  if (w.has("xorsign") || w.has("relu") || w.has("oob")) return false;
  i.mode = float_mode(w);
  if (w.root == "add") return choose<Add>(type, i);
  if (w.root == "sub") return choose<Subtract>(type, i);
  if (w.root == "mul") return choose<Multiply>(type, i);
  if (w.root == "div") return choose<Divide>(type, i);
  if (w.root == "fma" || w.root == "mad") return choose<FusedAdd>(type, i);
  if (w.root == "min" && !has_three(i)) return choose<Extreme<false>>(type, i);
  if (w.root == "max" && !has_three(i)) return choose<Extreme<true>>(type, i);
  if (w.root == "neg") return choose<Negate>(type, i);
  if (w.root == "abs") return choose<Absolute>(type, i);
  if (w.root == "copysign") return choose<CopySign>(type, i);
  if (w.root == "rcp" || w.root == "rsqrt") {
    if (type == "f64" && w.has("approx") && w.has("ftz"))
      return i.run = w.root == "rcp" ? approximate_f64<false> : approximate_f64<true>, true;
    return w.root == "rcp" ? choose<Reciprocal>(type, i) : choose<InverseRoot>(type, i);
  }
  if (w.root == "sqrt") return choose<Root>(type, i);
  if (w.root == "ex2") return choose<Approximate<[](double x) { return std::exp2(x); }>>(type, i);
  if (w.root == "lg2") return choose<Approximate<[](double x) { return std::log2(x); }>>(type, i);
  if (w.root == "sin") return choose<Approximate<[](double x) { return std::sin(x); }>>(type, i);
  if (w.root == "cos") return choose<Approximate<[](double x) { return std::cos(x); }>>(type, i);
  if (w.root == "tanh") return choose<Approximate<[](double x) { return std::tanh(x); }>>(type, i);
  return false;
}

}  // namespace ptx
