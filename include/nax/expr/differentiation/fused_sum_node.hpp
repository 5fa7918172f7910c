#pragma once

#include <cstdint>

#include "nax/expr/differentiation/fused_node.hpp"

// The tape's node for a sum of an expression whose derivatives were computed along with it (see
// fused_sum.hpp). The sum is linear in what reaches it, so that the derivatives are all the node needs, in
// either direction and however often it is differentiated: a sweep multiplies. The expression's leaves need
// not be kept.
NAX_BEGIN
namespace detail {

// Which axes a sum is over.
class FusedSum {
 public:
  // `marks`: of the visible axes.
  FusedSum(const AxisMarks& marks, bool keep) : summed_(marks), keep_(keep) {
    for (bool sums : marks) whole_ = whole_ && sums;
  }
  bool sums(int axis) const { return summed_[axis]; }
  bool whole() const { return whole_; }  // no visible axis stays

  // The marks over all axes of a frame.
  AxisMarks marks(const Frame& frame) const { return over_frame(summed_, frame); }
  // Returns the axes of the sums over an operand with these axes.
  Frame result(const Frame& frame) const {
    return whole_ && !keep_ && frame.levels.empty() ? Frame() : reduced_frame(frame, marks(frame), keep_);
  }
  // A cotangent of the result over the axes of a leaf, those that were summed with extent 1.
  template <class T>
  Array<T> over_leaf(const Array<T>& g, int leaf_ndim) const {
    if (whole_ && !keep_) return g;
    Frame ones;
    ones.levels = layout_of(g).levels;
    for (int h = 0; h < layout_of(g).hidden(); ++h) ones.shape.push_back(layout_of(g).shape[h]);
    for (int axis = 0, own = 0; axis < ndim(); ++axis) {
      const bool gone = sums(axis);
      if (axis >= ndim() - leaf_ndim) ones.shape.push_back(gone ? 1 : layout_of(g).visible(own));
      if (!gone || keep_) ++own;
    }
    return restride(g, ones);
  }
  // A tangent's terms in the result, over the axes of a leaf, added up over those that were summed.
  template <class T>
  Array<T> sum_of_leaf(const Array<T>& terms) const {
    const int leaf_ndim = layout_of(terms).ndim(), hidden = layout_of(terms).hidden();
    AxisMarks marks(layout_of(terms).shape.size(), false);
    Frame to;
    to.levels = layout_of(terms).levels;
    for (int h = 0; h < hidden; ++h) to.shape.push_back(layout_of(terms).shape[h]);
    for (int axis = 0; axis < ndim(); ++axis) {
      const int own = axis - (ndim() - leaf_ndim);
      const bool gone = sums(axis);
      if (own >= 0) marks[hidden + own] = gone;
      if (!gone || keep_) to.shape.push_back(gone || own < 0 ? 1 : layout_of(terms).visible(own));
    }
    return restride(sum_axes(terms, marks, false), to);
  }

 private:
  int ndim() const { return static_cast<int>(summed_.size()); }

  AxisMarks summed_;
  bool keep_, whole_ = true;
};

// A cotangent or tangent times a derivative, which has all axes of the product but hidden ones. Recorded, as
// a linear function of the first.
template <class T>
Array<T> times_derivative(const Array<T>& t, const Array<T>& derivative) {
  Array<T> product = evaluate(make_expr<rules::scale>(t, derivative));
  if (!is_recorded(t)) return product;
  const Frame from = layout_of(t), to = layout_of(product);
  return record(std::move(product),
                wrt(
                    t, [=](const Array<T>& g) { return sum_to(times_derivative(g, derivative), from, to); },
                    [=](const Array<T>& u) { return times_derivative(u, derivative); }));
}

// In the arena the inputs follow the node.
template <class T>
class FusedSumNode final : public ResultNode {
 public:
  // Takes the derivatives, where there are some; each is row-major over its leaf's axes.
  static std::uint64_t record(const FusedSum& sum, const ArrayBase* const* leaves,
                              NewGradients& derivatives) {
    std::size_t count = 0;
    for (int l = 0; l < derivatives.count; ++l) count += derivatives.at[l] != nullptr;
    return recording.tape->emplace_with<FusedSumNode>(count * sizeof(Input), sum, leaves, derivatives);
  }
  // (Where a layout finds no memory the destructor runs: the other constructor has made the node.)
  FusedSumNode(const FusedSum& sum, const ArrayBase* const* leaves, NewGradients& derivatives)
      : FusedSumNode(sum) {
    for (int l = 0; l < derivatives.count; ++l) {
      if (!derivatives.at[l]) continue;
      Array<T>& derivative =
          (new (inputs() + count_++) Input{serial_of(*leaves[l]), Array<T>(Unset())})->derivative;
      const std::int64_t size = ArrayAccess::layout(derivative).make_row_major(layout_of(*leaves[l]));
      ArrayAccess::dtype(derivative) = dtype_of<T>;
      ArrayAccess::buffer(derivative) = derivatives.take(l);
      const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
      bytes_ += bytes;
      tape_.derivative_bytes += bytes;
    }
  }
  ~FusedSumNode() override {
    while (count_ > 0) inputs()[--count_].~Input();
    tape_.derivative_bytes -= bytes_;
  }
  Watchers watchers(const Tape& tape) const override {
    Watchers all = 0;
    const Input* const in = reinterpret_cast<const Input*>(this + 1);
    for (int i = 0; i < count_; ++i) all |= tape.watchers(in[i].serial);
    return all;
  }

  void pull(const ArrayBase& g_, Reverse& sweep) override {
    const Array<T> g = typed<T>(g_);
    const bool ones = are_ones(g);
    for (int i = 0; i < count_; ++i) {
      Input& in = inputs()[i];
      const std::size_t node = sweep.place(in.serial);
      if (node == Tape::npos) continue;
      // Directions of their own, in hidden axes that only the cotangent has, need each a product.
      const bool plain = !recording.tape && layout_of(g).levels == layout_of(in.derivative).levels;
      if (plain && ones)
        sweep.add_at(node, Array<T>(in.derivative));
      else
        give(node, sum_.over_leaf(g, layout_of(in.derivative).ndim()), in.derivative, plain, sweep);
    }
  }
  // The usual sum is the loss itself: its derivatives are the gradients.
  void pull_number(Number g, Reverse& sweep) override {
    if (recording.tape || *static_cast<const T*>(g.value) != T(1))
      return pull(g.array(sweep.device()), sweep);
    for (int i = 0; i < count_; ++i) {
      Input& in = inputs()[i];
      const std::size_t node = sweep.place(in.serial);
      if (node != Tape::npos)
        sweep.add_at(node, sweep.consumes() ? std::move(in.derivative) : Array<T>(in.derivative));
    }
  }
  void push(Forward& sweep, std::size_t self) override {
    ArrayBase total;
    for (int i = 0; i < count_; ++i) {
      const Input& in = inputs()[i];
      const ArrayBase* const t = sweep.find(in.serial);
      if (!t) continue;
      ArrayBase share = sum_.sum_of_leaf(times_derivative(typed<T>(*t), in.derivative));
      if (ArrayAccess::buffer(total))
        this->add(total, share);
      else
        total = std::move(share);
    }
    if (ArrayAccess::buffer(total)) sweep.put(self, std::move(total));
  }

 private:
  explicit FusedSumNode(const FusedSum& sum) : tape_(*recording.tape), sum_(sum) {}

  struct Input {
    std::uint64_t serial;
    Array<T> derivative;
  };
  Input* inputs() { return reinterpret_cast<Input*>(this + 1); }

  // One number, 1, over and over: then the derivatives are the gradients.
  static bool are_ones(const Array<T>& g) {
    const T* const number = static_cast<const T*>(known_number(g));
    return number && *number == T(1);
  }
  static void give(std::size_t node, const Array<T>& g, Array<T>& derivative, bool plain, Reverse& sweep) {
    if (ArrayBase* const sum = plain ? addable(sweep, node, dtype_of<T>, layout_of(derivative)) : nullptr) {
      add_scaled_of<T>(*sum, g, derivative);
      return;
    }
    if (!plain || !sweep.consumes()) return sweep.add_at(node, times_derivative(g, derivative));
    const T* const number = layout_of(g).size() == 1 ? static_cast<const T*>(known_number(g)) : nullptr;
    if (number && is_exclusive(derivative))
      scale_in_place(*number, derivative);
    else
      assign(derivative, make_expr<rules::scale>(g, derivative));
    sweep.add_at(node, std::exchange(derivative, Array<T>()));
  }
  static void scale_in_place(T by, const Array<T>& derivative) {
    T* const d = reinterpret_cast<T*>(raw_data(derivative));
    parallel_for(layout_of(derivative).size(), cpu::detail::parallel_grain,
                 [&](std::int64_t begin, std::int64_t end) {
                   if (by == T(0))
                     std::fill(d + begin, d + end, T(0));
                   else
                     simd::scale_run(by, d + begin, end - begin);
                 });
  }

  Tape& tape_;
  FusedSum sum_;
  std::size_t bytes_ = 0;
  int count_ = 0;
};

}  // namespace detail
NAX_END
