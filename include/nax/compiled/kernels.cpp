// The part of nax::compiled for kernels that are found by dtype.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/line_kernels.hpp"

NAX_BEGIN
namespace cpu {
namespace {

template <class T>
void provide_ordered() {
  provide<ArgReduceKernel, T>();
  provide<ArgsortKernel, T>();
  provide<SortKernel, T>();
  provide<TopKKernel, T>();
  provide<PartitionKernel, T>();
  provide<ArgpartitionKernel, T>();
  provide<ScanKernel, T>();
  provide<SearchKernel, T>();
}
template <class T>
void provide_inexact() {
  provide<LinearScanKernel, T>();
  provide<ScanKernel, T>();
}

}  // namespace

void provide_library_kernels() {
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
