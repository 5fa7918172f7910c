// Trees that must not compile: one for each MISUSE number; CMakeLists.txt has the message that the compiler
// must print.
#include <complex>
#include <memory>
#include <string>

#include "nax/core/array.hpp"
#include "nax/tree/tree.hpp"

using nax::Array;
namespace tree = nax::tree;

struct Base {
  int z;
};
struct Derived : Base {
  Array<float> w;
};
struct WithCArray {
  float a[3];
  Array<float> b;
};
struct WithPointer {
  std::unique_ptr<int> p;
};
struct WithText {
  std::string name;
  Array<float> w;
};
struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y;
};
struct Layer {
  Array<float> w, b;
};
struct Single {
  Array<float> w;
};

void misuse() {
  [[maybe_unused]] const auto first = [](const auto& x, const auto&...) { return x; };
#if MISUSE == 0
  tree::map(first, Layer{}, Layer{});
#elif MISUSE == 1
  tree::leaves(Derived{});
#elif MISUSE == 2
  tree::leaves(WithCArray{});
#elif MISUSE == 3
  WithPointer t;
  tree::for_each([](auto&) {}, t);
#elif MISUSE == 4
  tree::map(first, WithText{});
#elif MISUSE == 5
  tree::map(first, Many{});
#elif MISUSE == 6
  tree::map(first, Layer{}, Single{});
#elif MISUSE == 7
  tree::map(first, std::vector<Layer>{}, Layer{});
#elif MISUSE == 8
  tree::map([](const auto&) { return std::complex<float>(1, 2); }, std::vector<Layer>{});
#elif MISUSE == 9
  tree::map([](const auto&) {}, Layer{});
#elif MISUSE == 10
  tree::leaves(std::vector<bool>{});
#elif MISUSE == 11
  tree::map([](const auto&) { return Array<double>{}; }, Layer{});
#endif
}
