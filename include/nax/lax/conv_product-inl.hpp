#pragma once

#include "nax/lax/conv_product.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Levels levels_without(const Levels& all, const Levels& gone) {
  Levels left;
  for (const Level level : all)
    if (!contains(gone, level)) left.push_back(level);
  return left;
}

// The value; weights are summed over the hidden axes that are not among `kept`.
NAX_ENGINE ArrayBase conv_value(ConvPart part, const ConvSpec& spec, const ArrayBase& a_, const ArrayBase& b_,
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
  const DType dtype = a.dtype();
  const Device device = device_for("conv_general_dilated", a, b);
  ArrayBase result = allocate(dtype, frame, device);
  const auto bytes = static_cast<std::int64_t>(dtype_size(dtype));
  const auto run = [&](const loops::ConvGeometry& of, std::int64_t at_a, std::int64_t at_b, std::int64_t at,
                       bool accumulate) {
    backend::run(
        device, ops::Convolve{part, of, dtype, accumulate},
        {device_data(a) + at_a * bytes, device_data(b) + at_b * bytes, device_data(result) + at * bytes});
  };
  std::int64_t examples = 1;
  for (const std::int64_t n : all.shape) examples *= n;
  loops::ConvGeometry geometry = spec.geometry;
  if (weights ? la.levels == lb.levels && hidden == 0 : lb.levels.empty()) {
    geometry.n *= examples;
    run(geometry, 0, 0, 0, false);
    return result;
  }
  std::int64_t size = 1;
  for (const std::int64_t n : visible) size *= n;
  if (examples == 0) clear_elements(result);
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
    run(geometry, at_a, at_b, at, again);
  }
  return result;
}

NAX_ENGINE ArrayBase conv_part(ConvPart part, const ConvRef& spec, const ArrayBase& a, const ArrayBase& b,
                               const Levels& kept) {
  ArrayBase result = conv_value(part, *spec, a, b, kept);
  const loops::ConvGeometry& geometry = spec->geometry;
  check_result("conv_general_dilated", result, {&a, &b},
               2. * static_cast<double>(layout_of(result).size()) *
                   static_cast<double>(geometry.taps() * geometry.c / geometry.groups));
  if (!may_be_recorded(a) && !may_be_recorded(b)) return result;
  using enum ConvPart;
  const Levels made = merge_levels(layout_of(a).levels, layout_of(b).levels), own = layout_of(result).levels;
  // The weights' share of a product of x and g: what their own levels and new ones of the cotangent do not
  // hold is summed.
  const auto of_weights = [spec, made](const ArrayBase& x, const ArrayBase& g, const ArrayBase& w,
                                       const ArrayBase& fresh) {
    return conv_part(weights, spec, x, g,
                     merge_levels(layout_of(w).levels, levels_without(layout_of(fresh).levels, made)));
  };
  if (part == forward)
    return record(std::move(result),
                  wrt(
                      a, [=](const ArrayBase& g) { return conv_part(input, spec, g, b); },
                      [=](const ArrayBase& t) { return conv_part(forward, spec, t, b); }),
                  wrt(
                      b, [=](const ArrayBase& g) { return of_weights(a, g, b, g); },
                      [=](const ArrayBase& t) { return conv_part(forward, spec, a, t); }));
  if (part == input)
    return record(std::move(result),
                  wrt(
                      a, [=](const ArrayBase& g) { return conv_part(forward, spec, g, b); },
                      [=](const ArrayBase& t) { return conv_part(input, spec, t, b); }),
                  wrt(
                      b, [=](const ArrayBase& g) { return of_weights(g, a, b, g); },
                      [=](const ArrayBase& t) { return conv_part(input, spec, a, t); }));
  // Operands a = x and b = g; the result lacks what was summed.
  const auto with_new = [own, made](const ArrayBase& t) {
    return merge_levels(own, levels_without(layout_of(t).levels, made));
  };
  return record(std::move(result),
                wrt(
                    a,
                    [=](const ArrayBase& g) {
                      return sum_levels(conv_part(input, spec, b, g), made, layout_of(a).levels);
                    },
                    [=](const ArrayBase& t) { return conv_part(weights, spec, t, b, with_new(t)); }),
                wrt(
                    b,
                    [=](const ArrayBase& g) {
                      return sum_levels(conv_part(forward, spec, a, g), made, layout_of(b).levels);
                    },
                    [=](const ArrayBase& t) { return conv_part(weights, spec, a, t, with_new(t)); }));
}

}  // namespace detail
NAX_END
