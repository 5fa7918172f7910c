#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "nax/backend/cpu/packets/packet_more.hpp"
#include "nax/formula/recorder.hpp"
#include "nax/program/passes/small_step-inl.hpp"
#include "nax/program/replay/walks.hpp"

// Steps are carried out on symbols. `now_` has the value, a step of the formula, of each element of memory
// that the steps have written or read; an element that is read before it is written is an input. Elements
// that they wrote can be results. Every input and result is an operand of its own, so that a replay hands
// its table of addresses to the code as it is.
//
// Where arrays have a first axis more, as under vmap, elements stand for runs along it: lanes of the formula.
// Of one slot, all elements then have one stride between lanes.
NAX_BEGIN
namespace program::detail {

class ElementSymbols : SmallStep {
 public:
  ElementSymbols(const std::vector<Slot>& slots, DType type, std::int64_t lanes)
      : slots_(slots),
        type_(type),
        lanes_(lanes),
        size_(static_cast<std::int64_t>(dtype_size(type))),
        recorder_(type) {}

  void carry_out(const Step& s) {
    if (is_product(s)) return multiply(s);
    if (s.formula) return map(s);
    if (systems_of(s)) return solve(s, *systems_of(s));
    if (determinants_of(s)) return determinants(s, *determinants_of(s));
    const Operand& to = s.operands.back();
    if (is_zeros(s)) {
      const std::int64_t n = size_of(to.shape) / size_ / lanes_;
      const int zero = recorder_.constant(0);
      for (std::int64_t i = 0; i < n; ++i) store(to, i, lanes_ == 1 ? 0 : n, zero);
      return;
    }
    std::vector<std::pair<std::int64_t, int>> values;
    for_each(to.shape, {&s.operands[0].strides, &to.strides}, [&](const std::vector<std::int64_t>& places) {
      values.push_back({places[1], read(s.operands[0], places[0])});
    });
    for (const auto& [place, value] : values) store(to, place, value);
  }

  // Operands: the formula's inputs, then its results.
  struct Elements {
    formula::Formula formula;
    std::vector<Operand> operands;
  };
  // The results are the elements written whose slot is `wanted`; none where no formula can stand for the
  // steps: an element of many lanes meets another, or one is read and written.
  template <class Wanted>
  std::optional<Elements> finish(const Wanted& wanted) {
    std::vector<int> values;
    std::vector<Operand> results;
    for (const auto& [element, value] : stored_) {
      if (!wanted(element.first)) continue;
      values.push_back(value);
      results.push_back(operand_of(element, lane_strides_[element.first], true));
    }
    if (!fits_) return std::nullopt;
    if (values.empty()) return Elements();
    Elements made{recorder_.finish(values), {}};
    made.formula.inputs = 0;
    std::vector<int> places(inputs_.size(), -1);
    for (formula::Step& one : made.formula.steps) {
      if (one.operation != formula::Operation::input) continue;
      int& place = places[one.detail];
      if (place < 0) {
        place = made.formula.inputs++;
        const auto& [element, stride] = inputs_[one.detail];
        if (stored_.count(element) > 0) return std::nullopt;
        made.operands.push_back(operand_of(element, stride, false));
        made.operands.back().across = true;
      }
      one.detail = static_cast<std::uint64_t>(place);
    }
    made.operands.insert(made.operands.end(), results.begin(), results.end());
    return made;
  }

 private:
  using Element = std::pair<int, std::int64_t>;  // slot, offset in bytes

  Operand operand_of(const Element& element, std::int64_t stride, bool written) const {
    Operand x{{element.first, element.second}, written, type_, Dims(), Dims()};
    if (lanes_ > 1) x.shape.push_back(lanes_), x.strides.push_back(stride);
    return x;
  }
  double number_at(const void* at) const {
    if (type_ == DType::float64) {
      double value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    float value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  // Do the lanes of one element, not the same one, touch those of an element that the group wrote?
  bool meets_written(const Element& element, std::int64_t stride) const {
    if (lanes_ == 1 || stride == 0) return false;
    for (auto it = stored_.lower_bound({element.first, INT64_MIN});
         it != stored_.end() && it->first.first == element.first; ++it)
      if (it->first != element && (it->first.second - element.second) % (stride * size_) == 0) return true;
    return false;
  }
  void note_lanes(int slot, std::int64_t stride) {
    const auto [known, added] = lane_strides_.try_emplace(slot, stride);
    fits_ = fits_ && known->second == stride;
  }
  // The element of an operand, so many elements from its place.
  int read(const Operand& x, std::int64_t elements) { return read(x, elements, lane_stride(x)); }
  int read(const Operand& x, std::int64_t elements, std::int64_t stride) {
    const std::int64_t offset = x.place.offset + elements * size_;
    const Slot* const slot = x.place.slot < 0 ? nullptr : &slots_[at(x.place.slot)];
    if (stride == 0 && !slot)
      return recorder_.constant(number_at(reinterpret_cast<const void*>(static_cast<std::intptr_t>(offset))));
    if (stride == 0 && slot->kind == Slot::Kind::constant)
      return recorder_.constant(number_at(static_cast<const char*>(slot->data) + offset));
    if (slot) note_lanes(x.place.slot, stride);
    const Element element{x.place.slot, offset};
    const auto [known, added] = now_.try_emplace(element, -1);
    if (added) {
      fits_ = fits_ && !meets_written(element, stride);
      known->second = recorder_.input(static_cast<int>(inputs_.size()));
      inputs_.push_back({element, stride});
    }
    return known->second;
  }
  void store(const Operand& x, std::int64_t elements, int value) {
    store(x, elements, lane_stride(x), value);
  }
  void store(const Operand& x, std::int64_t elements, std::int64_t stride, int value) {
    const Element element{x.place.slot, x.place.offset + elements * size_};
    note_lanes(x.place.slot, stride);
    fits_ = fits_ && !meets_written(element, stride);
    now_[element] = value;
    stored_[element] = value;
  }
  std::int64_t lane_stride(const Operand& x) const { return lanes_ == 1 ? 0 : x.strides[0]; }
  // f(the elements' places in all operands), in the order of memory of row-major ones; of lane 0.
  template <class F>
  void for_each(const Dims& shape, const std::vector<const Dims*>& strides, const F& f) const {
    const std::size_t first = lanes_ == 1 ? 0 : 1;
    std::vector<std::int64_t> places(strides.size());
    for (std::int64_t i = 0, n = size_of(shape) / lanes_; i < n; ++i) {
      std::int64_t rest = i;
      std::fill(places.begin(), places.end(), 0);
      for (std::size_t axis = shape.size(); axis-- > first; rest /= shape[axis])
        for (std::size_t o = 0; o < places.size(); ++o) places[o] += rest % shape[axis] * (*strides[o])[axis];
      f(places);
    }
  }

  void map(const Step& s) {
    const MapFormula& m = *s.formula;
    std::vector<const Dims*> strides;
    for (const Operand& x : s.operands) strides.push_back(&x.strides);
    const auto operand = [&](int number) -> const Operand& { return s.operands[at(number)]; };
    std::vector<std::pair<Element, int>> values;  // by operand and place
    std::map<Element, int> sums;
    for_each(s.operands[0].shape, strides, [&](const std::vector<std::int64_t>& places) {
      std::vector<int> own;
      for (formula::Step one : m.formula.steps) {
        if (one.operation == formula::Operation::input) {
          const MapFormula::Input& from = m.inputs[one.detail];
          own.push_back(from.operand < 0 ? recorder_.constant(number_at(&from.number))
                                         : read(operand(from.operand), places[at(from.operand)]));
          continue;
        }
        for (int j = 0; j < one.arity; ++j) {
          int& x = one.operand[static_cast<std::size_t>(j)];
          x = own[static_cast<std::size_t>(x)];
        }
        own.push_back(recorder_.record_step(one));
      }
      std::size_t next = 0;
      const auto value = [&] { return own[static_cast<std::size_t>(m.formula.results[next++])]; };
      for (const int result : m.results) values.push_back({{result, places[at(result)]}, value()});
      for (const MapFormula::Reduced& r : m.reduced) {
        const int term = value();
        const auto [sum, first] = sums.try_emplace({r.operand, places[at(r.operand)]}, term);
        if (!first) sum->second = recorder_.record(joining(r.kind), {sum->second, term});
      }
    });
    values.insert(values.end(), sums.begin(), sums.end());
    for (const auto& [place, value] : values) store(operand(place.first), place.second, value);
  }
  static formula::Operation joining(loops::ReduceKind kind) {
    switch (kind) {
      case loops::ReduceKind::product:
        return formula::Operation::multiply;
      case loops::ReduceKind::max:
        return formula::Operation::maximum;
      case loops::ReduceKind::min:
        return formula::Operation::minimum;
      default:
        return formula::Operation::add;
    }
  }
  void multiply(const Step& s) {
    const ops::Matmul f = *product_over(s, lanes_);
    const loops::Product& p = f.product;
    Dims shape;
    Dims strides[3];
    const auto add = [&](std::int64_t extent, std::int64_t a, std::int64_t b, std::int64_t c) {
      shape.push_back(extent);
      strides[0].push_back(a), strides[1].push_back(b), strides[2].push_back(c);
    };
    for (const loops::BatchAxis& one : f.axes) add(one.extent, one.a, one.b, one.summed ? 0 : one.c);
    add(p.m, p.a_row, 0, p.c_row), add(p.n, 0, p.b_column, p.c_column), add(p.k, p.a_column, p.b_row, 0);
    const auto lane = [&](int operand) { return lanes_ == 1 ? 0 : strides[operand][0]; };
    std::map<std::int64_t, int> sums;
    for_each(shape, {&strides[0], &strides[1], &strides[2]}, [&](const std::vector<std::int64_t>& places) {
      using enum formula::Operation;
      const int a = read(s.operands[0], places[0], lane(0)), b = read(s.operands[1], places[1], lane(1));
      const int term = recorder_.record(multiply, {a, b});
      const auto [sum, first] = sums.try_emplace(places[2], term);
      if (first) return;
      const bool fuses = simd::fused && recorder_.step(term).operation == multiply;  // not by 1
      sum->second =
          fuses ? recorder_.record(fma, {a, b, sum->second}) : recorder_.record(add, {sum->second, term});
    });
    for (const auto& [place, sum] : sums) store(s.operands[2], place, lane(2), sum);
  }

  // ---- linear systems

  using Rows = std::vector<std::vector<int>>;
  int op(formula::Operation operation, std::initializer_list<int> operands) {
    return recorder_.record(operation, operands);
  }
  // Elimination with the greatest element of each column as its pivot, which comes up by exchanges of rows.
  // Gives the sign of their order.
  int eliminate(Rows& a, std::size_t n) {
    using enum formula::Operation;
    int sign = recorder_.constant(1);
    const int zero = recorder_.constant(0);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = k + 1; i < n; ++i) {
        const int greater = op(less, {op(absolute, {a[k][k]}), op(absolute, {a[i][k]})});
        for (std::size_t j = k; j < a[k].size(); ++j) {
          const int up = a[i][j], down = a[k][j];
          a[k][j] = op(select, {greater, up, down});
          a[i][j] = op(select, {greater, down, up});
        }
        sign = op(select, {greater, op(negative, {sign}), sign});
      }
      for (std::size_t i = k + 1; i < n; ++i) {
        const int factor = op(select, {op(equal, {a[i][k], zero}), zero, op(divide, {a[i][k], a[k][k]})});
        for (std::size_t j = k + 1; j < a[k].size(); ++j)
          a[i][j] = op(subtract, {a[i][j], op(multiply, {factor, a[k][j]})});
      }
    }
    return sign;
  }
  // Columns from n on become the solutions.
  void substitute(Rows& a, std::size_t n, bool lower, bool unit) {
    using enum formula::Operation;
    for (std::size_t step = 0; step < n; ++step) {
      const std::size_t i = lower ? step : n - 1 - step;
      for (std::size_t c = n; c < a[i].size(); ++c) {
        int sum = a[i][c];
        for (std::size_t done = 0; done < step; ++done) {
          const std::size_t j = lower ? done : n - 1 - done;
          sum = op(subtract, {sum, op(multiply, {a[i][j], a[j][c]})});
        }
        a[i][c] = unit ? sum : op(divide, {sum, a[i][i]});
      }
    }
  }
  void solve(const Step& s, const loops::LinearSystems& f) {
    const bool inverts = s.operands.size() == 2;
    const Operand& x = s.operands.back();
    for (std::int64_t b = 0, count = f.count() / lanes_; b < count; ++b) {
      const auto element = [&](const Operand& from, const loops::StridedMatrices& by, std::int64_t i,
                               std::int64_t j) {
        const std::int64_t lane = lanes_ == 1 ? 0 : by.batch[0];
        const std::int64_t base = lanes_ == 1 && !f.batches.empty() ? by.at(b, f.batches) : 0;
        return read(from, base + i * by.row + j * by.column, lane);
      };
      Rows rows;
      for (std::int64_t i = 0; i < f.n; ++i) {
        rows.emplace_back();
        for (std::int64_t j = 0; j < f.n; ++j) {
          const bool is_read = f.kind == loops::SystemKind::general ||
                               (i == j ? !loops::is_unit(f.kind) : loops::is_lower(f.kind) == (i > j));
          rows.back().push_back(is_read ? element(s.operands[0], f.a, i, j) : recorder_.constant(0));
        }
        for (std::int64_t c = 0; c < f.m; ++c)
          rows.back().push_back(inverts ? recorder_.constant(i == c) : element(s.operands[1], f.b, i, c));
      }
      const std::size_t n = static_cast<std::size_t>(f.n);
      const bool general = f.kind == loops::SystemKind::general;
      if (general) eliminate(rows, n);
      substitute(rows, n, !general && loops::is_lower(f.kind), loops::is_unit(f.kind));
      for (std::int64_t i = 0; i < f.n; ++i)
        for (std::int64_t c = 0; c < f.m; ++c)
          store(x, (b * f.n + i) * f.m + c, lanes_ == 1 ? 0 : f.n * f.m,
                rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(f.n + c)]);
    }
  }
  void determinants(const Step& s, const loops::Factoring& f) {
    for (std::int64_t b = 0, count = f.batch / lanes_; b < count; ++b) {
      Rows rows;
      for (std::int64_t i = 0; i < f.n; ++i) {
        rows.emplace_back();
        for (std::int64_t j = 0; j < f.n; ++j)
          rows.back().push_back(read(s.operands[0], (b * f.n + i) * f.n + j, lanes_ == 1 ? 0 : f.n * f.n));
      }
      int product = eliminate(rows, rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        product = op(formula::Operation::multiply, {product, rows[i][i]});
      store(s.operands[1], b, lanes_ == 1 ? 0 : 1, product);
    }
  }

  const std::vector<Slot>& slots_;
  const DType type_;
  const std::int64_t lanes_, size_;
  formula::Recorder recorder_;
  bool fits_ = true;
  std::map<Element, int> now_, stored_;
  std::map<int, std::int64_t> lane_strides_;  // by slot
  std::vector<std::pair<Element, std::int64_t>> inputs_;
};

}  // namespace program::detail
NAX_END
