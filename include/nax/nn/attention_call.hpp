#pragma once

#include <array>
#include <memory>

#include "nax/backend/cpu/lines/attention.hpp"
#include "nax/expr/differentiation/shares_together.hpp"
#include "nax/nn/attention_weights.hpp"

// Attention as one operation of a device (ops/attention.hpp): memory grows with queries plus keys, not with
// their product. Its first derivatives are another one. Where another transform watches, and on devices
// without such operations, derivatives are those of the weights, written with public functions.
NAX_BEGIN
namespace detail {

// Operands as AttentionTerms has them, null where there is none.
struct AttentionOperands {
  const ArrayBase &query, &key, &value;
  const ArrayBase *bias, *mask, *query_lengths, *key_lengths;
  double scale;
  bool causal, window;
  std::int64_t left, right;
};

// The result, of query's shape; without a buffer where the device has no operation for the operands. Not
// recorded. `kept`, if any, gets what the gradients need, where the device has an operation for these.
NAX_ENGINE ArrayBase attend(const AttentionOperands& of, ArrayBase* kept);
// The cotangents of query, key and value for the result's, g, by what was kept.
NAX_ENGINE std::array<ArrayBase, 3> attention_gradients(const AttentionOperands& of, const ArrayBase& kept,
                                                        const ArrayBase& result, const ArrayBase& g);

// A call, and all that its derivatives need.
template <class T>
struct AttentionCall {
  AttentionTerms<T> terms;
  Array<T> result;
  ArrayBase kept;

  AttentionOperands operands() const {
    const nn::AttentionOptions<T>& o = terms.options;
    const auto given = [](const auto& x) -> const ArrayBase* { return x ? &*x : nullptr; };
    return {terms.query,
            terms.key,
            terms.value,
            given(o.bias),
            given(o.mask),
            given(o.query_seq_lengths),
            given(o.key_value_seq_lengths),
            static_cast<double>(terms.scale()),
            o.is_causal,
            o.local_window_size.given,
            o.local_window_size.left,
            o.local_window_size.right};
  }
  std::array<Array<T>, 3> gradients(const Array<T>& g) const {
    if (!holds_value(kept)) return terms.gradients(g);
    const std::array<ArrayBase, 3> all = attention_gradients(operands(), kept, result, g);
    return {typed<T>(all[0]), typed<T>(all[1]), typed<T>(all[2])};
  }
};

// Computes the three cotangents at once and hands each out once.
template <class T>
class AttentionShares {
 public:
  explicit AttentionShares(AttentionCall<T> of) : of_(std::move(of)) {}
  const AttentionTerms<T>& terms() const { return of_.terms; }

  Array<T> share(const Array<T>& g, std::size_t which) {
    if (is_recorded(g) || of_.terms.is_recorded()) return of_.terms.gradient(g, which);
    return typed<T>(together_.take(g, which, [&] {
      const std::array<Array<T>, 3> all = of_.gradients(g);
      const std::array<const Array<T>*, 3> operands{&terms().query, &terms().key, &terms().value};
      typename SharesTogether<3>::Shares shares;
      for (std::size_t i = 0; i < 3; ++i)  // those of constants are not asked for
        if (i == which || serial_of(*operands[i]) != 0) shares[i] = all[i];
      return shares;
    }));
  }

 private:
  const AttentionCall<T> of_;
  SharesTogether<3> together_;
};

template <class T>
Array<T> record_attention(AttentionCall<T> of) {
  Array<T> result = of.result;
  const auto kept = std::make_shared<AttentionShares<T>>(std::move(of));
  const AttentionTerms<T>& terms = kept->terms();
  const auto pull = [&](std::size_t which) {
    return [=](const Array<T>& g) -> Array<T> { return kept->share(g, which); };
  };
  const auto push = [&](std::size_t which) {
    return [=](const Array<T>& t) -> Array<T> { return kept->terms().tangent(t, which); };
  };
  return record(std::move(result), wrt(terms.query, pull(0), push(0)), wrt(terms.key, pull(1), push(1)),
                wrt(terms.value, pull(2), push(2)));
}

// Attention by an operation of the device; without a buffer where it has none, or where a differentiated bias
// asks for the weights.
template <class T>
Array<T> attend_by_operation(const AttentionTerms<T>& terms) {
  if (terms.options.bias && may_be_recorded(*terms.options.bias)) return {};
  using Lane = typename AttentionTerms<T>::Lane;
  cpu::provide<cpu::AttentionKernel, Lane>();
  cpu::provide<cpu::AttentionGradientKernel, Lane>();
  const bool recorded = terms.is_recorded();
  AttentionCall<T> call{terms, {}, {}};
  const ArrayBase value = attend(call.operands(), recorded ? &call.kept : nullptr);
  if (!holds_value(value)) return {};
  call.result = typed<T>(value);
  return recorded ? record_attention(std::move(call)) : call.result;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/nn/attention_call-inl.hpp"
#endif
#if !defined(NAX_CALLS_KERNELS)
#include "nax/backend/cpu/lines/attention_kernels.hpp"
#endif
