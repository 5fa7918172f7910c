// pad in every mode, and what makes or takes indices, against NumPy and JAX and under every transform.

#include "nax/numpy/manipulation/block.hpp"
#include "nax/numpy/padding/pad.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/sequences/gradient.hpp"
#include "nax/transform/apply_along_axis.hpp"
#include "nax/transform/vectorize.hpp"
#include "table/harness.hpp"

namespace padding_test {
using namespace table;

#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand matrix = {{3, 4}}, cube = {{2, 3, 4}}, line = {{5}};
Row of(std::string name, Function f, std::vector<std::vector<Operand>> cases, Smooth smooth = Smooth::once) {
  return from_suite("numpy_names", row(std::move(name), std::move(f), std::move(cases), smooth));
}

// Both records of a mode: of a matrix, and of a margin longer than the axis.
Row padded(const char* mode) {
  return of(std::string("pad.") + mode,
            [=](const Operands& x) {
              return nax::pad(x[0], {{1, 2}, {0, 3}}, {.mode = mode});
            },
            {{matrix}, {{{1, 1}}}});
}
Row padded_long(const char* mode) {
  return of(std::string("pad.") + mode + ".long",
            [=](const Operands& x) {
              return nax::pad(x[0], {11, 7}, {.mode = mode});
            },
            {{line}});
}
Row padded_by_length(const char* mode) {
  return of(std::string("pad.") + mode + ".length",
            [=](const Operands& x) {
              return nax::pad(x[0], {{2, 1}, {1, 2}}, {.mode = mode, .stat_length = {{1, 2}, {3, 2}}});
            },
            {{matrix}});
}
const bool modes = add({
    padded("constant"),
    padded("edge"),
    padded("linear_ramp"),
    padded("maximum"),
    padded("mean"),
    padded("median"),
    padded("minimum"),
    padded("reflect"),
    padded("symmetric"),
    padded("wrap"),
    padded_long("constant"),
    padded_long("edge"),
    padded_long("linear_ramp"),
    padded_long("maximum"),
    padded_long("mean"),
    padded_long("median"),
    padded_long("minimum"),
    padded_long("reflect"),
    padded_long("symmetric"),
    padded_long("wrap"),
    padded_by_length("maximum"),
    padded_by_length("mean"),
    padded_by_length("median"),
    padded_by_length("minimum"),
    of("pad.values", OF(nax::pad(x[0], {{1, 2}, {2, 1}}, {.constant_values = {{1, 2}, {3, 4}}})),
       {{matrix}, {{{0, 3}}}}),
    of("pad.pair", OF(nax::pad(x[0], {{1, 2}, {2, 1}}, {.constant_values = {5, 6}})), {{matrix}}),
    of("pad.ends",
       OF(nax::pad(x[0], {{1, 2}, {2, 1}}, {.mode = "linear_ramp", .end_values = {{1, 2}, {3, 4}}})),
       {{matrix}}),
    of("pad.reflect.odd", OF(nax::pad(x[0], {{2, 1}, {3, 2}}, {.mode = "reflect", .reflect_type = "odd"})),
       {{matrix}}),
    of("pad.symmetric.odd",
       OF(nax::pad(x[0], {{2, 1}, {3, 2}}, {.mode = "symmetric", .reflect_type = "odd"})), {{matrix}}),
    of("pad.reflect.odd.long", OF(nax::pad(x[0], {11, 7}, {.mode = "reflect", .reflect_type = "odd"})),
       {{line}}),
    of("pad.symmetric.odd.long", OF(nax::pad(x[0], {11, 7}, {.mode = "symmetric", .reflect_type = "odd"})),
       {{line}}),
    of("pad.reflect.single", OF(nax::pad(x[0], {2, 3}, {.mode = "reflect"})), {{{{1}}}}),
    of("pad.symmetric.single", OF(nax::pad(x[0], {2, 3}, {.mode = "symmetric"})), {{{{1}}}}),
});

Real both(const std::vector<Real>& list) { return nax::stack(list); }
const bool gradients = add({
    of("gradient", OF(nax::gradient(x[0])[0]), {{line}, {{{2}}}}),
    of("gradient.both", OF(both(nax::gradient(x[0]))), {{matrix}}),
    of("gradient.h=0.5.axis=0", OF(nax::gradient(x[0], 0.5, {.axis = 0})[0]), {{matrix}}),
    of("gradient.edge_order=2", OF(nax::gradient(x[0], 0.5, {.axis = 1, .edge_order = 2})[0]), {{matrix}}),
    of("gradient.points.edge_order=1", OF(nax::gradient(x[0], x[1])[0]), {}),
    of("gradient.points.edge_order=2", OF(nax::gradient(x[0], x[1], {.edge_order = 2})[0]), {}),
    of("gradient.mixed", OF(both(nax::gradient(x[0], 2.0, x[1]))), {}),
    unrecorded(of("gradient.coordinates", OF(nax::gradient(x[0], nax::cumsum(x[1]), {.edge_order = 2})[0]),
                  {{line, {{5}, .5, 2}}}, Smooth::twice)),
});

const bool shapes = add({
    of("rollaxis.2", OF(nax::rollaxis(x[0], 2)), {{cube}}),
    of("rollaxis.0.start=3", OF(nax::rollaxis(x[0], 0, {.start = 3})), {{cube}}),
    of("rollaxis.-1.start=1", OF(nax::rollaxis(x[0], -1, {.start = 1})), {{cube}}),
    of("block", OF(nax::block({{x[0], x[1]}, {x[1], x[0]}})), {{matrix, matrix}}),
    of("block.row", OF(nax::block({x[0], x[1]})), {{matrix, {{3, 2}}}}),
    of("block.ndim", OF(nax::block({{x[0], x[0]}, {x[1]}})), {{{{4}}, {{2, 8}}}}),
    of("apply_over_axes",
       OF(nax::apply_over_axes([](const auto& y, auto axis) { return nax::sum(y, {.axis = axis}); }, x[0],
                               {0, 2})),
       {{cube}}),
    of("apply_along_axis", OF(nax::apply_along_axis([](const Real& v) { return v * v(0); }, 1, x[0])),
       {{cube}}, Smooth::twice),
    of("apply_along_axis.sum", OF(nax::apply_along_axis([](const Real& v) { return nax::sum(v); }, 0, x[0])),
       {{matrix}, {line}}),
    of("apply_along_axis.outer",
       OF(nax::apply_along_axis([](const Real& v) { return v(nax::_, nax::newaxis) * v(nax::slice(0, 2)); },
                                -2, x[0])),
       {{cube}}, Smooth::twice),
});

const auto matvec = nax::vectorize([](const Real& a, const Real& b) { return nax::matmul(a, b); },
                                   {.signature = "(m,n),(n)->(m)"});
const bool vectorized = add({
    of("vectorize.matvec", OF(matvec(x[0], x[1])), {{cube, {{4}}}}, Smooth::twice),
    of("vectorize.broadcast", OF(matvec(x[0], x[1])), {{{{2, 1, 3, 4}}, {{3, 4}}}}, Smooth::twice),
    of("vectorize.scalar",
       OF(nax::vectorize([](const Real& a, const Real& b) { return a * b + a; })(x[0], x[1])),
       {{{{3, 1}}, {{4}}}, {{{}}, {{}}}}, Smooth::twice),
});

}  // namespace padding_test

#undef OF
