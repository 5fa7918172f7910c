#pragma once

#include <algorithm>

#include "nax/program/record/loop.hpp"
#include "nax/program/record/work_check.hpp"
#include "nax/program/replay/program.hpp"

// The bytes that bodies of loops and branches touch, over all turns.
NAX_BEGIN
namespace program {

namespace detail {

// Does the program take, and give, so many?
inline bool has_counts(const std::shared_ptr<const Program>& program, std::size_t arguments,
                       std::size_t results) {
  return program && program->argument_count() == arguments && program->result_count() == results;
}
inline void verify_carry(WorkCheck& check, const Carried& c, const Program& body, std::size_t number,
                         std::int64_t turns) {
  check.expect(body.argument_bytes(number) == c.bytes && body.result_bytes(number) == c.bytes,
               "runs a body whose carry is of other bytes");
  check.reads(c.initial, 0, c.bytes);
  check.writes(c.result, 0, c.bytes);
  check.writes(c.other, 0, turns * c.step + c.bytes);
}

}  // namespace detail

NAX_ENGINE void LoopWork::verify(WorkCheck& check) const {
  const std::size_t count = carries.size();
  check.expect(detail::has_counts(body, count + in.size(), count + out.size()),
               "runs a body of other arguments or results");
  if (!check.problem().empty()) return;
  for (std::size_t c = 0; c < count; ++c) detail::verify_carry(check, carries[c], *body, c, turns);
  const std::int64_t last = std::max<std::int64_t>(turns - 1, 0);
  for (std::size_t i = 0; i < in.size(); ++i)
    check.reads(in[i].operand, in[i].offset, last * in[i].step + body->argument_bytes(count + i));
  for (std::size_t i = 0; i < out.size(); ++i)
    check.writes(out[i].operand, out[i].offset, last * out[i].step + body->result_bytes(count + i));
}

NAX_ENGINE void WhileWork::verify(WorkCheck& check) const {
  const std::size_t count = carries.size();
  check.expect(detail::has_counts(condition, count + condition_captured.size(), 1) &&
                   detail::has_counts(body, count + body_captured.size(), count),
               "runs bodies of other arguments or results");
  if (!check.problem().empty()) return;
  check.expect(condition->result_bytes(0) == static_cast<std::int64_t>(answers),
               "runs a condition of other answers");
  for (std::size_t c = 0; c < count; ++c) detail::verify_carry(check, carries[c], *body, c, 0);
  const auto captured = [&](const Program& program, const std::vector<int>& operands) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      check.reads(operands[i], 0, program.argument_bytes(count + i));
  };
  captured(*condition, condition_captured);
  captured(*body, body_captured);
}

NAX_ENGINE void BranchWork::verify(WorkCheck& check) const {
  check.reads(index, 0, sizeof(std::int64_t));
  for (std::size_t b = 0; b < branches.size(); ++b) {
    check.expect(detail::has_counts(branches[b], captured[b].size(), results.size() + kept[b].size()),
                 "runs a branch of other arguments or results");
    if (!check.problem().empty()) return;
    for (std::size_t i = 0; i < captured[b].size(); ++i)
      check.reads(captured[b][i].operand, captured[b][i].offset, branches[b]->argument_bytes(i));
    for (std::size_t i = 0; i < branches[b]->result_count(); ++i)
      check.writes(i < results.size() ? results[i] : kept[b][i - results.size()], 0,
                   branches[b]->result_bytes(i));
  }
}

}  // namespace program
NAX_END
