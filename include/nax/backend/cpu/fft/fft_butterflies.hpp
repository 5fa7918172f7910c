#pragma once

#include "nax/backend/cpu/packets/packet_arithmetic.hpp"

// Transforms of a few complex numbers, e^(-2 pi i j k / r), in registers. V is a packet or a number.
NAX_BEGIN
namespace cpu::detail {

template <class V>
struct ComplexOf {
  V re, im;
  friend ComplexOf operator+(ComplexOf a, ComplexOf b) { return {a.re + b.re, a.im + b.im}; }
  friend ComplexOf operator-(ComplexOf a, ComplexOf b) { return {a.re - b.re, a.im - b.im}; }
  friend ComplexOf operator*(V s, ComplexOf a) { return {s * a.re, s * a.im}; }
  friend ComplexOf operator*(ComplexOf a, ComplexOf b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  ComplexOf times_minus_i() const { return {im, -re}; }
};

template <int radix, class V>
struct Butterfly;

template <class V>
struct Butterfly<2, V> {
  [[gnu::always_inline]] static void run(ComplexOf<V>* a) {
    const ComplexOf<V> t = a[1];
    a[1] = a[0] - t;
    a[0] = a[0] + t;
  }
};
template <class V>
struct Butterfly<3, V> {
  [[gnu::always_inline]] static void run(ComplexOf<V>* a) {
    const ComplexOf<V> t = a[1] + a[2], m = a[0] - V(0.5) * t;
    const ComplexOf<V> d = V(0.86602540378443864676) * (a[1] - a[2]).times_minus_i();
    a[0] = a[0] + t;
    a[1] = m + d;
    a[2] = m - d;
  }
};
template <class V>
struct Butterfly<4, V> {
  [[gnu::always_inline]] static void run(ComplexOf<V>* a) {
    const ComplexOf<V> t0 = a[0] + a[2], t1 = a[0] - a[2], t2 = a[1] + a[3],
                       t3 = (a[1] - a[3]).times_minus_i();
    a[0] = t0 + t2;
    a[1] = t1 + t3;
    a[2] = t0 - t2;
    a[3] = t1 - t3;
  }
};
template <class V>
struct Butterfly<5, V> {
  [[gnu::always_inline]] static void run(ComplexOf<V>* a) {
    const V c1(0.30901699437494742410), c2(-0.80901699437494742410), s1(0.95105651629515357212),
        s2(0.58778525229247312917);
    const ComplexOf<V> t1 = a[1] + a[4], t2 = a[2] + a[3], t3 = (a[1] - a[4]).times_minus_i(),
                       t4 = (a[2] - a[3]).times_minus_i();
    const ComplexOf<V> m1 = a[0] + c1 * t1 + c2 * t2, m2 = a[0] + c2 * t1 + c1 * t2;
    const ComplexOf<V> d1 = s1 * t3 + s2 * t4, d2 = s2 * t3 - s1 * t4;
    a[0] = a[0] + t1 + t2;
    a[1] = m1 + d1;
    a[2] = m2 + d2;
    a[3] = m2 - d2;
    a[4] = m1 - d1;
  }
};
template <class V>
struct Butterfly<8, V> {
  [[gnu::always_inline]] static void run(ComplexOf<V>* a) {
    ComplexOf<V> even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    Butterfly<4, V>::run(even);
    Butterfly<4, V>::run(odd);
    const V h(0.70710678118654752440);
    odd[1] = {h * (odd[1].re + odd[1].im), h * (odd[1].im - odd[1].re)};
    odd[2] = odd[2].times_minus_i();
    odd[3] = {h * (odd[3].im - odd[3].re), -(h * (odd[3].re + odd[3].im))};
    NAX_UNROLL
    for (int i = 0; i < 4; ++i) {
      a[i] = even[i] + odd[i];
      a[i + 4] = even[i] - odd[i];
    }
  }
};

}  // namespace cpu::detail
NAX_END
