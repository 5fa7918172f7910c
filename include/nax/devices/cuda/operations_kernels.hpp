#pragma once

#include <algorithm>

#include "nax/backend/operations.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/transfer.hpp"
#include "nax/devices/cuda/attention/attention_kernels.hpp"
#include "nax/devices/cuda/conv/conv_kernels.hpp"
#include "nax/devices/cuda/conv/window_kernels.hpp"
#include "nax/devices/cuda/draws/draw_kernels.hpp"
#include "nax/devices/cuda/draws/sampler_kernels.hpp"
#include "nax/devices/cuda/factor/solver.hpp"
#include "nax/devices/cuda/fft/fft_kernels.hpp"
#include "nax/devices/cuda/gemm/matmul_kernels.hpp"
#include "nax/devices/cuda/places/add_kernels.hpp"
#include "nax/devices/cuda/places/copy_kernels.hpp"
#include "nax/devices/cuda/places/index_kernels.hpp"
#include "nax/devices/cuda/places/scatter_kernels.hpp"
#include "nax/devices/cuda/reduce/reduce_kernels.hpp"
#include "nax/devices/cuda/rows/row_kernels.hpp"
#include "nax/devices/cuda/scan/running_best.hpp"
#include "nax/devices/cuda/scan/scan_kernels.hpp"
#include "nax/devices/cuda/sort/argsort_kernels.hpp"
#include "nax/devices/cuda/sort/bin_kernels.hpp"
#include "nax/devices/cuda/step_kernels.hpp"
#include "nax/ops/table.hpp"

// The operations, as launches of their kernels.
NAX_BEGIN
namespace cuda {

inline Dims dims_of(std::initializer_list<std::int64_t> extents) {
  return Dims(extents.begin(), extents.end());
}

class KernelOperations final : public backend::Operations {
 public:
  ops::Verdict run(const ops::Call& call) override {
    const nax::detail::profile::Span span(nax::detail::profile::Kind::operation,
                                          ops::facts(call.op).name(call.form), call.device);
    return ops::dispatch(*this, call);
  }
  bool has(const ops::Call& call) const override {
    switch (call.op) {
      case ops::Op::shuffle:
      case ops::Op::correlate:
      case ops::Op::int8_matmul:
      case ops::Op::quantile:
      case ops::Op::sylvester:
        return false;
      case ops::Op::factorise: {
        const loops::Factorisation kind = static_cast<const ops::Factorise*>(call.form)->what.kind;
        return kind != loops::Factorisation::schur && kind != loops::Factorisation::sqrtm;
      }
      case ops::Op::rows: {
        const loops::RowFunction function = static_cast<const ops::Rows*>(call.form)->what.function;
        return function != loops::RowFunction::spread_extrema &&
               function != loops::RowFunction::mean_over_extrema;
      }
      case ops::Op::convolve: {
        const DType dtype = static_cast<const ops::Convolve*>(call.form)->dtype;
        return convolution_library || dtype == DType::float32 || dtype == DType::float64;
      }
      case ops::Op::reduce: {
        const ops::Reduce& f = *static_cast<const ops::Reduce*>(call.form);
        return f.divisor == 1 || dtype_kind(f.to.stored) == Kind::floating;
      }
      case ops::Op::linear: {
        const ops::Linear& f = *static_cast<const ops::Linear*>(call.form);
        return has_epilogues(f.dtype) &&
               (!call.data || has_linear(call.device, f.dtype, f.product, layer(f, call)));
      }
      case ops::Op::product_and_sums: {
        const ops::ProductAndSums& f = *static_cast<const ops::ProductAndSums*>(call.form);
        return has_epilogues(f.dtype) &&
               (!call.data || has_product_and_sums(call.device, f.dtype, f.product, call.in(0), call.in(1),
                                                   call.out(2), call.out(3)));
      }
      case ops::Op::attend: {
        const ops::Attend& f = *static_cast<const ops::Attend*>(call.form);
        return has_attention(call.device, f.dtype, f.what);
      }
      case ops::Op::attend_gradient: {
        const ops::AttendGradient& f = *static_cast<const ops::AttendGradient*>(call.form);
        return has_attention_gradient(call.device, f.dtype, f.what);
      }
      default:
        return true;
    }
  }

  void run(const ops::Copy& f, const ops::Call& c) {
    launch_copy(c.device, f.shape, placed(f.from, c.in(0)), placed(f.to, c.in(1)));
  }
  void run(const ops::Add& f, const ops::Call& c) {
    launch_add(c.device, f.shape, placed(f.a, c.in(0)), placed(f.b, c.in(1)), placed(f.to, c.in(2)));
  }
  void run(const ops::Reduce& f, const ops::Call& c) {
    launch_reduce(c.device, f.kind, f.shape, f.reduced, placed(f.from, c.in(0)), placed(f.to, c.in(1)),
                  f.divisor);
  }
  void run(const ops::Matmul& f, const ops::Call& c) {
    launch_contract(c.device, f.dtype, f.product, f.axes, c.in(0), c.in(1), c.out(2), f.accumulate);
  }
  void run(const ops::Linear& f, const ops::Call& c) {
    launch_linear(c.device, f.dtype, f.product, layer(f, c));
  }
  void run(const ops::ProductAndSums& f, const ops::Call& c) {
    launch_product_and_sums(c.device, f.dtype, f.product, c.in(0), c.in(1), c.out(2), c.out(3));
  }
  void run(const ops::StepLeaves& f, const ops::Call& c) {
    launch_steps(c.device, f.dtype, f.numbers, f.leaves, f.count);
  }

  void run(const ops::Gather& f, const ops::Call& c) { launch_gather(c.device, placed(f.loop, c)); }
  void run(const ops::Scatter& f, const ops::Call& c) { launch_scatter(c.device, placed(f.loop, c), f.add); }
  ops::Verdict run(const ops::WrapIndices& f, const ops::Call& c) {
    const Loop<2> loop = collapsed<2>(f.shape, {placed(f.from, c.in(0)), placed(f.to, c.in(1))});
    if (f.function) return launch_note_indices(c.device, loop, f), false;
    if (f.mode == loops::IndexMode::drop && !nax::detail::graph_recording)  // a graph waits for nothing
      return launch_drop_indices(c.device, loop, f.from.stored, f.extent);
    launch_wrap_indices(c.device, loop, f.from.stored, f.extent, f.mode, f.window);
    return f.mode == loops::IndexMode::drop ? std::nullopt : std::optional(false);
  }
  void run(const ops::JoinIndices& f, const ops::Call& c) {
    for_each_narrow(
        collapsed<3>(f.shape, {placed(f.a, c.in(0)), placed(f.b, c.in(1)), placed(f.to, c.in(2))}),
        [&](const Loop<3>& loop) {
          launch(c.device, loop.size, JoinIndices<std::int64_t>{loop, f.extent});
        });
  }
  void run(const ops::IndexOffsets& f, const ops::Call& c) {
    launch_index_offsets(c.device, f.n, f.extents, f.strides, c.in<std::int64_t>(0), c.out<std::int64_t>(1));
  }
  void run(const ops::IndexRanks& f, const ops::Call& c) {
    launch_index_ranks(c.device, f.lines, f.n, f.after, c.in<std::int64_t>(0), c.out<std::int64_t>(1));
  }
  void run(const ops::KeepRanked& f, const ops::Call& c) {
    launch(c.device, f.n,
           KeepRanked{c.in<std::int64_t>(0), f.rank, c.in<std::int64_t>(1), c.out<std::int64_t>(2)});
  }
  // The host waits for their number.
  void run(const ops::TruePositions& f, const ops::Call& c) {
    std::int64_t count = 0;
    const Scratch counts(c.device, static_cast<std::size_t>(f.n) * sizeof count);
    if (f.n > 0) {
      launch_scan(c.device, false, {1, f.n, 1}, false, DType::boolean, c.in(0), DType::int64, counts.data());
      nax::detail::copy_bytes(Device{}, &count, c.device,
                              counts.data() + static_cast<std::size_t>(f.n - 1) * sizeof count, sizeof count);
    }
    std::int64_t* const to = (*f.room)(count);
    if (count > 0)
      launch(c.device, f.n,
             TruePositions{c.in<bool>(0), reinterpret_cast<const std::int64_t*>(counts.data()), to});
  }
  void run(const ops::OneHot& f, const ops::Call& c) {
    launch_one_hot(c.device, f.lines, f.label, c.in(0), f.dtype, c.out(1));
  }

  void run(const ops::ArgReduce& f, const ops::Call& c) {
    const loops::Lines& lines = f.lines;
    launch_arg_reduce(
        c.device, f.greatest, dims_of({lines.outer, lines.n, lines.inner}), dims_of({0, 1, 0}),
        placed({nullptr, dims_of({lines.n * lines.inner, lines.inner, 1}), f.dtype, f.dtype}, c.in(0)),
        placed({nullptr, dims_of({lines.inner, 0, 1}), DType::int32, DType::int32}, c.in(1)));
  }
  void run(const ops::Scan& f, const ops::Call& c) {
    launch_scan(c.device, f.product, f.lines, f.reverse, f.from, c.in(0), f.to, c.out(1));
  }
  void run(const ops::RunningBest& f, const ops::Call& c) {
    launch_running_best(c.device, f.greatest, f.lines, f.reverse, f.dtype, c.in(0), c.out<std::int64_t>(1));
  }
  void run(const ops::LinearScan& f, const ops::Call& c) {
    launch_linear_scan(c.device, f.lines, f.reverse, f.dtype, c.in(0), c.in(1), c.out(2));
  }
  void run(const ops::Argsort& f, const ops::Call& c) {
    launch_argsort(c.device, f.lines, f.dtype, f.descending, c.in(0), c.out<std::int32_t>(1));
  }
  void run(const ops::Sort& f, const ops::Call& c) { sort(f.lines, f.dtype, f.descending, c); }
  void run(const ops::TopK& f, const ops::Call& c) {
    const Scratch all(c.device, static_cast<std::size_t>(f.lines.size()) * sizeof(std::int32_t));
    launch_argsort(c.device, f.lines, f.dtype, true, c.in(0), reinterpret_cast<std::int32_t*>(all.data()));
    launch_copy(c.device, dims_of({f.lines.outer, f.k}),
                {all.data(), dims_of({f.lines.n, 1}), DType::int32, DType::int32},
                {c.out(1), dims_of({f.k, 1}), DType::int32, DType::int32});
  }
  void run(const ops::Partition& f, const ops::Call& c) { sort(f.lines, f.dtype, false, c); }
  void run(const ops::Argpartition& f, const ops::Call& c) {
    launch_argsort(c.device, f.lines, f.dtype, false, c.in(0), c.out<std::int32_t>(1));
  }
  void run(const ops::Search& f, const ops::Call& c) {
    launch_search(c.device, f.dtype, f.right, f.n, c.in(0), f.count, c.in(1), c.out<std::int32_t>(2));
  }

  void run(const ops::Draw& f, const ops::Call& c) {
    DrawLauncher(c.device, f.draw, {c.in<std::uint64_t>(0), f.key}, f.n, f.dtype, f.size, c.out(1))
        .launch_all();
  }
  void run(const ops::FoldIn& f, const ops::Call& c) {
    launch(c.device, f.n, FoldIn{c.in<std::uint64_t>(0), c.in<std::uint32_t>(1), c.out<std::uint64_t>(2)});
  }
  void run(const ops::Shuffle&, const ops::Call& c) { nax::detail::throw_no_device_form(c.device); }
  void run(const ops::Correlate&, const ops::Call& c) { nax::detail::throw_no_device_form(c.device); }
  void run(const ops::Quantile&, const ops::Call& c) { nax::detail::throw_no_device_form(c.device); }
  void run(const ops::Sylvester&, const ops::Call& c) { nax::detail::throw_no_device_form(c.device); }
  void run(const ops::Int8Matmul&, const ops::Call& c) { nax::detail::throw_no_device_form(c.device); }
  void run(const ops::Sample& f, const ops::Call& c) {
    const char* const parameters[] = {c.in(1), c.in(2)};
    launch_sample(c.device, f.kind, c.in<std::uint64_t>(0), f.rows, f.n, f.dtype, parameters, c.out(3));
  }

  void run(const ops::Fft& f, const ops::Call& c) {
    launch_fft(c.device, f.lines, f.real, c.in(0), c.out(1));
  }
  void run(const ops::Convolve& f, const ops::Call& c) {
    launch_convolve(c.device, f.part, f.geometry, f.dtype, c.in(0), c.in(1), c.out(2), f.accumulate);
  }
  void run(const ops::BestInWindows& f, const ops::Call& c) {
    launch_best_in_windows(c.device, f.windows, f.greatest, f.examples, f.dtype, c.in(0),
                           c.out<std::int64_t>(1));
  }
  void run(const ops::Factorise& f, const ops::Call& c) {
    void* results[3] = {};
    for (int i = 0; i < loops::result_count(f.what.kind); ++i) results[i] = c.out(1 + i);
    launch_factorise(c.device, f.what, f.dtype, c.in(0), results);
  }
  ops::Verdict run(const ops::OrderOfSwaps& f, const ops::Call& c) {
    launch(c.device, f.lines, OrderOfSwaps{f.k, f.m, c.in<std::int32_t>(0), c.out<std::int32_t>(1)});
    return std::nullopt;
  }
  void run(const ops::Solve& f, const ops::Call& c) {
    launch_solve(c.device, f.systems, f.dtype, c.in(0), c.in(1), c.out(2));
  }
  void run(const ops::Bincount& f, const ops::Call& c) {
    launch_count_bins(c.device, f.rows, f.n, f.type, c.in(0), f.added, c.in(1), f.length, c.out(2));
  }
  void run(const ops::Rows& f, const ops::Call& c) {
    const char* from[loops::Rows::most_operands];
    char* to[loops::Rows::most_results];
    for (int i = 0; i < loops::Rows::most_operands; ++i) from[i] = c.in(i);
    for (int i = 0; i < loops::Rows::most_results; ++i) to[i] = c.out(loops::Rows::most_operands + i);
    launch_rows(c.device, f.what, f.dtype, from, to);
  }
  void run(const ops::Attend& f, const ops::Call& c) {
    loops::Attention x = f.placed(c);
    x.out = loops::rows_of(c.out(7), x.queries, x.heads, x.width);
    x.logarithms = c.out<float>(8);
    launch_attention(c.device, f.dtype, x);
  }
  void run(const ops::AttendGradient& f, const ops::Call& c) {
    loops::AttentionGradient x{f.placed(c), f.g, {}, {}, {}};
    x.attention.out = f.out, x.attention.out.data = c.out(7), x.g.data = c.out(9);
    x.attention.logarithms = c.out<float>(8);
    x.dq = loops::rows_of(c.out(10), f.what.queries, f.what.heads, f.what.width);
    x.dk = loops::rows_of(c.out(11), f.what.keys, f.what.groups, f.what.width);
    x.dv = loops::rows_of(c.out(12), f.what.keys, f.what.groups, f.what.width);
    launch_attention_gradient(c.device, f.dtype, x);
  }

 private:
  static loops::Linear layer(const ops::Linear& f, const ops::Call& c) {
    return {f.activation, c.in(0), c.in(1), c.in(3), c.in(4), c.out(2), c.out(5)};
  }
  template <int count>
  static Loop<count> collapsed(Dims shape, loops::Operand (&&operands)[count]) {
    loops::collapse(shape, operands, count);
    return make_loop<count>(shape, operands);
  }
  static loops::Operand placed(const loops::Operand& x, const char* at) { return ops::placed(x, at); }
  static loops::SelectLoop placed(loops::SelectLoop loop, const ops::Call& c) {
    for (int o = 0; o < 3; ++o) loop.operands[o].data = c.out(o);
    return loop;
  }
  static void sort(const loops::Lines& lines, DType dtype, bool descending, const ops::Call& c) {
    const Scratch order(c.device, static_cast<std::size_t>(lines.size()) * sizeof(std::int32_t));
    std::int32_t* const places = reinterpret_cast<std::int32_t*>(order.data());
    launch_argsort(c.device, lines, dtype, descending, c.in(0), places);
    launch_take_lines(c.device, lines, dtype, c.in(0), places, c.out(1));
  }
};

}  // namespace cuda
NAX_END
