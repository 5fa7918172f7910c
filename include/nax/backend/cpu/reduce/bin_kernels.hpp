#pragma once

#include "nax/backend/cpu/reduce/bin_slots.hpp"
#include "nax/backend/cpu/reduce/count_bins.hpp"
#include "nax/loops/lane.hpp"

NAX_BEGIN
namespace cpu {
namespace detail {

template <class T, class W, class Sum>
void sum_bins(const BinRows& r, const T* bins, const W* weights, Sum* to) {
  for (std::int64_t row = 0; row < r.rows; ++row, bins += r.n, weights += r.n, to += r.length)
    for (std::int64_t i = 0; i < r.n; ++i)
      if (static_cast<std::uint64_t>(bins[i]) < static_cast<std::uint64_t>(r.length))
        to[static_cast<std::int64_t>(bins[i])] += static_cast<Sum>(weights[i]);
}

}  // namespace detail

template <class T>
void CountKernel::run(const BinRows& r, const void* bins, std::int32_t* to) {
  std::fill(to, to + r.rows * r.length, 0);
  for (std::int64_t row = 0; row < r.rows; ++row)
    count_bins(static_cast<const T*>(bins) + row * r.n, r.n, r.length, to + row * r.length);
}

template <class W>
void BinSumKernel::run(const BinRows& r, DType type, const void* bins, const void* weights, void* to_) {
  using Sum = nax::detail::lane_t<W>;
  Sum* const to = static_cast<Sum*>(to_);
  std::fill(to, to + r.rows * r.length, Sum(0));
  const W* const w = static_cast<const W*>(weights);
  switch (type) {
#define NAX_BINS(name, T) \
  case DType::name:       \
    return detail::sum_bins(r, static_cast<const T*>(bins), w, to);
    NAX_BINS(boolean, bool)
    NAX_BINS(int8, std::int8_t)
    NAX_BINS(int16, std::int16_t)
    NAX_BINS(int32, std::int32_t)
    NAX_BINS(int64, std::int64_t)
    NAX_BINS(uint8, std::uint8_t)
    NAX_BINS(uint16, std::uint16_t)
    NAX_BINS(uint32, std::uint32_t)
    NAX_BINS(uint64, std::uint64_t)
#undef NAX_BINS
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  throw_no_kernel(name, type);
}

}  // namespace cpu
NAX_END
