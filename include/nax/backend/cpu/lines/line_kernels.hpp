#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/backend/cpu/lines/lines.hpp"
#include "nax/backend/cpu/lines/scan.hpp"
#include "nax/backend/cpu/reduce/arg_reduce.hpp"
#include "nax/backend/cpu/reduce/wide.hpp"
#include "nax/backend/cpu/sort/search.hpp"
#include "nax/backend/cpu/sort/select.hpp"
#include "nax/backend/cpu/sort/top_k.hpp"
#include "nax/loops/lane.hpp"

// The kernels on lines that the host's operations find by dtype. T is the type that kernels compare and add:
// float for half types, bytes for truth values.
NAX_BEGIN
namespace cpu {

// The type in which lines of element type T are ordered.
template <class T>
using sortable_t = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, nax::detail::lane_t<T>>;

struct ArgReduceKernel {
  static constexpr const char* name = "argmax";
  using Function = void(const Lines&, bool greatest, const void*, std::int32_t*);
  template <class T>
  static void run(const Lines& lines, bool greatest, const void* from, std::int32_t* to) {
    if (greatest)
      argument_of_lines<true>(lines, static_cast<const T*>(from), to);
    else
      argument_of_lines<false>(lines, static_cast<const T*>(from), to);
  }
};

struct ScanKernel {
  static constexpr const char* name = "cumsum";
  using Function = void(const Lines&, bool product, bool reverse, const void*, void*);
  template <class T>
  static void run(const Lines& lines, bool product, bool reverse, const void* from, void* to) {
    if (product)
      scan<reduce_op::Product<T>>(lines, reverse, static_cast<const T*>(from), static_cast<T*>(to));
    else
      scan<reduce_op::Sum<T>>(lines, reverse, static_cast<const T*>(from), static_cast<T*>(to));
  }

 private:
  template <class Op, class T>
  static void scan(const Lines& lines, bool reverse, const T* from, T* to) {
    if constexpr (scans_packets<T>)
      if (lines.inner == 1) return scan_rows<Op>(from, to, lines.outer, lines.n, reverse);
    if constexpr (detail::Blocks<Op>::rounds) {
      constexpr std::int64_t many = 128;
      if (lines.n > many)
        return sum_lines<wide_t<T>>(lines, reverse, to, [=](std::int64_t i) { return from[i]; });
    }
    scan_lines(lines, reverse, to, [=](const T* before, std::int64_t i) {
      return before ? Op::join(*before, from[i]) : from[i];
    });
  }
};

struct RunningBestKernel {
  static constexpr const char* name = "cummax";
  using Function = void(const Lines&, bool greatest, bool reverse, const void*, std::int64_t*);
  template <class T>
  static void run(const Lines& lines, bool greatest, bool reverse, const void* from, std::int64_t* to) {
    if (greatest)
      best_so_far<true>(lines, reverse, static_cast<const T*>(from), to);
    else
      best_so_far<false>(lines, reverse, static_cast<const T*>(from), to);
  }

 private:
  template <bool greatest, class T>
  static void best_so_far(const Lines& lines, bool reverse, const T* from, std::int64_t* to) {
    if (lines.n == 0) return;
    for_each_line(lines, [=](std::int64_t first) {
      const std::int64_t step = reverse ? -lines.inner : lines.inner;
      std::int64_t at = reverse ? lines.n - 1 : 0, i = first + at * lines.inner, place = at;
      T best = from[i];
      for (std::int64_t k = 0; k < lines.n; ++k, i += step, reverse ? --at : ++at) {
        const T x = from[i];
        if (!(greatest ? x <= best : x >= best)) [[unlikely]]  // or one of both is NaN
          if (best == best) best = x, place = at;
        to[i] = place;
      }
    });
  }
};

struct LinearScanKernel {
  static constexpr const char* name = "cumprod";
  using Function = void(const Lines&, bool reverse, const void* factor, const void* term, void*);
  template <class T>
  static void run(const Lines& lines, bool reverse, const void* factor_, const void* term_, void* to) {
    const T* const factor = static_cast<const T*>(factor_);
    const T* const term = static_cast<const T*>(term_);
    scan_lines(lines, reverse, static_cast<T*>(to), [=](const T* before, std::int64_t i) {
      return before ? static_cast<T>(factor[i] * *before + term[i]) : term[i];
    });
  }
};

// f(line, its length, what becomes of it) for each line of an axis; a line that lies apart is copied.
template <class T, class To, class F>
void for_each_run(const Lines& lines, const T* from, To* to, const F& f) {
  if (lines.n == 0) return;
  for_each_line(lines, [=](std::int64_t first) {
    if (lines.inner == 1) return f(from + first, lines.n, to + first);
    const Scratch<T> line(lines.n);
    const Scratch<To> result(lines.n);
    for (std::int64_t i = 0; i < lines.n; ++i) line[i] = from[first + i * lines.inner];
    f(line.data(), lines.n, result.data());
    for (std::int64_t i = 0; i < lines.n; ++i) to[first + i * lines.inner] = result[i];
  });
}

struct ArgsortKernel {
  static constexpr const char* name = "argsort";
  using Function = void(const Lines&, bool descending, const void*, std::int32_t*);
  template <class T>
  static void run(const Lines& lines, bool descending, const void* from_, std::int32_t* to) {
    const T* const from = static_cast<const T*>(from_);
    if (lines.n > 0)
      for_each_line(lines, [=](std::int64_t first) {
        argsort_line(from + first, lines.inner, lines.n, descending, to + first, lines.inner);
      });
  }
};

struct SortKernel {
  static constexpr const char* name = "sort";
  using Function = void(const Lines&, bool descending, const void*, void*);
  template <class T>
  static void run(const Lines& lines, bool descending, const void* from_, void* to_) {
    const T* const from = static_cast<const T*>(from_);
    T* const to = static_cast<T*>(to_);
    if (lines.n > 0)
      for_each_line(lines, [=](std::int64_t first) {
        if (lines.inner == 1) return sort_run(from + first, to + first, lines.n, descending);
        const Scratch<T> line(lines.n);
        for (std::int64_t i = 0; i < lines.n; ++i) line[i] = from[first + i * lines.inner];
        sort_run(line.data(), line.data(), lines.n, descending);
        for (std::int64_t i = 0; i < lines.n; ++i) to[first + i * lines.inner] = line[i];
      });
  }
};

struct TopKKernel {
  static constexpr const char* name = "top_k";
  using Function = void(const Lines&, std::int64_t k, const void*, std::int32_t*);
  template <class T>
  static void run(const Lines& lines, std::int64_t k, const void* from_, std::int32_t* to) {
    const T* const from = static_cast<const T*>(from_);
    if (k > 0)
      for_each_line(
          lines, [=](std::int64_t first) { top_k_line(from + first, lines.n, k, to + first / lines.n * k); });
  }
};

struct PartitionKernel {
  static constexpr const char* name = "partition";
  using Function = void(const Lines&, std::int64_t rank, const void*, void*);
  template <class T>
  static void run(const Lines& lines, std::int64_t rank, const void* from, void* to) {
    for_each_run(lines, static_cast<const T*>(from), static_cast<T*>(to),
                 [rank](const T* x, std::int64_t n, T* y) { partition_line(x, n, rank, y); });
  }
};

struct ArgpartitionKernel {
  static constexpr const char* name = "argpartition";
  using Function = void(const Lines&, std::int64_t rank, const void*, std::int32_t*);
  template <class T>
  static void run(const Lines& lines, std::int64_t rank, const void* from, std::int32_t* to) {
    for_each_run(lines, static_cast<const T*>(from), to,
                 [rank](const T* x, std::int64_t n, std::int32_t* y) { argpartition_line(x, n, rank, y); });
  }
};

struct QuantileKernel {
  static constexpr const char* name = "quantile";
  using Function = void(const Lines&, std::int64_t rank, bool places, const void*, void*);
  template <class T>
  static void run(const Lines& lines, std::int64_t rank, bool places, const void* from_, void* to) {
    const T* const from = static_cast<const T*>(from_);
    for_each_line(lines, [=](std::int64_t first) {
      const std::int64_t at = first / lines.n * 3;
      if (places)
        argquantile_line(from + first, lines.n, rank, static_cast<std::int32_t*>(to) + at);
      else
        quantile_line(from + first, lines.n, rank, static_cast<T*>(to) + at);
    });
  }
};

struct SearchKernel {
  static constexpr const char* name = "searchsorted";
  using Function = void(bool right, std::int64_t n, const void* sorted, std::int64_t count,
                        const void* sought, std::int32_t*);
  template <class T>
  static void run(bool right, std::int64_t n, const void* sorted_, std::int64_t count, const void* sought_,
                  std::int32_t* to) {
    const T* const sorted = static_cast<const T*>(sorted_);
    const T* const sought = static_cast<const T*>(sought_);
    parallel_for(count, std::int64_t{1} << 13, [=](std::int64_t begin, std::int64_t end) {
      search_sorted(sorted, n, sought + begin, end - begin, right, to + begin);
    });
  }
};

}  // namespace cpu
NAX_END
