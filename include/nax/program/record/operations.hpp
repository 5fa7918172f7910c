#pragma once

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "nax/backend/cpu/convert.hpp"
#include "nax/backend/cpu/elementwise.hpp"
#include "nax/backend/cpu/reducer_slots.hpp"
#include "nax/backend/operations.hpp"
#include "nax/loops/element_bytes.hpp"
#include "nax/loops/index_ranks.hpp"
#include "nax/program/record/product_step.hpp"
#include "nax/program/record/recording.hpp"
#include "nax/program/replay/walks.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/program/reduce/reduce_formula.hpp"
#endif

// Operations that are written down. Each step calls the host's operation of the same name.
NAX_BEGIN
namespace program::detail {

using loops::Lines;
using loops::SelectLoop;
using Elements = loops::Operand;

inline backend::Operations& host() { return backend::host_operations(); }

[[noreturn]] inline void refuse(const char* name) {
  throw nax::detail::NotRecordable(std::string("jit: ") + name + " cannot be recorded");
}

class ProgramOperations final : public backend::AcceleratorOperations {
 public:
  void copy(Device, const Dims& shape, const Elements& from, const Elements& to) override {
    if (from.stored != to.stored && !cpu::converter(from.stored, to.stored)) refuse("a conversion");
    record(
        "copy", {read(from, shape), written(to, shape)},
        [=](void* const* p) { host().copy({}, shape, at(from, p[0]), at(to, p[1])); },
        std::move(Attributes() << from.lane << to.lane));
  }
  void add(Device, const Dims& shape, const Elements& a, const Elements& b, const Elements& to) override {
    record(
        "add", {read(a, shape), read(b, shape), written(to, shape)},
        [=](void* const* p) { host().add({}, shape, at(a, p[0]), at(b, p[1]), at(to, p[2])); }, Attributes());
    counts(product_of(shape));
    const bool one_type = a.stored == b.stored && a.stored == to.stored && a.lane == a.stored &&
                          b.lane == a.stored && to.lane == a.stored;
    if (!one_type) return;
    Step& step = Recorder::current().steps.back();
    step.adds = true;
#if defined(NAX_USES_FORMULAS)
    if (a.stored != DType::float32 && a.stored != DType::float64) return;
    auto map = std::make_shared<MapFormula>();
    map->formula.type = a.stored;
    map->formula.inputs = 2;
    formula::Step first{formula::Operation::input}, second{formula::Operation::input};
    second.detail = 1;
    formula::Step sum{formula::Operation::add};
    sum.arity = 2;
    sum.operand[0] = 0, sum.operand[1] = 1;
    map->formula.steps = {first, second, sum};
    map->formula.results = {2};
    map->inputs = {{0}, {1}};
    map->results = {2};
    step.formula = std::move(map);
#endif
  }

  void gather(Device, const SelectLoop& loop) override { select("gather", loop, false, false); }
  void scatter(Device device, const SelectLoop& loop, bool add) override {
    const Elements &values = loop.operands[0], &data = loop.operands[1];
    if (!loop.operands[2].data && values.stored == data.stored &&
        values.stored != DType::boolean) {  // a slice
      const Elements from{values.data, values.strides, values.stored, values.stored},
          to{data.data, data.strides, data.stored, data.stored};
      return add ? this->add(device, loop.shape, to, from, to) : copy(device, loop.shape, from, to);
    }
    select(add ? "scatter_add" : "scatter", loop, true, add);
    if (add) counts(product_of(loop.shape));
  }
  void join_indices(Device, std::int64_t extent, const Dims& shape, const Elements& a, const Elements& b,
                    const Elements& to) override {
    record(
        "join_indices", {read(a, shape), read(b, shape), written(to, shape)},
        [=](void* const* p) {
          host().join_indices({}, extent, shape, at(a, p[0]), at(b, p[1]), at(to, p[2]));
        },
        std::move(Attributes() << extent));
  }
  void index_offsets(Device, std::int64_t n, const Dims& extents, const Dims& strides,
                     const std::int64_t* from, std::int64_t* to) override {
    line("index_offsets", {row(from, n, DType::int64)}, row(to, n, DType::int64, true), [=](void* const* p) {
      host().index_offsets({}, n, extents, strides, get<std::int64_t>(p[0]), get<std::int64_t>(p[1]));
    });
  }

  void arg_reduce(Device, bool greatest, const Lines& lines, DType dtype, const char* from,
                  std::int32_t* to) override {
    line(greatest ? "argmax" : "argmin", {row(from, size(lines), dtype)},
         row(to, lines.count(), DType::int32, true), [=](void* const* p) {
           host().arg_reduce({}, greatest, lines, dtype, get<char>(p[0]), get<std::int32_t>(p[1]));
         });
  }
  void scan(Device, bool product, const Lines& lines, bool reverse, DType from_type, const char* from,
            DType to_type, char* to) override {
    line(product ? "cumprod" : "cumsum", {row(from, size(lines), from_type)},
         row(to, size(lines), to_type, true), [=](void* const* p) {
           host().scan({}, product, lines, reverse, from_type, get<char>(p[0]), to_type, get<char>(p[1]));
         });
    counts(static_cast<double>(size(lines)));
  }
  void running_best(Device, bool greatest, const Lines& lines, bool reverse, DType dtype, const char* from,
                    std::int64_t* to) override {
    line(greatest ? "cummax" : "cummin", {row(from, size(lines), dtype)},
         row(to, size(lines), DType::int64, true), [=](void* const* p) {
           host().running_best({}, greatest, lines, reverse, dtype, get<char>(p[0]), get<std::int64_t>(p[1]));
         });
  }
  void linear_scan(Device, const Lines& lines, bool reverse, DType dtype, const char* factor,
                   const char* term, char* to) override {
    line("linear_scan", {row(factor, size(lines), dtype), row(term, size(lines), dtype)},
         row(to, size(lines), dtype, true), [=](void* const* p) {
           host().linear_scan({}, lines, reverse, dtype, get<char>(p[0]), get<char>(p[1]), get<char>(p[2]));
         });
    counts(2. * static_cast<double>(size(lines)));
  }
  void argsort(Device, const Lines& lines, DType dtype, bool descending, const char* from,
               std::int32_t* order) override {
    line("argsort", {row(from, size(lines), dtype)}, row(order, size(lines), DType::int32, true),
         [=](void* const* p) {
           host().argsort({}, lines, dtype, descending, get<char>(p[0]), get<std::int32_t>(p[1]));
         });
  }
  void sort(Device, const Lines& lines, DType dtype, bool descending, const char* from, char* to) override {
    line("sort", {row(from, size(lines), dtype)}, row(to, size(lines), dtype, true), [=](void* const* p) {
      host().sort({}, lines, dtype, descending, get<char>(p[0]), get<char>(p[1]));
    });
  }
  void top_k(Device, const Lines& lines, DType dtype, std::int64_t k, const char* from,
             std::int32_t* order) override {
    line(
        "top_k", {row(from, size(lines), dtype)}, row(order, lines.count() * k, DType::int32, true),
        [=](void* const* p) { host().top_k({}, lines, dtype, k, get<char>(p[0]), get<std::int32_t>(p[1])); });
  }
  void partition(Device, const Lines& lines, DType dtype, std::int64_t rank, const char* from,
                 char* to) override {
    line("partition", {row(from, size(lines), dtype)}, row(to, size(lines), dtype, true),
         [=](void* const* p) { host().partition({}, lines, dtype, rank, get<char>(p[0]), get<char>(p[1])); });
  }
  void argpartition(Device, const Lines& lines, DType dtype, std::int64_t rank, const char* from,
                    std::int32_t* order) override {
    line("argpartition", {row(from, size(lines), dtype)}, row(order, size(lines), DType::int32, true),
         [=](void* const* p) {
           host().argpartition({}, lines, dtype, rank, get<char>(p[0]), get<std::int32_t>(p[1]));
         });
  }
  void search(Device, DType dtype, bool right, std::int64_t n, const char* sorted, std::int64_t count,
              const char* sought, std::int32_t* to) override {
    line("search", {row(sorted, n, dtype), row(sought, count, dtype)}, row(to, count, DType::int32, true),
         [=](void* const* p) {
           host().search({}, dtype, right, n, get<char>(p[0]), count, get<char>(p[1]),
                         get<std::int32_t>(p[2]));
         });
  }

  void reduce(Device, loops::ReduceKind kind, const Dims& shape, const Dims& reduced, const Elements& from,
              const Elements& to) override {
    const std::int64_t n = size_of(shape);
    // Directly where a run that no thread would share comes to one number.
    const bool direct = n > 0 && n <= cpu::detail::parallel_grain &&
                        nax::detail::lane_of(from.stored) == from.stored && is_run(from.strides, shape) &&
                        is_repeated(to.strides, shape);
    record(
        loops::name_of(kind), {read(from, shape), written(to, shape)},
        [=](void* const* p) {
          if (!direct) return host().reduce({}, kind, shape, reduced, at(from, p[0]), at(to, p[1]));
          const cpu::Reducer& reducer = cpu::reducer_for(kind, from.stored, to.stored);
          reducer.fill(p[1], 1);
          reducer.combine(p[0], p[1], 0, n);
        },
        std::move(Attributes() << kind << reduced << from.lane << to.lane));
    counts(product_of(shape));
#if defined(NAX_USES_FORMULAS)
    if (from.stored != from.lane || !reduces_by_formula(kind, from.stored, to.stored)) return;
    auto map = std::make_shared<MapFormula>();
    map->formula.type = from.stored;
    map->formula.inputs = 1;
    map->formula.steps.push_back({formula::Operation::input});
    map->formula.results = {0};
    map->inputs = {{0}};
    map->reduced = {{1, kind}};
    Recorder::current().steps.back().formula = std::move(map);
#endif
  }
  void matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
              const backend::Matrix& a, const backend::Matrix& b, const backend::Matrix& c,
              bool accumulate) override {
    const backend::BatchAxis axis{batch, a.batch, b.batch, c.batch, false};
    contract(device, dtype, {m, n, k, a.row, a.column, b.row, b.column, c.row, c.column}, &axis,
             batch == 1 ? 0 : 1, a.data, b.data, c.data, accumulate);
  }
  void contract(Device, DType dtype, const backend::Product& product, const backend::BatchAxis* axes,
                int count, char* a, char* b, char* c, bool accumulate) override {
    if (accumulate) refuse("a product added to what is there");
    Recorder& recorder = Recorder::current();
    recorder.add(product_step({dtype, product, {axes, axes + count}}, recorder.place(a), recorder.place(b),
                              recorder.place(c)));
  }

  std::optional<bool> wrap_indices(Device, backend::IndexMode mode, std::int64_t extent, const Dims& shape,
                                   const Elements& from, const Elements& to) override {
    record(
        "indices", {read(from, shape), written(to, shape)},
        [=](void* const* p) {  // what the function says of an index out of range, it says when called itself
          if (host().wrap_indices({}, mode, extent, shape, at(from, p[0]), at(to, p[1])).value())
            throw Unforeseen();
        },
        std::move(Attributes() << mode << extent));
    Recorder::current().steps.back().unforeseen = true;
    return std::nullopt;
  }
  void index_ranks(Device, std::int64_t lines, std::int64_t n, bool after, const std::int64_t* index,
                   std::int64_t* ranks) override {
    line("index_ranks", {row(index, lines * n, DType::int64)}, row(ranks, lines * n, DType::int64, true),
         [=](void* const* p) {
           loops::rank_indices(lines, n, after, get<std::int64_t>(p[0]), get<std::int64_t>(p[1]));
         });
  }
  void keep_ranked(Device, std::int64_t n, const std::int64_t* ranks, std::int64_t rank,
                   const std::int64_t* from, std::int64_t* to) override {
    line("keep_ranked", {row(ranks, n, DType::int64), row(from, n, DType::int64)},
         row(to, n, DType::int64, true), [=](void* const* p) {
           loops::keep_ranked(n, get<std::int64_t>(p[0]), rank, get<std::int64_t>(p[1]),
                              get<std::int64_t>(p[2]));
         });
  }
  void true_positions(Device, std::int64_t, const bool*, const backend::Room&) override {
    refuse("a result whose shape depends on elements");
  }
  void one_hot(Device, const Lines& lines, DType label, const char* labels, DType dtype, char* to) override {
    line("one_hot", {row(labels, lines.count(), label)}, row(to, size(lines), dtype, true),
         [=](void* const* p) { host().one_hot({}, lines, label, get<char>(p[0]), dtype, get<char>(p[1])); });
  }

  bool has(backend::Part) const override { return true; }
  void fft(Device, const loops::FftLines& lines, DType real, const char* from, char* to) override {
    const DType complex = real == DType::float64 ? DType::complex128 : DType::complex64;
    const bool of_real = lines.kind == loops::FftKind::to_complex,
               to_real = lines.kind == loops::FftKind::to_real;
    Row in{from, of_real ? real : complex, false, lines.others, lines.from}, out = in;
    out.at = to, out.dtype = to_real ? real : complex, out.strides = lines.to;
    in.shape.push_back(to_real ? lines.n / 2 + 1 : lines.n), in.strides.push_back(lines.from_axis);
    out.shape.push_back(of_real ? lines.n / 2 + 1 : lines.n), out.strides.push_back(lines.to_axis);
    line("fft", {in}, out,
         [=](void* const* p) { host().fft({}, lines, real, get<char>(p[0]), get<char>(p[1])); });
    const double n = static_cast<double>(lines.n);
    counts((of_real || to_real ? 2.5 : 5.) * n * std::log2(n) * product_of(lines.others));
  }
  void convolve(Device, loops::ConvPart part, const loops::ConvGeometry& g, DType dtype, const char* a,
                const char* b, char* to, bool accumulate) override {
    const std::int64_t x = g.n * g.in[0] * g.in[1] * g.in[2] * g.c, y = g.rows() * g.o,
                       w = g.taps() * (g.c / g.groups) * g.o;
    using enum loops::ConvPart;
    line("convolve", {row(a, part == input ? y : x, dtype), row(b, part == weights ? y : w, dtype)},
         row(to,
             part == forward ? y
             : part == input ? x
                             : w,
             dtype, true),
         [=](void* const* p) {
           host().convolve({}, part, g, dtype, get<char>(p[0]), get<char>(p[1]), get<char>(p[2]), accumulate);
         });
    counts(2. * static_cast<double>(y) * static_cast<double>(g.taps() * (g.c / g.groups)));
  }
  void best_in_windows(Device, const loops::Windows& windows, bool greatest, std::int64_t examples,
                       DType dtype, const char* from, std::int64_t* to) override {
    std::int64_t elements = examples, count = examples;
    for (const std::int64_t n : windows.in) elements *= n;
    for (const std::int64_t n : windows.out) count *= n;
    line(greatest ? "greatest_in_windows" : "least_in_windows", {row(from, elements, dtype)},
         row(to, count, DType::int64, true), [=](void* const* p) {
           host().best_in_windows({}, windows, greatest, examples, dtype, get<char>(p[0]),
                                  get<std::int64_t>(p[1]));
         });
  }
  void divided_sum(Device, const Dims&, const Dims&, const loops::Operand&, const loops::Operand&,
                   double) override {
    refuse("a divided sum");  // numpy/reductions/sum-inl.hpp does not ask programs
  }
  void step_leaves(Device, DType, const loops::StepNumbers&, const loops::LeafStep*, int) override {
    refuse("a step of all leaves at once");  // expr/evaluation/leaf_steps.hpp does not ask programs
  }
  void factorise(Device, const loops::Factoring& what, DType dtype, const char* from,
                 void* const* to) override {
    std::vector<Row> rows;
    int wanted[3] = {};
    const int count = loops::result_count(what.kind);
    for (int i = 0; i < count; ++i)
      if (to[i]) {
        wanted[i] = 1 + static_cast<int>(rows.size());
        rows.push_back(
            row(to[i], what.batch * loops::result_size(what, i), loops::result_dtype(what, i, dtype), true));
      }
    rows.insert(rows.begin(), row(from, what.batch * what.m * what.n, dtype));
    step(loops::name_of(what.kind), rows, [=](void* const* p) {
      void* results[3] = {};
      for (int i = 0; i < count; ++i) results[i] = wanted[i] ? p[wanted[i]] : nullptr;
      host().factorise({}, what, dtype, get<char>(p[0]), results);
    });
  }
  void rows(Device, const loops::Rows& what, DType dtype, const char* const* from, char* const* to) override {
    using loops::Rows;
    std::vector<Row> all;
    int operands[Rows::most_operands] = {}, results[Rows::most_results] = {};  // counted from 1
    for (int i = 0; i < Rows::most_operands; ++i)
      if (from[i]) {
        all.push_back(row(from[i], what.operand_size(i), dtype));
        operands[i] = static_cast<int>(all.size());
      }
    for (int i = 0; i < Rows::most_results; ++i)
      if (to[i]) {
        all.push_back(row(to[i], what.result_size(i), dtype, true));
        results[i] = static_cast<int>(all.size());
      }
    step(loops::name_of(what.function), all, [=](void* const* p) {
      const char* in[Rows::most_operands] = {};
      char* out[Rows::most_results] = {};
      for (int i = 0; i < Rows::most_operands; ++i)
        if (operands[i]) in[i] = get<char>(p[operands[i] - 1]);
      for (int i = 0; i < Rows::most_results; ++i)
        if (results[i]) out[i] = get<char>(p[results[i] - 1]);
      host().rows({}, what, dtype, in, out);
    });
  }
  void shuffle(Device, const Lines& lines, std::int64_t kept, const std::uint64_t* keys, std::int64_t rows,
               DType dtype, char* to) override {
    line("shuffle", {row(keys, rows, DType::uint64)}, row(to, rows * lines.count() * kept, dtype, true),
         [=](void* const* p) {
           host().shuffle({}, lines, kept, get<std::uint64_t>(p[0]), rows, dtype, get<char>(p[1]));
         });
  }
  void sample(Device, nax::detail::Sampler kind, const std::uint64_t* keys, std::int64_t rows_,
              std::int64_t n, DType dtype, const char* const* parameters, char* out) override {
    std::vector<Row> rows = {row(keys, rows_, DType::uint64)};
    const int count = parameter_count(kind);
    const DType from = kind == nax::detail::Sampler::poisson ? DType::float32 : dtype;
    for (int i = 0; i < count; ++i) rows.push_back(row(parameters[i], rows_ * n, from));
    rows.push_back(row(out, rows_ * n, dtype, true));
    step(name_of(kind), rows, [=](void* const* p) {
      const char* const own[] = {get<char>(p[1]), get<char>(p[2])};
      host().sample({}, kind, get<std::uint64_t>(p[0]), rows_, n, dtype, own, get<char>(p[1 + count]));
    });
  }
  // Negative numbers are refused by the function itself.
  void count_bins(Device, std::int64_t rows_, std::int64_t n, DType type, const char* bins, DType added,
                  const char* weights, std::int64_t length, char* to) override {
    std::vector<Row> rows = {row(bins, rows_ * n, type)};
    if (weights) rows.push_back(row(weights, rows_ * n, added));
    const DType sum = weights ? nax::detail::lane_of(added) : DType::int32;
    rows.push_back(row(to, rows_ * length, sum, true));
    step("bincount", rows, [=, sums = weights != nullptr](void* const* p) {
      if (holds_negative(get<char>(p[0]), rows_ * n, type)) throw Unforeseen();
      host().count_bins({}, rows_, n, type, get<char>(p[0]), added, sums ? get<char>(p[1]) : nullptr, length,
                        get<char>(p[sums ? 2 : 1]));
    });
    Recorder::current().steps.back().unforeseen = true;
  }
  std::optional<bool> order_of_swaps(Device, std::int64_t lines, std::int64_t k, std::int64_t m,
                                     const std::int32_t* swaps, std::int32_t* to) override {
    step("order_of_swaps", {row(swaps, lines * k, DType::int32), row(to, lines * m, DType::int32, true)},
         [=](void* const* p) {
           if (host()
                   .order_of_swaps({}, lines, k, m, get<std::int32_t>(p[0]), get<std::int32_t>(p[1]))
                   .value())
             throw Unforeseen();
         });
    Recorder::current().steps.back().unforeseen = true;
    return std::nullopt;
  }
  void solve(Device, const loops::LinearSystems& systems, DType dtype, const char* a, const char* b,
             char* x) override {
    const auto given = [&](const char* data, const loops::StridedMatrices& by, std::int64_t columns) {
      Row r{data, dtype, false, systems.batches, by.batch};
      r.shape.push_back(systems.n), r.shape.push_back(columns);
      r.strides.push_back(by.row), r.strides.push_back(by.column);
      return r;
    };
    std::vector<Row> rows = {given(a, systems.a, systems.n)};
    if (b) rows.push_back(given(b, systems.b, systems.m));
    rows.push_back(row(x, systems.count() * systems.n * systems.m, dtype, true));
    step(b ? "solve" : "inv", rows, [=, inverts = !b](void* const* p) {
      host().solve({}, systems, dtype, get<char>(p[0]), inverts ? nullptr : get<char>(p[1]),
                   get<char>(p[inverts ? 1 : 2]));
    });
  }
  void draw(Device, const nax::detail::Draw& form, const backend::Keys& keys, std::int64_t n, DType dtype,
            std::int64_t size, char* out) override {
    line("draw", {row(keys.many, keys.many ? size / n : 0, DType::uint64)}, row(out, size, dtype, true),
         [=](void* const* p) {
           host().draw({}, form, {keys.many ? get<std::uint64_t>(p[0]) : nullptr, keys.one}, n, dtype, size,
                       get<char>(p[1]));
         });
  }
  void fold_in(Device, std::int64_t n, const std::uint64_t* keys, const std::uint32_t* numbers,
               std::uint64_t* to) override {
    line("fold_in", {row(keys, n, DType::uint64), row(numbers, n, DType::uint32)},
         row(to, n, DType::uint64, true), [=](void* const* p) {
           host().fold_in({}, n, get<std::uint64_t>(p[0]), get<std::uint32_t>(p[1]),
                          get<std::uint64_t>(p[2]));
         });
  }

 private:
  static double product_of(const Dims& extents) {
    double n = 1;
    for (const std::int64_t extent : extents) n *= static_cast<double>(extent);
    return n;
  }
  // Of the step that was added last.
  static void counts(double flops) { Recorder::current().steps.back().flops = flops; }
  template <class T>
  static T* get(void* at) {
    return static_cast<T*>(at);
  }
  struct Row {
    const void* at;
    DType dtype;
    bool written;
    Dims shape, strides;
  };
  static Row row(const void* at, std::int64_t n, DType dtype, bool written = false) {
    return {at, dtype, written, Dims(1, n), Dims(1, 1)};
  }
  static std::int64_t size(const Lines& lines) { return lines.count() * lines.n; }
  template <class F>
  static void line(const char* name, std::initializer_list<Row> from, const Row& to, F run) {
    std::vector<Row> rows(from);
    rows.push_back(to);
    rows.back().written = true;
    step(name, rows, std::move(run));
  }
  template <class F>
  static void step(const char* name, const std::vector<Row>& rows, F run) {
    Recorder& recorder = Recorder::current();
    Step step;
    step.name = name;
    for (const Row& r : rows)
      step.operands.push_back({recorder.place(r.at), r.written, r.dtype, r.shape, r.strides});
    step.work = std::make_shared<const Closure<F>>(std::move(run));
    recorder.add(std::move(step));
  }
  static bool holds_negative(const char* in, std::int64_t n, DType dtype) {
    if (dtype != DType::int8 && dtype != DType::int16 && dtype != DType::int32 && dtype != DType::int64)
      return false;
    for (std::int64_t i = 0; i < n; ++i)
      if (loops::integer_at(in, i, dtype) < 0) return true;
    return false;
  }
  static void select(const char* name, const SelectLoop& loop, bool scatters, bool add) {
    static const std::int64_t zero = 0;
    const bool indexed = loop.operands[2].data != nullptr;
    const loops::Operand indices =
        indexed ? loop.operands[2] : at(loop.operands[2], const_cast<std::int64_t*>(&zero));
    const Elements &values = loop.operands[0], &data = loop.operands[1];
    Dims shape = loop.extents, strides = loop.strides;
    shape.append(loop.shape.begin(), loop.shape.end());
    strides.append(data.strides.begin(), data.strides.end());
    record(name,
           {{values.data, !scatters, values.stored, loop.shape, values.strides},
            {data.data, scatters, data.stored, shape, strides, static_cast<int>(loop.extents.size())},
            read(indices, loop.shape)},
           [=](void* const* p) {
             SelectLoop own = loop;
             for (int o = 0; o < 3; ++o) own.operands[o].data = static_cast<char*>(p[o]);
             if (scatters)
               host().scatter({}, own, add);
             else
               host().gather({}, own);
           });
  }
};

}  // namespace program::detail
NAX_END
