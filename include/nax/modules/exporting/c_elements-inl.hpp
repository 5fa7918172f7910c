#pragma once

#include <algorithm>

#include "nax/modules/exporting/c_writer.hpp"

NAX_BEGIN
namespace io::detail {

// ---- views

inline bool CWriter::is_whole(const Elements& x) {
  std::int64_t run = 1;
  for (std::size_t i = x.shape.size(); i-- > 0; run *= x.shape[i])
    if (x.shape[i] != 1 && x.strides[i] != run) return false;
  return true;
}

inline CWriter::Elements& CWriter::whole(int at) {
  if (is_whole(elements(at))) return elements(at);
  const auto [place, is_new] = wholes_.try_emplace(at);
  Elements& made = place->second;
  if (!is_new) return made;
  Elements& from = elements(at);
  if (from.data) {  // is put in order here
    made = row_by_row({}, from.dtype, from.shape);
    made.count = count(from.shape);
    made.data = keep(ordered(from));
  } else {
    made = scratch(from.dtype, from.shape);
    copy(from, made);
  }
  return made;
}

// The bytes of a view of a constant.
inline std::string CWriter::ordered(const Elements& x) {
  const std::size_t size = dtype_size(x.dtype);
  std::string bytes;
  for (std::int64_t i = 0; i < count(x.shape); ++i) {
    std::int64_t left = i, at = x.offset;
    for (std::size_t k = x.shape.size(); k-- > 0; left /= x.shape[k]) at += left % x.shape[k] * x.strides[k];
    bytes.append(x.data + static_cast<std::size_t>(at) * size, size);
  }
  return bytes;
}
inline const char* CWriter::keep(std::string bytes) {
  made_.push_back(std::make_unique<const std::string>(std::move(bytes)));
  return made_.back()->data();
}

inline void CWriter::copy(Elements& from, Elements& to) {
  const Axes axes = joined(to.shape, {to.strides, strides_over(from, to.shape)});
  const bool is_run = axes.extents.size() == 1 && axes.strides[0][0] == 1 && axes.strides[1][0] == 1;
  if (is_run) {
    line("memcpy(" + pointer(to) + ", " + pointer(from) + ", sizeof(" + type(to.dtype) + ") * " +
         std::to_string(axes.extents[0]) + ");");
    return;
  }
  open(axes);
  line(at(to, index(axes, 0)) + " = " + at(from, index(axes, 1)) + ';');
  close(axes.extents.size());
}

inline void CWriter::reshape(int at) {
  const int from = node(at).inputs[0];
  const Dims& shape = node(at).shape;
  Elements made = elements(from);
  Dims strides;  // of the axes that are more than one element, if these stay as
                 // they are
  const auto spread = [](const Dims& extents) {
    Dims own;
    for (const std::int64_t n : extents)
      if (n != 1) own.push_back(n);
    return own;
  };
  if (!is_whole(made) && spread(made.shape) == spread(shape)) {
    std::size_t k = 0;
    for (const std::int64_t n : shape) {
      while (n != 1 && made.shape[k] == 1) ++k;
      strides.push_back(n == 1 ? 0 : made.strides[k++]);
    }
  } else {
    made = whole(from);
    strides = Layout::row_major(shape);
  }
  made.shape = shape, made.strides = strides;
  elements(at) = made;
}

inline void CWriter::view(int at) {
  const Node& own = node(at);
  Elements made = elements(own.inputs[0]);
  const Dims strides = made.strides;
  const auto axis = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  switch (own.kind) {
    case NodeKind::transpose:
      for (std::size_t i = 0; i < own.shape.size(); ++i) made.strides[i] = strides[axis(own.numbers[i])];
      break;
    case NodeKind::slice:
      for (std::size_t i = 0; i < own.shape.size(); ++i) {
        made.offset += own.numbers[3 * i] * strides[i];
        made.strides[i] = own.numbers[3 * i + 2] * strides[i];
      }
      break;
    case NodeKind::reverse:
      for (const std::int64_t i : own.numbers) {
        made.offset += (own.shape[axis(i)] - 1) * strides[axis(i)];
        made.strides[axis(i)] = -strides[axis(i)];
      }
      break;
    default:
      made.strides = strides_over(made, own.shape);
  }
  made.shape = own.shape;
  elements(at) = made;
}

// ---- loops

// Broadcast to a shape.
inline Dims CWriter::strides_over(const Elements& x, const Dims& shape) {
  Dims strides(shape.size(), 0);
  for (std::size_t i = x.shape.size(), j = shape.size(); i-- > 0 && j-- > 0;)
    strides[j] = x.shape[i] == 1 ? 0 : x.strides[i];
  return strides;
}

inline CWriter::Axes CWriter::joined(const Dims& shape, const std::vector<Dims>& strides) {
  Axes made;
  made.strides.resize(strides.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    bool joins = !made.extents.empty();
    for (std::size_t x = 0; x < strides.size() && joins; ++x)
      joins = made.strides[x].back() == strides[x][i] * shape[i];
    if (joins)
      made.extents.back() *= shape[i];
    else
      made.extents.push_back(shape[i]);
    for (std::size_t x = 0; x < strides.size(); ++x) {
      if (joins)
        made.strides[x].back() = strides[x][i];
      else
        made.strides[x].push_back(strides[x][i]);
    }
  }
  return made;
}

inline void CWriter::open(const Axes& axes, std::size_t first, bool independent) {
  for (std::size_t k = 0; k < axes.extents.size(); ++k) {
    const std::string i = "i_" + std::to_string(first + k);
    if (independent && k + 1 == axes.extents.size()) line("INDEPENDENT");
    line("for (ptrdiff_t " + i + " = 0; " + i + " < " + std::to_string(axes.extents[k]) + "; ++" + i + ") {");
    ++depth_;
  }
}
inline void CWriter::close(std::size_t n) {
  while (n-- > 0) --depth_, line("}");
}

inline std::string CWriter::index(const Axes& axes, std::size_t operand, std::size_t first) {
  std::string text;
  for (std::size_t k = 0; k < axes.extents.size(); ++k) {
    const std::int64_t stride = axes.strides[operand][k];
    if (stride == 0) continue;
    text += (text.empty() ? "i_" : " + i_") + std::to_string(first + k);
    if (stride != 1) text += " * " + std::to_string(stride);
  }
  return text;
}

inline std::string CWriter::named(Elements& x) {
  if (x.buffer >= 0) buffers_[static_cast<std::size_t>(x.buffer)].last = now_;
  if (x.name.empty()) x.name = define(x.data, x.dtype, x.count);
  return x.name;
}
inline std::string CWriter::at(Elements& x, const std::string& index) {
  std::string place = index;
  if (x.offset != 0) place = std::to_string(x.offset) + (index.empty() ? "" : " + " + index);
  return named(x) + '[' + (place.empty() ? "0" : place) + ']';
}
inline std::string CWriter::pointer(Elements& x, const std::string& index) {
  std::string place = named(x);
  if (x.offset != 0) place += " + " + std::to_string(x.offset);
  return index.empty() ? place : place + " + " + index;
}

// ---- elementwise nodes

inline bool CWriter::is_lazy(int at) const {
  const Node& own = node(at);
  const int reader = reader_[static_cast<std::size_t>(at)];
  if (!is_elementwise(own.kind) && own.kind != NodeKind::cast) return false;
  if (uses_[static_cast<std::size_t>(at)] != 1 || reader < 0) return false;
  if (homes_[static_cast<std::size_t>(at)] != homes_[static_cast<std::size_t>(reader)]) return false;
  const NodeKind by = node(reader).kind;
  if (by == NodeKind::sum || by == NodeKind::product || by == NodeKind::max || by == NodeKind::min)
    return true;
  return (is_elementwise(by) || by == NodeKind::cast) && count(node(reader).shape) == count(own.shape);
}

inline void CWriter::list_leaves(int at, bool top, std::vector<int>& leaves) const {
  if (!top && !is_lazy(at)) return leaves.push_back(at);
  for (const int x : node(at).inputs) list_leaves(x, false, leaves);
}

// The value of a node at a place of a loop; `next` gives the places of its leaves.
inline std::string CWriter::value(int at, bool top, FunctionRef<std::string(Elements&)> next) {
  if (!top && !is_lazy(at)) {
    Elements& own = elements(at);
    const std::string text = next(own);
    if (own.data && std::all_of(own.strides.begin(), own.strides.end(), [](auto s) { return s == 0; }))
      return literal(own.data + own.offset * static_cast<std::int64_t>(dtype_size(own.dtype)), own.dtype);
    return this->at(own, text);
  }
  std::vector<std::string> x;
  for (const int input : node(at).inputs) x.push_back(value(input, false, next));
  const DType from = node(node(at).inputs.back()).dtype;
  const std::string made = node(at).kind == NodeKind::cast
                               ? std::string("(") + type(node(at).dtype) + ')' + x[0]
                               : operation(node(at).kind, from, x);
  if (top) return made;
  const std::string name = "t_" + std::to_string(count_++);
  line(std::string("const ") + type(node(at).dtype) + ' ' + name + " = " + made + ';');
  return name;
}

// An expression of names and literals.
inline std::string CWriter::operation(NodeKind kind, DType dtype, const std::vector<std::string>& x) {
  const bool real = dtype_kind(dtype) == Kind::floating, is_unsigned = dtype_name(dtype)[0] == 'u';
  const std::string t = type(dtype);
  const auto call = [&](const char* f) {
    std::string text = std::string(f) + (dtype == DType::float32 ? "f(" : "(");
    for (std::size_t i = 0; i < x.size(); ++i) text += (i > 0 ? ", " : "") + x[i];
    return text + ')';
  };
  const auto between = [&](const char* sign) { return x[0] + ' ' + sign + ' ' + x[1]; };
  const auto as = [&](const std::string& text) { return real ? text : '(' + t + ")(" + text + ')'; };
  const auto chosen = [&](const char* sign) {
    const std::string better = x[0] + ' ' + sign + ' ' + x[1];
    const std::string nan = real ? " | (" + x[0] + " != " + x[0] + ')' : std::string();
    return "((" + better + ')' + nan + ") ? " + x[0] + " : " + x[1];
  };
  switch (kind) {
    case NodeKind::negative:
      return as("-(" + x[0] + ')');
    case NodeKind::absolute:
      return real ? call("fabs") : is_unsigned ? x[0] : as(x[0] + " < 0 ? -(" + x[0] + ") : " + x[0]);
    case NodeKind::sign: {
      const std::string sign = '(' + t + ")((" + x[0] + " > 0) - (" + x[0] + " < 0))";
      return real ? x[0] + " != " + x[0] + " ? " + x[0] + " : " + sign : sign;
    }
    case NodeKind::sqrt:
      return call("sqrt");
    case NodeKind::floor:
      return call("floor");
    case NodeKind::ceil:
      return call("ceil");
    case NodeKind::rint:
      return call("rint");
    case NodeKind::exp:
      return call("exp");
    case NodeKind::log:
      return call("log");
    case NodeKind::tanh:
      return call("tanh");
    case NodeKind::expit:
      return std::string("1 / (1 + exp") + (dtype == DType::float32 ? "f" : "") + "(-(" + x[0] + ")))";
    case NodeKind::sin:
      return call("sin");
    case NodeKind::cos:
      return call("cos");
    case NodeKind::tan:
      return call("tan");
    case NodeKind::asin:
      return call("asin");
    case NodeKind::acos:
      return call("acos");
    case NodeKind::atan:
      return call("atan");
    case NodeKind::sinh:
      return call("sinh");
    case NodeKind::cosh:
      return call("cosh");
    case NodeKind::asinh:
      return call("asinh");
    case NodeKind::acosh:
      return call("acosh");
    case NodeKind::atanh:
      return call("atanh");
    case NodeKind::erf:
      return call("erf");
    case NodeKind::erfc:
      return call("erfc");
    case NodeKind::lgamma:
      return call("lgamma");
    case NodeKind::exp2:
      return call("exp2");
    case NodeKind::expm1:
      return call("expm1");
    case NodeKind::log2:
      return call("log2");
    case NodeKind::log10:
      return call("log10");
    case NodeKind::log1p:
      return call("log1p");
    case NodeKind::cbrt:
      return call("cbrt");
    case NodeKind::trunc:
      return call("trunc");
    case NodeKind::signbit:
      return "signbit(" + x[0] + ") != 0";
    case NodeKind::logical_not:
      return (dtype == DType::boolean ? '!' : '~') + x[0];
    case NodeKind::add:
      return as(between("+"));
    case NodeKind::subtract:
      return as(between("-"));
    case NodeKind::multiply:
      return as(between("*"));
    case NodeKind::divide:
      return as(between("/"));
    case NodeKind::maximum:
      return chosen(">");
    case NodeKind::minimum:
      return chosen("<");
    case NodeKind::power:
      return real ? call("pow") : helper("power", dtype) + '(' + x[0] + ", " + x[1] + ')';
    case NodeKind::shift_left:
    case NodeKind::shift_right: {
      const std::string bits = std::to_string(8 * dtype_size(dtype));
      const std::string beyond = (is_unsigned ? "" : x[1] + " < 0 || ") + x[1] + " >= " + bits + " ? ";
      if (kind == NodeKind::shift_left)
        return beyond + "0 : (" + t + ")((uint" + (dtype_size(dtype) < 8 ? "32" : "64") + "_t)" + x[0] +
               " << " + x[1] + ')';
      return beyond + (is_unsigned ? "0" : x[0] + " < 0 ? -1 : 0") + " : (" + t + ")(" + x[0] + " >> " +
             x[1] + ')';
    }
    case NodeKind::hypot:
      return call("hypot");
    case NodeKind::fmod:
      return call("fmod");
    case NodeKind::copysign:
      return call("copysign");
    case NodeKind::real:  // complex numbers are refused before
    case NodeKind::imag:
    case NodeKind::pair:
      break;
    case NodeKind::logical_and:
      return between("&");
    case NodeKind::logical_or:
      return between("|");
    case NodeKind::logical_xor:
      return between("^");
    case NodeKind::equal:
      return between("==");
    case NodeKind::less:
      return between("<");
    case NodeKind::less_equal:
      return between("<=");
    case NodeKind::select:
      return x[0] + " ? " + x[1] + " : " + x[2];
#define NAX_NODE(name, ...) case NodeKind::name:
      NAX_OTHER_NODES(NAX_NODE)
#undef NAX_NODE
      break;
  }
  return {};
}

inline void CWriter::map(int at) {
  const Dims& shape = node(at).shape;
  std::vector<int> leaves;
  list_leaves(at, true, leaves);
  Elements& to = allocate(at);
  std::vector<Dims> strides = {to.strides};
  for (const int leaf : leaves) strides.push_back(strides_over(elements(leaf), shape));
  const Axes axes = joined(shape, strides);
  if (axes.extents.empty()) line("{"), ++depth_;
  open(axes);
  std::size_t leaf = 1;
  const std::string made = value(at, true, [&](Elements&) { return index(axes, leaf++); });
  line(this->at(to, index(axes, 0)) + " = " + made + ';');
  close(std::max<std::size_t>(axes.extents.size(), 1));
}

// ---- reductions

// The number that changes nothing.
inline std::string CWriter::first_of(NodeKind kind, DType dtype) {
  if (kind == NodeKind::sum) return "0";
  if (kind == NodeKind::product) return "1";
  const bool most = kind == NodeKind::max;
  if (dtype_kind(dtype) == Kind::floating) return most ? "-INFINITY" : "INFINITY";
  const std::string bits = std::to_string(8 * dtype_size(dtype));
  if (dtype == DType::boolean) return most ? "0" : "1";
  if (dtype_name(dtype)[0] == 'u') return most ? "0" : "UINT" + bits + "_MAX";
  return "INT" + bits + (most ? "_MIN" : "_MAX");
}

inline void CWriter::reduce(int at) {
  const Node& own = node(at);
  const int from = own.inputs[0];
  const Dims& shape = node(from).shape;
  std::vector<int> leaves;
  list_leaves(from, is_lazy(from), leaves);
  Elements& to = allocate(at);
  std::vector<Dims> strides = {strides_over(to, shape)};
  for (const int leaf : leaves) strides.push_back(strides_over(elements(leaf), shape));
  // The loops over axes that stay, or go.
  const auto part = [&](bool goes) {
    Dims extents;
    std::vector<Dims> own_strides(strides.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if ((std::find(own.numbers.begin(), own.numbers.end(), static_cast<std::int64_t>(i)) !=
           own.numbers.end()) != goes)
        continue;
      extents.push_back(shape[i]);
      for (std::size_t x = 0; x < strides.size(); ++x) own_strides[x].push_back(strides[x][i]);
    }
    return joined(extents, own_strides);
  };
  std::size_t last = shape.size();
  while (last > 1 && shape[last - 1] == 1) --last;
  const bool inner = std::find(own.numbers.begin(), own.numbers.end(), static_cast<std::int64_t>(last) - 1) !=
                     own.numbers.end();
  const auto combined = [&](const std::string& sum, const std::string& x) -> std::string {
    if (own.kind == NodeKind::sum) return sum + " += " + x + ';';
    if (own.kind == NodeKind::product) return sum + " *= " + x + ';';
    const std::string better = x + (own.kind == NodeKind::max ? " > " : " < ") + sum;
    const std::string nan = dtype_kind(own.dtype) == Kind::floating ? " || " + x + " != " + x : "";
    return "if (" + better + nan + ") " + sum + " = " + x + ';';
  };
  const auto add = [&](const std::string& sum, const auto& place) {
    std::size_t leaf = 1;
    const std::string x = value(from, is_lazy(from), [&](Elements&) { return place(leaf++); });
    line(std::string("const ") + type(own.dtype) + " v_0 = " + x + ';');
    line(combined(sum, "v_0"));
  };
  const std::string first = first_of(own.kind, own.dtype);
  const Axes kept = part(false), gone = part(true);
  if (inner) {
    const std::size_t k = kept.extents.size();
    if (k == 0) line("{"), ++depth_;
    open(kept, 0, false);
    const bool wide =
        own.dtype == DType::float32 && (own.kind == NodeKind::sum || own.kind == NodeKind::product);
    line(std::string(wide ? "double" : type(own.dtype)) + " s_0 = " + first + ';');
    open(gone, k, false);
    add("s_0", [&](std::size_t x) {
      const std::string a = index(kept, x), b = index(gone, x, k);
      return a.empty() || b.empty() ? a + b : a + " + " + b;
    });
    close(gone.extents.size());
    line(this->at(to, index(kept, 0)) + " = (" + type(own.dtype) + ")s_0;");
    return close(std::max<std::size_t>(k, 1));
  }
  open(kept);
  line(this->at(to, index(kept, 0)) + " = " + first + ';');
  close(kept.extents.size());
  const Axes all = joined(shape, strides);
  if (all.extents.empty()) line("{"), ++depth_;
  open(all);
  add(this->at(to, index(all, 0)), [&](std::size_t x) { return index(all, x); });
  close(std::max<std::size_t>(all.extents.size(), 1));
}

}  // namespace io::detail
NAX_END
