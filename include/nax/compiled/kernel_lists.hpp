#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "nax/backend/cpu/conv/conv.hpp"
#include "nax/backend/cpu/conv/correlation.hpp"
#include "nax/backend/cpu/conv/windows.hpp"
#include "nax/backend/cpu/draws/draw_kernels.hpp"
#include "nax/backend/cpu/draws/samplers.hpp"
#include "nax/backend/cpu/factor/factor_slots.hpp"
#include "nax/backend/cpu/factor/system_slots.hpp"
#include "nax/backend/cpu/fft/fft.hpp"
#include "nax/backend/cpu/gemm/int8_product.hpp"
#include "nax/backend/cpu/gemm/product_kernel.hpp"
#include "nax/backend/cpu/lines/attention.hpp"
#include "nax/backend/cpu/lines/line_kernels.hpp"
#include "nax/backend/cpu/lines/row_slots.hpp"
#include "nax/backend/cpu/reduce/bin_slots.hpp"
#include "nax/backend/cpu/reduce/reducer_slots.hpp"

// The kernels that the engine holds, and that objects of other instructions hold for it
// (further_kernels.hpp). A list calls `each`, a lambda of <class Kernel, class T>,
// for each of its kernels; sources that provide them read their bodies, too.
NAX_BEGIN
namespace cpu::lists {

#define NAX_EACH(...) each.template operator()<__VA_ARGS__>()

template <class T, class Each>
void ordered_of(Each each) {
  NAX_EACH(ArgReduceKernel, T);
  NAX_EACH(ArgsortKernel, T);
  NAX_EACH(RunningBestKernel, T);
  NAX_EACH(SortKernel, T);
  NAX_EACH(TopKKernel, T);
  NAX_EACH(PartitionKernel, T);
  NAX_EACH(ArgpartitionKernel, T);
  NAX_EACH(ScanKernel, T);
  NAX_EACH(SearchKernel, T);
  NAX_EACH(WindowKernel, T);
  if constexpr (std::is_integral_v<T>) {
    NAX_EACH(CountKernel, T);
    NAX_EACH(BinSumKernel, T);
  } else {
    NAX_EACH(QuantileKernel, T);
  }
}
template <class T, class Each>
void inexact_of(Each each) {
  NAX_EACH(LinearScanKernel, T);
  NAX_EACH(BinSumKernel, T);
  NAX_EACH(ScanKernel, T);
}
template <class Each>
void lines(Each each) {
  NAX_EACH(CountKernel, bool);
  NAX_EACH(BinSumKernel, half);
  NAX_EACH(BinSumKernel, bfloat16);
  ordered_of<std::int8_t>(each);
  ordered_of<std::int16_t>(each);
  ordered_of<std::int32_t>(each);
  ordered_of<std::int64_t>(each);
  ordered_of<std::uint8_t>(each);
  ordered_of<std::uint16_t>(each);
  ordered_of<std::uint32_t>(each);
  ordered_of<std::uint64_t>(each);
  ordered_of<float>(each);
  ordered_of<double>(each);
  inexact_of<float>(each);
  inexact_of<double>(each);
  inexact_of<std::complex<float>>(each);
  inexact_of<std::complex<double>>(each);
}

template <class T, class Each>
void integral_draws_of(Each each) {
  NAX_EACH(DrawKernel<DrawKind::rademacher>, T);
  NAX_EACH(DrawKernel<DrawKind::integers>, T);
}
template <class T, class Each>
void floating_draws_of(Each each) {
  NAX_EACH(DrawKernel<DrawKind::rademacher>, T);
  NAX_EACH(DrawKernel<DrawKind::uniform>, T);
  NAX_EACH(DrawKernel<DrawKind::normal>, T);
  NAX_EACH(DrawKernel<DrawKind::gumbel>, T);
  NAX_EACH(DrawKernel<DrawKind::exponential>, T);
  NAX_EACH(DrawKernel<DrawKind::laplace>, T);
  NAX_EACH(DrawKernel<DrawKind::logistic>, T);
  NAX_EACH(DrawKernel<DrawKind::cauchy>, T);
}
template <class Each>
void draws(Each each) {
  integral_draws_of<std::int8_t>(each);
  integral_draws_of<std::int16_t>(each);
  integral_draws_of<std::int32_t>(each);
  integral_draws_of<std::int64_t>(each);
  integral_draws_of<std::uint8_t>(each);
  integral_draws_of<std::uint16_t>(each);
  integral_draws_of<std::uint32_t>(each);
  integral_draws_of<std::uint64_t>(each);
  NAX_EACH(DrawKernel<DrawKind::bits>, std::uint8_t);
  NAX_EACH(DrawKernel<DrawKind::bits>, std::uint16_t);
  NAX_EACH(DrawKernel<DrawKind::bits>, std::uint32_t);
  NAX_EACH(DrawKernel<DrawKind::bits>, std::uint64_t);
  NAX_EACH(DrawKernel<DrawKind::bernoulli>, bool);
  floating_draws_of<half>(each);
  floating_draws_of<bfloat16>(each);
  floating_draws_of<float>(each);
  floating_draws_of<double>(each);
  NAX_EACH(DrawKernel<DrawKind::rademacher>, std::complex<float>);
  NAX_EACH(DrawKernel<DrawKind::rademacher>, std::complex<double>);
  NAX_EACH(DrawKernel<DrawKind::clipped_normal>, float);
  NAX_EACH(DrawKernel<DrawKind::clipped_normal>, double);
}

template <class T, class Each>
void rows_of(Each each) {
  if constexpr (simd::has_packet<T>) {
#define NAX_ROWS(name) NAX_EACH(RowKernel<RowFunction::name>, T);
    NAX_ROW_FUNCTIONS(NAX_ROWS)
#undef NAX_ROWS
    NAX_EACH(SoftmaxBlockKernel, T);
  }
}
template <class Each>
void rows(Each each) {
  rows_of<float>(each);
  rows_of<double>(each);
}

template <class Each>
void transforms(Each each) {
  NAX_EACH(FftKernel, float);
  NAX_EACH(FftKernel, double);
}
template <class Each>
void convolutions(Each each) {
  NAX_EACH(ConvKernel, float);
  NAX_EACH(ConvKernel, double);
#define NAX_CORRELATE(name, type, kind, text) NAX_EACH(CorrelateKernel, type);
  NAX_FOR_EACH_DTYPE(NAX_CORRELATE)
#undef NAX_CORRELATE
}

template <class T, class Each>
void samplers_of(Each each) {
  NAX_EACH(SamplerKernel<Sampler::gamma>, T);
  NAX_EACH(SamplerKernel<Sampler::loggamma>, T);
  NAX_EACH(SamplerKernel<Sampler::binomial>, T);
}
template <class Each>
void samplers(Each each) {
  samplers_of<float>(each);
  samplers_of<double>(each);
  NAX_EACH(SamplerKernel<Sampler::poisson>, std::int32_t);
  NAX_EACH(SamplerKernel<Sampler::poisson>, std::int64_t);
}

template <class Each>
void products(Each each) {
  NAX_EACH(MatmulKernel, std::int8_t);
  NAX_EACH(MatmulKernel, std::int16_t);
  NAX_EACH(MatmulKernel, std::int32_t);
  NAX_EACH(MatmulKernel, std::int64_t);
  NAX_EACH(MatmulKernel, std::uint8_t);
  NAX_EACH(MatmulKernel, std::uint16_t);
  NAX_EACH(MatmulKernel, std::uint32_t);
  NAX_EACH(MatmulKernel, std::uint64_t);
  NAX_EACH(MatmulKernel, half);
  NAX_EACH(MatmulKernel, bfloat16);
  NAX_EACH(MatmulKernel, float);
  NAX_EACH(MatmulKernel, double);
  NAX_EACH(MatmulKernel, std::complex<float>);
  NAX_EACH(MatmulKernel, std::complex<double>);
  NAX_EACH(Int8ProductKernel, float);
  NAX_EACH(AttentionKernel, float);
  NAX_EACH(AttentionKernel, double);
  NAX_EACH(AttentionGradientKernel, float);
  NAX_EACH(AttentionGradientKernel, double);
}

template <class T, class Each>
void factorisations(Each each) {
  NAX_EACH(FactorKernel<Factorisation::svd>, T);
  NAX_EACH(FactorKernel<Factorisation::lu>, T);
  NAX_EACH(FactorKernel<Factorisation::cholesky>, T);
  NAX_EACH(FactorKernel<Factorisation::qr>, T);
  NAX_EACH(FactorKernel<Factorisation::eigh>, T);
  NAX_EACH(FactorKernel<Factorisation::eig>, T);
  NAX_EACH(FactorKernel<Factorisation::triangle>, T);
  NAX_EACH(FactorKernel<Factorisation::det>, T);
  NAX_EACH(FactorKernel<Factorisation::slogdet>, T);
  NAX_EACH(FactorKernel<Factorisation::adjugate>, T);
  NAX_EACH(FactorKernel<Factorisation::schur>, T);
  if constexpr (is_complex_v<T>) NAX_EACH(FactorKernel<Factorisation::sqrtm>, T);
  NAX_EACH(SylvesterKernel, T);
  NAX_EACH(SystemKernel, T);
}

// Of reducers: `each` of <class Op, class From>.
template <class T, class Each>
void truth_of(Each each) {
  NAX_EACH(reduce_op::Any, T);
  NAX_EACH(reduce_op::All, T);
}
// Sums and products of T in accumulators of A.
template <class A, class T, class Each>
void sums_of(Each each) {
  NAX_EACH(reduce_op::Sum<A>, T);
  NAX_EACH(reduce_op::Product<A>, T);
}
template <class T, class Each>
void extrema_of(Each each) {
  NAX_EACH(reduce_op::Max<T>, T);
  NAX_EACH(reduce_op::Min<T>, T);
}
// Integers: narrow ones add up in 32 bits, but for those that einsum adds up; their means are floats.
template <class T, class Each>
void integer_reducers_of(Each each) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  truth_of<T>(each);
  extrema_of<T>(each);
  sums_of<std::conditional_t<sizeof(T) < 4, Wide, T>, T>(each);
  if constexpr (sizeof(T) < 4) NAX_EACH(reduce_op::Sum<T>, T);
  NAX_EACH(reduce_op::Sum<float>, T);
}
template <class T, class Each>
void floating_reducers_of(Each each) {
  truth_of<T>(each);
  extrema_of<T>(each);
  sums_of<T, T>(each);
}
template <class Each>
void reducers(Each each) {
  truth_of<bool>(each);
  extrema_of<bool>(each);
  NAX_EACH(reduce_op::Count<std::int32_t>, bool);  // in place of a sum
  NAX_EACH(reduce_op::Product<std::int32_t>, bool);
  NAX_EACH(reduce_op::Sum<float>, bool);
  NAX_EACH(reduce_op::Sum<double>, bool);
  NAX_EACH(reduce_op::Sum<std::complex<float>>, bool);
  NAX_EACH(reduce_op::Sum<std::complex<double>>, bool);
  integer_reducers_of<std::int8_t>(each);
  integer_reducers_of<std::int16_t>(each);
  integer_reducers_of<std::int32_t>(each);
  integer_reducers_of<std::int64_t>(each);
  integer_reducers_of<std::uint8_t>(each);
  integer_reducers_of<std::uint16_t>(each);
  integer_reducers_of<std::uint32_t>(each);
  integer_reducers_of<std::uint64_t>(each);
  floating_reducers_of<float>(each);
  floating_reducers_of<double>(each);
  truth_of<std::complex<float>>(each);
  truth_of<std::complex<double>>(each);
  sums_of<std::complex<float>, std::complex<float>>(each);
  sums_of<std::complex<double>, std::complex<double>>(each);
}

#undef NAX_EACH

// All that are found by one dtype.
template <class Each>
void kernels(Each each) {
  rows(each);
  draws(each);
  transforms(each);
  convolutions(each);
  samplers(each);
  products(each);
  factorisations<float>(each);
  factorisations<double>(each);
  factorisations<std::complex<float>>(each);
  factorisations<std::complex<double>>(each);
  lines(each);
}

}  // namespace cpu::lists
NAX_END
