#include "rows.hpp"

namespace bench {
namespace {

Work small_add() {
  const auto x = uniform_array(1, {10}), y = uniform_array(2, {10});
  return calls([=] { return x + y; });
}

// 100 scalar operations that depend on each other, recorded and swept: time per operation is a hundredth.
Array<float> chain(Array<float> v) {
  for (int i = 0; i < 50; ++i) v = nax::eval(nax::eval(v * 0.5f) + 0.25f);
  return v;
}
template <class F>
Work scalars(F f) {
  return calls([f, x = uniform_array(1, {}, 0.5f, 1)] { return f(x); });
}

}  // namespace

Rows dispatch_rows() {
  return {
      {"eager_add_10", small_add},
      {"recorded_scalars_100", [] { return scalars(nax::grad(chain)); }},
      {"jit_recorded_scalars_100", [] { return scalars(nax::jit(nax::grad(chain))); }},
  };
}

}  // namespace bench
