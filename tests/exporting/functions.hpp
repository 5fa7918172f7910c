#pragma once

#include <limits>

#include "exporting/choices.hpp"
#include "exporting/nets.hpp"

// Functions that are written to files in each form, for who has add(name, f, arguments...).
namespace exported {
using namespace nax;

template <class E>
auto whole(const E& e) {
  return Array<typename E::value_type>(e);
}
#define OF_X(name, e) \
  folder.add(         \
      name, [](const A& x) { return whole(e); }, draw(1, {4, 6}))

template <class Folder>
void add_nets(Folder& folder) {
  folder.add("mlp", nets::Mlp(), draw(2, {3, 8}));
  folder.add("resnet", nets::ResNet(), draw(3, {2, 32, 32, 3}));
  const I ids = (arange<int>(14) * 7 % 50).reshape({2, 7});
  folder.add("encoder", nets::Encoder(), ids, Array<bool>((arange<int>(14) % 5 != 3).reshape({2, 7})));
  folder.add("lstm", nets::Lstm(), draw(4, {9, 2, 5}));
  // By weights of 8-bit integers; a row of zeros.
  nn::Linear<float> packed{draw(5, {20, 70}), draw(6, {70})};
  nn::quantize(packed, {.keep_weights = false});
  folder.add(
      "int8_linear",
      [packed](const A& x) {
        return A(packed(x) * packed(x, nn::Activation::relu) + packed(x, nn::Activation::gelu));
      },
      A(draw(7, {3, 5, 20}).at(1, 2).set(0.f)));
}
// Of so many turns that they are recorded as loops.
template <class Folder>
void add_loops(Folder& folder) {
  folder.add("lstm_loop", nets::Lstm(), draw(4, {40, 2, 5}));
  folder.add(
      "fori_loop",
      [](const A& x) {
        return lax::fori_loop(
            0, 50, [](const I& i, const A& v) { return A(v * 0.9f + i.astype<float>()); }, x);
      },
      draw(1, {4, 6}));
  // From the last row on, with carries that change places.
  folder.add(
      "scan_reversed",
      [](const A& x) {
        const auto [carry, rows] = lax::scan(
            [](const std::pair<A, A>& c, const A& row) {
              return std::pair(std::pair(A(c.second * 0.5f), A(c.first + tanh(row))), A(c.first - row));
            },
            std::pair(ones<float>({3}), zeros<float>({3})), x, {.reverse = true});
        return concatenate({A(rows), carry.first.reshape({1, 3}), carry.second.reshape({1, 3})});
      },
      draw(1, {35, 3}));
  // For each column: rows and carries whose axes lie in another order than they are named.
  folder.add(
      "scan_columns",
      [](const A& x) {
        const auto column = [](const A& y) {
          const auto [last, rows] = lax::scan(
              [](const A& c, const A& v) { return std::pair(A(c * 0.9f + v), A(c - v)); }, A(0.f), y);
          return std::pair(A(rows), A(last));
        };
        const auto [rows, last] = vmap(column, {.in_axes = {1}, .out_axes = nax::axes(1, 0)})(x);
        return A(rows + last);
      },
      draw(1, {40, 3}));
  // Of a matrix from outside, with a number beside the array; then one for each row.
  const auto halve = [](const A& x) {
    const A w = eye<float>(6) * 0.5f;
    return lax::while_loop(
        [](const std::pair<A, I>& c) { return Array<bool>(sum(square(c.first)) > 0.1f); },
        [&](const std::pair<A, I>& c) { return std::pair(A(dot(c.first, w)), I(c.second + 1)); },
        std::pair(x, I(0)));
  };
  folder.add(
      "while_loop",
      [=](const A& x) {
        const auto [last, turns] = halve(x);
        return A(last * turns.template astype<float>());
      },
      draw(1, {4, 6}));
  folder.add(
      "while_loops",
      [=](const A& x) {
        return vmap([&](const A& row) {
          const auto [last, turns] = halve(row);
          return A(last * turns.template astype<float>());
        })(x);
      },
      draw(1, {4, 6}));
  // A condition with loops of its own, one of them from the last row on.
  folder.add(
      "loops_in_condition",
      [](const A& x) {
        const auto goes_on = [&](const std::pair<A, I>& c) {
          const A less = lax::fori_loop(
              0, 50, [](const I&, const A& v) { return A(v * 0.99f); }, c.first);
          const auto [last, rows] =
              lax::scan([](const A& sum, const A& row) { return std::pair(A(sum * 0.5f + row), sum); },
                        less[0], less, {.reverse = true});
          return Array<bool>(sum(abs(last)) + max(abs(A(rows)[0])) > 0.1f);
        };
        const auto [last, turns] = lax::while_loop(
            goes_on, [](const std::pair<A, I>& c) { return std::pair(A(c.first * 0.7f), I(c.second + 1)); },
            std::pair(x, I(0)));
        return A(last * turns.template astype<float>());
      },
      draw(1, {40, 3}));
  // A loop within a loop, each with rows.
  folder.add(
      "scans",
      [](const A& x) {
        const auto inner = [&](const A& c, const A& row) {
          const auto [last, rows] = lax::scan(
              [&](const A& b, const A& y) { return std::pair(A(b * 0.5f + y * c), A(b + c)); }, row, x);
          return std::pair(A(c * 0.9f + last * 0.1f), A(sum(A(rows), {.axis = 0})));
        };
        const auto [last, rows] = lax::scan(inner, ones<float>({2}), x);
        return concatenate({A(rows), A(last).reshape({1, 2})});
      },
      draw(1, {40, 2}));
}
template <class Folder>
void add_functions(Folder& folder) {
  OF_X("hyperbolic", tanh(x) + sinh(x) * cosh(x) - arctan(x) + sin(x) * cos(x) + expm1(x));
  OF_X("logarithms", log(abs(x) + 1) + log2(exp(x)) + log1p(square(x)) + sqrt(abs(x)) + cbrt(x));
  OF_X("rounded", floor(x) + ceil(2 * x) - trunc(3 * x) + rint(4 * x) + sign(x));
  OF_X("activations", nn::silu(x) + nn::softplus(x) + nn::elu(x) + nn::selu(x) + nn::relu6(x) + nn::gelu(x) +
                          nn::leaky_relu(x) + nn::hard_tanh(x) + nn::log_sigmoid(x));
  OF_X("powers", power(abs(x), 2.5f) + power(x, 3) + 1 / (2 + square(x)) + exp2(x));
  OF_X("erfs", special::erf(x) + special::erfc(x) * special::ndtr(x));
  folder.add(
      "double_erf", [](const Array<double>& x) { return Array<double>(special::erf(x) - special::erfc(x)); },
      linspace<double>(-7., 7., 57));
  if constexpr (requires { folder.onnx_count(); })  // ONNX has no lgamma
    folder.add_stablehlo(
        "lgamma", [](const A& x) { return A(special::gammaln(A(abs(x) + 0.1f))); }, draw(1, {4, 6}));
  else
    OF_X("lgamma", special::gammaln(A(abs(x) + 0.1f)));
  OF_X("where", where(logical_and(x > 0, x < 1), x, 2 * x));
  OF_X("truths", logical_or(!(x > 0), isnan(x)));
  OF_X("integers", remainder(x, 2.f) + x.astype<int>().astype<float>());
  OF_X("halves", (x.astype<half>() * half(3)).astype<float>());
  OF_X("doubles", x.astype<double>() * 3);
  folder.add(
      "signs", [](const A& x) { return A(copysign(A(x + 3), x) + where(signbit(x), 10.f, 20.f)); },
      A{-0.f, 0.f, -2, 2});
  folder.add(
      "whole_numbers", [](const I& i) { return I(i * 3 - abs(i) + maximum(i, 2)); }, I{-2, 0, 5});
  folder.add(
      "broadcast", [](const A& x, const A& y) { return A(maximum(x, y) * hypot(x, y) + fmod(x, y)); },
      draw(1, {4, 6}), draw(2, {6}));
}
// Numbers near 0, far apart, without end, and the least of a type.
template <class Folder>
void add_extremes(Folder& folder) {
  const float infinity = std::numeric_limits<float>::infinity();
  const A small = draw(1, {4, 6}) * 1e-6f;
  folder.add(
      "small_log1p", [](const A& x) { return A(log1p(x)); }, small);
  folder.add(
      "small_expm1", [](const A& x) { return A(expm1(x)); }, small);
  folder.add(
      "log1p", [](const A& x) { return A(log1p(x)); }, A{-0.9f, -0.5f, 0.5f, 1, 1e30f, infinity});
  folder.add(
      "expm1", [](const A& x) { return A(expm1(x)); }, A{-infinity, -3, -1, -0.9f, 0.9f, 1, 9, infinity});
  folder.add(
      "hypot", [](const A& x, const A& y) { return A(hypot(x, y)); }, A{1e30f, 0, infinity, -3e30f},
      A{1e30f, 0, -infinity, 4e30f});
  const A far{1e10f, 5.5f, -5.5f, -1e9f, 7, 3e8f}, by{3, -2, 2, 7, infinity, -0.7f};
  folder.add(
      "far_fmod", [](const A& x, const A& y) { return A(fmod(x, y)); }, far, by);
  folder.add(
      "far_remainder", [](const A& x, const A& y) { return A(remainder(x, y)); }, far, by);
  folder.add(
      "far_floor_divide", [](const A& x, const A& y) { return A(floor_divide(x, y)); }, far, by);
  folder.add(
      "infinite_logsumexp", [](const A& x) { return A(logsumexp(x, {.axis = 1})); },
      A{{-infinity, -infinity}, {infinity, 1}, {-infinity, 2}});
  const auto least = [](const auto& x) { return argmin(x, {.axis = 1}); };
  folder.add("argmin_int32", least, I{{std::numeric_limits<int>::min(), 0, 5}, {7, 7, -1}});
  folder.add("argmin_uint8", least, Array<std::uint8_t>{{3, 0, 0}, {255, 7, 9}});
  folder.add("argmin_uint32", least, Array<std::uint32_t>{{3000000000u, 1u}, {2u, 3000000000u}});
  folder.add("argmin_bool", least, Array<bool>{{true, false, false}, {true, true, true}});
  folder.add(
      "argmax_bool", [](const Array<bool>& x) { return argmax(x); }, Array<bool>{false, true, true});
  folder.add(
      "absolute_uint8", [](const Array<std::uint8_t>& x) { return Array<std::uint8_t>(abs(x)); },
      Array<std::uint8_t>{0, 200});
  folder.add(
      "max_int8", [](const Array<std::int8_t>& x) { return max(x, {.axis = 1}); },
      Array<std::int8_t>{{-128, -128}, {-128, 3}});
}
template <class Folder>
void add_shapes(Folder& folder) {
  OF_X("slice", x(slice(1, 3), slice(0, 6, 2)));
  OF_X("odd_slice", x(slice(0, 4), slice(1, 6, 3)));
  OF_X("flip", flip(x));
  OF_X("roll", roll(x, 2, {.axis = 1}));
  OF_X("join", concatenate({x, A(2 * x)}, {.axis = 1}));
  OF_X("stack", stack({x, A(x + 1)}, {.axis = 1}));
  OF_X("pad", pad(x, {{1, 2}, {0, 3}}));
  OF_X("tile", tile(x, {2, 3}));
  OF_X("repeat", repeat(x, 3, {.axis = 1}));
  OF_X("diagonal", diagonal(x));
  OF_X("tril", tril(x));
  OF_X("swap", swapaxes(x.reshape({2, 2, 6}), 0, 2));
  OF_X("apart", x.reshape({4, 1, 6}) - x.reshape({1, 4, 6}));
  OF_X("set", x.at(slice(1, 3), slice(0, 6, 2)).set(7.f));
  OF_X("add", x.at(I{0, 2, 0}).add(1.f));
  OF_X("take", take(x, I{2, 0, -1}, {.axis = 1}));
  OF_X("pairs", x(I{0, 1, 3}, I{5, 2, -2}));
  OF_X("along", take_along_axis(x, argsort(x, {.axis = 1}), {.axis = 1}));
  folder.add(
      "given_rows", [](const A& x, const I& i) { return A(x(i)); }, draw(1, {4, 6}), I{0, -1, 3});
  folder.add(
      "given_sums", [](const A& x, const I& i) { return A(x.at(i).add(3.f)); }, draw(1, {4, 6}), I{0, -1, 0});
  folder.add(
      "clipped", [](const A& x, const I& i) { return A(take(x, i, {.axis = 1, .mode = "clip"})); },
      draw(1, {4, 6}), I{0, -1, 9});
  folder.add(
      "given_window",
      [](const A& x, const I& i) {
        return lax::dynamic_slice(x, i, {2, 3});
      },
      draw(1, {4, 6}), I{-1, 2});
  folder.add(
      "given_row", [](const A& x, const I& i) { return lax::dynamic_index_in_dim(x, i(0), 1); },
      draw(1, {4, 6}), I{3});
  folder.add(
      "written_window",
      [](const A& x, const I& i) { return lax::dynamic_update_slice(x, A(sin(x(slice(1, 3), _))), i); },
      draw(1, {4, 6}), I{5, 0});
  folder.add(
      "written_windows",
      [](const A& x, const I& i) {
        return vmap([](const A& row, const I& at) {
          return lax::dynamic_update_slice_in_dim(row, A{7, 8}, at, 0);
        })(x, i);
      },
      draw(1, {4, 6}), I{0, -1, 3, 9});
  const auto heads = nn::MultiHeadAttention<float>::make(random::key(9), {.features = 6, .heads = 2});
  folder.add(
      "cached_attention",
      [heads](const A& keys, const A& values, const I& length, const A& x) {
        return heads({keys, values, length}, x).second;
      },
      draw(7, {2, 5, 2, 3}), draw(8, {2, 5, 2, 3}), I(2), draw(1, {2, 1, 6}));
}
template <class Folder>
void add_sums(Folder& folder) {
  OF_X("sum", sum(x, {.axis = 0}) * sum(x));
  OF_X("prod", prod(x, {.axis = 1}));
  OF_X("extrema", max(x, {.axis = 1}) - min(x));
  OF_X("moments", mean(x, {.axis = 0}) + var(x, {.axis = 0}));
  OF_X("any", any(x > 1, {.axis = 0}));
  OF_X("logsumexp", logsumexp(x, {.axis = 1}));
  OF_X("argmax", argmax(x, {.axis = 1}));
  OF_X("argmin", argmin(x, {.axis = 0}));
  OF_X("cumsum", cumsum(x, {.axis = 1}));
  OF_X("cumprod", cumprod(x, {.axis = 1}));
  OF_X("cumprod_back", lax::cumprod(x, {.axis = 0, .reverse = true}));
  OF_X("cummax", lax::cummax(x, {.axis = 1}) + lax::cummin(x, {.axis = 0, .reverse = true}));
  OF_X("arctan2", arctan2(x, flip(x, {.axis = 1})));
  folder.add(
      "arctan2_ends", [](const A& y, const A& x) { return whole(arctan2(y, x)); },
      A{0, -0.f, 0, -0.f, 1, INFINITY, -INFINITY, INFINITY, 2, -3},
      A{1, 1, -1, -1, 0, INFINITY, -INFINITY, 1, INFINITY, -INFINITY});
  folder.add(
      "integer_quotients",
      [](const I& x, const I& y) {
        return concatenate({I(floor_divide(x, y)), I(mod(x, y))});
      },
      I{7, -7, 7, -7, 6, -6, 5, std::numeric_limits<int>::min()}, I{2, 2, -2, -2, 3, 3, 0, -1});
  OF_X("sort", sort(x, {.axis = 0}));
  OF_X("top", lax::top_k(x, 3).values);
  OF_X("softmax", nn::softmax(x) * nn::log_softmax(x));
  OF_X("norms", nn::rms_norm(x, ones<float>({6})) + nn::layer_norm(x, ones<float>({6}), ones<float>({6})));
  OF_X("products", einsum("bij,bkj->kbi", x.reshape({2, 2, 6}), x.reshape({2, 2, 6})));
  OF_X("product_sum", einsum("ij,ij->", x, x));
  OF_X("convolve", convolve(x(0), x(1, slice(0, 3))));
  OF_X("correlations", vmap([](const A& y, const A& w) {
         return A(correlate(y, w(slice(0, 2)), {.mode = "same"}));
       })(x, x(slice(none, none, -1))));
  OF_X("vmap", vmap([](const A& y) { return A(nn::softmax(y) * sum(y)); })(x));
}
template <class Folder, class Options>
void add_conv(Folder& folder, const char* name, const Shape& x, const Shape& w, const Options& options) {
  folder.add(
      name, [=](const A& a) { return nn::conv(a, draw(6, w), options); }, draw(5, x));
}
// Extrema keep NaN, and casts to integers have a value for all floats.
template <class Folder>
void add_nans(Folder& folder) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const A x{{nan, 1, 5, 2}, {3, nan, -1, nan}, {2, 0, 1, nan}, {4, infinity, -infinity, 0}};
  folder.add(
      "nan_max", [](const A& a) { return max(a, {.axis = 1}); }, x);
  folder.add(
      "nan_max_of_all", [](const A& a) { return max(a); }, x);
  folder.add(
      "nan_min", [](const A& a) { return min(a, {.axis = 0}); }, x);
  folder.add(
      "nan_ptp", [](const A& a) { return A(ptp(a, {.axis = 1})); }, x);
  folder.add(
      "nan_maximum", [](const A& a) { return A(maximum(a, flip(a)) + minimum(a, 1.f) + nn::relu(a)); }, x);
  folder.add(
      "nan_argmax", [](const A& a) { return argmax(a, {.axis = 1}); }, x);
  folder.add(
      "nan_argmin", [](const A& a) { return argmin(a); }, x);
  folder.add(
      "nan_argmin_axis", [](const A& a) { return argmin(a, {.axis = 0}); }, x);
  A image = draw(5, {2, 9, 8, 2});
  image = image.at(0, 3, 4, 1).set(nan);
  image = image.at(1, 0, 0, 0).set(nan);
  const nn::PoolOptions options{.strides = {2, 2}, .padding = {{2, 1}, {3, 4}}};
  folder.add(
      "nan_max_pool",
      [=](const A& a) {
        return nn::max_pool(a, {2, 2}, options);
      },
      image);
  folder.add(
      "nan_min_pool",
      [=](const A& a) {
        return nn::min_pool(a, {3, 2}, options);
      },
      image);
  folder.add(
      "nan_adaptive_pool",
      [](const A& a) {
        return nn::adaptive_max_pool(a, {3, 2});
      },
      image);
  const A odd{300,   -2.7f,  -1,  nan,          infinity, -infinity, 3e9f,
              -3e9f, 127.9f, 128, 2147483648.f, 1e19f,    2e19f,     -1e19f};
  const auto cast = [&]<class To>(const char* name, To) {
    folder.add(
        std::string("cast_") + name, [](const A& a) { return a.template astype<To>(); }, odd);
    folder.add(
        std::string("cast_double_") + name, [](const Array<double>& a) { return a.template astype<To>(); },
        odd.template astype<double>());
  };
  cast("int8", std::int8_t()), cast("uint8", std::uint8_t()), cast("int16", std::int16_t());
  cast("uint16", std::uint16_t()), cast("int32", std::int32_t()), cast("uint32", std::uint32_t());
  cast("int64", std::int64_t()), cast("uint64", std::uint64_t());
}
// Of StableHLO alone: whole numbers that ONNX Runtime does not reduce, and NaN, which ONNX does not sort.
template <class Folder>
void add_orders(Folder& folder) {
  using Wide = Array<std::int64_t>;
  using Unsigned = Array<std::uint64_t>;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  folder.add_stablehlo(
      "min_int64", [](const Wide& x) { return min(x, {.axis = 1}); }, Wide{{most, most}, {2, most}});
  folder.add_stablehlo(
      "max_int64", [](const Wide& x) { return max(x, {.axis = 1}); }, Wide{{-most - 1, -most - 1}, {2, -1}});
  folder.add_stablehlo(
      "min_uint64", [](const Unsigned& x) { return min(x); }, Unsigned{~std::uint64_t{0}, 3});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const A x{{nan, 1, 5, 2}, {3, nan, -1, nan}, {2, 0, 1, nan}};
  folder.add_stablehlo(
      "nan_sort", [](const A& a) { return sort(a, {.axis = 1}); }, x);
  folder.add_stablehlo(
      "nan_argsort", [](const A& a) { return argsort(a, {.axis = 1, .descending = true}); }, x);
  folder.add_stablehlo(
      "nan_top", [](const A& a) { return lax::top_k(a, 2).values; }, x);
}
template <class Folder>
void add_matrices(Folder& folder) {
  const auto spd = [](const A& x) { return A(matmul(x, matrix_transpose(x)) + 4.f * eye<float>(3)); };
  const A x = draw(1, {2, 3, 5});
  folder.add_stablehlo(
      "cholesky", [=](const A& x) { return linalg::cholesky(spd(x)); }, x);
  folder.add_stablehlo(
      "cholesky_upper",
      [=](const A& x) { return linalg::cholesky(spd(x).template astype<double>(), {.upper = true}); }, x);
  folder.add_stablehlo(
      "triangular_solves",
      [=](const A& x) {
        const A l = linalg::cholesky(spd(x));
        return A(linalg::solve_triangular(l, x, {.lower = true}) +
                 linalg::solve_triangular(l, x, {.lower = true, .unit_diagonal = true}) +
                 linalg::solve_triangular(A(matrix_transpose(l)), x));
      },
      x);
  // A Gaussian's log density.
  const auto density = [=](const A& x) {
    const A l = linalg::cholesky(spd(x));
    const A y = linalg::solve_triangular(l, A(sum(x, {.axis = 2, .keepdims = true})), {.lower = true});
    return A(-0.5f * sum(square(y)) - sum(log(diagonal(l, {.axis1 = 1, .axis2 = 2}))));
  };
  folder.add_stablehlo("gaussian", density, x);
  folder.add_stablehlo(
      "fft", [](const A& x) { return fft::fft(x); }, x);
  folder.add_stablehlo(
      "ifft",
      [](const A& x) {
        return fft::ifft(fft::fft(x, {.axis = 1}) * std::complex<float>(0, 2), {.axis = 1, .norm = "ortho"});
      },
      x);
  folder.add_stablehlo(
      "spectrum", [](const A& x) { return A(abs(fft::rfft(x)) + real(fft::rfft(x))); }, x);
  folder.add_stablehlo(
      "filtered",
      [](const A& x) {
        const auto y = fft::rfft(x);
        return A(fft::irfft(y * conj(y) / 3.f, {.n = 5}));
      },
      x);
  folder.add_stablehlo(
      "fft2", [](const A& x) { return A(real(fft::ifft2(fft::fft2(x)))); }, x);
}
template <class Folder>
void add_windows(Folder& folder) {
  const Shape image = {2, 9, 8, 4};
  using Conv = nn::ConvOptions;
  add_conv(folder, "conv_strided", image, {3, 3, 4, 6}, Conv{.strides = {2, 3}, .padding = "VALID"});
  add_conv(folder, "conv_dilated", image, {3, 3, 4, 6}, Conv{.kernel_dilation = {2, 2}});
  add_conv(folder, "conv_groups", image, {3, 3, 2, 6}, Conv{.feature_group_count = 2});
  add_conv(folder, "conv_line", {2, 11, 4}, {3, 4, 5}, Conv{.strides = {2}});
  add_conv(folder, "conv_volume", {1, 5, 4, 6, 2}, {2, 2, 3, 2, 3}, Conv{});
  for (const std::int64_t extent : {1, 2, 3, 4})
    folder.add(
        "conv_transpose_" + std::to_string(extent),
        [=](const A& a) {
          return nn::conv_transpose(a, draw(7, {extent, extent, 4, 5}), {.strides = {2, 2}});
        },
        draw(5, image));
  folder.add(
      "max_pool",
      [](const A& a) {
        return nn::max_pool(a, {3, 3}, {.strides = {2, 2}, .padding = "SAME"});
      },
      draw(5, image));
  folder.add(
      "min_pool",
      [](const A& a) {
        return nn::min_pool(a, {2, 2}, {.strides = {2, 2}});
      },
      draw(5, image));
  // The first and last windows hold no element.
  for (const bool greatest : {true, false})
    folder.add(
        greatest ? "max_pool_padded" : "min_pool_padded",
        [=](const A& a) {
          const nn::PoolOptions options{.strides = {1, 2}, .padding = {{2, 1}, {3, 4}}};
          return greatest ? nn::max_pool(a, {2, 2}, options) : nn::min_pool(a, {2, 2}, options);
        },
        draw(5, image));
  folder.add(
      "avg_pool",
      [](const A& a) {
        return nn::avg_pool(a, {3, 3}, {.strides = {2, 2}, .padding = "SAME", .count_include_pad = false});
      },
      draw(5, image));
}
#undef OF_X

template <class Folder>
void add_all(Folder& folder) {
  add_nets(folder);
  add_loops(folder);
  add_functions(folder);
  add_extremes(folder);
  add_shapes(folder);
  add_sums(folder);
  add_windows(folder);
  add_nans(folder);
  add_choices(folder);
}

}  // namespace exported
