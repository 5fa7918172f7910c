#pragma once

#include <memory>

#include "nax/backend/cpu/conv.hpp"
#include "nax/expr/primitive.hpp"
#include "nax/numpy/views/copy.hpp"

// The convolution as an operation on the tape, of x (N, spatial..., C) and w (spatial..., C / groups, O).
//
// forward, input and weights (see backend/cpu/conv.hpp) are the three ways to pair two of x, w and y. Each is
// linear in both of its operands, and the derivative in either is another of the three: so they close under
// differentiation, to any order.
//
// Hidden axes: where the weights have none those of the other operand are more images. Where they have some,
// one convolution is computed for each.
NAX_BEGIN
namespace detail {

enum class ConvPart { forward, input, weights };

struct ConvSpec {
  cpu::ConvGeometry geometry;  // n is that of the visible axes
  int spatial;

  Dims visible(ConvPart part) const {
    Dims shape;
    const std::int64_t* of = part == ConvPart::forward ? geometry.out
                             : part == ConvPart::input ? geometry.in
                                                       : geometry.kernel;
    if (part != ConvPart::weights) shape.push_back(geometry.n);
    for (int axis = 3 - spatial; axis < 3; ++axis) shape.push_back(of[axis]);
    if (part == ConvPart::weights) shape.push_back(geometry.c / geometry.groups);
    shape.push_back(part == ConvPart::input ? geometry.c : geometry.o);
    return shape;
  }
};
using ConvRef = std::shared_ptr<const ConvSpec>;

template <class T>
void run_conv(ConvPart part, const cpu::ConvGeometry& geometry, const T* a, const T* b, T* to,
              bool accumulate) {
  if (part == ConvPart::forward) return cpu::conv_forward<T>(geometry, a, b, to);
  if (part == ConvPart::input) return cpu::conv_input<T>(geometry, a, b, to);
  cpu::conv_weights<T>(geometry, a, b, to, accumulate);
}

NAX_ENGINE Levels levels_without(const Levels& all, const Levels& gone);

// The value; weights are summed over the hidden axes that are not among `kept`.
template <class T>
Array<T> conv_value(ConvPart part, const ConvSpec& spec, const Array<T>& a_, const Array<T>& b_,
                    const Levels& kept) {
  const ArrayBase a = contiguous(a_, transforms_handled), b = contiguous(b_, transforms_handled);
  const Layout &la = layout_of(a), &lb = layout_of(b);
  const Frame all = merge_frames({&la, &lb}, Dims());
  const bool weights = part == ConvPart::weights;
  Frame frame;
  for (std::size_t h = 0; h < all.levels.size(); ++h)
    if (!weights || contains(kept, all.levels[h])) {
      frame.levels.push_back(all.levels[h]);
      frame.shape.push_back(all.shape[h]);
    }
  const std::size_t hidden = frame.levels.size();
  const Dims visible = spec.visible(part);
  frame.shape.append(visible.begin(), visible.end());
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame));
  const T *from_a = elements<const T>(a, transforms_handled),
          *from_b = elements<const T>(b, transforms_handled);
  T* const to = elements<T>(result);
  std::int64_t examples = 1;
  for (const std::int64_t n : all.shape) examples *= n;
  cpu::ConvGeometry geometry = spec.geometry;
  if (weights ? la.levels == lb.levels && hidden == 0 : lb.levels.empty()) {
    geometry.n *= examples;
    run_conv(part, geometry, from_a, from_b, to, false);
    return result;
  }
  std::int64_t size = 1;
  for (const std::int64_t n : visible) size *= n;
  if (examples == 0) std::fill(to, to + layout_of(result).size(), T(0));
  std::vector<bool> begun(
      static_cast<std::size_t>(layout_of(result).size() / std::max<std::int64_t>(size, 1)), false);
  for (std::int64_t example = 0; example < examples; ++example) {
    std::int64_t rest = example, at_a = 0, at_b = 0, at = 0;
    for (std::size_t h = all.levels.size(); h-- > 0; rest /= all.shape[h]) {
      const std::int64_t i = rest % all.shape[h];
      if (const int k = la.find(all.levels[h]); k >= 0) at_a += i * la.strides[k];
      if (const int k = lb.find(all.levels[h]); k >= 0) at_b += i * lb.strides[k];
      if (const int k = layout_of(result).find(all.levels[h]); k >= 0) at += i * layout_of(result).strides[k];
    }
    const std::size_t place = static_cast<std::size_t>(at / std::max<std::int64_t>(size, 1));
    const bool again = place < begun.size() && begun[place];
    if (place < begun.size()) begun[place] = true;
    run_conv(part, geometry, from_a + at_a, from_b + at_b, to + at, again);
  }
  return result;
}

template <class T>
Array<T> conv_part(ConvPart part, const ConvRef& spec, const Array<T>& a, const Array<T>& b,
                   const Levels& kept = {}) {
  Array<T> result = conv_value(part, *spec, a, b, kept);
  const cpu::ConvGeometry& geometry = spec->geometry;
  check_result("conv_general_dilated", result, {&a, &b},
               2. * static_cast<double>(layout_of(result).size()) *
                   static_cast<double>(geometry.taps() * geometry.c / geometry.groups));
  if (!may_be_recorded(a) && !may_be_recorded(b)) return result;
  using enum ConvPart;
  const Levels made = merge_levels(layout_of(a).levels, layout_of(b).levels), own = layout_of(result).levels;
  // The weights' share of a product of x and g: what their own levels and new ones of the cotangent do not
  // hold is summed.
  const auto of_weights = [spec, made](const Array<T>& x, const Array<T>& g, const Array<T>& w,
                                       const Array<T>& fresh) {
    return conv_part(weights, spec, x, g,
                     merge_levels(layout_of(w).levels, levels_without(layout_of(fresh).levels, made)));
  };
  if (part == forward)
    return record(std::move(result),
                  wrt(
                      a, [=](const Array<T>& g) { return conv_part(input, spec, g, b); },
                      [=](const Array<T>& t) { return conv_part(forward, spec, t, b); }),
                  wrt(
                      b, [=](const Array<T>& g) { return of_weights(a, g, b, g); },
                      [=](const Array<T>& t) { return conv_part(forward, spec, a, t); }));
  if (part == input)
    return record(std::move(result),
                  wrt(
                      a, [=](const Array<T>& g) { return conv_part(forward, spec, g, b); },
                      [=](const Array<T>& t) { return conv_part(input, spec, t, b); }),
                  wrt(
                      b, [=](const Array<T>& g) { return of_weights(g, a, b, g); },
                      [=](const Array<T>& t) { return conv_part(input, spec, a, t); }));
  // Operands a = x and b = g; the result lacks what was summed.
  const auto with_new = [own, made](const Array<T>& t) {
    return merge_levels(own, levels_without(layout_of(t).levels, made));
  };
  return record(std::move(result),
                wrt(
                    a,
                    [=](const Array<T>& g) {
                      return sum_levels(conv_part(input, spec, b, g), made, layout_of(a).levels);
                    },
                    [=](const Array<T>& t) { return conv_part(weights, spec, t, b, with_new(t)); }),
                wrt(
                    b,
                    [=](const Array<T>& g) {
                      return sum_levels(conv_part(forward, spec, a, g), made, layout_of(b).levels);
                    },
                    [=](const Array<T>& t) { return conv_part(weights, spec, a, t, with_new(t)); }));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/conv_product-inl.hpp"
#endif
