#pragma once

#include "nax/lax/recorded_loops-inl.hpp"
#include "nax/numpy/products/contract.hpp"

// Products of a recorded loop that are computed of all turns at once.
NAX_BEGIN
namespace detail {

inline LoopArrays all_rows(const LoopArrays& xs, std::int64_t n) {
  LoopArrays all;
  for (const ArrayBase& x : xs) all.push_back(rows_over(x, row_of(x), n));
  return all;
}

using TurnRows = program::EndedBody::Rows;  // of step 0 where all turns have the same

// The products of n turns, or their sum, written to c.
inline void multiply_turns(ops::Matmul form, std::int64_t n, TurnRows a, TurnRows b, TurnRows c,
                           bool summed) {
  const std::int64_t size = static_cast<std::int64_t>(dtype_size(form.dtype));
  const loops::BatchAxis turns{n, a.step / size, b.step / size, summed ? 0 : c.step / size, summed};
  if (!form.axes.empty() || !fold_axis(form.product, turns)) form.axes.insert(0, turns);
  backend::run(program::device, form, {a.first, b.first, c.first});
}

// An operand in the body's slots that is the same in each turn, at its place in the outer recording.
inline char* outer_address(const program::BodyRecording& body, const program::Place& place) {
  if (place.slot < 0) return reinterpret_cast<char*>(static_cast<std::intptr_t>(place.offset));
  return program::Recorder::current().address(body.outer_slot(place.slot)) + place.offset;
}

// A row of a product of rows of xs: an argument of the body.
struct RowProduct {
  int slot;
  ArrayBase rows;
};
// `slots`: of rows of xs, whose rows lie in `xs`.
inline std::vector<RowProduct> products_of_rows(program::BodyRecording& body, const std::vector<int>& slots,
                                                const LoopArrays& xs, std::int64_t n) {
  std::vector<RowProduct> all;
  for (const program::TurnProduct& p : body.take_products_of_rows(slots, n)) {
    const auto rows = [&](const program::Place& place) -> TurnRows {
      const auto found = std::find(slots.begin(), slots.end(), place.slot);
      if (found == slots.end()) return {outer_address(body, place), 0};
      const ArrayBase& x = xs[static_cast<std::size_t>(found - slots.begin())];
      return {device_data(x) + place.offset, static_cast<std::int64_t>(body.bytes(place.slot))};
    };
    Frame row;
    row.shape.push_back(static_cast<std::int64_t>(body.bytes(p.result) / dtype_size(p.form.dtype)));
    ArrayBase results = new_rows(p.form.dtype, row, n);
    multiply_turns(p.form, n, rows(p.a), rows(p.b),
                   {device_data(results), static_cast<std::int64_t>(body.bytes(p.result))}, false);
    all.push_back({p.result, std::move(results)});
  }
  return all;
}

}  // namespace detail
NAX_END
