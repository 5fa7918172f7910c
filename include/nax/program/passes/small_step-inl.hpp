#pragma once

#include <algorithm>
#include <optional>

#include "nax/ops/forms.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/record/call_work.hpp"
#include "nax/program/replay/map_formula.hpp"

NAX_BEGIN
namespace program::detail {

// The kinds of steps that compute with few floating elements.
struct SmallStep {
  static std::size_t at(int slot) { return static_cast<std::size_t>(slot); }
  static bool is_float(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }
  static bool is_zeros(const Step& s) { return s.name == "zeros" && s.operands.size() == 1; }
  static bool is_copy(const Step& s) {
    return s.name == "copy" && s.operands.size() == 2 && s.operands[0].dtype == s.operands[1].dtype &&
           is_float(s.operands[0].dtype);
  }
  static bool is_product(const Step& s) { return s.product && is_float(s.product->dtype); }
  // The form of a step of this operation, of floating elements.
  template <class Form>
  static const Form* form_of(const Step& s) {
    const auto* const work = dynamic_cast<const CallWork*>(s.work.get());
    const Form* const form = work ? work->form<Form>() : nullptr;
    return form && is_float(form->dtype) ? form : nullptr;
  }
  static const loops::LinearSystems* systems_of(const Step& s) {
    const ops::Solve* const form = form_of<ops::Solve>(s);
    return form ? &form->systems : nullptr;
  }
  static const loops::Factoring* determinants_of(const Step& s) {
    const ops::Factorise* const form = form_of<ops::Factorise>(s);
    return form && form->what.kind == loops::Factorisation::det ? &form->what : nullptr;
  }
  static bool has_formula(const Step& s) {
    return s.formula && std::all_of(s.operands.begin(), s.operands.end(),
                                    [&](const Operand& x) { return x.dtype == s.formula->formula.type; });
  }
  // The product with the lanes as its first axis, which may be folded into rows or columns.
  static std::optional<ops::Matmul> product_over(const Step& s, std::int64_t lanes) {
    ops::Matmul f = *s.product;
    loops::Product& p = f.product;
    if (lanes == 1 || (!f.axes.empty() && f.axes[0].extent == lanes && !f.axes[0].summed)) return f;
    if (p.m % lanes == 0) {
      p.m /= lanes;
      f.axes.insert(0, {lanes, p.m * p.a_row, 0, p.m * p.c_row, false});
    } else if (p.n % lanes == 0) {
      p.n /= lanes;
      f.axes.insert(0, {lanes, 0, p.n * p.b_column, p.n * p.c_column, false});
    } else {
      return std::nullopt;
    }
    return f;
  }
  static std::int64_t weight_of(const Step& s, std::int64_t lanes) {
    if (is_product(s)) return static_cast<std::int64_t>(s.product->flops()) / lanes;
    // (A call of a factorisation costs four times what its numbers do.)
    if (const loops::LinearSystems* const f = systems_of(s))
      return f->count() / lanes * f->n * f->n * (f->n + f->m) / 4;
    if (const loops::Factoring* const f = determinants_of(s))
      return f->batch / lanes * f->n * f->n * f->n / 4;
    if (!s.formula) return 0;
    std::int64_t computed = 0;
    for (const formula::Step& one : s.formula->formula.steps)
      computed += one.arity == 0 ? 0 : formula::is_written(one.operation) ? 12 : 1;
    return size_of(s.operands[0].shape) / lanes *
           (computed + static_cast<std::int64_t>(s.formula->reduced.size()));
  }
};

}  // namespace program::detail
NAX_END
