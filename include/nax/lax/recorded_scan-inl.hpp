#pragma once

#include "nax/lax/recorded_products-inl.hpp"

NAX_BEGIN
namespace detail {

// A scan's body while it is recorded, and its derivative.
class ScanBody {
 public:
  ScanBody(const LoopArrays& carry, const LoopArrays& xs)
      : carry_(carry), xs_(xs), tape_(recording.tape), nodes_(tape_) {
    for (const ArrayBase& c : carry) add_input(c.dtype(), layout_of(c), true);
    for (const ArrayBase& x : xs) add_input(x.dtype(), row_of(x), is_recorded(x));
    begin_ = tape_ ? tape_->size() : 0;
  }
  void call(LoopBody f) {
    LoopArrays own = inputs_;
    outputs = f(own);
  }
  void finish_values() {
    for (std::size_t i = 0; i < outputs.size(); ++i) results.push_back(body.result(outputs[i], frame_of(i)));
  }
  // True if something is watched.
  bool differentiate(ScanDerivative& d);

  program::BodyRecording body;
  LoopArrays outputs;
  std::vector<int> input_slots, results;
  // Arguments of the derivative and its results: of the carries and the sums, of ys, of xs.
  std::vector<int> carried_in, carried_out, of_ys, of_xs;
  std::size_t first_sum = 0;  // of the carries

 private:
  void add_input(DType dtype, const Frame& frame, bool watched) {
    inputs_.push_back(body.argument(dtype, frame));
    input_slots.push_back(body.slot_of(inputs_.back()));
    if (tape_ && watched && is_inexact(dtype))
      ArrayAccess::serial(inputs_.back()) =
          tape_->emplace<LeafNode>(std::uint64_t{0}, frame.levels, frame.levels);
  }
  // Carries go over the frames that they begin with.
  const Frame& frame_of(std::size_t output) const {
    return layout_of(output < carry_.size() ? carry_[output] : outputs[output]);
  }
  std::size_t place_of(const ArrayBase& a) const {
    return serial_of(a) ? tape_->find(serial_of(a)) : Tape::npos;
  }
  int cotangent_of(const ArrayBase& input, Reverse& sweep) {
    const ArrayBase* const g = sweep.find(serial_of(input));
    const Frame& frame = layout_of(input);
    if (!g) return body.result(zeros_over(input.dtype(), frame, program::device), frame);
    check_levels(*g, frame);
    return body.result(as_dtype(*g, input.dtype()), frame);
  }
  // Adds up the cotangents of an array from outside.
  void sum(const ArrayBase& g) {
    const Frame frame = layout_of(g);
    const ArrayBase before = body.argument(g.dtype(), frame);
    const ArrayBase after = allocate(g.dtype(), frame, program::device);
    const auto operand = [&](const ArrayBase& a) {
      return loops::Operand{device_data(a), strides_over(layout_of(a), frame), a.dtype(), a.dtype()};
    };
    if (frame.size() > 0)
      backend::run(program::device, ops::Add{frame.shape, operand(before), operand(g), operand(after)});
    carried_in.push_back(body.slot_of(before));
    carried_out.push_back(body.result(after, frame));
  }

  const LoopArrays &carry_, &xs_;
  Tape* const tape_;
  BodyNodes nodes_;
  LoopArrays inputs_;
  std::size_t begin_;
};

inline bool ScanBody::differentiate(ScanDerivative& d) {
  if (!tape_) return false;
  body.begin_derivative();
  const RecordOn off(nullptr);
  const Sweeping sweeping;
  Reverse sweep(*tape_, 0, false);
  int number = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ArrayBase& out = outputs[i];
    if (!is_inexact(out.dtype())) continue;
    const bool carried = i < carry_.size();
    const ArrayBase g = body.argument(out.dtype(), frame_of(i));
    (carried ? carried_in : of_ys).push_back(body.slot_of(g));
    (carried ? d.carries : d.ys).push_back({out.dtype(), frame_of(i), Tape::npos, number++});
    if (place_of(out) != Tape::npos)
      sweep.add(serial_of(out), sum_levels(g, frame_of(i).levels, layout_of(out).levels));
  }
  sweep.run(begin_);
  bool watched = false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ArrayBase& in = inputs_[i];
    if (!is_inexact(in.dtype())) continue;
    const bool carried = i < carry_.size();
    const std::size_t place = place_of(carried ? carry_[i] : xs_[i - carry_.size()]);
    watched = watched || place != Tape::npos;
    if (carried) {
      carried_out.push_back(cotangent_of(in, sweep));
      d.carries[at++].place = place;
    } else if (place != Tape::npos) {
      of_xs.push_back(cotangent_of(in, sweep));
      d.xs.push_back({in.dtype(), layout_of(in), place, -1});
    }
  }
  first_sum = d.carries.size();
  for (std::size_t node = 0; node < nodes_.mark(); ++node)
    if (const ArrayBase* const found = sweep.at(node)) {
      const ArrayBase g = *found;
      sum(g);
      d.carries.push_back({g.dtype(), layout_of(g), node, -1});
      watched = true;
    }
  return watched;
}

NAX_ENGINE RecordedScan record_scan(LoopBody f, LoopArrays carry, const LoopArrays& xs, std::int64_t n,
                                    bool reverse) {
  RecordedScan scan;
  auto derivative = std::make_unique<ScanDerivative>();
  std::optional<ScanBody> recorded;
  for (std::vector<Frame> frames;; widen(carry, frames)) {
    recorded.emplace(carry, xs);
    recorded->call(f);
    frames = wider_frames(carry, recorded->outputs);
    if (frames.empty()) break;
    recorded.reset();
  }
  ScanBody& own = *recorded;
  own.finish_values();
  const bool watched = own.differentiate(*derivative);
  own.body.end(program::Turns::one_or_more);

  const auto bytes_of = [](DType dtype, const Frame& frame) {
    return frame.size() * static_cast<std::int64_t>(dtype_size(dtype));
  };
  const LoopArrays rows = all_rows(xs, n);
  const std::vector<int> row_slots(own.input_slots.begin() + static_cast<std::ptrdiff_t>(carry.size()),
                                   own.input_slots.end());
  const std::vector<RowProduct> products = products_of_rows(own.body, row_slots, rows, n);
  auto work = std::make_shared<program::LoopWork>();
  work->turns = n;
  work->reverse = reverse;
  program::Operands operands;
  std::vector<int> results = own.results;
  // Where each slot lies that the derivative reads: rows in the order of the rows of xs.
  std::vector<int> sources;
  const auto add_source = [&](int slot, ScanDerivative::Source source) {
    sources.push_back(slot);
    derivative->sources.push_back(std::move(source));
  };
  const auto known = [&](int slot) {
    return std::find(sources.begin(), sources.end(), slot) != sources.end();
  };
  const std::vector<int> shared = watched ? own.body.shared() : std::vector<int>();
  const auto is_shared = [&](int slot) {
    return std::find(shared.begin(), shared.end(), slot) != shared.end();
  };

  for (std::size_t c = 0; c < carry.size(); ++c) {
    const ArrayBase from = run_over(carry[c], layout_of(carry[c]));
    scan.carry.push_back(allocate(from.dtype(), layout_of(from), program::device));
    const std::int64_t bytes = bytes_of(from.dtype(), layout_of(from)), step = padded(bytes);
    const int in = own.input_slots[c], out = own.results[c];
    const bool before = watched && own.body.uses(1, in), after = is_shared(out);
    program::Carried one{operands.read(from), operands.write(scan.carry.back()), 0, bytes};
    if (before || after) one.step = step;
    one.other = operands.write_bytes(static_cast<std::size_t>(one.step ? (n + 1) * step : bytes));
    work->carries.push_back(one);
    // Turn i of n comes at place i, or n - 1 - i, of the history.
    const std::int64_t first = reverse ? (n - 1) * step : 0, by = reverse ? -step : step;
    if (before) add_source(in, {ArrayAccess::unset(), operands.slot(one.other), first, by});
    if (after) add_source(out, {ArrayAccess::unset(), operands.slot(one.other), first + step, by});
  }
  const auto add_rows = [&](int slot, const ArrayBase& x, std::int64_t step) {
    work->in.push_back({operands.read(x), 0, step});
    if (watched && own.body.uses(1, slot)) add_source(slot, {x, -1, 0, step});
  };
  for (std::size_t k = 0; k < xs.size(); ++k)
    add_rows(row_slots[k], rows[k], bytes_of(rows[k].dtype(), row_of(xs[k])));
  for (const RowProduct& p : products) {
    add_rows(p.slot, p.rows, static_cast<std::int64_t>(own.body.bytes(p.slot)));
    own.input_slots.push_back(p.slot);
  }
  for (std::size_t k = carry.size(); k < own.outputs.size(); ++k) {
    const ArrayBase& out = own.outputs[k];
    scan.ys.push_back(new_rows(out.dtype(), layout_of(out), n));
    const std::int64_t step = bytes_of(out.dtype(), layout_of(out));
    work->out.push_back({operands.write(scan.ys.back()), 0, step});
    if (is_shared(own.results[k])) add_source(own.results[k], {scan.ys.back(), -1, 0, step});
  }
  for (const int slot : shared) {
    if (known(slot)) continue;
    const std::int64_t step = padded(static_cast<std::int64_t>(own.body.bytes(slot)));
    const int kept = operands.write_bytes(static_cast<std::size_t>(n * step));
    work->out.push_back({kept, 0, step});
    results.push_back(slot);
    add_source(slot, {ArrayAccess::unset(), operands.slot(kept), 0, step});
  }
  program::Part part = own.body.part(0, own.input_slots, results);
  for (const int slot : part.captured) work->in.push_back({operands.read_slot(slot), 0, 0});
  work->body = part.program;
  operands.add_step("scan", work, part.program->is_unforeseen());
  if (!watched) return scan;

  std::vector<int> kept;
  take_sums(own.body, *derivative, own.first_sum, sources, own.carried_in, own.carried_out, kept);
  std::vector<int> arguments = own.carried_in, wanted = own.carried_out;
  arguments.insert(arguments.end(), own.of_ys.begin(), own.of_ys.end());
  arguments.insert(arguments.end(), sources.begin(), sources.end());
  wanted.insert(wanted.end(), own.of_xs.begin(), own.of_xs.end());
  wanted.insert(wanted.end(), kept.begin(), kept.end());
  derivative->part = own.body.part(1, arguments, wanted);
  derivative->turns = n;
  derivative->reverse = !reverse;
  scan.derivative = std::move(derivative);
  return scan;
}

NAX_ENGINE void ScanNode::pull_call(LoopArrays cotangents, Reverse& sweep) {
  if (recording.tape) ask_to_unroll("jit: the derivative of a scan's derivative cannot be recorded");
  const ScanDerivative& d = derivative;
  auto work = std::make_shared<program::LoopWork>();
  work->turns = d.turns;
  work->reverse = d.reverse;
  work->body = d.part.program;
  program::Operands operands;
  const auto given = [&](const ScanDerivative::Cotangent& c) -> const ArrayBase* {
    if (c.output < 0) return nullptr;
    const ArrayBase& g = cotangents[static_cast<std::size_t>(c.output)];
    return holds_value(g) ? &g : nullptr;
  };
  LoopArrays sums, rows;
  for (const auto& c : d.carries) {
    const ArrayBase* const g = given(c);
    const ArrayBase from =
        run_over(g ? as_dtype(*g, c.dtype) : zeros_over(c.dtype, c.frame, program::device), c.frame);
    sums.push_back(allocate(c.dtype, c.frame, program::device));
    const std::int64_t bytes = c.frame.size() * static_cast<std::int64_t>(dtype_size(c.dtype));
    const int initial = operands.read(from), result = operands.write(sums.back());
    work->carries.push_back({initial, result, operands.write_bytes(static_cast<std::size_t>(bytes)), bytes});
  }
  for (const auto& y : d.ys) {
    const std::int64_t bytes = y.frame.size() * static_cast<std::int64_t>(dtype_size(y.dtype));
    const ArrayBase* const g = given(y);
    const ArrayBase zero = zeros_over(y.dtype, y.frame, program::device);
    const ArrayBase from = g ? rows_over(as_dtype(*g, y.dtype), y.frame, d.turns) : run_over(zero, y.frame);
    work->in.push_back({operands.read(from), 0, g ? bytes : 0});
  }
  for (const auto& source : d.sources)
    work->in.push_back({source.slot < 0 ? operands.read(source.array) : operands.read_slot(source.slot),
                        source.offset, source.step});
  for (const int slot : d.part.captured) work->in.push_back({operands.read_slot(slot), 0, 0});
  for (const auto& x : d.xs) {
    rows.push_back(new_rows(x.dtype, x.frame, d.turns));
    work->out.push_back(
        {operands.write(rows.back()), 0, x.frame.size() * static_cast<std::int64_t>(dtype_size(x.dtype))});
  }
  std::vector<TurnRows> of_turns;
  const program::Recorder& recorder = program::Recorder::current();
  for (const auto& source : d.sources)
    of_turns.push_back(
        {(source.slot < 0 ? device_data(source.array) : recorder.address(source.slot)) + source.offset,
         source.step});
  for (const std::size_t bytes : d.kept) {
    const std::int64_t step = padded(static_cast<std::int64_t>(bytes));
    work->out.push_back({operands.write_bytes(static_cast<std::size_t>(d.turns * step)), 0, step});
    of_turns.push_back({recorder.address(operands.slot(work->out.back().operand)), step});
  }
  operands.add_step("scan_gradient", work, d.part.program->is_unforeseen());
  const auto give = [&](std::size_t place, ArrayBase&& g) {
    if (place != Tape::npos && place >= sweep.mark()) sweep.add_at(place, std::move(g));
  };
  for (const auto& p : d.products) {
    ArrayBase sum = allocate(p.of.dtype, p.of.frame, program::device);
    TurnRows a = of_turns[static_cast<std::size_t>(p.a)], b = of_turns[static_cast<std::size_t>(p.b)];
    a.first += p.product.a.offset, b.first += p.product.b.offset;
    multiply_turns(p.product.form, d.turns, a, b, {device_data(sum), 0}, true);
    give(p.of.place, std::move(sum));
  }
  for (std::size_t c = 0; c < sums.size(); ++c) give(d.carries[c].place, std::move(sums[c]));
  for (std::size_t x = 0; x < rows.size(); ++x) give(d.xs[x].place, std::move(rows[x]));
}

NAX_ENGINE LoopArrays ScanNode::push_call(Forward&) {
  ask_to_unroll("jit: the tangent of a scan cannot be recorded");
}

}  // namespace detail
NAX_END
