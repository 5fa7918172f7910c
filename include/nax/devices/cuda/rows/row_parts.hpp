#pragma once

#include <algorithm>

#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/rows/row_loops.hpp"

// Functions of rows in two steps: the state of a row (its sums, its greatest element), and what is written by
// it. One team does both where rows are many or short. A few long rows are cut into parts: a launch finds the
// states of the parts, another one joins these and writes.
//
// A rule has a State, and functions of a team:
//   state(team, part)                    of some elements
//   join(team, states, parts of a row)   of a row, for all threads
//   finish(team, part, state of the row)
// `writes_numbers`: results are numbers of rows alone.
NAX_BEGIN
namespace cuda {

// Elements of a row from `first` on, perhaps all.
template <class S>
struct RowPart {
  using T = RowNumber<S>;
  const RowOperands<S>& operands;
  std::int64_t row, first, size;

  constexpr std::int64_t length() const { return operands.length; }  // of the row
  constexpr const S* from(int i) const { return operands.from[i] + row * operands.length + first; }
  constexpr S* to(int i) const { return operands.to[i] + row * operands.length + first; }
  // Of operands that all rows share, and of those with an element or a number a row.
  constexpr const S* shared(int i) const { return operands.from[i] + first; }
  constexpr T element(int i) const { return static_cast<T>(operands.from[i][row]); }
  constexpr T number(int i) const { return reinterpret_cast<const T*>(operands.from[i])[row]; }
  // Results with one a row: the first is an element, others are numbers.
  template <class OneTeam>
  constexpr void write_number(const OneTeam& team, int i, T x) const {
    if (!operands.to[i] || first != 0 || team.thread() != 0) return;
    if (i == 0)
      operands.to[0][row] = static_cast<S>(x);
    else
      reinterpret_cast<T*>(operands.to[i])[row] = x;
  }
  // A row of numbers.
  constexpr T* numbers_to(int i) const {
    return reinterpret_cast<T*>(operands.to[i]) + row * operands.length + first;
  }
};

// How rows are cut.
struct RowCut {
  std::int64_t parts, run;  // of a row; elements of a part
  constexpr std::int64_t size(std::int64_t part, std::int64_t length) const {
    return (part + 1) * run < length ? run : length - part * run;
  }
};

template <class S, class Rule>
struct WholeRows {
  RowOperands<S> operands;
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t row) const {
    const RowPart<S> whole{operands, row, 0, operands.length};
    Rule::finish(team, whole, Rule::state(team, whole));
  }
};
template <class S, class Rule>
struct StatesOfParts {
  RowOperands<S> operands;
  RowCut cut;
  typename Rule::State* states;
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    const std::int64_t row = i / cut.parts, part = i - row * cut.parts;
    const auto state =
        Rule::state(team, RowPart<S>{operands, row, part * cut.run, cut.size(part, operands.length)});
    if (team.thread() == 0) states[i] = state;
  }
};
template <class S, class Rule>
struct FinishParts {
  RowOperands<S> operands;
  RowCut cut;
  const typename Rule::State* states;
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    const std::int64_t row = Rule::writes_numbers ? i : i / cut.parts, part = i - row * cut.parts;
    const auto state = Rule::join(team, states + row * cut.parts, cut, operands.length);
    if constexpr (Rule::writes_numbers)
      Rule::finish(team, RowPart<S>{operands, row, 0, operands.length}, state);
    else
      Rule::finish(team, RowPart<S>{operands, row, part * cut.run, cut.size(part, operands.length)}, state);
  }
};

// One part where rows are many or short.
inline RowCut cut_of_rows(std::int64_t rows, std::int64_t length) {
  constexpr std::int64_t few = 64, least = 8192, enough_blocks = 512;  // elements of a part
  const std::int64_t wanted = std::min(enough_blocks / std::max<std::int64_t>(rows, 1), length / least);
  if (rows > few || wanted < 2) return {1, length};
  const std::int64_t run = ((length + wanted - 1) / wanted + 63) / 64 * 64;
  return {(length + run - 1) / run, run};
}
template <class Rule, class S>
void launch_in_parts(Device device, std::int64_t rows, const RowCut& cut, const RowOperands<S>& operands) {
  using State = typename Rule::State;
  const Scratch scratch(device, static_cast<std::size_t>(rows * cut.parts) * sizeof(State));
  State* const states = reinterpret_cast<State*>(scratch.data());
  launch_teams(device, rows * cut.parts, block_of_rows, StatesOfParts<S, Rule>{operands, cut, states});
  launch_teams(device, Rule::writes_numbers ? rows : rows * cut.parts, block_of_rows,
               FinishParts<S, Rule>{operands, cut, states});
}

// Rules whose state is two sums.
struct RowOfTwoSums {
  using State = TwoSums;
  static constexpr bool writes_numbers = false;
  template <class OneTeam>
  static constexpr TwoSums join(const OneTeam& team, const TwoSums* states, const RowCut& cut,
                                std::int64_t /*length*/) {
    TwoSums all{0, 0};
    for (std::int64_t p = team.thread(); p < cut.parts; p += team.threads())
      all = JoinTwoSums::join(all, states[p]);
    return team.combine(all, JoinTwoSums());
  }
};

}  // namespace cuda
NAX_END
