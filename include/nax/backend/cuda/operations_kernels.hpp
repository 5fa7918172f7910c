#pragma once

#include <algorithm>

#include "nax/backend/cuda/add_kernels.hpp"
#include "nax/backend/cuda/argsort_kernels.hpp"
#include "nax/backend/cuda/bin_kernels.hpp"
#include "nax/backend/cuda/conv_kernels.hpp"
#include "nax/backend/cuda/copy_kernels.hpp"
#include "nax/backend/cuda/draw_kernels.hpp"
#include "nax/backend/cuda/fft_kernels.hpp"
#include "nax/backend/cuda/index_kernels.hpp"
#include "nax/backend/cuda/matmul_kernels.hpp"
#include "nax/backend/cuda/reduce_kernels.hpp"
#include "nax/backend/cuda/row_kernels.hpp"
#include "nax/backend/cuda/running_best.hpp"
#include "nax/backend/cuda/sampler_kernels.hpp"
#include "nax/backend/cuda/scan_kernels.hpp"
#include "nax/backend/cuda/scatter_kernels.hpp"
#include "nax/backend/cuda/solver.hpp"
#include "nax/backend/cuda/step_kernels.hpp"
#include "nax/backend/cuda/window_kernels.hpp"
#include "nax/backend/operations.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/transfer.hpp"

// The operations, as launches of their kernels.
NAX_BEGIN
namespace cuda {

inline Dims dims_of(std::initializer_list<std::int64_t> extents) {
  return Dims(extents.begin(), extents.end());
}

class KernelOperations final : public backend::AcceleratorOperations {
 public:
  bool has(backend::Part part) const override {
    using enum backend::Part;
    switch (part) {
      case fft:
      case convolutions:
      case windows:
      case bins:
      case samplers:
      case softmax:
      case moments:
      case factorisations:
        return true;
      case permutations:
        break;
    }
    return false;
  }

  void copy(Device device, const Dims& shape, const loops::Operand& from, const loops::Operand& to) override {
    launch_copy(device, shape, from, to);
  }
  void reduce(Device device, loops::ReduceKind kind, const Dims& shape, const Dims& reduced,
              const loops::Operand& from, const loops::Operand& to) override {
    launch_reduce(device, kind, shape, reduced, from, to);
  }
  void divided_sum(Device device, const Dims& shape, const Dims& reduced, const loops::Operand& from,
                   const loops::Operand& to, double divisor) override {
    launch_reduce(device, loops::ReduceKind::sum, shape, reduced, from, to, divisor);
  }
  void arg_reduce(Device device, bool greatest, const loops::Lines& lines, DType dtype, const char* from,
                  std::int32_t* to) override {
    const Span span(Kind::operation, "arg_reduce", device);
    launch_arg_reduce(
        device, greatest, dims_of({lines.outer, lines.n, lines.inner}), dims_of({0, 1, 0}),
        {const_cast<char*>(from), dims_of({lines.n * lines.inner, lines.inner, 1}), dtype, dtype},
        {reinterpret_cast<char*>(to), dims_of({lines.inner, 0, 1}), DType::int32, DType::int32});
  }
  void matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
              const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate) override {
    const Span span(Kind::operation, "matmul", device);
    launch_matmul(device, dtype, batch, m, n, k, a, b, c, accumulate);
  }
  // Batches that do not merge: the axis of most products is one call, the others are loops.
  void contract(Device device, DType dtype, const backend::Product& p, const backend::BatchAxis* axes,
                int count, char* a, char* b, char* c, bool accumulate) override {
    SmallVector<backend::BatchAxis, 4> sorted(axes, axes + count);
    int longest = count - 1;
    for (int i = count - 1; i >= 0; --i)
      if (!axes[i].summed && (axes[longest].summed || axes[i].extent > axes[longest].extent)) longest = i;
    if (count > 1) std::swap(sorted[static_cast<std::size_t>(longest)], sorted.back());
    Operations::contract(device, dtype, p, sorted.begin(), count, a, b, c, accumulate);
  }
  bool linear(Device device, DType dtype, const backend::Product& p, loops::Activation activation,
              const char* a, const char* b, const char* bias, char* c, char* before) override {
    return launch_linear(device, dtype, p, activation, a, b, bias, c, before);
  }
  bool product_and_sums(Device device, DType dtype, const backend::Product& p, const char* a, const char* b,
                        char* c, char* sums) override {
    return launch_product_and_sums(device, dtype, p, a, b, c, sums);
  }

  void add(Device device, const Dims& shape, const loops::Operand& a, const loops::Operand& b,
           const loops::Operand& to) override {
    launch_add(device, shape, a, b, to);
  }
  void gather(Device device, const loops::SelectLoop& loop) override {
    const Span span(Kind::operation, "gather", device);
    launch_gather(device, loop);
  }
  void scatter(Device device, const loops::SelectLoop& loop, bool add) override {
    const Span span(Kind::operation, "scatter", device);
    launch_scatter(device, loop, add);
  }
  std::optional<bool> wrap_indices(Device device, IndexMode mode, std::int64_t extent, const Dims& shape,
                                   const loops::Operand& from, const loops::Operand& to) override {
    for_each_narrow(collapsed<2>(shape, {from, to}), [&](const Loop<2>& loop) {
      launch(device, loop.size, WrapIndex<std::int64_t>{loop, from.stored, extent, mode});
    });
    return mode == IndexMode::drop ? std::nullopt : std::optional(false);
  }
  void join_indices(Device device, std::int64_t extent, const Dims& shape, const loops::Operand& a,
                    const loops::Operand& b, const loops::Operand& to) override {
    for_each_narrow(collapsed<3>(shape, {a, b, to}), [&](const Loop<3>& loop) {
      launch(device, loop.size, JoinIndices<std::int64_t>{loop, extent});
    });
  }
  void index_offsets(Device device, std::int64_t n, const Dims& extents, const Dims& strides,
                     const std::int64_t* from, std::int64_t* to) override {
    launch_index_offsets(device, n, extents, strides, from, to);
  }
  void index_ranks(Device device, std::int64_t lines, std::int64_t n, bool after, const std::int64_t* index,
                   std::int64_t* ranks) override {
    launch_index_ranks(device, lines, n, after, index, ranks);
  }
  void keep_ranked(Device device, std::int64_t n, const std::int64_t* ranks, std::int64_t rank,
                   const std::int64_t* from, std::int64_t* to) override {
    launch(device, n, KeepRanked{ranks, rank, from, to});
  }
  // The host waits for their number.
  void true_positions(Device device, std::int64_t n, const bool* mask, const backend::Room& room) override {
    std::int64_t count = 0;
    const Scratch counts(device, static_cast<std::size_t>(n) * sizeof count);
    if (n > 0) {
      launch_scan(device, false, {1, n, 1}, false, DType::boolean, reinterpret_cast<const char*>(mask),
                  DType::int64, counts.data());
      nax::detail::copy_bytes(Device{}, &count, device,
                              counts.data() + static_cast<std::size_t>(n - 1) * sizeof count, sizeof count);
    }
    std::int64_t* const to = room(count);
    if (count > 0)
      launch(device, n, TruePositions{mask, reinterpret_cast<const std::int64_t*>(counts.data()), to});
  }
  void one_hot(Device device, const loops::Lines& lines, DType label, const char* labels, DType dtype,
               char* to) override {
    launch_one_hot(device, lines, label, labels, dtype, to);
  }
  void step_leaves(Device device, DType dtype, const loops::StepNumbers& numbers,
                   const loops::LeafStep* leaves, int count) override {
    launch_steps(device, dtype, numbers, leaves, count);
  }
  void rows(Device device, const loops::Rows& what, DType dtype, const char* const* from,
            char* const* to) override {
    const Span span(Kind::operation, "rows", device);
    launch_rows(device, what, dtype, from, to);
  }
  bool convolves(DType dtype) const override { return convolution_library || Operations::convolves(dtype); }
  void fft(Device device, const loops::FftLines& lines, DType real, const char* from, char* to) override {
    const Span span(Kind::operation, "fft", device);
    launch_fft(device, lines, real, from, to);
  }
  void count_bins(Device device, std::int64_t rows, std::int64_t n, DType type, const char* bins, DType added,
                  const char* weights, std::int64_t length, char* to) override {
    const Span span(Kind::operation, "bins", device);
    launch_count_bins(device, rows, n, type, bins, added, weights, length, to);
  }
  void convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry, DType dtype,
                const char* a, const char* b, char* to, bool accumulate) override {
    const Span span(Kind::operation, "convolution", device);
    launch_convolve(device, part, geometry, dtype, a, b, to, accumulate);
  }
  void best_in_windows(Device device, const loops::Windows& windows, bool greatest, std::int64_t examples,
                       DType dtype, const char* from, std::int64_t* to) override {
    const Span span(Kind::operation, "pooling", device);
    launch_best_in_windows(device, windows, greatest, examples, dtype, from, to);
  }

  void factorise(Device device, const loops::Factoring& what, DType dtype, const char* from,
                 void* const* to) override {
    const Span span(Kind::operation, "factorisation", device);
    launch_factorise(device, what, dtype, from, to);
  }
  std::optional<bool> order_of_swaps(Device device, std::int64_t lines, std::int64_t k, std::int64_t m,
                                     const std::int32_t* swaps, std::int32_t* rows) override {
    launch(device, lines, OrderOfSwaps{k, m, swaps, rows});
    return std::nullopt;
  }
  void solve(Device device, const loops::LinearSystems& systems, DType dtype, const char* a, const char* b,
             char* x) override {
    const Span span(Kind::operation, "solve", device);
    launch_solve(device, systems, dtype, a, b, x);
  }

  void scan(Device device, bool product, const loops::Lines& lines, bool reverse, DType from_type,
            const char* from, DType to_type, char* to) override {
    const Span span(Kind::operation, "scan", device);
    launch_scan(device, product, lines, reverse, from_type, from, to_type, to);
  }
  void running_best(Device device, bool greatest, const loops::Lines& lines, bool reverse, DType dtype,
                    const char* from, std::int64_t* to) override {
    launch_running_best(device, greatest, lines, reverse, dtype, from, to);
  }
  void argsort(Device device, const loops::Lines& lines, DType dtype, bool descending, const char* from,
               std::int32_t* order) override {
    const Span span(Kind::operation, "argsort", device);
    launch_argsort(device, lines, dtype, descending, from, order);
  }
  void sort(Device device, const loops::Lines& lines, DType dtype, bool descending, const char* from,
            char* to) override {
    const Span span(Kind::operation, "sort", device);
    const Scratch order(device, static_cast<std::size_t>(lines.count() * lines.n) * sizeof(std::int32_t));
    std::int32_t* const places = reinterpret_cast<std::int32_t*>(order.data());
    launch_argsort(device, lines, dtype, descending, from, places);
    launch_take_lines(device, lines, dtype, from, places, to);
  }
  void top_k(Device device, const loops::Lines& lines, DType dtype, std::int64_t k, const char* from,
             std::int32_t* order) override {
    const Span span(Kind::operation, "top_k", device);
    const Scratch all(device, static_cast<std::size_t>(lines.count() * lines.n) * sizeof(std::int32_t));
    launch_argsort(device, lines, dtype, true, from, reinterpret_cast<std::int32_t*>(all.data()));
    launch_copy(device, dims_of({lines.outer, k}),
                {all.data(), dims_of({lines.n, 1}), DType::int32, DType::int32},
                {reinterpret_cast<char*>(order), dims_of({k, 1}), DType::int32, DType::int32});
  }
  void partition(Device device, const loops::Lines& lines, DType dtype, std::int64_t, const char* from,
                 char* to) override {
    sort(device, lines, dtype, false, from, to);
  }
  void argpartition(Device device, const loops::Lines& lines, DType dtype, std::int64_t, const char* from,
                    std::int32_t* order) override {
    argsort(device, lines, dtype, false, from, order);
  }
  void search(Device device, DType dtype, bool right, std::int64_t n, const char* sorted, std::int64_t count,
              const char* sought, std::int32_t* to) override {
    const Span span(Kind::operation, "searchsorted", device);
    launch_search(device, dtype, right, n, sorted, count, sought, to);
  }
  void linear_scan(Device device, const loops::Lines& lines, bool reverse, DType dtype, const char* factor,
                   const char* term, char* to) override {
    const Span span(Kind::operation, "linear_scan", device);
    launch_linear_scan(device, lines, reverse, dtype, factor, term, to);
  }

  void draw(Device device, const Draw& draw, const Keys& keys, std::int64_t n, DType dtype, std::int64_t size,
            char* out) override {
    const Span span(Kind::operation, "random", device);
    DrawLauncher(device, draw, keys, n, dtype, size, out).launch_all();
  }
  void sample(Device device, nax::detail::Sampler kind, const std::uint64_t* keys, std::int64_t rows,
              std::int64_t n, DType dtype, const char* const* parameters, char* out) override {
    const Span span(Kind::operation, "sample", device);
    launch_sample(device, kind, keys, rows, n, dtype, parameters, out);
  }
  void fold_in(Device device, std::int64_t n, const std::uint64_t* keys, const std::uint32_t* numbers,
               std::uint64_t* to) override {
    launch(device, n, FoldIn{keys, numbers, to});
  }

 private:
  using Span = nax::detail::profile::Span;
  using Kind = nax::detail::profile::Kind;
  template <int count>
  static Loop<count> collapsed(Dims shape, loops::Operand (&&operands)[count]) {
    loops::collapse(shape, operands, count);
    return make_loop<count>(shape, operands);
  }
};

}  // namespace cuda
NAX_END
