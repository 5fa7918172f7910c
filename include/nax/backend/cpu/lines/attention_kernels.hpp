#pragma once

// Attention of queries to keys in blocks: softmax(scale q k^T + bias) v, and its derivatives, without a
// matrix of queries by keys. A block of rows of the logits meets a block of keys at a time; maxima and sums
// of rows are carried from block to block (Milakov and Gimelshein, arXiv:1805.02867). The derivatives compute
// the weights again from those maxima and the logarithms of those sums (Dao et al., arXiv:2205.14135), apart:
// their sum would have no digits left for the latter where all logits of a row are far from zero. Room: a
// block for each thread.
//
// A key that is ruled out has the logit least_logit, as in JAX. Where a row sees no logit above it, keys that
// are ruled out have weights: those of a low row are computed apart, of all keys. The greatest logit of a low
// row is said to be infinite, which makes its weights zero where blocks compute them again.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nax/backend/cpu/gemm/gemm.hpp"
#include "nax/backend/cpu/lines/attention.hpp"
#include "nax/backend/cpu/lines/softmax.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

inline constexpr std::int64_t attention_rows = 128, attention_keys = 512;
template <class T>
inline constexpr T least_logit = static_cast<T>(-0.7) * std::numeric_limits<T>::max();

// Some rows of the queries of a head, and the block of logits that they make with some keys.
template <class T>
class AttentionBlock {
 public:
  AttentionBlock(const AttentionSizes& sizes, const AttentionView<T>& view, T scale)
      : sizes_(sizes),
        view_(view),
        scale_(scale),
        most_rows_(std::min(attention_rows, sizes.queries)),
        // Rows apart by no power of two: they would compete for cache lines.
        row_(std::min(attention_keys, sizes.keys) + 16),
        scaled_(most_rows_ * sizes.width),
        logits_(most_rows_ * row_),
        low_(sizes.keys) {}

  std::int64_t row() const { return row_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t most_rows() const { return most_rows_; }
  T* logits() const { return logits_.data(); }
  T* logits(std::int64_t r) const { return logits_.data() + r * row_; }
  T* scaled() const { return scaled_.data(); }
  const AttentionView<T>& view() const { return view_; }
  typename AttentionView<T>::Range range() const { return range_; }
  bool sees(std::int64_t r, std::int64_t j) const {
    const auto own = view_.keys_of(batch_, first_ + r, sizes_.keys);
    return j >= own.begin && j < own.end &&
           (!view_.mask.data || *view_.mask.at(batch_, head_, first_ + r, j));
  }
  // The weights of all keys in a low row.
  const T* low_weights(const AttentionRows<const T>& k, std::int64_t r) const {
    T most = -std::numeric_limits<T>::infinity(), sum = 0;
    for (std::int64_t j = 0; j < sizes_.keys; ++j) {
      low_[j] = least_logit<T>;
      if (sees(r, j)) {
        const T* const own = scaled() + r * sizes_.width;
        low_[j] = std::inner_product(own, own + sizes_.width, k.at(batch_, sizes_.group_of(head_), j), T(0));
        if (view_.bias.data) low_[j] += *view_.bias.at(batch_, head_, first_ + r, j);
      }
      most = std::max(most, low_[j]);
    }
    for (std::int64_t j = 0; j < sizes_.keys; ++j) sum += low_[j] = std::exp(low_[j] - most);
    for (std::int64_t j = 0; j < sizes_.keys; ++j) low_[j] /= sum;
    return low_.data();
  }

  // Turns to queries [first, first + rows) of a head.
  void begin(const AttentionRows<const T>& q, std::int64_t batch, std::int64_t head, std::int64_t first) {
    batch_ = batch, head_ = head, first_ = first;
    rows_ = std::min(most_rows_, sizes_.queries - first);
    range_ = {sizes_.keys, 0};
    for (std::int64_t r = 0; r < rows_; ++r) {
      const auto own = view_.keys_of(batch, first + r, sizes_.keys);
      if (own.begin < own.end) range_ = {std::min(range_.begin, own.begin), std::max(range_.end, own.end)};
      const T* const from = q.at(batch, head, first + r);
      for (std::int64_t i = 0; i < sizes_.width; ++i) scaled_[r * sizes_.width + i] = from[i] * scale_;
    }
  }

  // The logits of `count` keys from j on, bias and masks included; `each(r, row)` gets every row of them.
  template <class Each>
  void multiply(const AttentionRows<const T>& k, std::int64_t j, std::int64_t count, const Each& each) const {
    gemm<T>(rows_, count, sizes_.width, scaled(), sizes_.width, 1, k.at(batch_, sizes_.group_of(head_), j), 1,
            k.row, logits(), row_, 1, false);
    const auto finish = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        rule_out(r, j, count);
        each(r, logits(r));
      }
    };
    parallel_for(rows_, (1 << 14) / count + 1, finish);
  }

 private:
  void rule_out(std::int64_t r, std::int64_t j, std::int64_t count) const {
    T* const row = logits(r);
    const std::int64_t t = first_ + r;
    if (view_.bias.data) {
      const T* const bias = view_.bias.at(batch_, head_, t, j);
      for (std::int64_t i = 0; i < count; ++i) row[i] += bias[i * view_.bias.column];
    }
    if (view_.mask.data) {
      const bool* const seen = view_.mask.at(batch_, head_, t, j);
      for (std::int64_t i = 0; i < count; ++i) row[i] = seen[i * view_.mask.column] ? row[i] : least_logit<T>;
    }
    const auto own = view_.keys_of(batch_, t, sizes_.keys);
    const std::int64_t begin = std::clamp<std::int64_t>(own.begin - j, 0, count),
                       end = std::clamp<std::int64_t>(own.end - j, begin, count);
    std::fill(row, row + begin, least_logit<T>);
    std::fill(row + end, row + count, least_logit<T>);
  }

  const AttentionSizes& sizes_;
  const AttentionView<T>& view_;
  const T scale_;
  const std::int64_t most_rows_, row_;
  const Scratch<T> scaled_, logits_, low_;
  std::int64_t batch_ = 0, head_ = 0, first_ = 0, rows_ = 0;
  typename AttentionView<T>::Range range_{0, 0};
};

// The result for one block of queries; `logarithms`, if any, gets two numbers of each row.
template <class T>
void attend_block(AttentionBlock<T>& block, const AttentionSizes& sizes, const AttentionRows<const T>& q,
                  const AttentionRows<const T>& k, const AttentionRows<const T>& v,
                  const AttentionRows<T>& out, T* logarithms, std::int64_t batch, std::int64_t head,
                  std::int64_t first) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const std::int64_t width = sizes.width, group = sizes.group_of(head);
  block.begin(q, batch, head, first);
  const std::int64_t rows = block.rows();
  const Scratch<T> most(rows), sums(rows), results(rows * width);
  for (std::int64_t r = 0; r < rows; ++r) most[r] = -infinity, sums[r] = T(0);
  std::fill_n(results.data(), rows * width, T(0));
  for (std::int64_t j = block.range().begin; j < block.range().end; j += attention_keys) {
    const std::int64_t count = std::min(attention_keys, block.range().end - j);
    block.multiply(k, j, count, [&](std::int64_t r, T* row) {
      const T before = most[r], now = detail::fold_run<reduce_op::Max<T>, T>(row, count);
      most[r] = now > before || now != now ? now : before;
      const T shift = most[r] == -infinity ? T(0) : most[r];
      if (before != most[r]) {
        const T factor = std::exp(before - shift);
        sums[r] *= factor;
        for (std::int64_t i = 0; i < width; ++i) results[r * width + i] *= factor;
      }
      sums[r] += detail::sum_exp(row, count, shift, row);
    });
    gemm<T>(rows, width, count, block.logits(), block.row(), 1, v.at(batch, group, j), v.row, 1,
            results.data(), width, 1, true);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    T* const to = out.at(batch, head, first + r);
    const bool low = most[r] <= least_logit<T>;
    if (logarithms) {
      T* const own = logarithms + 2 * r * sizes.heads;
      own[0] = low ? infinity : most[r];
      own[1] = low ? T(0) : std::log(sums[r]);
    }
    if (!low) {
      const T inverse = T(1) / sums[r];
      for (std::int64_t i = 0; i < width; ++i) to[i] = results[r * width + i] * inverse;
      continue;
    }
    std::fill_n(to, width, T(0));
    if (block.view().is_padding(batch, first + r)) continue;
    const T* const weights = block.low_weights(k, r);
    for (std::int64_t j = 0; j < sizes.keys; ++j)
      for (std::int64_t i = 0; i < width; ++i) to[i] += weights[j] * v.at(batch, group, j)[i];
  }
}

template <class T>
void attention_gradient_block(AttentionBlock<T>& block, const Scratch<T>& slopes, const Scratch<T>& results,
                              const AttentionGradients<T>& x, std::int64_t batch, std::int64_t head,
                              std::int64_t first) {
  const AttentionSizes& sizes = x.sizes;
  const std::int64_t width = sizes.width, group = sizes.group_of(head);
  block.begin(x.q, batch, head, first);
  const std::int64_t rows = block.rows(), row = block.row();
  const T* const logarithms = x.logarithms + sizes.row_number(batch, first, head);
  const T* const g = x.g.at(batch, head, first);
  const Scratch<T> along(rows);  // sum(g out) of each row
  for (std::int64_t r = 0; r < rows; ++r) {
    const T *const a = g + r * x.g.row, *const b = x.out.at(batch, head, first + r);
    along[r] = detail::sum_terms<T>(width, [=](std::int64_t i, std::int64_t count) {
      return detail::load_some(a + i, count) * detail::load_some(b + i, count);
    });
  }
  std::fill_n(results.data(), rows * width, T(0));
  for (std::int64_t j = block.range().begin; j < block.range().end; j += attention_keys) {
    const std::int64_t count = std::min(attention_keys, block.range().end - j);
    gemm<T>(rows, count, width, g, x.g.row, 1, x.v.at(batch, group, j), 1, x.v.row, slopes.data(), row, 1,
            false);
    block.multiply(x.k, j, count, [&](std::int64_t r, T* weights) {
      const T* const own = logarithms + 2 * r * sizes.heads;
      const simd::Packet<T> greatest(own[0]), shift(own[1]), mean(along[r]);
      T* const slope = slopes.data() + r * row;
      detail::fill_run(weights, count, [=](std::int64_t i, std::int64_t some) {
        const simd::Packet<T> p = exp(detail::load_some(weights + i, some) - greatest - shift);
        const simd::Packet<T> s = p * (detail::load_some(slope + i, some) - mean);
        if (some == simd::Packet<T>::size)
          s.store(slope + i);
        else
          s.store(slope + i, some);
        return p;
      });
    });
    gemm<T>(count, width, rows, block.logits(), 1, row, g, x.g.row, 1, x.dv.at(batch, group, j), x.dv.row, 1,
            true);
    gemm<T>(count, width, rows, slopes.data(), 1, row, block.scaled(), width, 1, x.dk.at(batch, group, j),
            x.dk.row, 1, true);
    gemm<T>(rows, width, count, slopes.data(), row, 1, x.k.at(batch, group, j), x.k.row, 1, results.data(),
            width, 1, true);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    T* const to = x.dq.at(batch, head, first + r);
    for (std::int64_t i = 0; i < width; ++i) to[i] = results[r * width + i] * x.scale;
    const T* const numbers = logarithms + 2 * r * sizes.heads;
    const bool low = numbers[0] == std::numeric_limits<T>::infinity() && numbers[1] == T(0);
    if (!low || block.view().is_padding(batch, first + r)) continue;
    const T *const weights = block.low_weights(x.k, r), *const from = g + r * x.g.row;
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      T* const dv = x.dv.at(batch, group, j);
      for (std::int64_t i = 0; i < width; ++i) dv[i] += weights[j] * from[i];
      if (!block.sees(r, j)) continue;
      const T *const k = x.k.at(batch, group, j), *const own = block.scaled() + r * width;
      T* const dk = x.dk.at(batch, group, j);
      const T slope =
          weights[j] * (std::inner_product(from, from + width, x.v.at(batch, group, j), T(0)) - along[r]);
      for (std::int64_t i = 0; i < width; ++i) to[i] += slope * x.scale * k[i], dk[i] += slope * own[i];
    }
  }
}

}  // namespace NAX_SIMD_ABI

template <class T>
void attend(const AttentionCall<T>& call) {
  const AttentionSizes& sizes = call.sizes;
  const std::int64_t blocks = divide_up(sizes.queries, attention_rows),
                     all = sizes.batch * sizes.heads * blocks,
                     cost = std::min(attention_rows, sizes.queries) * sizes.keys * sizes.width;
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    AttentionBlock<T> block(sizes, call.view, call.scale);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t plane = i / blocks, first = i % blocks * attention_rows;
      attend_block(block, sizes, call.q, call.k, call.v, call.out,
                   call.logarithms
                       ? call.logarithms + sizes.row_number(plane / sizes.heads, first, plane % sizes.heads)
                       : nullptr,
                   plane / sizes.heads, plane % sizes.heads, first);
    }
  };
  if (all < available_threads()) return some(0, all);  // threads share each product instead
  parallel_for(all, (1 << 16) / cost + 1, some);
}

template <class T>
void attention_gradient(const AttentionGradients<T>& x) {
  const AttentionSizes& sizes = x.sizes;
  const std::int64_t all = sizes.batch * sizes.groups, each = sizes.heads / sizes.groups,
                     cost = each * sizes.queries * sizes.keys * sizes.width;
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    AttentionBlock<T> block(sizes, x.view, x.scale);
    const Scratch<T> slopes(block.most_rows() * block.row()), results(block.most_rows() * sizes.width);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t head = i % sizes.groups * each; head < (i % sizes.groups + 1) * each; ++head)
        for (std::int64_t first = 0; first < sizes.queries; first += attention_rows)
          attention_gradient_block(block, slopes, results, x, i / sizes.groups, head, first);
  };
  if (all < available_threads()) return some(0, all);  // threads share each product instead
  parallel_for(all, (1 << 16) / cost + 1, some);
}

}  // namespace cpu
NAX_END
