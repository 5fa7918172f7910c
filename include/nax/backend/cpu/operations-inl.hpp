#pragma once

#include "nax/backend/cpu/conv/conv.hpp"
#include "nax/backend/cpu/conv/correlation.hpp"
#include "nax/backend/cpu/conv/windows.hpp"
#include "nax/backend/cpu/draws/draw_kernels.hpp"
#include "nax/backend/cpu/draws/samplers.hpp"
#include "nax/backend/cpu/draws/shuffle.hpp"
#include "nax/backend/cpu/factor/factor_slots.hpp"
#include "nax/backend/cpu/factor/system_slots.hpp"
#include "nax/backend/cpu/fft/fft.hpp"
#include "nax/backend/cpu/gemm/int8_product.hpp"
#include "nax/backend/cpu/gemm/product_kernel.hpp"
#include "nax/backend/cpu/lines/attention.hpp"
#include "nax/backend/cpu/lines/line_kernels.hpp"
#include "nax/backend/cpu/lines/row_slots.hpp"
#include "nax/backend/cpu/maps/accumulate.hpp"
#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/maps/gather.hpp"
#include "nax/backend/cpu/maps/indices.hpp"
#include "nax/backend/cpu/maps/transpose.hpp"
#include "nax/backend/cpu/reduce/bin_slots.hpp"
#include "nax/backend/cpu/reduce/reduce.hpp"
#include "nax/backend/cpu/reduce/reducer_slots.hpp"
#include "nax/backend/operations.hpp"
#include "nax/loops/index_ranks.hpp"

// The host's operations.
NAX_BEGIN
namespace cpu {

// Row-major elements in the type that the kernels of lines have: a copy where that is another one.
class LaneRows {
 public:
  LaneRows(DType dtype, const char* from, std::int64_t size) : dtype_(lane_of(dtype)), data_(from) {
    if (dtype_size(dtype_) == dtype_size(dtype)) return;  // its own type, or bytes for truth values
    copy_ = std::make_unique<Scratch<char>>(size * static_cast<std::int64_t>(dtype_size(dtype_)));
    converter(dtype, dtype_)(from, 1, copy_->data(), 1, size);
    data_ = copy_->data();
  }
  DType dtype() const { return dtype_; }
  const char* data() const { return data_; }

  static DType lane_of(DType dtype) {
    return dtype == DType::boolean ? DType::uint8 : nax::detail::lane_of(dtype);
  }

 private:
  DType dtype_;
  const char* data_;
  std::unique_ptr<Scratch<char>> copy_;
};

// Throws Error where kernels convert no such pair.
inline ConvertFn converter_between(DType from, DType to) {
  const ConvertFn convert = converter(from, to);
  if (!convert) throw_no_kernel("astype", from);
  return convert;
}

// Lets f(from, to) write lanes, and moves them to `to` where its type is another one.
template <class F>
void map_lanes(DType dtype, const char* from, char* to, std::int64_t size, const F& f) {
  const LaneRows rows(dtype, from, size);
  if (dtype_size(rows.dtype()) == dtype_size(dtype)) return f(rows, to);
  const Scratch<char> lanes(size * static_cast<std::int64_t>(dtype_size(rows.dtype())));
  f(rows, lanes.data());
  converter(rows.dtype(), dtype)(lanes.data(), 1, to, 1, size);
}

// Adds values at places; half types add up in float where the data is float.
NAX_ENGINE detail::SelectRange adder(DType to, DType from) {
  using detail::AddElement, detail::scatter_range;
  if (to == DType::float32 && from == DType::float16) return scatter_range<AddElement, float, half>;
  if (to == DType::float32 && from == DType::bfloat16) return scatter_range<AddElement, float, bfloat16>;
  switch (to) {
#define NAX_ADDER(name, type, kind, text) \
  case DType::name:                       \
    return scatter_range<AddElement, type, type>;
    NAX_FOR_EACH_DTYPE(NAX_ADDER)
#undef NAX_ADDER
  }
  return nullptr;
}

class HostOperations final : public backend::Operations {
 public:
  ops::Verdict run(const ops::Call& call) override { return ops::dispatch(*this, call); }
  // Half types are computed as floats by callers.
  bool has(const ops::Call& call) const override {
    const auto computes = [](DType dtype) { return dtype == DType::float32 || dtype == DType::float64; };
    switch (call.op) {
      case ops::Op::convolve:
        return computes(static_cast<const ops::Convolve*>(call.form)->dtype);
      case ops::Op::attend:
        return computes(static_cast<const ops::Attend*>(call.form)->dtype);
      case ops::Op::reduce:
        return static_cast<const ops::Reduce*>(call.form)->divisor == 1;
      case ops::Op::linear:
      case ops::Op::product_and_sums:
      case ops::Op::step_leaves:
        return false;
      default:
        return true;
    }
  }

  void run(const ops::Copy& f, const ops::Call& c) const {
    if (c.in(0) == c.in(1) && f.from.stored == f.to.stored && f.from.strides == f.to.strides) return;
    if (f.from.stored == f.to.stored)
      return strided_copy(dtype_size(f.to.stored), static_cast<int>(f.shape.size()), f.shape.data(), c.out(1),
                          f.to.strides.data(), c.in(0), f.from.strides.data());
    converter_between(f.from.stored, f.to.stored);  // or throws
    Operand operands[2] = {placed(f.from, c.in(0)), placed(f.to, c.in(1))};
    operands[0].lane = operands[1].lane = f.to.stored;  // reading converts
    const std::size_t bytes = dtype_size(f.to.stored);
    map(copy_values, &bytes, f.shape, operands, 1);
  }
  void run(const ops::Add& f, const ops::Call& c) const {
    const DType lane = nax::detail::lane_of(f.to.stored);
    Operand operands[3] = {placed(f.a, c.in(0)), placed(f.b, c.in(1)), placed(f.to, c.in(2))};
    for (Operand& o : operands) o.lane = lane;
    const Adder adder{sum_reducer(lane), static_cast<std::int64_t>(dtype_size(lane))};
    map(add_values, &adder, f.shape, operands, 2);
  }
  void run(const ops::Reduce& f, const ops::Call& c) const {
    const Reducer& reducer = reducer_for(f.kind, nax::detail::lane_of(f.from.stored), f.to.stored);
    std::int64_t n = 1, size = 1;
    for (std::size_t axis = 0; axis < f.shape.size(); ++axis) {
      n *= f.shape[axis];
      if (!f.reduced[axis]) size *= f.shape[axis];
    }
    // Directly where a run that no thread would share comes to one number.
    if (n > 0 && n <= detail::parallel_grain && reducer.from == f.from.stored &&
        nax::detail::is_run(f.from.strides, f.shape) && nax::detail::is_repeated(f.to.strides, f.shape)) {
      reducer.fill(c.out(1), 1);
      return reducer.combine(c.in(0), c.out(1), 0, n);
    }
    Operand operands[2] = {placed(f.from, c.in(0)), placed(f.to, c.in(1))};
    operands[0].lane = reducer.from;
    cpu::reduce(nullptr, nullptr, f.shape, operands, 1, size, reducer);
  }
  void run(const ops::Matmul& f, const ops::Call& c) const {
    multiply_matrices(f.dtype, f.product, f.axes.data(), static_cast<int>(f.axes.size()), c.in(0), c.in(1),
                      c.out(2), f.accumulate);
  }

  void run(const ops::Gather& f, const ops::Call& c) const {
    SelectLoop moved;
    const SelectLoop& loop = placed_loop(f.loop, c, moved);
    cpu::gather(loop, dtype_size(loop.operands[0].stored));
  }
  void run(const ops::Scatter& f, const ops::Call& c) const {
    SelectLoop moved;
    const SelectLoop& loop = placed_loop(f.loop, c, moved);
    const DType from = loop.operands[0].stored, to = loop.operands[1].stored;
    cpu::scatter(loop, f.add ? adder(to, from) : detail::setter(dtype_size(to)));
  }
  ops::Verdict run(const ops::WrapIndices& f, const ops::Call& c) const {
    return wrap_indices(f.mode, f.extent, f.window, f.shape, placed(f.from, c.in(0)), placed(f.to, c.in(1)));
  }
  void run(const ops::JoinIndices& f, const ops::Call& c) const {
    Operand operands[3] = {placed(f.a, c.in(0)), placed(f.b, c.in(1)), placed(f.to, c.in(2))};
    map(join_run, &f.extent, f.shape, operands, 2);
  }
  void run(const ops::IndexOffsets& f, const ops::Call& c) const {
    const std::int64_t* const from = c.in<std::int64_t>(0);
    std::int64_t* const to = c.out<std::int64_t>(1);
    parallel_for(f.n, std::int64_t{1} << 15, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        to[i] = from[i] == dropped_index ? from[i] : nax::detail::offset_at(from[i], f.extents, f.strides);
    });
  }
  void run(const ops::IndexRanks& f, const ops::Call& c) const {
    loops::rank_indices(f.lines, f.n, f.after, c.in<std::int64_t>(0), c.out<std::int64_t>(1));
  }
  void run(const ops::KeepRanked& f, const ops::Call& c) const {
    loops::keep_ranked(f.n, c.in<std::int64_t>(0), f.rank, c.in<std::int64_t>(1), c.out<std::int64_t>(2));
  }
  void run(const ops::TruePositions& f, const ops::Call& c) const {
    true_positions(f.n, c.in<bool>(0), *f.room);
  }
  void run(const ops::OneHot& f, const ops::Call& c) const {
    one_hot(f.lines, f.label, c.in(0), f.dtype, c.out(1));
  }

  void run(const ops::ArgReduce& f, const ops::Call& c) const {
    const LaneRows rows(f.dtype, c.in(0), f.lines.size());
    kernel_for<ArgReduceKernel>(rows.dtype())(f.lines, f.greatest, rows.data(), c.out<std::int32_t>(1));
  }
  void run(const ops::Scan& f, const ops::Call& c) const {
    const auto kernel = kernel_for<ScanKernel>(f.to);
    if (f.from == f.to) return kernel(f.lines, f.product, f.reverse, c.in(0), c.out(1));
    const std::int64_t size = f.lines.size();
    const Scratch<char> terms(size * static_cast<std::int64_t>(dtype_size(f.to)));
    converter_between(f.from, f.to)(c.in(0), 1, terms.data(), 1, size);
    kernel(f.lines, f.product, f.reverse, terms.data(), c.out(1));
  }
  void run(const ops::RunningBest& f, const ops::Call& c) const {
    const LaneRows rows(f.dtype, c.in(0), f.lines.size());
    kernel_for<RunningBestKernel>(rows.dtype())(f.lines, f.greatest, f.reverse, rows.data(),
                                                c.out<std::int64_t>(1));
  }
  void run(const ops::LinearScan& f, const ops::Call& c) const {
    const LaneRows terms(f.dtype, c.in(1), f.lines.size());
    map_lanes(f.dtype, c.in(0), c.out(2), f.lines.size(), [&](const LaneRows& factors, char* out) {
      kernel_for<LinearScanKernel>(factors.dtype())(f.lines, f.reverse, factors.data(), terms.data(), out);
    });
  }
  void run(const ops::Argsort& f, const ops::Call& c) const {
    const LaneRows rows(f.dtype, c.in(0), f.lines.size());
    kernel_for<ArgsortKernel>(rows.dtype())(f.lines, f.descending, rows.data(), c.out<std::int32_t>(1));
  }
  void run(const ops::Sort& f, const ops::Call& c) const {
    map_lanes(f.dtype, c.in(0), c.out(1), f.lines.size(), [&](const LaneRows& rows, char* out) {
      kernel_for<SortKernel>(rows.dtype())(f.lines, f.descending, rows.data(), out);
    });
  }
  void run(const ops::TopK& f, const ops::Call& c) const {
    const LaneRows rows(f.dtype, c.in(0), f.lines.size());
    kernel_for<TopKKernel>(rows.dtype())(f.lines, f.k, rows.data(), c.out<std::int32_t>(1));
  }
  void run(const ops::Partition& f, const ops::Call& c) const {
    map_lanes(f.dtype, c.in(0), c.out(1), f.lines.size(), [&](const LaneRows& rows, char* out) {
      kernel_for<PartitionKernel>(rows.dtype())(f.lines, f.rank, rows.data(), out);
    });
  }
  void run(const ops::Argpartition& f, const ops::Call& c) const {
    const LaneRows rows(f.dtype, c.in(0), f.lines.size());
    kernel_for<ArgpartitionKernel>(rows.dtype())(f.lines, f.rank, rows.data(), c.out<std::int32_t>(1));
  }
  void run(const ops::Quantile& f, const ops::Call& c) const {
    const LaneRows rows(f.dtype, c.in(0), f.lines.size());
    const auto find = [&](void* to) {
      kernel_for<QuantileKernel>(rows.dtype())(f.lines, f.rank, f.places, rows.data(), to);
    };
    if (f.places || rows.dtype() == f.dtype) return find(c.out(1));
    const std::int64_t count = f.lines.outer * 3;
    const Scratch<char> found(count * static_cast<std::int64_t>(dtype_size(rows.dtype())));
    find(found.data());
    converter(rows.dtype(), f.dtype)(found.data(), 1, c.out(1), 1, count);
  }
  void run(const ops::Search& f, const ops::Call& c) const {
    const LaneRows from(f.dtype, c.in(0), f.n), values(f.dtype, c.in(1), f.count);
    kernel_for<SearchKernel>(from.dtype())(f.right, f.n, from.data(), f.count, values.data(),
                                           c.out<std::int32_t>(2));
  }

  void run(const ops::Draw& f, const ops::Call& c) const {
    DrawFunction* const fill = draw_kernel(f.draw.kind, f.dtype);
    const std::uint64_t* const keys = c.in<std::uint64_t>(0);
    char* const out = c.out(1);
    const auto bytes = static_cast<std::int64_t>(dtype_size(f.dtype));
    parallel_for(f.size, std::int64_t{1} << 13, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t row = begin / f.n, first = begin - row * f.n,
                           count = std::min(f.n - first, end - begin);
        fill(f.draw, keys ? keys[row] : f.key, static_cast<std::uint64_t>(first), count, out + begin * bytes);
        begin += count;
      }
    });
  }
  void run(const ops::FoldIn& f, const ops::Call& c) const {
    const std::uint64_t* const keys = c.in<std::uint64_t>(0);
    const std::uint32_t* const numbers = c.in<std::uint32_t>(1);
    for (std::int64_t i = 0; i < f.n; ++i)
      c.out<std::uint64_t>(2)[i] = word_pair(threefry(keys[i], numbers[i]));
  }
  void run(const ops::Shuffle& f, const ops::Call& c) const {
    shuffle(f.lines, f.kept, c.in<std::uint64_t>(0), f.rows, f.dtype, c.out(1));
  }
  void run(const ops::Sample& f, const ops::Call& c) const {
    const void* const from[] = {c.in(1), c.in(2)};
    sampler_kernel(f.kind, f.dtype)(c.in<std::uint64_t>(0), f.rows, f.n, from, c.out(3));
  }

  void run(const ops::Fft& f, const ops::Call& c) const {
    kernel_for<FftKernel>(f.real)(f.lines, c.in(0), c.out(1));
  }
  void run(const ops::Convolve& f, const ops::Call& c) const {
    kernel_for<ConvKernel>(f.dtype)(f.part, f.geometry, c.in(0), c.in(1), c.out(2), f.accumulate);
  }
  void run(const ops::Correlate& f, const ops::Call& c) const {
    kernel_for<CorrelateKernel>(f.dtype)(f.line, f.batches, f.x_strides, f.w_strides, c.in(0), c.in(1),
                                         c.out(2));
  }
  void run(const ops::Linear&, const ops::Call& c) const { nax::detail::throw_no_device_form(c.device); }
  void run(const ops::ProductAndSums&, const ops::Call& c) const {
    nax::detail::throw_no_device_form(c.device);
  }
  void run(const ops::StepLeaves&, const ops::Call& c) const { nax::detail::throw_no_device_form(c.device); }
  ops::Verdict run(const ops::Int8Matmul& f, const ops::Call& c) const {
    if (c.in(5) && c.in<void>(5) != f.source) return true;
    const loops::Int8Weights weights{f.weights.k, f.weights.n, c.in<std::int8_t>(1), c.in<float>(2),
                                     c.in<std::int32_t>(3)};
    kernel_for<Int8ProductKernel>(DType::float32)(f.m, c.in<float>(0), weights, c.in<float>(4), f.activation,
                                                  c.out<float>(6));
    return false;
  }
  void run(const ops::BestInWindows& f, const ops::Call& c) const {
    std::int64_t size = f.examples;
    for (const std::int64_t n : f.windows.in) size *= n;
    const LaneRows rows(f.dtype, c.in(0), size);
    kernel_for<WindowKernel>(rows.dtype())(f.windows, f.greatest, f.examples, rows.data(),
                                           c.out<std::int64_t>(1));
  }
  void run(const ops::Factorise& f, const ops::Call& c) const {
    void* results[3] = {};
    for (int i = 0; i < loops::result_count(f.what.kind); ++i) results[i] = c.out(1 + i);
    factor_kernel(f.what.kind, f.dtype)(f.what, c.in(0), results);
  }
  ops::Verdict run(const ops::OrderOfSwaps& f, const ops::Call& c) const {
    bool good = true;
    for (std::int64_t i = 0; i < f.lines; ++i)
      good &=
          loops::order_of_swaps(f.k, f.m, c.in<std::int32_t>(0) + i * f.k, c.out<std::int32_t>(1) + i * f.m);
    return !good;
  }
  void run(const ops::Solve& f, const ops::Call& c) const {
    kernel_for<SystemKernel>(f.dtype)(f.systems, c.in(0), c.in(1), c.out(2));
  }
  void run(const ops::Sylvester& f, const ops::Call& c) const {
    kernel_for<SylvesterKernel>(f.dtype)(f.batch, f.m, f.n, c.in(0), c.in(1), c.in(2), c.out(3));
  }
  ops::Verdict run(const ops::Bincount& f, const ops::Call& c) const {
    if (holds_negative(c.in(0), f.rows * f.n, f.type)) return true;
    const BinRows each{f.rows, f.n, f.length};
    if (const char* const weights = c.in(1))
      kernel_for<BinSumKernel>(f.added)(each, f.type, c.in(0), weights, c.out(2));
    else
      kernel_for<CountKernel>(f.type)(each, c.in(0), c.out<std::int32_t>(2));
    return false;
  }
  void run(const ops::Rows& f, const ops::Call& c) const {
    const char* from[loops::Rows::most_operands];
    char* to[loops::Rows::most_results];
    for (int i = 0; i < loops::Rows::most_operands; ++i) from[i] = c.in(i);
    for (int i = 0; i < loops::Rows::most_results; ++i) to[i] = c.out(loops::Rows::most_operands + i);
    row_kernel(f.what.function, f.dtype)(f.what, from, to);
  }
  void run(const ops::Attend& f, const ops::Call& c) const {
    loops::Attention x = f.placed(c);
    x.out = loops::rows_of(c.out(7), x.queries, x.heads, x.width);
    kernel_for<AttentionKernel>(f.dtype)(x, c.out(8));
  }
  void run(const ops::AttendGradient& f, const ops::Call& c) const {
    loops::AttentionGradient x{f.placed(c), f.g, {}, {}, {}};
    x.attention.out = f.out, x.attention.out.data = c.out(7), x.g.data = c.out(9);
    x.dq = loops::rows_of(c.out(10), f.what.queries, f.what.heads, f.what.width);
    x.dk = loops::rows_of(c.out(11), f.what.keys, f.what.groups, f.what.width);
    x.dv = loops::rows_of(c.out(12), f.what.keys, f.what.groups, f.what.width);
    const std::size_t bytes = static_cast<std::size_t>(f.key_size()) * dtype_size(f.dtype);
    std::memset(x.dk.data, 0, bytes), std::memset(x.dv.data, 0, bytes);  // kernels add to them
    kernel_for<AttentionGradientKernel>(f.dtype)(x, c.in(8));
  }

 private:
  static Operand placed(const Operand& x, const char* at) { return ops::placed(x, at); }
  static const SelectLoop& placed_loop(const SelectLoop& loop, const ops::Call& c, SelectLoop& moved) {
    if (loop.operands[0].data == c.in(0) && loop.operands[1].data == c.in(1) &&
        loop.operands[2].data == c.in(2))
      return loop;
    static const std::int64_t zero = 0;
    moved = loop;
    for (int o = 0; o < 3; ++o) moved.operands[o] = placed(loop.operands[o], c.in(o));
    if (!c.in(2)) moved.operands[2] = placed(loop.operands[2], reinterpret_cast<const char*>(&zero));
    return moved;
  }
  template <class T>
  static bool any_negative(const char* in, std::int64_t n) {
    bool any = false;
    for (std::int64_t i = 0; i < n; ++i) any |= reinterpret_cast<const T*>(in)[i] < 0;
    return any;
  }
  static bool holds_negative(const char* in, std::int64_t n, DType dtype) {
    if (dtype == DType::int8) return any_negative<std::int8_t>(in, n);
    if (dtype == DType::int16) return any_negative<std::int16_t>(in, n);
    if (dtype == DType::int32) return any_negative<std::int32_t>(in, n);
    return dtype == DType::int64 && any_negative<std::int64_t>(in, n);
  }
  static void copy_values(const void* bytes, const void* const* in, void* out, std::int64_t n) {
    std::memcpy(out, in[0], static_cast<std::size_t>(n) * *static_cast<const std::size_t*>(bytes));
  }
  struct Adder {
    const Reducer* sum;
    std::int64_t bytes;
  };
  static void add_values(const void* adder_, const void* const* in, void* out, std::int64_t n) {
    const Adder& adder = *static_cast<const Adder*>(adder_);
    const char *a = static_cast<const char*>(in[0]), *b = static_cast<const char*>(in[1]);
    char* to = static_cast<char*>(out);
    if (a == to) return adder.sum->combine(b, to, 1, n);
    for (std::int64_t i = 0; i < n; i += 1024) {
      const std::int64_t some = std::min<std::int64_t>(1024, n - i), at = i * adder.bytes;
      std::memcpy(to + at, a + at, static_cast<std::size_t>(some * adder.bytes));
      adder.sum->combine(b + at, to + at, 1, some);
    }
  }
  static void join_run(const void* extent, const void* const* in, void* out, std::int64_t n) {
    const std::int64_t* const a = static_cast<const std::int64_t*>(in[0]);
    const std::int64_t* const b = static_cast<const std::int64_t*>(in[1]);
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<std::int64_t*>(out)[i] = a[i] * *static_cast<const std::int64_t*>(extent) + b[i];
  }
};

}  // namespace cpu
namespace backend {

NAX_ENGINE Operations& host_operations() {
  static cpu::HostOperations operations;
  return operations;
}

}  // namespace backend
NAX_END
