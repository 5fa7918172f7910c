// The part of nax::compiled for kernels that are found by dtype.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/bin_kernels.hpp"
#include "nax/backend/cpu/draw_kernels.hpp"
#include "nax/backend/cpu/extrema.hpp"
#include "nax/backend/cpu/line_kernels.hpp"
#include "nax/backend/cpu/row_kernels.hpp"
#include "nax/backend/cpu/windows.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {

// In the sources of these names.
void provide_library_reducers();
void provide_library_products();
void provide_library_numbers();

namespace {

template <class T>
void provide_ordered() {
  provide<ArgReduceKernel, T>();
  provide<ArgsortKernel, T>();
  provide<RunningBestKernel, T>();
  provide<SortKernel, T>();
  provide<TopKKernel, T>();
  provide<PartitionKernel, T>();
  provide<ArgpartitionKernel, T>();
  provide<ScanKernel, T>();
  provide<SearchKernel, T>();
  provide<WindowKernel, T>();
  if constexpr (std::is_integral_v<T>) provide<CountKernel, T>();
}
template <class T>
void provide_inexact() {
  provide<LinearScanKernel, T>();
  provide<BinSumKernel, T>();
  provide<ScanKernel, T>();
}

template <class T>
void provide_signs() {
  provide<DrawKernel<DrawKind::rademacher>, T>();
}
template <class T>
void provide_integral_draws() {
  provide_signs<T>();
  provide<DrawKernel<DrawKind::integers>, T>();
}
template <class T>
void provide_floating_draws() {
  provide_signs<T>();
  provide<DrawKernel<DrawKind::uniform>, T>();
  provide<DrawKernel<DrawKind::normal>, T>();
  provide<DrawKernel<DrawKind::gumbel>, T>();
  provide<DrawKernel<DrawKind::exponential>, T>();
  provide<DrawKernel<DrawKind::laplace>, T>();
  provide<DrawKernel<DrawKind::logistic>, T>();
  provide<DrawKernel<DrawKind::cauchy>, T>();
}
void provide_draws() {
  provide_integral_draws<std::int8_t>();
  provide_integral_draws<std::int16_t>();
  provide_integral_draws<std::int32_t>();
  provide_integral_draws<std::int64_t>();
  provide_integral_draws<std::uint8_t>();
  provide_integral_draws<std::uint16_t>();
  provide_integral_draws<std::uint32_t>();
  provide_integral_draws<std::uint64_t>();
  provide<DrawKernel<DrawKind::bits>, std::uint8_t>();
  provide<DrawKernel<DrawKind::bits>, std::uint16_t>();
  provide<DrawKernel<DrawKind::bits>, std::uint32_t>();
  provide<DrawKernel<DrawKind::bits>, std::uint64_t>();
  provide<DrawKernel<DrawKind::bernoulli>, bool>();
  provide_floating_draws<half>();
  provide_floating_draws<bfloat16>();
  provide_floating_draws<float>();
  provide_floating_draws<double>();
  provide_signs<std::complex<float>>();
  provide_signs<std::complex<double>>();
  provide<DrawKernel<DrawKind::clipped_normal>, float>();
  provide<DrawKernel<DrawKind::clipped_normal>, double>();
}

template <class T>
void provide_rows() {
  if constexpr (simd::has_packet<T>) {
#define NAX_ROWS(name) provide<RowKernel<RowFunction::name>, T>();
    NAX_ROW_FUNCTIONS(NAX_ROWS)
#undef NAX_ROWS
    provide<SoftmaxBlockKernel, T>();
    provide<SpreadExtremaKernel, T>();
    provide<MeanOverExtremaKernel, T>();
  }
}

}  // namespace

void provide_library_kernels() {
  provide_rows<float>();
  provide_rows<double>();

  provide_draws();
  provide_fft();
  provide_convolutions();
  provide_samplers();
  provide_library_reducers();
  provide_library_products();
  provide_library_numbers();
  provide_factorisations_float();
  provide_factorisations_double();
  provide_svd_float();
  provide_svd_double();
  provide<CountKernel, bool>();
  provide<BinSumKernel, half>();
  provide<BinSumKernel, bfloat16>();
  provide_ordered<std::int8_t>();
  provide_ordered<std::int16_t>();
  provide_ordered<std::int32_t>();
  provide_ordered<std::int64_t>();
  provide_ordered<std::uint8_t>();
  provide_ordered<std::uint16_t>();
  provide_ordered<std::uint32_t>();
  provide_ordered<std::uint64_t>();
  provide_ordered<float>();
  provide_ordered<double>();
  provide_inexact<float>();
  provide_inexact<double>();
  provide_inexact<std::complex<float>>();
  provide_inexact<std::complex<double>>();
}

}  // namespace cpu
NAX_END
