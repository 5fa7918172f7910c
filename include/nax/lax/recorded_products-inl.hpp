#pragma once

#include "nax/lax/recorded_loops-inl.hpp"
#include "nax/numpy/products/contract.hpp"

// Products of a recorded loop that are computed of all turns at once.
NAX_BEGIN
namespace detail {

// Bytes of a row that is kept: rows begin at lines of the cache.
inline std::int64_t padded(std::int64_t bytes) { return std::max<std::int64_t>(64, (bytes + 63) / 64 * 64); }

inline LoopArrays all_rows(const LoopArrays& xs, std::int64_t n) {
  LoopArrays all;
  for (const ArrayBase& x : xs) all.push_back(rows_over(x, row_of(x), n));
  return all;
}

// Where an operand lies in turn 0, and how many bytes further in the next; 0 where it is the same in each.
struct TurnRows {
  char* first;
  std::int64_t step;
};
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

// Takes the products out of the derivative's sums, from the carry `first` on. `sources`: slots whose rows are
// known; `kept`: slots whose rows the derivative is to keep.
inline void take_sums(program::BodyRecording& body, ScanDerivative& d, std::size_t first,
                      const std::vector<int>& sources, std::vector<int>& in, std::vector<int>& out,
                      std::vector<int>& kept) {
  const auto number = [&](int slot) {
    if (const auto at = std::find(sources.begin(), sources.end(), slot); at != sources.end())
      return static_cast<int>(at - sources.begin());
    const auto at = std::find(kept.begin(), kept.end(), slot);
    const std::ptrdiff_t place = at - kept.begin();
    if (at == kept.end()) {
      kept.push_back(slot);
      d.kept.push_back(body.bytes(slot));
    }
    return static_cast<int>(sources.size()) + static_cast<int>(place);
  };
  for (std::size_t c = first; c < d.carries.size();) {
    const std::optional<program::TurnProduct> p = body.take_sum(in[c], out[c], sources);
    if (!p) {
      ++c;
      continue;
    }
    d.products.push_back({*p, d.carries[c], number(p->a.slot), number(p->b.slot)});
    const auto at = static_cast<std::ptrdiff_t>(c);
    d.carries.erase(d.carries.begin() + at);
    in.erase(in.begin() + at);
    out.erase(out.begin() + at);
  }
}

}  // namespace detail
NAX_END
