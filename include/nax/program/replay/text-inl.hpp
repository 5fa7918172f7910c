#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "nax/program/replay/program.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/formula/whole_kernels.hpp"
#include "nax/program/replay/map_formula.hpp"
#endif

NAX_BEGIN
namespace program {
namespace detail {

// a, b, ... z, aa, ab, ...
inline std::string letters(int number) {
  std::string text;
  for (++number; number > 0; number = (number - 1) / 26)
    text.insert(text.begin(), static_cast<char>('a' + (number - 1) % 26));
  return text;
}
inline std::string shape_text(DType dtype, const Dims& shape) {
  std::string text(dtype_name(dtype));
  text += '[';
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(shape[i]);
  return text + ']';
}
// Axes in which nothing lies apart have extents that are the operand's own.
inline Dims own_shape(const Operand& x) {
  Dims shape = x.shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (x.strides[axis] == 0) shape[axis] = 1;
  std::size_t first = 0;
  while (first < shape.size() && shape[first] == 1) ++first;
  return Dims(shape.begin() + first, shape.end());
}

// Names slots in the order in which they come up.
class Names {
 public:
  std::string operator()(const Operand& x, const std::vector<Slot>& slots) {
    const bool constant =
        x.place.slot < 0 || slots[static_cast<std::size_t>(x.place.slot)].kind == Slot::Kind::constant;
    if (x.place.slot < 0 && x.place.offset == 0) return "_";
    if (constant) return constant_text(x, slots);
    const auto [place, added] = names_.try_emplace(x.place.slot, std::string());
    if (added) place->second = letters(count_++);
    return place->second + (x.place.offset == 0 ? "" : "+" + std::to_string(x.place.offset));
  }
  std::string argument(int slot) {
    const auto [place, added] = names_.try_emplace(slot, std::string());
    if (added) place->second = letters(count_++);
    return place->second;
  }

 private:
  static std::string constant_text(const Operand& x, const std::vector<Slot>& slots) {
    const char* const data =
        x.place.slot < 0
            ? reinterpret_cast<const char*>(static_cast<std::intptr_t>(x.place.offset))
            : static_cast<const char*>(slots[static_cast<std::size_t>(x.place.slot)].data) + x.place.offset;
    for (const std::int64_t n : own_shape(x))
      if (n != 1) return "const:" + shape_text(x.dtype, own_shape(x));
    char text[32] = "const";
    if (x.dtype == DType::float32)
      std::snprintf(text, sizeof text, "%g", *reinterpret_cast<const float*>(data));
    if (x.dtype == DType::float64)
      std::snprintf(text, sizeof text, "%g", *reinterpret_cast<const double*>(data));
    if (x.dtype == DType::int32) return std::to_string(*reinterpret_cast<const std::int32_t*>(data));
    if (x.dtype == DType::int64) return std::to_string(*reinterpret_cast<const std::int64_t*>(data));
    return text;
  }
  std::map<int, std::string> names_;
  int count_ = 0;
};

#if defined(NAX_USES_FORMULAS)
// The formula of a step that gives one array, of operands with these names. Empty for fused steps and
// derivatives, which have names of their own, and where it is long.
inline std::string formula_text(const Step& s, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 120;
  if (!s.formula || s.formula->formula.results.size() != 1 || s.name.starts_with("fused{") ||
      s.name.ends_with("_gradient") || s.name.ends_with("_tangent"))
    return {};
  const formula::Formula& f = s.formula->formula;
  const auto number = [](double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", x);
    return std::string(text);
  };
  const auto input = [&](const MapFormula::Input& x, DType type) {
    if (x.operand >= 0) return names[static_cast<std::size_t>(x.operand)];
    return formula::detail::with_stored(type, [&]<class T>(T value) {
      std::memcpy(&value, &x.number, sizeof value);
      return number(static_cast<double>(value));
    });
  };
  std::vector<std::string> texts;
  for (const formula::Step& one : f.steps) {
    std::string text;
    if (one.operation == formula::Operation::input) {
      text = input(s.formula->inputs[one.detail], one.type);
    } else if (one.operation == formula::Operation::constant) {
      text = number(one.number());
    } else if (one.operation == formula::Operation::truth_as) {
      text = texts[static_cast<std::size_t>(one.operand[0])];
    } else {
      for (int j = 0; j < one.arity; ++j)
        text +=
            (j > 0 ? ", " : "") + texts[static_cast<std::size_t>(one.operand[static_cast<std::size_t>(j)])];
      const bool converts = one.operation == formula::Operation::convert;
      text = std::string(converts ? dtype_name(one.type) : formula::facts(one.operation).name) +
             ('(' + text + ')');
    }
    if (text.size() > longest) return {};
    texts.push_back(std::move(text));
  }
  const std::string& text = texts[static_cast<std::size_t>(f.results[0])];
  return s.formula->reduced.empty() ? text : name_of(s.formula->reduced[0].kind) + ('(' + text + ')');
}
#else
inline std::string formula_text(const Step&, const std::vector<std::string>&) { return {}; }
#endif

}  // namespace detail

NAX_ENGINE std::string Program::text(const std::string& indent) const {
  detail::Names names;
  std::string text = indent + "program(";
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    text += (i > 0 ? ", " : "") + names.argument(arguments_[i].slot) + ": " +
            detail::shape_text(arguments_[i].dtype, arguments_[i].shape);
  text += "):\n";
  for (const Step& step : steps_) {
    std::string from, to;
    std::vector<std::string> all, read;
    for (const Operand& x : step.operands) {
      std::string& list = x.written ? to : from;
      Operand shown = x;
      if (step.name == "elements") {  // one by one: the array that each is of, once
        shown.place.offset = 0;
        shown.shape = Dims(1, static_cast<std::int64_t>(slots_[static_cast<std::size_t>(x.place.slot)].bytes /
                                                        dtype_size(x.dtype)));
        shown.strides = Dims(1, 1);
      }
      const std::string name = names(shown, slots_);
      if (step.name == "elements" && std::find(all.begin(), all.end(), name) != all.end()) continue;
      all.push_back(name);
      if (!x.written) read.push_back(name);
      if (name == "_") continue;
      if (!list.empty()) list += ", ";
      list += name + (x.written ? ": " + detail::shape_text(x.dtype, detail::own_shape(shown)) : "");
    }
    std::string formula = step.work->text(read);
    if (formula.empty()) formula = detail::formula_text(step, all);
    text += indent + "  " + to + (to.empty() ? "" : " = ") +
            (formula.empty() ? step.name + "(" + from + ")" : formula) + "\n";
    for (const Program* inner : step.work->programs()) text += inner->text(indent + "    ");
  }
  text += indent + "  return";
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& out = outputs_[i];
    text += i > 0 ? ", " : " ";
    const bool constant = out.slot == Place::constant ||
                          slots_[static_cast<std::size_t>(out.slot)].kind == Slot::Kind::constant;
    text += constant ? "const:" + detail::shape_text(out.dtype, out.layout.shape) : names.argument(out.slot);
  }
  return text + "\n";
}

}  // namespace program
NAX_END
