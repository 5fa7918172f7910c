#include <gtest/gtest.h>

#include <vector>

#include "nax/numpy.hpp"
#include "nax/transform/vmap.hpp"

// The errors that comments of nax/numpy document, one expression for each.
namespace numpy_errors_test {

using namespace nax;
using F = Array<float>;
using I = Array<int>;

const F number(1.f), line = {1, 2, 3}, four = {1, 2, 3, 4}, matrix = {{1, 2, 3}, {4, 5, 6}},
                     empty = zeros<float>({0});
const std::vector<F> none_at_all;

#define EXPECT_SHAPE(...) EXPECT_THROW((void)(__VA_ARGS__), ShapeError)
#define EXPECT_INDEX(...) EXPECT_THROW((void)(__VA_ARGS__), IndexError)
#define EXPECT_VALUE(...) EXPECT_THROW((void)(__VA_ARGS__), ValueError)
#define EXPECT_TYPE(...) EXPECT_THROW((void)(__VA_ARGS__), TypeError)

TEST(NumpyErrors, Creation) {
  EXPECT_VALUE(zeros<float>({2, -1}));
  EXPECT_VALUE(full({-1}, 2.f));
  EXPECT_VALUE(ones<float>({std::int64_t{1} << 40, std::int64_t{1} << 40}));
  EXPECT_VALUE(eye<float>(-1));
  EXPECT_VALUE(tri<float>(-1));
  EXPECT_VALUE(linspace(0.f, 1.f, -1));
  EXPECT_VALUE(logspace(0.f, 1.f, -1));
  EXPECT_VALUE(geomspace(0.f, 1.f, 3));
  EXPECT_VALUE(geomspace(-1.f, 1.f, 3));
  EXPECT_VALUE(isdtype(DType::float32, "kind"));
  EXPECT_VALUE(can_cast(DType::float32, DType::float64, {.casting = "perhaps"}));
  EXPECT_INDEX(nax::size(line, {.axis = 1}));
}

TEST(NumpyErrors, Manipulation) {
  EXPECT_INDEX(rollaxis(matrix, 2));
  EXPECT_INDEX(rollaxis(matrix, 0, {.start = 3}));
  EXPECT_SHAPE(append(matrix, line, {.axis = 0}));
  EXPECT_INDEX(append(matrix, matrix, {.axis = 2}));
  EXPECT_INDEX(insert(line, 4, 0.f));
  EXPECT_INDEX(insert(line, 0, 0.f, {.axis = 1}));
  EXPECT_SHAPE(insert(line, I{0, 1}, four));
  EXPECT_VALUE(resize(line, {-1}));
  EXPECT_VALUE(concatenate(none_at_all));
  EXPECT_SHAPE(concatenate({matrix, F(matrix.T())}));
  EXPECT_SHAPE(concatenate({number, number}));
  EXPECT_INDEX(concatenate({line, line}, {.axis = 1}));
  EXPECT_VALUE(stack(none_at_all));
  EXPECT_SHAPE(stack({line, four}));
  EXPECT_INDEX(stack({line, line}, {.axis = 2}));
  EXPECT_VALUE(vstack(none_at_all));
  EXPECT_SHAPE(vstack({line, four}));
  EXPECT_SHAPE(hstack({matrix, F(matrix.T())}));
  EXPECT_SHAPE(dstack({line, four}));
  EXPECT_SHAPE(column_stack({line, four}));
  EXPECT_VALUE(dstack(none_at_all));
  EXPECT_VALUE(column_stack(none_at_all));
  EXPECT_VALUE(hstack(none_at_all));
  EXPECT_SHAPE(meshgrid({matrix, line}));
  EXPECT_VALUE(packbits(I{1, 0}, {.bitorder = "middle"}));
  EXPECT_INDEX(packbits(I{1, 0}, {.axis = 1}));
  EXPECT_VALUE(unpackbits(Array<std::uint8_t>{1}, {.count = -9}));
  EXPECT_INDEX(unpackbits(Array<std::uint8_t>{1}, {.axis = 1}));
  EXPECT_INDEX(flip(line, {.axis = 1}));
  EXPECT_VALUE(flip(matrix, {.axis = {0, 0}}));
  EXPECT_INDEX(flipud(number));
  EXPECT_INDEX(fliplr(line));
  EXPECT_VALUE(roll(matrix, {1, 2, 3}, {.axis = {0, 1}}));
  EXPECT_INDEX(roll(matrix, 1, {.axis = 2}));
  EXPECT_VALUE(rot90(matrix, {.axes = {0, 0}}));
  EXPECT_INDEX(rot90(line));
  EXPECT_VALUE(split(four, 3));
  EXPECT_VALUE(split(four, 0));
  EXPECT_INDEX(split(four, 2, {.axis = 1}));
  EXPECT_VALUE(array_split(four, 0));
  EXPECT_VALUE(vsplit(line, 3));
  EXPECT_VALUE(hsplit(number, 1));
  EXPECT_VALUE(dsplit(matrix, 1));
  EXPECT_INDEX(unstack(line, {.axis = 1}));
  EXPECT_VALUE(tile(line, {-1}));
  EXPECT_VALUE(repeat(line, -1));
  EXPECT_SHAPE(repeat(line, I{1, 2}));
  EXPECT_INDEX(repeat(line, 2, {.axis = 1}));
}

TEST(NumpyErrors, Views) {
  EXPECT_SHAPE(broadcast_shapes({Shape{2}, Shape{3}}));
  EXPECT_SHAPE(broadcast_arrays(line, four));
  EXPECT_SHAPE(reshape(line, {2}));
  EXPECT_VALUE(reshape(line, {-1, -1}));
  EXPECT_INDEX(expand_dims(line, 2));
  EXPECT_VALUE(expand_dims(line, {0, 0}));
  EXPECT_VALUE(transpose(matrix, {.axes = {0, 0}}));
  EXPECT_INDEX(transpose(matrix, {.axes = {0, 2}}));
  EXPECT_VALUE(permute_dims(matrix, {0}));
  EXPECT_VALUE(matrix_transpose(line));
  EXPECT_VALUE(moveaxis(matrix, {0, 1}, {0}));
  EXPECT_VALUE(moveaxis(matrix, {0, 0}, {0, 1}));
  EXPECT_INDEX(moveaxis(matrix, 0, 2));
  EXPECT_INDEX(swapaxes(matrix, 0, 2));
}

TEST(NumpyErrors, Indexing) {
  EXPECT_VALUE(diagonal(line));
  EXPECT_VALUE(diagonal(matrix, {.axis1 = 0, .axis2 = 0}));
  EXPECT_INDEX(diagonal(matrix, {.axis2 = 2}));
  EXPECT_VALUE(diag(number));
  EXPECT_VALUE(trace(line));
  EXPECT_TYPE(trace(matrix, {.dtype = DType::float64}));
  EXPECT_VALUE(tril(number));
  EXPECT_INDEX(take(line, 3));
  EXPECT_INDEX(take(line, I{0}, {.axis = 1}));
  EXPECT_VALUE(take(line, I{0}, {.mode = "guess"}));
  EXPECT_SHAPE(take_along_axis(matrix, I{0}, 0));
  EXPECT_INDEX(take_along_axis(line, I{3}, 0));
  EXPECT_INDEX(take_along_axis(line, I{0}, 1));
  EXPECT_INDEX(put_along_axis(line, I{3}, 0.f, 0));
  EXPECT_VALUE(indices({-1}));
  EXPECT_VALUE(ix_(I{{1}}));
  EXPECT_VALUE(diag_indices(-1));
  EXPECT_VALUE(diag_indices_from(line));
  EXPECT_VALUE(diag_indices_from(matrix));
  EXPECT_VALUE(tril_indices(-1));
  EXPECT_VALUE(triu_indices_from(line));
  EXPECT_VALUE(fill_diagonal(line, 0.f));
}

TEST(NumpyErrors, Reductions) {
  EXPECT_INDEX(any(line, {.axis = 1}));
  EXPECT_VALUE(all(matrix, {.axis = {0, 0}}));
  EXPECT_VALUE(argmin(empty));
  EXPECT_VALUE(argmin(matrix, {.axis = {0, 1}}));
  EXPECT_INDEX(argmin(line, {.axis = 1}));
  EXPECT_VALUE(cumsum(matrix, {.axis = {0, 1}}));
  EXPECT_INDEX(cumprod(line, {.axis = 1}));
  EXPECT_TYPE(cumsum(line, {.dtype = DType::float64}));
  EXPECT_INDEX(logsumexp(line, {.axis = 1}));
  EXPECT_VALUE(min(empty));
  EXPECT_VALUE(min(line, {.where = Array<bool>{true, false, true}}));
  EXPECT_INDEX(min(line, {.axis = 1}));
  EXPECT_INDEX(nansum(line, {.axis = 1}));
  EXPECT_TYPE(nanprod(line, {.dtype = DType::float64}));
  EXPECT_INDEX(nanvar(line, {.axis = 1}));
  EXPECT_VALUE(nanstd(line, {.ddof = 1, .correction = 1}));
  EXPECT_VALUE(nanargmin(F{NAN, NAN}));
  EXPECT_INDEX(nanargmin(line, {.axis = 1}));
  EXPECT_VALUE(prod(matrix, {.axis = {0, 0}}));
  EXPECT_TYPE(prod(line, {.dtype = DType::float64}));
  EXPECT_VALUE(cumulative_prod(number));
  EXPECT_VALUE(cumulative_prod(matrix));
  EXPECT_INDEX(nancumsum(line, {.axis = 1}));
  EXPECT_TYPE(nancumprod(line, {.dtype = DType::float64}));
  EXPECT_INDEX(mean(line, {.axis = 1}));
  EXPECT_VALUE(count_nonzero(matrix, {.axis = {0, 0}}));
  EXPECT_VALUE(var(line, {.ddof = 1, .correction = 1}));
  EXPECT_INDEX(nax::std(line, {.axis = 1}));
  EXPECT_VALUE(corrcoef(zeros<float>({2, 2, 2})));
  EXPECT_VALUE(histogram2d(line, four));
}

TEST(NumpyErrors, Sorting) {
  EXPECT_VALUE(where(number));
  EXPECT_SHAPE(extract(four, line));
  EXPECT_VALUE(compress(matrix, line));
  EXPECT_INDEX(compress(Array<bool>{false, false, false, true}, line));
  EXPECT_VALUE(select({Array<bool>{true}}, none_at_all));
  EXPECT_VALUE(choose(I{0}, none_at_all));
  EXPECT_INDEX(choose(I{2}, std::vector{line, line}));
  EXPECT_SHAPE(choose(I{0}, std::vector{line, four}));
  EXPECT_VALUE(argpartition(line, 3));
  EXPECT_INDEX(argpartition(line, 0, {.axis = 1}));
  EXPECT_VALUE(quantile(line, 2.));
  EXPECT_VALUE(quantile(line, 0.5, {.method = "guess"}));
  EXPECT_VALUE(percentile(line, 101.));
  EXPECT_VALUE(nanquantile(empty, 0.5));
  EXPECT_INDEX(nanpercentile(line, 50., {.axis = 1}));
  EXPECT_INDEX(median(line, {.axis = 1}));
  EXPECT_VALUE(nanmedian(empty));
  EXPECT_VALUE(searchsorted(matrix, 1.f));
  EXPECT_VALUE(searchsorted(line, 1.f, {.side = "middle"}));
  EXPECT_VALUE(digitize(line, matrix));
  EXPECT_VALUE(sort(matrix, {.axis = {0, 1}}));
  EXPECT_INDEX(argsort(line, {.axis = 1}));
  EXPECT_VALUE(top_k(number, 1));
  EXPECT_VALUE(top_k(line, 4));
  EXPECT_VALUE(unique(line, {.size = -1}));
  EXPECT_VALUE(unique(line, {.axis = 0, .size = 1}));
  const auto under_vmap = [](const auto& f) { return vmap(f)(F{{1, 2}, {3, 4}}); };
  EXPECT_VALUE(under_vmap([](const F& x) { return argwhere(x).astype<float>(); }));
  EXPECT_VALUE(under_vmap([](const F& x) { return flatnonzero(x).astype<float>(); }));
  EXPECT_VALUE(under_vmap([](const F& x) { return union1d(x, x); }));
  EXPECT_VALUE(under_vmap([](const F& x) { return intersect1d(x, x); }));
  EXPECT_VALUE(under_vmap([](const F& x) { return setdiff1d(x, x); }));
  EXPECT_VALUE(under_vmap([](const F& x) { return setxor1d(x, x); }));
  EXPECT_VALUE(under_vmap([](const F& x) { return unique_values(x); }));
  EXPECT_VALUE(
      under_vmap([](const F& x) { return isin(line, astype<std::complex<float>>(x)).astype<float>(); }));
  EXPECT_VALUE(under_vmap([](const F& x) { return array2string(x), x; }));
}

TEST(NumpyErrors, Products) {
  EXPECT_SHAPE(dot(line, four));
  EXPECT_SHAPE(inner(line, four));
  EXPECT_SHAPE(vecdot(line, four));
  EXPECT_SHAPE(vecdot(zeros<float>({2, 3}), zeros<float>({4, 3})));
  EXPECT_SHAPE(tensordot(line, four, {.axes = 1}));
  EXPECT_VALUE(tensordot(line, line, {.axes = 2}));
  EXPECT_VALUE(einsum_path("ij,jk", matrix));
  EXPECT_SHAPE(vecmat(line, matrix));
  EXPECT_SHAPE(vecmat(line, line));
  EXPECT_VALUE(convolve(matrix, line));
  EXPECT_VALUE(convolve(empty, line));
  EXPECT_VALUE(correlate(line, line, {.mode = "guess"}));
  EXPECT_SHAPE(cross(four, four));
  EXPECT_INDEX(cross(line, line, {.axis = 1}));
  EXPECT_SHAPE(trapezoid(number));
  EXPECT_SHAPE(trapezoid(line, {.x = F{1, 2}}));
  EXPECT_INDEX(trapezoid(line, {.axis = 1}));
  EXPECT_VALUE(polyadd(matrix, line));
  EXPECT_VALUE(polymul(line, empty));
}

#undef EXPECT_SHAPE
#undef EXPECT_INDEX
#undef EXPECT_VALUE
#undef EXPECT_TYPE
}  // namespace numpy_errors_test
