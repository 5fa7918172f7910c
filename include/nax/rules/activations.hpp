#pragma once

#include "nax/rules/math.hpp"

// Activations of neural networks, as JAX defines them, kinks and all.
NAX_BEGIN
namespace rules {

struct relu : Arithmetic {
  static constexpr const char* name = "relu";
  static constexpr bool hands_on = true;
  static constexpr bool same_at_value = true;
  template <class V>
  static constexpr V value(V x) {
    using math::max;
    return max(x, V(0));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{select(x > V(0), g, V(0))};
  }
};
// Both kinks have the derivative 0.
struct relu6 : Arithmetic {
  static constexpr const char* name = "relu6";
  static constexpr bool hands_on = true;
  static constexpr bool same_at_value = true;
  template <class V>
  static constexpr V value(V x) {
    using math::max, math::min;
    return min(max(x, V(0)), V(6));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{select((x > V(0)) & (x < V(6)), g, V(0))};
  }
};
struct leaky_relu : Inexact {
  static constexpr const char* name = "leaky_relu";
  template <class V>
  static constexpr V value(V x, V slope) {
    return select(x >= V(0), x, slope * x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V slope, V) {
    return std::tuple{select(x >= V(0), g, g * slope), select(x >= V(0), V(0), g * x)};
  }
};
struct elu : Inexact {
  static constexpr const char* name = "elu";
  template <class V>
  static constexpr V value(V x, V alpha) {
    using std::expm1;
    return select(x > V(0), x, alpha * expm1(x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V alpha, V) {
    using std::exp, std::expm1;
    const V below = select(x > V(0), V(0), x);
    return std::tuple{select(x > V(0), g, g * alpha * exp(below)), g * expm1(below)};
  }
};
// Continuous in its derivative for any alpha.
struct celu : Inexact {
  static constexpr const char* name = "celu";
  template <class V>
  static constexpr V value(V x, V alpha) {
    using std::expm1;
    return select(x > V(0), x, alpha * expm1(x / alpha));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V alpha, V) {
    using std::exp, std::expm1;
    const V t = select(x > V(0), V(0), x) / alpha, e = exp(t);
    return std::tuple{g * e, g * (expm1(t) - t * e)};
  }
};
struct selu : Inexact {
  static constexpr const char* name = "selu";
  static constexpr double scale = 1.0507009873554804934, alpha = 1.6732632423543772848;
  template <class V>
  static constexpr V value(V x) {
    using std::expm1;
    return V(scale) * select(x > V(0), x, V(alpha) * expm1(x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::exp;
    return std::tuple{g * V(scale) * select(x > V(0), V(1), V(alpha) * exp(select(x > V(0), V(0), x)))};
  }
};

// x times the normal distribution function of x.
struct gelu : Inexact {
  static constexpr const char* name = "gelu";
  template <class V>
  static constexpr V value(V x) {
    using std::erfc;
    return V(0.5) * x * erfc(x * V(-0.70710678118654752440));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::erfc, std::exp;
    const V density = exp(V(-0.5) * x * x) * V(0.39894228040143267794);
    return std::tuple{g * (V(0.5) * erfc(x * V(-0.70710678118654752440)) + x * density)};
  }
};
// Its approximation by tanh.
struct gelu_tanh : Inexact {
  static constexpr const char* name = "gelu_tanh";
  template <class V>
  static constexpr V inner(V x) {
    using std::tanh;
    return tanh(V(0.79788456080286535588) * (x + V(0.044715) * x * x * x));
  }
  template <class V>
  static constexpr V value(V x) {
    return V(0.5) * x * (V(1) + inner(x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    const V t = inner(x);
    const V slope = V(0.79788456080286535588) * (V(1) + V(0.134145) * x * x);
    return std::tuple{g * V(0.5) * (V(1) + t + x * (V(1) - t * t) * slope)};
  }
};

// x / (1 + e^-x)
struct silu : Inexact {
  static constexpr const char* name = "silu";
  template <class V>
  static constexpr V value(V x) {
    using std::exp;
    return x / (V(1) + exp(-x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y) {
    using math::expit;
    const V s = expit(x);
    return std::tuple{g * (s + y * (V(1) - s))};
  }
};
// log(1 + e^x)
struct softplus : Inexact {
  static constexpr const char* name = "softplus";
  template <class V>
  static constexpr V value(V x) {
    using math::max, std::abs, std::exp, std::log1p;
    return max(x, V(0)) + log1p(exp(-abs(x)));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using math::expit;
    return std::tuple{g * expit(x)};
  }
};
struct soft_sign : Inexact {
  static constexpr const char* name = "soft_sign";
  template <class V>
  static constexpr V value(V x) {
    using std::abs;
    return x / (V(1) + abs(x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    using std::abs;
    const V d = V(1) + abs(x);
    return std::tuple{g / (d * d)};
  }
};
struct hard_tanh : Arithmetic {
  static constexpr const char* name = "hard_tanh";
  static constexpr bool hands_on = true;
  template <class V>
  static constexpr V value(V x) {
    return select(x > V(1), V(1), select(x < V(-1), V(-1), x));
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{select((x > V(1)) | (x < V(-1)), V(0), g)};
  }
};

}  // namespace rules
NAX_END
