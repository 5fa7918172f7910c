#pragma once

#include "nax/backend/cpu/accumulate.hpp"
#include "nax/backend/cpu/bin_slots.hpp"
#include "nax/backend/cpu/conv.hpp"
#include "nax/backend/cpu/draw_kernels.hpp"
#include "nax/backend/cpu/elementwise.hpp"
#include "nax/backend/cpu/factor_slots.hpp"
#include "nax/backend/cpu/fft.hpp"
#include "nax/backend/cpu/gather.hpp"
#include "nax/backend/cpu/indices.hpp"
#include "nax/backend/cpu/line_kernels.hpp"
#include "nax/backend/cpu/product_kernel.hpp"
#include "nax/backend/cpu/reduce.hpp"
#include "nax/backend/cpu/reducer_slots.hpp"
#include "nax/backend/cpu/row_slots.hpp"
#include "nax/backend/cpu/samplers.hpp"
#include "nax/backend/cpu/shuffle.hpp"
#include "nax/backend/cpu/system_slots.hpp"
#include "nax/backend/cpu/transpose.hpp"
#include "nax/backend/cpu/windows.hpp"
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
  bool has(backend::Part) const override { return true; }

  void copy(Device, const Dims& shape, const Operand& from, const Operand& to) override {
    if (from.stored == to.stored)
      return strided_copy(dtype_size(to.stored), static_cast<int>(shape.size()), shape.data(), to.data,
                          to.strides.data(), from.data, from.strides.data());
    converter_between(from.stored, to.stored);  // or throws
    Operand operands[2] = {from, to};
    operands[0].lane = operands[1].lane = to.stored;  // reading converts
    const std::size_t bytes = dtype_size(to.stored);
    map(copy_values, &bytes, shape, operands, 1);
  }
  void add(Device, const Dims& shape, const Operand& a, const Operand& b, const Operand& to) override {
    const DType lane = nax::detail::lane_of(to.stored);
    Operand operands[3] = {a, b, to};
    for (Operand& o : operands) o.lane = lane;
    const Adder adder{sum_reducer(lane), static_cast<std::int64_t>(dtype_size(lane))};
    map(add_values, &adder, shape, operands, 2);
  }

  void reduce(Device, loops::ReduceKind kind, const Dims& shape, const Dims& reduced, const Operand& from,
              const Operand& to) override {
    const Reducer& reducer = reducer_for(kind, nax::detail::lane_of(from.stored), to.stored);
    std::int64_t size = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (!reduced[axis]) size *= shape[axis];
    Operand operands[2] = {from, to};
    operands[0].lane = reducer.from;
    cpu::reduce(nullptr, nullptr, shape, operands, 1, size, reducer);
  }

  void matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
              const backend::Matrix& a, const backend::Matrix& b, const backend::Matrix& c,
              bool accumulate) override {
    const loops::BatchAxis axis{batch, a.batch, b.batch, c.batch, false};
    contract(device, dtype, {m, n, k, a.row, a.column, b.row, b.column, c.row, c.column}, &axis, 1, a.data,
             b.data, c.data, accumulate);
  }
  void contract(Device, DType dtype, const loops::Product& p, const loops::BatchAxis* axes, int count,
                char* a, char* b, char* c, bool accumulate) override {
    kernel_for<MatmulKernel>(dtype)(p, axes, count, a, b, c, accumulate);
  }

  void gather(Device, const SelectLoop& loop) override {
    cpu::gather(loop, dtype_size(loop.operands[0].stored));
  }
  void scatter(Device, const SelectLoop& loop, bool add) override {
    const DType from = loop.operands[0].stored, to = loop.operands[1].stored;
    cpu::scatter(loop, add ? adder(to, from) : detail::setter(dtype_size(to)));
  }
  std::optional<bool> wrap_indices(Device, backend::IndexMode mode, std::int64_t extent, const Dims& shape,
                                   const Operand& from, const Operand& to) override {
    return cpu::wrap_indices(mode, extent, shape, from, to);
  }
  void join_indices(Device, std::int64_t extent, const Dims& shape, const Operand& a, const Operand& b,
                    const Operand& to) override {
    Operand operands[3] = {a, b, to};
    map(join_run, &extent, shape, operands, 2);
  }
  void index_offsets(Device, std::int64_t n, const Dims& extents, const Dims& strides,
                     const std::int64_t* from, std::int64_t* to) override {
    parallel_for(n, std::int64_t{1} << 15, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        to[i] = from[i] == dropped_index ? from[i] : nax::detail::offset_at(from[i], extents, strides);
    });
  }
  void index_ranks(Device, std::int64_t lines, std::int64_t n, bool after, const std::int64_t* index,
                   std::int64_t* ranks) override {
    loops::rank_indices(lines, n, after, index, ranks);
  }
  void keep_ranked(Device, std::int64_t n, const std::int64_t* ranks, std::int64_t rank,
                   const std::int64_t* from, std::int64_t* to) override {
    loops::keep_ranked(n, ranks, rank, from, to);
  }
  void true_positions(Device, std::int64_t n, const bool* mask, const backend::Room& room) override {
    cpu::true_positions(n, mask, room);
  }
  void one_hot(Device, const Lines& lines, DType label, const char* labels, DType dtype, char* to) override {
    cpu::one_hot(lines, label, labels, dtype, to);
  }

  void arg_reduce(Device, bool greatest, const Lines& lines, DType dtype, const char* from,
                  std::int32_t* to) override {
    const LaneRows rows(dtype, from, lines.count() * lines.n);
    kernel_for<ArgReduceKernel>(rows.dtype())(lines, greatest, rows.data(), to);
  }
  void scan(Device, bool product, const Lines& lines, bool reverse, DType from_type, const char* from,
            DType to_type, char* to) override {
    const auto kernel = kernel_for<ScanKernel>(to_type);
    if (from_type == to_type) return kernel(lines, product, reverse, from, to);
    const std::int64_t size = lines.count() * lines.n;
    const Scratch<char> terms(size * static_cast<std::int64_t>(dtype_size(to_type)));
    converter_between(from_type, to_type)(from, 1, terms.data(), 1, size);
    kernel(lines, product, reverse, terms.data(), to);
  }
  void running_best(Device, bool greatest, const Lines& lines, bool reverse, DType dtype, const char* from,
                    std::int64_t* to) override {
    const LaneRows rows(dtype, from, lines.count() * lines.n);
    kernel_for<RunningBestKernel>(rows.dtype())(lines, greatest, reverse, rows.data(), to);
  }
  void linear_scan(Device, const Lines& lines, bool reverse, DType dtype, const char* factor,
                   const char* term, char* to) override {
    const LaneRows terms(dtype, term, lines.count() * lines.n);
    map_lanes(dtype, factor, to, lines.count() * lines.n, [&](const LaneRows& factors, char* out) {
      kernel_for<LinearScanKernel>(factors.dtype())(lines, reverse, factors.data(), terms.data(), out);
    });
  }
  void argsort(Device, const Lines& lines, DType dtype, bool descending, const char* from,
               std::int32_t* order) override {
    const LaneRows rows(dtype, from, lines.count() * lines.n);
    kernel_for<ArgsortKernel>(rows.dtype())(lines, descending, rows.data(), order);
  }
  void sort(Device, const Lines& lines, DType dtype, bool descending, const char* from, char* to) override {
    map_lanes(dtype, from, to, lines.count() * lines.n, [&](const LaneRows& rows, char* out) {
      kernel_for<SortKernel>(rows.dtype())(lines, descending, rows.data(), out);
    });
  }
  void top_k(Device, const Lines& lines, DType dtype, std::int64_t k, const char* from,
             std::int32_t* order) override {
    const LaneRows rows(dtype, from, lines.count() * lines.n);
    kernel_for<TopKKernel>(rows.dtype())(lines, k, rows.data(), order);
  }
  void partition(Device, const Lines& lines, DType dtype, std::int64_t rank, const char* from,
                 char* to) override {
    map_lanes(dtype, from, to, lines.count() * lines.n, [&](const LaneRows& rows, char* out) {
      kernel_for<PartitionKernel>(rows.dtype())(lines, rank, rows.data(), out);
    });
  }
  void argpartition(Device, const Lines& lines, DType dtype, std::int64_t rank, const char* from,
                    std::int32_t* order) override {
    const LaneRows rows(dtype, from, lines.count() * lines.n);
    kernel_for<ArgpartitionKernel>(rows.dtype())(lines, rank, rows.data(), order);
  }
  void search(Device, DType dtype, bool right, std::int64_t n, const char* sorted, std::int64_t count,
              const char* sought, std::int32_t* to) override {
    const LaneRows from(dtype, sorted, n), values(dtype, sought, count);
    kernel_for<SearchKernel>(from.dtype())(right, n, from.data(), count, values.data(), to);
  }

  void draw(Device, const Draw& form, const backend::Keys& keys, std::int64_t n, DType dtype,
            std::int64_t size, char* out) override {
    DrawFunction* const fill = draw_kernel(form.kind, dtype);
    const auto bytes = static_cast<std::int64_t>(dtype_size(dtype));
    parallel_for(size, std::int64_t{1} << 13, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t row = begin / n, first = begin - row * n, count = std::min(n - first, end - begin);
        fill(form, keys.many ? keys.many[row] : keys.one, static_cast<std::uint64_t>(first), count,
             out + begin * bytes);
        begin += count;
      }
    });
  }
  void fold_in(Device, std::int64_t n, const std::uint64_t* keys, const std::uint32_t* numbers,
               std::uint64_t* to) override {
    for (std::int64_t i = 0; i < n; ++i) to[i] = word_pair(threefry(keys[i], numbers[i]));
  }

  void fft(Device, const FftLines& lines, DType real, const char* from, char* to) override {
    kernel_for<FftKernel>(real)(lines, from, to);
  }
  void convolve(Device, ConvPart part, const ConvGeometry& geometry, DType dtype, const char* a,
                const char* b, char* to, bool accumulate) override {
    kernel_for<ConvKernel>(dtype)(part, geometry, a, b, to, accumulate);
  }
  void best_in_windows(Device, const loops::Windows& windows, bool greatest, std::int64_t examples,
                       DType dtype, const char* from, std::int64_t* to) override {
    std::int64_t size = examples;
    for (const std::int64_t n : windows.in) size *= n;
    const LaneRows rows(dtype, from, size);
    kernel_for<WindowKernel>(rows.dtype())(windows, greatest, examples, rows.data(), to);
  }
  void factorise(Device, const Factoring& what, DType dtype, const char* from, void* const* to) override {
    factor_kernel(what.kind, dtype)(what, from, to);
  }
  std::optional<bool> order_of_swaps(Device, std::int64_t lines, std::int64_t k, std::int64_t m,
                                     const std::int32_t* swaps, std::int32_t* rows) override {
    bool good = true;
    for (std::int64_t i = 0; i < lines; ++i) good &= loops::order_of_swaps(k, m, swaps + i * k, rows + i * m);
    return !good;
  }
  void solve(Device, const loops::LinearSystems& systems, DType dtype, const char* a, const char* b,
             char* x) override {
    kernel_for<SystemKernel>(dtype)(systems, a, b, x);
  }
  void rows(Device, const loops::Rows& what, DType dtype, const char* const* from, char* const* to) override {
    row_kernel(what.function, dtype)(what, from, to);
  }
  void shuffle(Device, const Lines& lines, std::int64_t kept, const std::uint64_t* keys, std::int64_t rows,
               DType dtype, char* to) override {
    cpu::shuffle(lines, kept, keys, rows, dtype, to);
  }
  void sample(Device, Sampler kind, const std::uint64_t* keys, std::int64_t rows, std::int64_t n, DType dtype,
              const char* const* parameters, char* out) override {
    const void* const from[] = {parameters[0], parameter_count(kind) > 1 ? parameters[1] : nullptr};
    sampler_kernel(kind, dtype)(keys, rows, n, from, out);
  }
  void count_bins(Device, std::int64_t rows, std::int64_t n, DType type, const char* bins, DType added,
                  const char* weights, std::int64_t length, char* to) override {
    const BinRows each{rows, n, length};
    if (weights)
      kernel_for<BinSumKernel>(added)(each, type, bins, weights, to);
    else
      kernel_for<CountKernel>(type)(each, bins, reinterpret_cast<std::int32_t*>(to));
  }

 private:
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
