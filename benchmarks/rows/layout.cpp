#include "rows.hpp"

namespace bench {
namespace {

template <class F>
Work of_square(F f) {
  const auto x = uniform_array(1, {2048, 2048});
  return calls([=] { return f(x); });
}

Work cumsum_gradient() {
  const auto f = [](const Array<float>& x) { return nax::cumsum(x, {.axis = 1}); };
  return values_and_gradients(f, uniform_array(2, {2048, 2048}), uniform_array(1, {2048, 2048}));
}

Work take(bool differentiate) {
  const auto x = uniform_array(1, {4096, 1000});
  const auto rows = nax::asarray(integers(3, 4096, 4096));
  const auto f = [=](const Array<float>& v) { return nax::take(v, rows, {.axis = 0}); };
  if (!differentiate) return calls([=] { return f(x); });
  return values_and_gradients(f, uniform_array(2, {4096, 1000}), x);
}

Work sort() {
  const auto x = uniform_array(1, {1 << 20});
  return calls([=] { return nax::sort(x); });
}

}  // namespace

Rows layout_rows() {
  return {
      {"transpose_copy_2048", [] { return of_square([](const auto& x) { return nax::copy(x.T()); }); }},
      {"cumsum_axis1_2048",
       [] { return of_square([](const auto& x) { return nax::cumsum(x, {.axis = 1}); }); }},
      {"cumsum_gradient_2048", cumsum_gradient},
      {"take_rows_4096x1000", [] { return take(false); }},
      {"take_rows_gradient_4096x1000", [] { return take(true); }},
      {"sort_1m", sort},
  };
}

}  // namespace bench
