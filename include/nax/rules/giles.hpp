#pragma once

#include <cmath>
#include <type_traits>

#include "nax/rules/signature.hpp"

// The inverse error function after M. Giles, "Approximating the erfinv function" (2012): a polynomial in
// w = -log(1 - x^2) for the middle, others in sqrt(w) for the tails. The same coefficients as XLA's, so that
// draws from the normal distribution agree with JAX's.
NAX_BEGIN
namespace rules::detail {

// The polynomial whose coefficients are Table::at(0), ..., of the highest power first. (A table is a variable
// of a function: a GPU has no static members, and a kernel that reads one ends in a trap.)
template <class Table, class V>
constexpr V horner(V x) {
  V p(Table::at(0));
  for (int i = 1; i < Table::size; ++i) p = p * x + V(Table::at(i));
  return p;
}

template <class T>
struct Giles;
template <>
struct Giles<float> {
  static constexpr float centre_end = 5, centre_shift = 2.5f, tail_shift = 3;
  struct Centre {
    static constexpr int size = 9;
    static constexpr float at(int i) {
      constexpr float all[] = {2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                               -4.39150654e-06f, 2.1858087e-04f,  -1.25372503e-03f,
                               -4.17768164e-03f, 0.246640727f,    1.50140941f};
      return all[i];
    }
  };
  struct Tail {
    static constexpr int size = 9;
    static constexpr float at(int i) {
      constexpr float all[] = {-2.00214257e-04f, 1.00950558e-04f, 1.34934322e-03f,
                               -3.67342844e-03f, 5.73950773e-03f, -7.6224613e-03f,
                               9.43887047e-03f,  1.00167406f,     2.83297682f};
      return all[i];
    }
  };
};
template <>
struct Giles<double> {
  static constexpr double centre_end = 6.25, centre_shift = 3.125, tail_shift = 3.25, far_begin = 16,
                          far_shift = 5;
  struct Centre {
    static constexpr int size = 23;
    static constexpr double at(int i) {
      constexpr double all[] = {
          -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
          1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
          6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
          2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
          1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
          4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
          1.867342080340571352e-04,   -7.4070253416626697512e-04, -6.0336708714301490533e-03,
          0.24015818242558961693,     1.6536545626831027356};
      return all[i];
    }
  };
  struct Tail {
    static constexpr int size = 19;
    static constexpr double at(int i) {
      constexpr double all[] = {
          2.2137376921775787049e-09,  9.0756561938885390979e-08,  -2.7517406297064545428e-07,
          1.8239629214389227755e-08,  1.5027403968909827627e-06,  -4.013867526981545969e-06,
          2.9234449089955446044e-06,  1.2475304481671778723e-05,  -4.7318229009055733981e-05,
          6.8284851459573175448e-05,  2.4031110387097893999e-05,  -3.550375203628474796e-04,
          9.5328937973738049703e-04,  -1.6882755560235047313e-03, 2.4914420961078508066e-03,
          -3.7512085075692412107e-03, 5.370914553590063617e-03,   1.0052589676941592334,
          3.0838856104922207635};
      return all[i];
    }
  };
  struct Far {
    static constexpr int size = 17;
    static constexpr double at(int i) {
      constexpr double all[] = {
          -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
          -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
          2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
          -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
          7.5995277030017761139e-05,  -2.1503011930044477347e-04, -1.3871931833623122026e-04,
          1.0103004648645343977,      4.8499064014085844221};
      return all[i];
    }
  };
};

// T: the precision, float or double; V: T or a packet of it. Infinite at 1 and -1, NaN beyond.
template <class T, class V>
constexpr V giles_erfinv(V x) {
  using std::log1p, std::sqrt;
  using C = Giles<T>;
  const V w = -log1p(-(x * x)), root = sqrt(w);
  V p = horner<typename C::Tail>(root - V(C::tail_shift));
  if constexpr (std::is_same_v<T, double>)
    p = select(w < V(C::far_begin), p, horner<typename C::Far>(root - V(C::far_shift)));
  p = select(w < V(C::centre_end), horner<typename C::Centre>(w - V(C::centre_shift)), p);
  return select(x * x == V(1), x * V(INFINITY), p * x);
}

}  // namespace rules::detail
NAX_END
