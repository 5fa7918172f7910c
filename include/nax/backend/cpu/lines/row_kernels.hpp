#pragma once

#include "nax/backend/cpu/lines/cross_entropy.hpp"
#include "nax/backend/cpu/lines/extrema.hpp"
#include "nax/backend/cpu/lines/parameter_gradients.hpp"
#include "nax/backend/cpu/lines/rms_norm.hpp"
#include "nax/backend/cpu/lines/row_slots.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu {

template <class T>
void SoftmaxBlockKernel::run(RowFunction kind, const void* rows, void* out, std::int64_t count,
                             std::int64_t n) {
  softmax_rows(kind, static_cast<const T*>(rows), static_cast<T*>(out), count, n);
}

template <RowFunction kind>
template <class T>
void RowKernel<kind>::run(const loops::Rows& r, const char* const* from, char* const* to) {
  const std::int64_t n = r.n;
  // Operand i and result i from element `at` on; null where there is none.
  const auto in = [&](int i, std::int64_t at) {
    return from[i] ? reinterpret_cast<const T*>(from[i]) + at : nullptr;
  };
  const auto out = [&](int i, std::int64_t at) { return to[i] ? reinterpret_cast<T*>(to[i]) + at : nullptr; };
  parallel_for(r.rows, ((std::int64_t{1} << 14) + n - 1) / n, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t some = end - begin, at = begin * n;
    if constexpr (kind == RowFunction::softmax || kind == RowFunction::log_softmax) {
      softmax_rows(kind, in(0, at), out(0, at), some, n);
    } else if constexpr (kind == RowFunction::logsumexp) {
      softmax_rows(kind, in(0, at), out(0, begin), some, n);
    } else if constexpr (kind == RowFunction::variance) {
      variance_rows(in(0, at), out(0, begin), some, n, static_cast<T>(r.number));
    } else if constexpr (kind == RowFunction::standardize) {
      standardize_rows(in(0, at), out(0, at), out(1, begin), out(2, begin), some, n, static_cast<T>(r.number),
                       in(1, 0), in(2, 0));
    } else if constexpr (kind == RowFunction::softmax_gradient) {
      softmax_gradient_rows(in(0, at), in(1, at), out(0, at), some, n);
    } else if constexpr (kind == RowFunction::log_softmax_gradient) {
      log_softmax_gradient_rows(in(0, at), in(1, at), out(0, at), some, n);
    } else if constexpr (kind == RowFunction::standardize_gradient) {
      standardize_gradient_rows(in(0, at), in(1, at), in(2, begin), out(0, at), some, n);
    } else if constexpr (kind == RowFunction::layer_norm_gradient) {
      if (to[0])
        layer_norm_gradient_rows(in(0, at), in(1, at), in(2, begin), in(3, begin), in(4, 0), out(0, at), some,
                                 n);
    } else if constexpr (kind == RowFunction::rms_norm) {
      rms_norm_rows(in(0, at), out(0, at), out(1, begin), some, n, static_cast<T>(r.number), in(1, 0));
    } else if constexpr (kind == RowFunction::rms_norm_gradient) {
      if (to[0]) rms_norm_gradient_rows(in(0, at), in(1, at), in(2, begin), in(3, 0), out(0, at), some, n);
    } else if constexpr (kind == RowFunction::cross_entropy) {
      cross_entropy_rows(in(0, at), in(1, at), out(0, begin), out(1, begin), out(2, begin), some, n);
    } else if constexpr (kind == RowFunction::spread_extrema) {
      spread_extrema(in(0, at), in(1, begin), in(2, begin), out(0, at), some, n);
    } else if constexpr (kind == RowFunction::mean_over_extrema) {
      mean_over_extrema(in(0, at), in(1, begin), in(2, at), out(0, begin), some, n);
    } else {
      static_assert(kind == RowFunction::cross_entropy_gradient);
      cross_entropy_gradient_rows(in(0, at), in(1, at), in(2, begin), in(3, begin), in(4, begin),
                                  static_cast<T>(r.number), out(0, at), some, n);
    }
  });
  if constexpr (kind == RowFunction::layer_norm_gradient)
    parameter_gradients(NormalizedRows<T>{in(0, 0), in(1, 0), in(2, 0), in(3, 0), r.rows, n}, out(1, 0),
                        out(2, 0));
  if constexpr (kind == RowFunction::rms_norm_gradient)
    parameter_gradients(NormalizedRows<T>{in(0, 0), in(1, 0), nullptr, in(2, 0), r.rows, n}, out(1, 0),
                        static_cast<T*>(nullptr));
}

}  // namespace cpu
NAX_END
