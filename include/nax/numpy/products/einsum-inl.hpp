#pragma once

#include "nax/numpy/products/einsum.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool has_label(const Labels& labels, std::int32_t label) {
  for (std::int32_t l : labels)
    if (l == label) return true;
  return false;
}

NAX_ENGINE Labels parse_labels(std::string_view all, std::string_view text, int ellipsis_axes) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(i, 3) != "...") throw_einsum(all, {"'.' is only allowed in an ellipsis '...'"});
      i += 2;
      for (int k = ellipsis_axes; k-- > 0;) labels.push_back(128 + k);
      continue;
    }
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) throw_einsum(all, {"invalid label '", c, "'"});
    labels.push_back(c);
  }
  return labels;
}

// A view of the diagonal over axes i and j (i stays), recorded.
NAX_ENGINE ArrayBase diagonal_view(const ArrayBase& x, int i, int j);

// The transpose: zeros but for that diagonal.
NAX_ENGINE ArrayBase diagonal_spread(const ArrayBase& g, int i, int j) {
  Dims visible = g.shape();
  visible.insert(static_cast<std::size_t>(j), visible[static_cast<std::size_t>(i)]);
  const Frame frame = with_visible(layout_of(g), visible);
  ArrayBase spread = allocate(g.dtype(), frame, device_for("einsum", g));
  clear_elements(spread);
  Layout layout = layout_of(spread);
  const std::size_t h = static_cast<std::size_t>(layout.hidden());
  layout.strides[h + static_cast<std::size_t>(i)] += layout.strides[h + static_cast<std::size_t>(j)];
  layout.shape.erase(h + static_cast<std::size_t>(j));
  layout.strides.erase(h + static_cast<std::size_t>(j));
  copy_into(g, view(spread, std::move(layout)));
  return record(std::move(spread), wrt(
                                       g, [=](const ArrayBase& c) { return diagonal_view(c, i, j); },
                                       [=](const ArrayBase& t) { return diagonal_spread(t, i, j); }));
}
NAX_ENGINE ArrayBase diagonal_view(const ArrayBase& x, int i, int j) {
  Layout layout = layout_of(x);
  const std::size_t h = static_cast<std::size_t>(layout.hidden());
  layout.strides[h + static_cast<std::size_t>(i)] += layout.strides[h + static_cast<std::size_t>(j)];
  layout.shape.erase(h + static_cast<std::size_t>(j));
  layout.strides.erase(h + static_cast<std::size_t>(j));
  return record_view(
      x, std::move(layout), 0, [=](const ArrayBase& g) { return diagonal_spread(g, i, j); },
      [=](const ArrayBase& t) { return diagonal_view(t, i, j); });
}

struct Term {
  ArrayBase array;
  Labels labels;
};

using IsNeeded = FunctionRef<bool(std::int32_t label)>;

// Repeated labels as diagonals; labels for which `needed` is false summed away.
NAX_ENGINE void tidy_term(Term& term, IsNeeded needed) {
  for (std::size_t i = 0; i < term.labels.size(); ++i)
    for (std::size_t j = term.labels.size(); --j > i;)
      if (term.labels[j] == term.labels[i]) {
        term.array = diagonal_view(term.array, static_cast<int>(i), static_cast<int>(j));
        term.labels.erase(j);
      }
  AxisMarks marks(term.labels.size(), false);
  Labels kept;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    marks[i] = !needed(term.labels[i]);
    if (!marks[i]) kept.push_back(term.labels[i]);
  }
  if (kept.size() == term.labels.size()) return;
  term.array = sum_array(term.array, term.array.dtype(), marks, false, 1);
  term.labels = kept;
}

// The axes of a term in the order of `labels`, as an array of the given shape.
NAX_ENGINE ArrayBase arranged(const Term& term, const Labels& labels, const Dims& shape) {
  Dims order;
  for (std::int32_t label : labels)
    for (std::size_t i = 0; i < term.labels.size(); ++i)
      if (term.labels[i] == label) order.push_back(static_cast<std::int64_t>(i));
  return reshape_to("einsum", permute(term.array, order), shape);
}

NAX_ENGINE Term join_terms(const Term& a, const Term& b, const std::vector<std::int64_t>& extents,
                           IsNeeded needed) {
  Labels batch, left, right, summed;
  for (std::int32_t l : a.labels) (!has_label(b.labels, l) ? left : needed(l) ? batch : summed).push_back(l);
  for (std::int32_t l : b.labels)
    if (!has_label(a.labels, l)) right.push_back(l);
  const auto count = [&](const Labels& labels) {
    std::int64_t n = 1;
    for (std::int32_t l : labels) n *= extents[static_cast<std::size_t>(l)];
    return n;
  };
  const auto joined = [](const Labels& x, const Labels& y, const Labels& z) {
    Labels all = x;
    all.append(y.begin(), y.end());
    all.append(z.begin(), z.end());
    return all;
  };
  Dims batch_shape;
  for (std::int32_t l : batch) batch_shape.push_back(extents[static_cast<std::size_t>(l)]);
  const auto shaped = [&](std::int64_t rows, std::int64_t columns) {
    Dims shape = batch_shape;
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  };
  // An extent of 1 may stand for a larger one (broadcasting behind an ellipsis): extents are those after
  // broadcasting.
  const ArrayBase x = arranged(a, joined(batch, left, summed), shaped(count(left), count(summed)));
  const ArrayBase y = arranged(b, joined(batch, summed, right), shaped(count(summed), count(right)));
  Term result;
  result.labels = joined(batch, left, right);
  Dims shape;
  for (std::int32_t l : result.labels) shape.push_back(extents[static_cast<std::size_t>(l)]);
  result.array = reshape_to("einsum", matmul_arrays("einsum", x, y), shape);
  return result;
}

NAX_ENGINE ArrayBase einsum_arrays(std::string_view subscripts, std::vector<ArrayBase> operands) {
  const std::size_t arrow = subscripts.find("->");
  std::string_view rest = subscripts.substr(0, arrow);
  std::vector<Term> terms;
  std::vector<std::int64_t> extents(256, -1);
  int most_ellipsis = 0;
  for (const ArrayBase& operand : operands) check_operand("einsum", operand);
  const auto fail = [&](std::initializer_list<TextPart> what) {
    std::string shapes;
    for (const ArrayBase& operand : operands) shapes += " " + to_string(operand.shape());
    raise<ValueError>({"einsum: ", text_of(what), ", subscripts '", subscripts, "', shapes", shapes});
  };
  for (std::size_t n = 0; n < operands.size(); ++n) {
    const std::size_t comma = rest.find(',');
    if ((comma == std::string_view::npos) != (n + 1 == operands.size()))
      fail({"the subscripts do not name ", operands.size(), " operand(s)"});
    const std::string_view text = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const int named = static_cast<int>(parse_labels(subscripts, text, 0).size());
    const bool ellipsis = text.find("...") != std::string_view::npos;
    const int behind = operands[n].ndim() - named;
    if (behind < 0 || (behind > 0 && !ellipsis))
      fail({"operand ", n, " has ", operands[n].ndim(), " axes, its subscripts name ", named});
    most_ellipsis = std::max(most_ellipsis, ellipsis ? behind : 0);
    terms.push_back({operands[n], parse_labels(subscripts, text, ellipsis ? behind : 0)});
    const Term& term = terms.back();
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      std::int64_t& extent = extents[static_cast<std::size_t>(term.labels[i])];
      const std::int64_t own = term.array.shape(static_cast<std::int64_t>(i));
      if (extent == -1 || extent == 1)
        extent = own;
      else if (own != extent && own != 1)
        fail({"operand ", n, " of shape ", term.array.shape(), " does not fit the extent ", extent,
              " of another operand"});
    }
  }
  Labels output;
  if (arrow != std::string_view::npos) {
    output = parse_labels(subscripts, subscripts.substr(arrow + 2), most_ellipsis);
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (extents[static_cast<std::size_t>(output[i])] < 0)
        fail({"output label '", static_cast<char>(output[i]), "' is in no operand"});
      for (std::size_t j = 0; j < i; ++j)
        if (output[i] == output[j]) fail({"output label '", static_cast<char>(output[i]), "' appears twice"});
    }
  } else {  // labels that appear once, in the order of the alphabet, behind the ellipsis
    for (int k = most_ellipsis; k-- > 0;) output.push_back(128 + k);
    for (std::int32_t label = 0; label < 128; ++label) {
      int seen = 0;
      for (const Term& term : terms)
        for (std::int32_t l : term.labels) seen += l == label;
      if (seen == 1) output.push_back(label);
    }
  }

  // Axes of extent 1 that meet a larger extent of their label are dropped: the others broadcast over it.
  for (Term& term : terms) {
    Dims shape;
    Labels labels;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const std::int64_t own = term.array.shape(static_cast<std::int64_t>(i));
      if (own == 1 && extents[static_cast<std::size_t>(term.labels[i])] != 1) continue;
      shape.push_back(own);
      labels.push_back(term.labels[i]);
    }
    if (labels.size() != term.labels.size())
      term.array = reshape_to("einsum", term.array, shape), term.labels = labels;
  }
  const auto needed_beside = [&](std::size_t p, std::size_t q) {
    return [&, p, q](std::int32_t label) {
      if (has_label(output, label)) return true;
      for (std::size_t n = 0; n < terms.size(); ++n)
        if (n != p && n != q && has_label(terms[n].labels, label)) return true;
      return false;
    };
  };
  for (std::size_t n = 0; n < terms.size(); ++n) tidy_term(terms[n], needed_beside(n, n));
  while (terms.size() > 1) {
    std::size_t p = 0, q = 1;
    double least = -1;
    for (std::size_t i = 0; i < terms.size(); ++i)
      for (std::size_t j = i + 1; j < terms.size(); ++j) {
        const auto needed = needed_beside(i, j);
        double size = 1;
        for (std::int32_t l = 0; l < 256; ++l)
          if ((has_label(terms[i].labels, l) || has_label(terms[j].labels, l)) && needed(l))
            size *= static_cast<double>(extents[static_cast<std::size_t>(l)]);
        if (least < 0 || size < least) least = size, p = i, q = j;
      }
    terms[p] = join_terms(terms[p], terms[q], extents, needed_beside(p, q));
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(q));
  }
  Dims order;
  for (std::int32_t label : output)
    for (std::size_t i = 0; i < terms[0].labels.size(); ++i)
      if (terms[0].labels[i] == label) order.push_back(static_cast<std::int64_t>(i));
  return permute(terms[0].array, order);
}

}  // namespace detail
NAX_END
