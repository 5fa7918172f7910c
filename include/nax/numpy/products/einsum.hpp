#pragma once

#include <string_view>
#include <vector>

#include "nax/core/function_ref.hpp"
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

[[noreturn, gnu::cold]] inline void throw_einsum(std::string_view subscripts,
                                                 std::initializer_list<TextPart> what) {
  raise<ValueError>({"einsum: ", text_of(what), ", subscripts '", subscripts, "'"});
}

// The labels of one operand or of the output; those behind the ellipsis are counted from its end: 1000,
// 1001...
NAX_ENGINE Labels parse_labels(std::string_view all, std::string_view text, int ellipsis_axes);

// Of operands of one type.
NAX_ENGINE ArrayBase einsum_arrays(std::string_view subscripts, std::vector<ArrayBase> operands);

}  // namespace detail

// Einstein's summation: einsum("bij,bjk->bik", a, b). Labels are letters, `...` stands for axes that
// broadcast; without `->` the output has the labels that appear once, in alphabetical order. The output has
// the axes of its labels: "ij,jk->ik" of (i, j) and (j, k) is (i, k). Throws ValueError for subscripts that
// do not fit.
template <detail::ArrayLike... X>
requires(sizeof...(X) > 0) auto einsum(std::string_view subscripts, const X&... x) {
  using R = rules::promote_all_t<typename X::value_type...>;
  detail::provide_products<R>();
  detail::provide_sum<R, R>();
  return detail::typed<R>(detail::einsum_arrays(subscripts, {detail::as_type<R>(x)...}));
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/products/einsum-inl.hpp"
#endif
