#pragma once

#include "nax/modules/exporting/c_operations-inl.hpp"

NAX_BEGIN
namespace io::detail {

// A loop of C. Carries lie in places of their own, to which the next ones are copied at a turn's end.
inline void CWriter::loop(int at) {
  const Node& own = node(at);
  const LoopNumbers by{own.numbers.data()};
  const std::size_t carries = by.carries(), rows = by.rows(), next = carries + rows;
  const auto input = [&](std::size_t i) { return own.inputs[i]; };
  std::vector<Elements>& results = loops_[at];
  const int begin = now_;
  for (std::size_t k = 0; k < carries; ++k) {
    results.push_back(scratch(node(input(k)).dtype, node(input(k)).shape));
    copy(elements(input(k)), results.back());
  }
  std::vector<Elements> all;
  for (std::size_t k = 0; k < rows; ++k) all.push_back(whole(input(carries + k)));
  for (std::size_t k = 0; k < by.results(); ++k) {
    Dims shape(1, by.turns());
    shape.push_back(node(input(next + carries + k)).shape[0]);
    results.push_back(scratch(node(input(next + carries + k)).dtype, shape));
  }
  const std::string turn = c_text("l_", by.number()), row = c_text("r_", by.number());
  if (by.asks())
    line("for (;;) {");
  else
    line(c_text("for (ptrdiff_t ", turn, " = 0; ", turn, " < ", by.turns(), "; ++", turn, ") {"));
  ++depth_;
  if (by.asks()) {
    for (const int x : live_)
      if (node(x).kind == NodeKind::parameter && node(x).numbers[0] == by.condition())
        elements(x) = results[static_cast<std::size_t>(node(x).numbers[1])];
    write_home(by.condition());
    Elements answer = scratch(DType::boolean, {});
    copy(elements(own.inputs.back()), answer);
    line(c_text("if (!*(", pointer(answer, "0"), ")) break;"));
    ++now_;
  }
  if (rows + by.results() > 0)
    line(c_text("const ptrdiff_t ", row, " = ", by.reversed() ? c_text(by.turns() - 1, " - ", turn) : turn,
                ';'));
  for (const int x : live_) {
    const Node& parameter = node(x);
    if (parameter.kind != NodeKind::parameter || parameter.numbers[0] != by.number()) continue;
    const std::size_t number = static_cast<std::size_t>(parameter.numbers[1]);
    if (number < carries) {
      elements(x) = results[number];
      continue;
    }
    std::size_t k = 0;
    while (by.row(k) != parameter.numbers[1]) ++k;
    const std::string name = c_text("p_", x);
    line(c_text("const ", type(parameter.dtype), "* const ", name, " = ",
                pointer(all[k], c_text(row, " * ", parameter.shape[0])), ';'));
    elements(x) = row_by_row(name, parameter.dtype, parameter.shape);
    elements(x).buffer = all[k].buffer;
  }
  write_home(by.number());
  ++now_;
  for (std::size_t k = 0; k < by.results(); ++k) {
    Elements& to = results[carries + k];
    Elements one =
        row_by_row(c_text("o_", by.number(), '_', k), to.dtype, node(input(next + carries + k)).shape);
    line(c_text(type(to.dtype), "* const ", one.name, " = ", pointer(to, c_text(row, " * ", one.shape[0])),
                ';'));
    copy(elements(input(next + carries + k)), one);
  }
  // Next carries that are made of other ones are kept until all are read.
  std::vector<Elements> after;
  for (std::size_t k = 0; k < carries; ++k) {
    after.push_back(elements(input(next + k)));
    const bool is_carry = std::any_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(carries),
                                      [&](const Elements& x) { return x.buffer == after[k].buffer; });
    if (!is_carry || (after[k].buffer == results[k].buffer && is_whole(after[k]))) continue;
    Elements kept = scratch(after[k].dtype, after[k].shape);
    copy(after[k], kept);
    after[k] = kept;
  }
  for (std::size_t k = 0; k < carries; ++k)
    if (after[k].buffer < 0 || after[k].buffer != results[k].buffer) copy(after[k], results[k]);
  --depth_;
  line("}");
  // Buffers that turns read, or write for the next, have their places until the end.
  for (Buffer& one : buffers_)
    if (one.first <= begin && one.last >= begin) one.last = std::max(one.last, now_);
}

// if and else. Results lie in places of their own.
inline void CWriter::branches(int at) {
  const Node& own = node(at);
  const BranchNumbers by{own.numbers.data()};
  std::vector<Elements>& results = loops_[at];
  for (std::size_t k = 0; k < by.results(); ++k) {
    const Node& result = node(own.inputs[by.result(0, k)]);
    results.push_back(scratch(result.dtype, result.shape));
  }
  Elements which = scratch(DType::int64, {});
  copy(elements(own.inputs[0]), which);
  for (std::size_t k = 0; k < by.captured(); ++k) whole(own.inputs[1 + k]);
  for (std::size_t b = 0; b < by.branches(); ++b) {
    if (b + 1 == by.branches())
      line(b == 0 ? "{" : "} else {");
    else
      line(c_text(b == 0 ? "if (*(" : "} else if (*(", pointer(which, "0"), ") == ", b, ") {"));
    ++depth_;
    for (const int x : live_)
      if (const Node& p = node(x); p.kind == NodeKind::parameter && p.numbers[0] == by.number(b))
        elements(x) = whole(own.inputs[1 + static_cast<std::size_t>(p.numbers[1])]);
    write_home(by.number(b));
    ++now_;
    for (std::size_t k = 0; k < by.results(); ++k) copy(elements(own.inputs[by.result(b, k)]), results[k]);
    --depth_;
  }
  line("}");
  ++now_;
}

}  // namespace io::detail
NAX_END
