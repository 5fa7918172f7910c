#pragma once

#include "nax/numpy/products/einsum_path.hpp"

NAX_BEGIN

NAX_ENGINE std::string EinsumPath::text() const {
  std::string out = "['einsum_path'";
  for (const auto& step : path) {
    out += ", (";
    for (std::size_t i = 0; i < step.size(); ++i) out += (i ? ", " : "") + std::to_string(step[i]);
    out += step.size() == 1 ? ",)" : ")";
  }
  return detail::text_of({out, "]\n  Naive FLOP count:  ", std::to_string(naive_flops),
                          "\n  Optimized FLOP count:  ", std::to_string(flops),
                          "\n  Largest intermediate:  ", largest_intermediate, " elements\n"});
}

NAX_END
NAX_BEGIN
namespace detail {

NAX_ENGINE EinsumLabels::EinsumLabels(std::string_view subscripts, const std::vector<Shape>& shapes) {
  const std::size_t arrow = subscripts.find("->");
  std::string_view rest = subscripts.substr(0, arrow);
  int most_ellipsis = 0;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    const std::size_t comma = rest.find(',');
    if ((comma == std::string_view::npos) != (n + 1 == shapes.size()))
      raise<ValueError>(
          {"einsum_path: the subscripts '", subscripts, "' do not name ", shapes.size(), " operand(s)"});
    const std::string_view text = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const int named = static_cast<int>(parse_labels(subscripts, text, 0).size());
    const int behind = static_cast<int>(shapes[n].size()) - named;
    const bool ellipsis = text.find("...") != std::string_view::npos;
    if (behind < 0 || (behind > 0 && !ellipsis))
      raise<ValueError>({"einsum_path: operand ", n, " has ", shapes[n].size(), " axes, its subscripts name ",
                         named, ", subscripts '", subscripts, "'"});
    most_ellipsis = std::max(most_ellipsis, ellipsis ? behind : 0);
    const Labels labels = parse_labels(subscripts, text, ellipsis ? behind : 0);
    Labels once;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      double& extent = extents[static_cast<std::size_t>(labels[i])];
      const double own = static_cast<double>(shapes[n][i]);
      if (extent != 1 && own != 1 && own != extent)
        raise<ValueError>({"einsum_path: operand ", n, " of shape ", shapes[n],
                           " does not fit another operand, subscripts '", subscripts, "'"});
      if (own != 1) extent = own;
      if (!has_label(once, labels[i])) once.push_back(labels[i]);
    }
    terms.push_back(once);
  }
  if (arrow != std::string_view::npos) {
    output = parse_labels(subscripts, subscripts.substr(arrow + 2), most_ellipsis);
    return;
  }
  for (std::int32_t label = 0; label < 256; ++label) {
    int seen = 0;
    for (const Labels& term : terms) seen += has_label(term, label);
    if (seen == 1 || (seen > 0 && label >= 128)) output.push_back(label);
  }
}

NAX_ENGINE EinsumPath einsum_path_of(std::string_view subscripts, const std::vector<Shape>& shapes) {
  EinsumLabels e(subscripts, shapes);
  EinsumPath out;
  const auto united = [](const Labels& a, const Labels& b) {
    Labels all = a;
    for (const std::int32_t l : b)
      if (!has_label(all, l)) all.push_back(l);
    return all;
  };
  Labels everything;
  for (const Labels& term : e.terms) everything = united(everything, term);
  out.naive_flops = einsum_flops(e.size_of(everything), e.terms.size(), everything.size() > e.output.size());
  const auto kept = [&](const Labels& labels, std::size_t p, std::size_t q) {
    Labels left;
    for (const std::int32_t l : labels) {
      bool needed = has_label(e.output, l);
      for (std::size_t n = 0; n < e.terms.size(); ++n)
        needed = needed || (n != p && n != q && has_label(e.terms[n], l));
      if (needed) left.push_back(l);
    }
    return left;
  };
  if (e.terms.size() == 1) {
    out.path.push_back({0});
    out.flops = out.naive_flops;
    out.largest_intermediate = static_cast<std::int64_t>(e.size_of(e.output));
  }
  while (e.terms.size() > 1) {  // the pair with the smallest result first
    std::size_t p = 0, q = 1;
    double least = -1;
    for (std::size_t i = 0; i < e.terms.size(); ++i)
      for (std::size_t j = i + 1; j < e.terms.size(); ++j) {
        const double size = e.size_of(kept(united(e.terms[i], e.terms[j]), i, j));
        if (least < 0 || size < least) least = size, p = i, q = j;
      }
    const Labels both = united(e.terms[p], e.terms[q]), result = kept(both, p, q);
    out.path.push_back({static_cast<int>(p), static_cast<int>(q)});
    out.flops += einsum_flops(e.size_of(both), 2, both.size() > result.size());
    out.largest_intermediate = std::max(out.largest_intermediate, static_cast<std::int64_t>(least));
    e.terms.erase(e.terms.begin() + static_cast<std::ptrdiff_t>(q));
    e.terms.erase(e.terms.begin() + static_cast<std::ptrdiff_t>(p));
    e.terms.push_back(result);
  }
  return out;
}

}  // namespace detail
NAX_END
