#pragma once

#include <string_view>

#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/reductions/sum.hpp"

// einsum. Every axis of every operand gets a label, those behind an ellipsis too; repeated labels of one
// operand become a diagonal (a view), and the operands are then joined two at a time, the pair with the
// smallest result first. A pair is one batched matrix product: labels in both and in what remains are the
// batch, labels in both and nowhere else are summed by the product, labels in one operand and nowhere else
// are summed before.
NAX_BEGIN
namespace detail {

using Labels = SmallVector<std::int32_t, 8>;

NAX_ENGINE bool has_label(const Labels& labels, std::int32_t label);

// A view of the diagonal over axes i and j (i stays), recorded.
template <class T>
Array<T> diagonal_view(const Array<T>& x, int i, int j);

// The transpose: zeros but for that diagonal.
template <class T>
Array<T> diagonal_spread(const Array<T>& g, int i, int j) {
  Dims visible = g.shape();
  visible.insert(static_cast<std::size_t>(j), visible[static_cast<std::size_t>(i)]);
  const Frame frame = with_visible(layout_of(g), visible);
  ArrayBase spread = allocate(dtype_of<T>, frame, device_for("einsum", g));
  clear_elements(spread);
  Layout layout = layout_of(spread);
  const std::size_t h = static_cast<std::size_t>(layout.hidden());
  layout.strides[h + static_cast<std::size_t>(i)] += layout.strides[h + static_cast<std::size_t>(j)];
  layout.shape.erase(h + static_cast<std::size_t>(j));
  layout.strides.erase(h + static_cast<std::size_t>(j));
  copy_into(g, view(spread, std::move(layout)));
  return record(typed<T>(std::move(spread)),
                wrt(
                    g, [=](const Array<T>& c) { return diagonal_view(c, i, j); },
                    [=](const Array<T>& t) { return diagonal_spread(t, i, j); }));
}
template <class T>
Array<T> diagonal_view(const Array<T>& x, int i, int j) {
  Layout layout = layout_of(x);
  const std::size_t h = static_cast<std::size_t>(layout.hidden());
  layout.strides[h + static_cast<std::size_t>(i)] += layout.strides[h + static_cast<std::size_t>(j)];
  layout.shape.erase(h + static_cast<std::size_t>(j));
  layout.strides.erase(h + static_cast<std::size_t>(j));
  return record_view(
      x, std::move(layout), 0, [=](const Array<T>& g) { return diagonal_spread(g, i, j); },
      [=](const Array<T>& t) { return diagonal_view(t, i, j); });
}

template <class T>
struct Term {
  Array<T> array;
  Labels labels;
};

// Repeated labels as diagonals; labels for which `needed` is false summed away.
template <class T, class F>
void tidy_term(Term<T>& term, const F& needed) {
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
  term.array = sum_over<T>(term.array, marks, false, 1);
  term.labels = kept;
}

// The axes of a term in the order of `labels`, as an array of the given shape.
template <class T>
Array<T> arranged(const Term<T>& term, const Labels& labels, const Dims& shape) {
  Dims order;
  for (std::int32_t label : labels)
    for (std::size_t i = 0; i < term.labels.size(); ++i)
      if (term.labels[i] == label) order.push_back(static_cast<std::int64_t>(i));
  return reshape_to("einsum", permute(term.array, order), shape);
}

template <class T, class F>
Term<T> join_terms(const Term<T>& a, const Term<T>& b, const std::vector<std::int64_t>& extents,
                   const F& needed) {
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
  const Array<T> x = arranged(a, joined(batch, left, summed), shaped(count(left), count(summed)));
  const Array<T> y = arranged(b, joined(batch, summed, right), shaped(count(summed), count(right)));
  Term<T> result;
  result.labels = joined(batch, left, right);
  Dims shape;
  for (std::int32_t l : result.labels) shape.push_back(extents[static_cast<std::size_t>(l)]);
  result.array = reshape_to("einsum", matmul_arrays("einsum", x, y), shape);
  return result;
}

[[noreturn, gnu::cold]] inline void throw_einsum(std::string_view subscripts,
                                                 std::initializer_list<TextPart> what) {
  raise<ValueError>({"einsum: ", text_of(what), ", subscripts '", subscripts, "'"});
}

// The labels of one operand or of the output; those behind the ellipsis are counted from its end: 1000,
// 1001...
NAX_ENGINE Labels parse_labels(std::string_view all, std::string_view text, int ellipsis_axes);

template <class T>
Array<T> einsum_arrays(std::string_view subscripts, std::vector<Array<T>> operands) {
  const std::size_t arrow = subscripts.find("->");
  std::string_view rest = subscripts.substr(0, arrow);
  std::vector<Term<T>> terms;
  std::vector<std::int64_t> extents(256, -1);
  int most_ellipsis = 0;
  for (const Array<T>& operand : operands) check_operand("einsum", operand);
  const auto fail = [&](std::initializer_list<TextPart> what) {
    std::string shapes;
    for (const Array<T>& operand : operands) shapes += " " + to_string(operand.shape());
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
    const Term<T>& term = terms.back();
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
      for (const Term<T>& term : terms)
        for (std::int32_t l : term.labels) seen += l == label;
      if (seen == 1) output.push_back(label);
    }
  }

  // Axes of extent 1 that meet a larger extent of their label are dropped: the others broadcast over it.
  for (Term<T>& term : terms) {
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

// Einstein's summation: einsum("bij,bjk->bik", a, b). Labels are letters, `...` stands for axes that
// broadcast; without
// `->` the output has the labels that appear once, in alphabetical order. Throws ValueError for subscripts
// that do not fit.
template <detail::ArrayLike... X>
requires(sizeof...(X) > 0) auto einsum(std::string_view subscripts, const X&... x) {
  using R = rules::promote_all_t<typename X::value_type...>;
  return detail::einsum_arrays<R>(subscripts, {detail::as_type<R>(x)...});
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/products/einsum-inl.hpp"
#endif
