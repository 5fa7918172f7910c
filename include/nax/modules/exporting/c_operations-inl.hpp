#pragma once

#include <algorithm>

#include "nax/modules/exporting/c_writer.hpp"

NAX_BEGIN
namespace io::detail {

template <class... X>
std::string c_text(const X&... x) {
  std::string made;
  const auto one = [&](const auto& part) {
    using P = std::decay_t<decltype(part)>;
    if constexpr (std::is_integral_v<P> && !std::is_same_v<P, char>)
      made += std::to_string(part);
    else
      made += part;
  };
  (one(x), ...);
  return made;
}

// ---- products

inline bool has_kernel(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }
inline std::int64_t packed_count(std::int64_t k, std::int64_t n, DType dtype) {
  const std::int64_t wide = 64 / static_cast<std::int64_t>(dtype_size(dtype));
  return (n + wide - 1) / wide * wide * k;
}

// Matrices (k, n) of a constant that begin at these places, packed as `pack` does it.
inline std::string CWriter::packed(const Elements& b, const std::vector<std::int64_t>& firsts, std::int64_t k,
                                   std::int64_t n, std::int64_t row, std::int64_t column) {
  const std::int64_t size = static_cast<std::int64_t>(dtype_size(b.dtype)), wide = 64 / size;
  std::string key = c_text(reinterpret_cast<std::uintptr_t>(b.data), ' ', type(b.dtype), ' ', b.offset, ' ',
                           k, ' ', n, ' ', row, ' ', column);
  for (const std::int64_t first : firsts) key += c_text(' ', first);
  std::string& name = packed_[key];
  if (!name.empty()) return name;
  std::string bytes;
  bytes.reserve(firsts.size() * static_cast<std::size_t>(packed_count(k, n, b.dtype) * size));
  for (const std::int64_t first : firsts)
    for (std::int64_t j = 0; j < n; j += wide)
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t l = 0; l < wide; ++l) {
          if (j + l < n)
            bytes.append(b.data + (b.offset + first + p * row + (j + l) * column) * size,
                         static_cast<std::size_t>(size));
          else
            bytes.append(static_cast<std::size_t>(size), '\0');
        }
  const std::int64_t all = static_cast<std::int64_t>(bytes.size()) / size;
  return name = define(keep(std::move(bytes)), b.dtype, all);
}

inline void CWriter::matmul(int at) {
  const Node& own = node(at);
  const std::size_t rank = own.shape.size(), batches = rank - 2;
  const int from = own.inputs[0];
  Elements b = elements(own.inputs[1]);
  const std::int64_t k = node(from).shape[rank - 1], n = own.shape[rank - 1];
  std::int64_t m = own.shape[rank - 2];
  Dims batch(own.shape.begin(), own.shape.begin() + static_cast<std::ptrdiff_t>(batches));
  const auto of_batch = [&](const Dims& strides) {
    Dims first(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(batches));
    for (std::size_t i = 0; i < batches; ++i)
      if (batch[i] == 1) first[i] = 0;
    return first;
  };
  const Dims b_batch = of_batch(b.strides);
  const bool shared = std::all_of(b_batch.begin(), b_batch.end(), [](auto s) { return s == 0; });
  const auto is_row = [&](const Elements& x) { return k == 1 || x.strides[rank - 1] == 1; };
  Elements a = shared && count(batch) > 1 ? whole(from)
               : is_row(elements(from))   ? elements(from)
                                          : whole(from);
  const std::int64_t lda = a.strides[rank - 2], row = b.strides[rank - 2], column = b.strides[rank - 1];
  Elements& to = allocate(at);
  Dims a_batch = of_batch(a.strides), c_batch = of_batch(to.strides), number = Layout::row_major(batch);
  if (shared) m *= count(batch), batch = {}, a_batch = {}, c_batch = {}, number = {};
  const Dims own_b = shared ? Dims() : b_batch;
  if (!has_kernel(own.dtype)) {
    const std::string f = helper("product", own.dtype);
    const Axes axes = joined(batch, {a_batch, own_b, c_batch});
    open(axes, 0, false);
    line(c_text(f, '(', pointer(a, index(axes, 0)), ", ", lda, ", ", a.strides[rank - 1], ", ",
                pointer(b, index(axes, 1)), ", ", row, ", ", column, ", ", pointer(to, index(axes, 2)), ", ",
                m, ", ", n, ", ", k, ");"));
    return close(axes.extents.size());
  }
  const std::int64_t panels = packed_count(k, n, own.dtype);
  const std::string f = helper("gemm", own.dtype);
  const auto product = [&](const Axes& axes, const std::string& matrix) {
    line(c_text(f, '(', pointer(a, index(axes, 0)), ", ", lda, ", ", matrix, ", ",
                pointer(to, index(axes, 2)), ", ", n, ", ", m, ", ", n, ", ", k, ", 0);"));
  };
  if (b.data) {
    std::vector<std::int64_t> firsts;
    Dims order(batch.size(), 0);
    for (std::int64_t i = 0; i < count(batch); ++i) {
      std::int64_t left = i, first = 0;
      for (std::size_t j = batch.size(); j-- > 0; left /= batch[j]) first += left % batch[j] * own_b[j];
      firsts.push_back(first);
    }
    for (std::size_t j = 0; j < batch.size(); ++j) order[j] = number[j] * panels;
    const std::string matrices = packed(b, firsts, k, n, row, column);
    const Axes axes = joined(batch, {a_batch, order, c_batch});
    open(axes, 0, false);
    const std::string place = index(axes, 1);
    product(axes, place.empty() ? matrices : matrices + " + " + place);
    return close(axes.extents.size());
  }
  const std::string pack = helper("pack", own.dtype);
  Elements matrix = scratch(own.dtype, Dims(1, panels));
  const Axes axes = joined(batch, {a_batch, own_b, c_batch});
  open(axes, 0, false);
  line(c_text(pack, '(', pointer(b, index(axes, 1)), ", ", row, ", ", column, ", ", pointer(matrix), ", ", n,
              ", ", k, ");"));
  product(axes, pointer(matrix));
  close(axes.extents.size());
}

// ---- places

inline void CWriter::concatenate(int at) {
  const std::size_t axis = static_cast<std::size_t>(node(at).numbers[0]);
  Elements& to = allocate(at);
  Elements part = to;
  for (const int x : node(at).inputs) {
    part.shape = node(x).shape;
    copy(elements(x), part);
    part.offset += part.shape[axis] * to.strides[axis];
  }
}

inline void CWriter::take(int at) {
  Elements table = whole(node(at).inputs[0]), indices = whole(node(at).inputs[1]);
  Elements& to = allocate(at);
  const std::int64_t row = count(table.shape) / table.shape[0], n = count(indices.shape);
  line(c_text("for (ptrdiff_t k_0 = 0; k_0 < ", n, "; ++k_0)"));
  const std::string from = this->at(indices, "k_0");
  if (row == 1)
    line(c_text("  ", this->at(to, "k_0"), " = ", this->at(table, from), ';'));
  else
    line(c_text("  memcpy(", pointer(to), " + k_0 * ", row, ", ", pointer(table), " + ", from, " * ", row,
                ", sizeof(", type(to.dtype), ") * ", row, ");"));
}

inline void CWriter::scatter(int at) {
  const Node& own = node(at);
  Elements indices = whole(own.inputs[1]), values = whole(own.inputs[2]);
  Elements& to = allocate(at);
  copy(elements(own.inputs[0]), to);
  line(c_text("for (ptrdiff_t k_0 = 0; k_0 < ", count(indices.shape), "; ++k_0) ",
              this->at(to, this->at(indices, "k_0")),
              own.kind == NodeKind::scatter ? " = " : " += ", this->at(values, "k_0"), ';'));
}

// ---- lines: of the elements before an axis, along it and behind it

struct CLines {
  std::int64_t before = 1, n, behind = 1;
  CLines(const Dims& shape, std::int64_t axis) : n(shape[static_cast<std::size_t>(axis)]) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (static_cast<std::int64_t>(i) != axis)
        (static_cast<std::int64_t>(i) < axis ? before : behind) *= shape[i];
  }
};

inline void CWriter::open_lines(const CLines& lines) {
  line(c_text("for (ptrdiff_t u_0 = 0; u_0 < ", lines.before, "; ++u_0)"));
  line(c_text("  for (ptrdiff_t j_0 = 0; j_0 < ", lines.behind, "; ++j_0) {"));
  depth_ += 2;
}
inline void CWriter::close_lines() {
  --depth_;
  line("}");
  --depth_;
}

inline void CWriter::cumsum(int at) {
  const Node& own = node(at);
  const CLines lines(own.shape, own.numbers[0]);
  Elements from = whole(own.inputs[0]);
  Elements& to = allocate(at);
  open_lines(lines);
  line(c_text(type(own.dtype), " s_0 = 0;"));
  line(c_text("for (ptrdiff_t k_0 = 0; k_0 < ", lines.n, "; ++k_0) {"));
  const std::string turn = own.numbers[1] ? c_text(lines.n - 1, " - k_0") : std::string("k_0");
  line(c_text("  const ptrdiff_t k_1 = (u_0 * ", lines.n, " + ", turn, ") * ", lines.behind, " + j_0;"));
  line(c_text("  ", this->at(to, "k_1"), " = s_0 = (", type(own.dtype), ")(s_0 + ", this->at(from, "k_1"),
              ");"));
  line("}");
  close_lines();
}

inline void CWriter::argmax(int at) {
  const Node& own = node(at);
  const Node& input = node(own.inputs[0]);
  const CLines lines(input.shape, own.numbers[0]);
  Elements from = whole(own.inputs[0]);
  Elements& to = allocate(at);
  open_lines(lines);
  line("ptrdiff_t m_0 = 0;");
  line(c_text("for (ptrdiff_t k_0 = 1; k_0 < ", lines.n, "; ++k_0) {"));
  const auto place = [&](const char* i) {
    return c_text("(u_0 * ", lines.n, " + ", i, ") * ", lines.behind, " + j_0");
  };
  line(c_text("  const ", type(input.dtype), " v_0 = ", this->at(from, place("k_0")),
              ", v_1 = ", this->at(from, place("m_0")), ';'));
  line(dtype_kind(input.dtype) == Kind::floating ? "  if (v_0 > v_1 || (v_0 != v_0 && v_1 == v_1)) m_0 = k_0;"
                                                 : "  if (v_0 > v_1) m_0 = k_0;");
  line("}");
  line(c_text(this->at(to, c_text("u_0 * ", lines.behind, " + j_0")), " = (", type(own.dtype), ")m_0;"));
  close_lines();
}

inline void CWriter::top(int at) {
  const Node& own = node(at);
  const CLines lines(node(own.inputs[0]).shape, own.numbers[0]);
  Elements from = whole(own.inputs[0]);
  Elements& to = allocate(at);
  Elements order = scratch(DType::int64, Dims(1, 2 * lines.n));
  const std::string f = helper("order", from.dtype);
  open_lines(lines);
  const std::string first = c_text("u_0 * ", lines.n * lines.behind, " + j_0");
  line(c_text("const ptrdiff_t* const q_0 = ", f, '(', pointer(from, first), ", ", lines.behind, ", ",
              lines.n, ", ", own.numbers[2], ", (ptrdiff_t*)", pointer(order), ");"));
  const std::string value =
      own.kind == NodeKind::top ? this->at(from, c_text(first, " + q_0[k_0] * ", lines.behind)) : "q_0[k_0]";
  line(c_text("for (ptrdiff_t k_0 = 0; k_0 < ", own.numbers[1], "; ++k_0) ",
              this->at(to, c_text("(u_0 * ", own.numbers[1], " + k_0) * ", lines.behind, " + j_0")), " = ",
              value, ';'));
  close_lines();
}

// ---- networks

inline std::string CWriter::windows(int at) {
  const Node& own = node(at);
  const Dims& in = node(own.inputs[0]).shape;
  const std::size_t axes = own.shape.size() - 2;
  if (axes > 3) refuse("windows of more than 3 axes");
  const ConvNumbers by{own.numbers.data()};
  const bool pools = own.kind == NodeKind::max_pool;
  const auto list = [&](std::int64_t none, const auto& of) {
    std::string text = "{";
    for (std::size_t i = 0; i < 3; ++i)
      text += c_text(i > 0 ? ", " : "", i + axes < 3 ? none : of(i + axes - 3));
    return text + "}, ";
  };
  const std::string name = "g_" + std::to_string(count_++);
  const Dims& weight = node(own.inputs.back()).shape;
  const std::size_t last = own.numbers.size() - axes;
  definitions_ += c_text(
      "static const windows ", name, " = {", in[0], ", ", list(1, [&](std::size_t i) { return in[i + 1]; }),
      list(1, [&](std::size_t i) { return pools ? own.numbers[last + i] : weight[i]; }),
      list(1, [&](std::size_t i) { return own.shape[i + 1]; }),
      list(1, [&](std::size_t i) { return by.stride(i); }), list(0, [&](std::size_t i) { return by.low(i); }),
      list(1, [&](std::size_t i) { return by.lhs(i); }), list(1, [&](std::size_t i) { return by.rhs(i); }),
      in[axes + 1], ", ", own.shape[axes + 1], ", ", by.groups(), "};\n");
  return name;
}

inline void CWriter::max_pool(int at) {
  const std::string f = helper("max_pool", node(at).dtype), g = windows(at);
  Elements x = whole(node(at).inputs[0]);
  line(c_text(f, '(', pointer(x), ", ", pointer(allocate(at)), ", &", g, ");"));
}

inline void CWriter::convolve(int at) {
  const Node& own = node(at);
  const std::size_t axes = own.shape.size() - 2;
  const ConvNumbers by{own.numbers.data()};
  bool plain = by.groups() == 1 && has_kernel(own.dtype);
  for (std::size_t i = 0; i < axes; ++i) plain = plain && by.lhs(i) == 1;
  const std::string f = helper(plain ? "convolve" : "convolve_any", own.dtype), g = windows(at);
  Elements x = whole(own.inputs[0]),
           w = plain && elements(own.inputs[1]).data ? elements(own.inputs[1]) : whole(own.inputs[1]);
  Elements& to = allocate(at);
  std::string weight;
  if (!plain) {
    weight = pointer(w);
  } else {
    const std::int64_t k = w.shape[axes], n = w.shape[axes + 1], row = w.strides[axes],
                       column = w.strides[axes + 1];
    std::vector<std::int64_t> firsts(1, 0);
    for (std::size_t i = 0; i < axes; ++i) {
      std::vector<std::int64_t> all;
      for (const std::int64_t first : firsts)
        for (std::int64_t p = 0; p < w.shape[i]; ++p) all.push_back(first + p * w.strides[i]);
      firsts = std::move(all);
    }
    if (w.data) {
      weight = packed(w, firsts, k, n, row, column);
    } else {
      const std::int64_t panels = packed_count(k, n, own.dtype),
                         places = static_cast<std::int64_t>(firsts.size());
      Elements matrices = scratch(own.dtype, Dims(1, panels * places));
      line(c_text("for (ptrdiff_t k_0 = 0; k_0 < ", places, "; ++k_0) ", helper("pack", own.dtype), '(',
                  pointer(w, c_text("k_0 * ", k * n)), ", ", row, ", ", column, ", ",
                  pointer(matrices, c_text("k_0 * ", panels)), ", ", n, ", ", k, ");"));
      weight = pointer(matrices);
    }
  }
  line(c_text(f, '(', pointer(x), ", ", weight, ", ", pointer(to), ", &", g, ");"));
}

inline void CWriter::rows(int at) {
  const Node& own = node(at);
  if (!has_kernel(own.dtype)) refuse("rows of " + std::string(dtype_name(own.dtype)));
  Elements x = whole(own.inputs[0]);
  const std::int64_t n = own.shape.back(), rows = count(own.shape) / n;
  if (own.kind == NodeKind::layer_norm) {
    Elements scale = whole(own.inputs[1]), bias = whole(own.inputs[2]);
    const std::string epsilon = literal(&own.number, DType::float64), f = helper("layer_norm", own.dtype);
    line(c_text(f, '(', pointer(x), ", ", pointer(scale), ", ", pointer(bias), ", ", pointer(allocate(at)),
                ", ", rows, ", ", n, ", ", epsilon, ");"));
  } else {
    const std::string f = helper("softmax", own.dtype);
    line(c_text(f, '(', pointer(x), ", ", pointer(allocate(at)), ", ", rows, ", ", n, ", ",
                own.kind == NodeKind::log_softmax ? 1 : 0, ");"));
  }
}

}  // namespace io::detail
NAX_END
