// The part of nax::compiled for reductions that are found by dtype.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/reducer_slots.hpp"
#include "nax/loops/lane.hpp"

NAX_BEGIN
namespace cpu {
namespace {

template <class T>
void provide_truth() {
  provide_reducer<reduce_op::Any, T>();
  provide_reducer<reduce_op::All, T>();
}
// Sums and products of T in accumulators of A.
template <class A, class T>
void provide_sums() {
  provide_reducer<reduce_op::Sum<A>, T>();
  provide_reducer<reduce_op::Product<A>, T>();
}
template <class T>
void provide_extrema() {
  provide_reducer<reduce_op::Max<T>, T>();
  provide_reducer<reduce_op::Min<T>, T>();
}
// Integers: narrow ones add up in 32 bits; their means are floats.
template <class T>
void provide_integer() {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  provide_truth<T>();
  provide_extrema<T>();
  provide_sums<std::conditional_t<sizeof(T) < 4, Wide, T>, T>();
  provide_reducer<reduce_op::Sum<float>, T>();
}
template <class T>
void provide_floating() {
  provide_truth<T>();
  provide_extrema<T>();
  provide_sums<T, T>();
}

}  // namespace

void provide_library_reducers() {
  provide_truth<bool>();
  provide_extrema<bool>();
  provide_sums<std::int32_t, bool>();
  provide_reducer<reduce_op::Count<std::int32_t>, bool>();  // in place of a sum
  provide_reducer<reduce_op::Sum<float>, bool>();
  provide_reducer<reduce_op::Sum<double>, bool>();
  provide_reducer<reduce_op::Sum<std::complex<float>>, bool>();
  provide_reducer<reduce_op::Sum<std::complex<double>>, bool>();
  provide_integer<std::int8_t>();
  provide_integer<std::int16_t>();
  provide_integer<std::int32_t>();
  provide_integer<std::int64_t>();
  provide_integer<std::uint8_t>();
  provide_integer<std::uint16_t>();
  provide_integer<std::uint32_t>();
  provide_integer<std::uint64_t>();
  provide_floating<float>();
  provide_floating<double>();
  provide_truth<std::complex<float>>();
  provide_truth<std::complex<double>>();
  provide_sums<std::complex<float>, std::complex<float>>();
  provide_sums<std::complex<double>, std::complex<double>>();
}

}  // namespace cpu
NAX_END
