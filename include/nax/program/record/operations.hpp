#pragma once

#include <utility>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/backend/operations.hpp"
#include "nax/program/record/call_work.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/program/replay/map_formula.hpp"
#endif

// Operations that are written down: each call becomes a step, whose work is the host's run of that call.
NAX_BEGIN
namespace program::detail {

[[noreturn]] inline void refuse(const char* name) {
  throw nax::detail::NotRecordable(std::string("jit: ") + name + " cannot be recorded");
}

class ProgramOperations final : public backend::Operations {
 public:
  ops::Verdict run(const ops::Call& call) override {
    if (call.op == ops::Op::true_positions) {
      refuse("a result whose shape depends on elements");
    } else if (call.op == ops::Op::scatter) {
      const ops::Scatter& f = *static_cast<const ops::Scatter*>(call.form);
      const loops::Operand &values = f.loop.operands[0], &data = f.loop.operands[1];
      if (f.loop.operands[2].data || values.stored != data.stored || values.stored == DType::boolean) {
        append(call);
      } else {  // a slice
        const loops::Operand from{values.data, values.strides, values.stored, values.stored},
            to{data.data, data.strides, data.stored, data.stored};
        f.add ? backend::run(device, ops::Add{f.loop.shape, to, from, to})
              : backend::run(device, ops::Copy{f.loop.shape, from, to});
      }
    } else {
      if (call.op == ops::Op::copy) check(*static_cast<const ops::Copy*>(call.form));
      Step& step = append(call);
      if (call.op == ops::Op::matmul) add_product(step, *static_cast<const ops::Matmul*>(call.form));
      if (call.op == ops::Op::copy) add_formula(step, *static_cast<const ops::Copy*>(call.form));
      if (call.op == ops::Op::add) add_formula(step, *static_cast<const ops::Add*>(call.form));
      if (call.op == ops::Op::reduce) add_formula(step, *static_cast<const ops::Reduce*>(call.form));
    }
    return std::nullopt;
  }
  // As the host, but recordings for texts of other systems are of operations that these have, too.
  bool has(const ops::Call& call) const override {
    if (Recorder::current().composes) switch (call.op) {
        case ops::Op::correlate:
        case ops::Op::attend:
        case ops::Op::attend_gradient:
        case ops::Op::quantile:
          return false;
        case ops::Op::rows: {
          const loops::RowFunction function = static_cast<const ops::Rows*>(call.form)->what.function;
          if (function == loops::RowFunction::spread_extrema ||
              function == loops::RowFunction::mean_over_extrema)
            return false;
          break;
        }
        default:
          break;
      }
    return backend::host_operations().has(call);
  }

 private:
  static Step& append(const ops::Call& call) {
    const ops::Facts& facts = ops::facts(call.op);
    ops::Operands operands;
    facts.describe(call.form, operands);
    Recorder& recorder = Recorder::current();
    Step step;
    step.name = facts.name(call.form);
    step.attributes = '\1' + facts.identity(call.form);
    step.comparable = true;
    std::vector<int> given;
    for (const ops::Operand& x : operands) {
      const void* const at = call.data[given.size()];
      const bool is_given = at || !x.optional;
      step.attributes += is_given ? '\1' : '\0';
      given.push_back(is_given ? static_cast<int>(step.operands.size()) : -1);
      if (is_given)
        step.operands.push_back(
            {recorder.place(at), x.written, x.dtype, x.shape, x.strides, false, x.indexed});
    }
    if (step.operands.size() == given.size()) given.clear();
    step.unforeseen = facts.may_fail(call.form);
    step.flops = facts.flops(call.form);
    step.work = std::make_shared<const CallWork>(call.op, facts.keep(call.form), std::move(given));
    recorder.add(std::move(step));
    return recorder.steps.back();
  }

  static void add_product(Step& step, const ops::Matmul& f) {
    if (f.accumulate) refuse("a product added to what is there");
    step.product = std::make_shared<const ops::Matmul>(f);
  }
  static void check(const ops::Copy& f) {
    if (f.from.stored != f.to.stored && !cpu::converter(f.from.stored, f.to.stored)) refuse("a conversion");
  }
  // The formulas by which steps are fused with others.
  static void add_formula(Step& step, const ops::Add& f) {
    const DType type = f.to.stored;
    step.adds =
        f.a.stored == type && f.b.stored == type && f.a.lane == type && f.b.lane == type && f.to.lane == type;
#if defined(NAX_USES_FORMULAS)
    if (!step.adds || (type != DType::float32 && type != DType::float64)) return;
    auto map = std::make_shared<MapFormula>();
    map->formula.type = type;
    map->formula.inputs = 2;
    formula::Step first{formula::Operation::input}, second{formula::Operation::input};
    second.detail = 1;
    formula::Step sum{formula::Operation::add};
    first.type = second.type = sum.type = type;
    sum.arity = 2;
    sum.operand[0] = 0, sum.operand[1] = 1;
    map->formula.steps = {first, second, sum};
    map->formula.results = {2};
    map->inputs = {{0}, {1}};
    map->results = {2};
    step.formula = std::move(map);
#endif
  }
  // Of copies that convert.
  static void add_formula([[maybe_unused]] Step& step, [[maybe_unused]] const ops::Copy& f) {
#if defined(NAX_USES_FORMULAS)
    if (f.from.stored == f.to.stored || dtype_kind(f.from.stored) == Kind::complex ||
        dtype_kind(f.to.stored) == Kind::complex || !nax::detail::is_run(f.to.strides, f.shape))
      return;
    formula::Recorder recorder(f.from.stored);
    auto map = std::make_shared<MapFormula>();
    map->formula = recorder.finish({recorder.convert(recorder.input(0), f.to.stored)});
    map->inputs = {{0}};
    map->results = {1};
    step.formula = std::move(map);
#endif
  }
  static void add_formula([[maybe_unused]] Step& step, [[maybe_unused]] const ops::Reduce& f) {
#if defined(NAX_USES_FORMULAS)
    if (f.from.stored != f.from.lane || !reduces_by_formula(f.kind, f.from.stored, f.to.stored)) return;
    auto map = std::make_shared<MapFormula>();
    map->formula.type = f.from.stored;
    map->formula.inputs = 1;
    map->formula.steps.push_back({formula::Operation::input, 0, {}, 0, f.from.stored});
    map->formula.results = {0};
    map->inputs = {{0}};
    map->reduced = {{1, f.kind}};
    step.formula = std::move(map);
#endif
  }
};

}  // namespace program::detail
NAX_END
