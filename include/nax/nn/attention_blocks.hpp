#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "nax/backend/cpu/lines/attention.hpp"
#include "nax/expr/differentiation/shares_together.hpp"
#include "nax/nn/attention_weights.hpp"

// Attention on the host as one recorded operation, in blocks (backend/cpu/lines/attention.hpp): memory grows
// with queries plus keys, not with their product. Its first derivatives are kernels as well. Where another
// transform watches, they are those of the weights, written with public functions.
NAX_BEGIN
namespace detail {

// The offsets of the examples of x, (B, ...) with `visible` axes, over the hidden axes and B of a frame.
inline std::vector<std::int64_t> example_offsets(const Layout& x, const Frame& examples, int visible) {
  Layout leading = x;
  for (int axis = 1; axis < visible; ++axis) leading.shape.pop_back(), leading.strides.pop_back();
  const Dims strides = strides_over(leading, examples);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(examples.size()));
  for (std::size_t i = 0; i < offsets.size(); ++i)
    offsets[i] = offset_at(static_cast<std::int64_t>(i), examples.shape, strides);
  return offsets;
}

// An operand (B, rows, heads, width) as the kernels read or write it.
template <class T>
class AttentionOperand {
 public:
  AttentionOperand(const ArrayBase& x, const Frame& examples)
      : array_(layout_of(x).strides.back() == 1 ? constant(x) : contiguous(x, transforms_handled)),
        offsets_(example_offsets(layout_of(array_), examples, 4)) {}
  cpu::AttentionRows<T> rows() const {
    const Dims& strides = layout_of(array_).strides;
    return {elements<T>(array_, transforms_handled), offsets_.data(), strides[strides.size() - 3],
            strides[strides.size() - 2]};
  }

 private:
  const ArrayBase array_;
  const std::vector<std::int64_t> offsets_;
};

// A mask or bias, perhaps none.
template <class T>
class AttentionFilter {
 public:
  AttentionFilter(const std::optional<Array<T>>& x, const Frame& examples) {
    if (!x) return;
    array_ = contiguous(*x, transforms_handled);
    offsets_ = example_offsets(layout_of(*array_), examples, 4);
  }
  cpu::AttentionPlane<T> plane() const {
    if (!array_) return {};
    const Layout& layout = layout_of(*array_);
    const std::size_t first = layout.shape.size() - 3;
    const auto stride = [&](std::size_t axis) {
      return layout.shape[first + axis] == 1 ? 0 : layout.strides[first + axis];
    };
    return {elements<const T>(*array_, transforms_handled), offsets_.data(), stride(0), stride(1), stride(2)};
  }

 private:
  std::optional<ArrayBase> array_;
  std::vector<std::int64_t> offsets_;
};

inline std::vector<std::int64_t> example_lengths(const std::optional<Array<int>>& x, const Frame& examples) {
  if (!x) return {};
  std::vector<std::int64_t> lengths = example_offsets(layout_of(*x), examples, 1);
  for (std::int64_t& n : lengths) n = elements<const int>(*x, transforms_handled)[n];
  return lengths;
}

// The operands of one call, and all that its derivatives need.
template <class T>
struct BlockedAttention {
  AttentionTerms<T> terms;
  Array<T> result, logarithms;  // values; logarithms (B, N, T, 2), if the result is recorded

  // Hidden axes and B of the operands and of `others`.
  Frame examples(std::initializer_list<const ArrayBase*> others) const {
    Frame all = examples_of(terms.query, 4);
    const auto join = [&](const ArrayBase& x, int visible) {
      all = broadcast("dot_product_attention", all, examples_of(x, visible));
    };
    join(terms.key, 4), join(terms.value, 4);
    const nn::AttentionOptions<T>& o = terms.options;
    if (o.mask) join(*o.mask, 4);
    if (o.bias) join(*o.bias, 4);
    if (o.query_seq_lengths) join(*o.query_seq_lengths, 1);
    if (o.key_value_seq_lengths) join(*o.key_value_seq_lengths, 1);
    for (const ArrayBase* x : others) join(*x, 4);
    return all;
  }
  static Frame examples_of(const ArrayBase& x, int visible) {
    Frame f = layout_of(x);
    for (int axis = 1; axis < visible; ++axis) f.shape.pop_back();
    return f;
  }
  // A row-major array over the examples and the visible axes of `like` behind B.
  static Array<T> made_over(const Frame& examples, const Array<T>& like) {
    Frame frame = examples;
    for (int axis = 1; axis < 4; ++axis) frame.shape.push_back(layout_of(like).visible(axis));
    return typed<T>(allocate(dtype_of<T>, frame, device_for("dot_product_attention", like)));
  }

  cpu::AttentionSizes sizes(const Frame& examples) const {
    const Layout &q = layout_of(terms.query), &k = layout_of(terms.key);
    return {examples.size(), q.visible(2), k.visible(2), q.visible(1), k.visible(1), q.visible(3)};
  }

  // f(view): what the kernels read of the options.
  template <class F>
  void with_view(const Frame& examples, const F& f) const {
    const nn::AttentionOptions<T>& o = terms.options;
    const AttentionFilter<bool> mask(o.mask, examples);
    const AttentionFilter<T> bias(o.bias, examples);
    const auto queries = example_lengths(o.query_seq_lengths, examples),
               keys = example_lengths(o.key_value_seq_lengths, examples);
    f(cpu::AttentionView<T>{mask.plane(), bias.plane(), o.query_seq_lengths ? queries.data() : nullptr,
                            o.key_value_seq_lengths ? keys.data() : nullptr, o.is_causal,
                            o.local_window_size.given, o.local_window_size.left, o.local_window_size.right});
  }

  template <class Kernel, class Call>
  static void run_kernel(const Call& call) {
    cpu::provide<Kernel, T>();
    cpu::kernel_for<Kernel>(dtype_of<T>)(&call);
  }

  void run(bool recorded) {
    const Frame all = examples({});
    result = made_over(all, terms.query);
    Frame of_rows = all;
    of_rows.shape.push_back(layout_of(terms.query).visible(2));
    of_rows.shape.push_back(layout_of(terms.query).visible(1));
    of_rows.shape.push_back(2);
    if (recorded)
      logarithms = typed<T>(allocate(dtype_of<T>, of_rows, device_for("dot_product_attention", terms.query)));
    const AttentionOperand<const T> q(terms.query, all), k(terms.key, all), v(terms.value, all);
    const AttentionOperand<T> out(result, all);
    with_view(all, [&](const cpu::AttentionView<T>& view) {
      const cpu::AttentionSizes extents = sizes(all);
      const cpu::AttentionCall<T> call{
          extents,       view,
          terms.scale(), q.rows(),
          k.rows(),      v.rows(),
          out.rows(),    recorded ? elements<T>(logarithms, transforms_handled) : nullptr};
      run_kernel<cpu::AttentionKernel>(call);
    });
    check_result(
        "dot_product_attention", result, {&terms.query, &terms.key, &terms.value},
        4. * static_cast<double>(layout_of(result).size()) * static_cast<double>(terms.key.shape(-3)));
  }

  // The cotangents of query, key and value.
  std::array<Array<T>, 3> gradients(const Array<T>& g) const {
    const Frame all = examples({&g});
    std::array<Array<T>, 3> shares{made_over(all, terms.query), made_over(all, terms.key),
                                   made_over(all, terms.value)};
    for (int i = 1; i < 3; ++i)
      std::fill_n(elements<T>(shares[i], transforms_handled), layout_of(shares[i]).size(), T(0));
    const AttentionOperand<const T> q(terms.query, all), k(terms.key, all), v(terms.value, all),
        out(result, all), cotangent(g, all);
    const AttentionOperand<T> dq(shares[0], all), dk(shares[1], all), dv(shares[2], all);
    const auto of_rows = example_offsets(layout_of(logarithms), all, 4);
    with_view(all, [&](const cpu::AttentionView<T>& view) {
      const cpu::AttentionSizes extents = sizes(all);
      const cpu::AttentionGradients<T> call{extents,
                                            view,
                                            terms.scale(),
                                            q.rows(),
                                            k.rows(),
                                            v.rows(),
                                            out.rows(),
                                            cotangent.rows(),
                                            elements<const T>(logarithms, transforms_handled),
                                            of_rows.data(),
                                            dq.rows(),
                                            dk.rows(),
                                            dv.rows()};
      run_kernel<cpu::AttentionGradientKernel>(call);
    });
    return shares;
  }
};

// Computes the three cotangents at once and hands each out once. Of: has `terms`, and gradients(g).
template <class T, class Of>
class AttentionShares {
 public:
  explicit AttentionShares(Of of) : of_(std::move(of)) {}
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
  const Of of_;
  SharesTogether<3> together_;
};

// Records `result` as made of the terms of `of`.
template <class T, class Of>
Array<T> record_attention(Array<T> result, Of of) {
  const auto kept = std::make_shared<AttentionShares<T, Of>>(std::move(of));
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

// Whether the kernels may run.
template <class T>
bool attends_in_blocks(const AttentionTerms<T>& x) {
  const nn::AttentionOptions<T>& o = x.options;
  if (on_accelerator(x.query) || on_accelerator(x.key) || on_accelerator(x.value) ||
      (o.bias && (may_be_recorded(*o.bias) || on_accelerator(*o.bias))) ||
      (o.mask && on_accelerator(*o.mask)) || (o.query_seq_lengths && on_accelerator(*o.query_seq_lengths)) ||
      (o.key_value_seq_lengths && on_accelerator(*o.key_value_seq_lengths)))
    return false;
  return layout_of(x.query).size() > 0 && layout_of(x.key).size() > 0;
}

template <class T>
Array<T> attend_in_blocks(const AttentionTerms<T>& terms) {
  const bool recorded = terms.is_recorded();
  BlockedAttention<T> call{terms, {}, {}};
  call.run(recorded);
  if (!recorded) return call.result;
  Array<T> result = call.result;
  return record_attention(std::move(result), std::move(call));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_KERNELS)
#include "nax/backend/cpu/lines/attention_kernels.hpp"
#endif
