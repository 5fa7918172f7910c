#pragma once

#include <utility>

#include "nax/modules/image/resize.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/random/shuffle.hpp"

// Examples of a batch mixed with one another, and their labels with them.
NAX_BEGIN
namespace image {
namespace detail {

template <class X, class L>
void check_batch(const char* function, const X& x, const L& labels, double alpha) {
  if (x.ndim() < 1 || labels.ndim() < 1 || x.shape(0) != labels.shape(0))
    raise<ShapeError>({function, ": examples and labels must have one first axis, shapes ", x.shape(),
                       " and ", labels.shape()});
  if (!(alpha > 0)) raise<ValueError>({function, ": alpha must be positive, got ", alpha});
}
template <class T, class S>
Array<T> mixed(const Array<T>& a, const Array<T>& b, const Array<S>& share) {
  const Array<T> part = share.template astype<T>();
  return part * a + (1 - part) * b;
}

NAX_ENGINE Array<float> draw_share(const random::Key& key, double alpha);
// A box (height, width, 1) of a drawn share of the area at a drawn place, cut off at the edges.
NAX_ENGINE Array<bool> draw_box(const random::Key& keys, double alpha, int height, int width);
NAX_ENGINE Array<float> area_outside(const Array<bool>& box);  // its share

}  // namespace detail

struct MixOptions {
  double alpha = 0.2;  // of the share, which is drawn from Beta(alpha, alpha)
};
// {examples, labels}: each of a batch x (N, ...) and labels (N, ...) of floating numbers, such as one_hot
// gives, mixed with another one by one share for all (Zhang and others 2018). Both keep their shapes. Throws
// ShapeError where the first axes differ, and ValueError unless alpha is positive.
template <Dtype T, Dtype L>
std::pair<Array<T>, Array<L>> mixup(const random::Key& key, const Array<T>& x, const Array<L>& labels,
                                    const MixOptions& options = {}) {
  static_assert(is_floating_v<T> && is_floating_v<L>, "mixup: examples and labels must be floating numbers");
  detail::check_batch("mixup", x, labels, options.alpha);
  const auto [of_share, of_order] = random::split(key);
  const Array<float> share = detail::draw_share(of_share, options.alpha);
  const Array<int> order = random::permutation(of_order, static_cast<int>(x.shape(0)));
  return {detail::mixed(x, Array<T>(take(x, order, {.axis = 0})), share),
          detail::mixed(labels, Array<L>(take(labels, order, {.axis = 0})), share)};
}

// {images, labels}: a box of each image of x (N, height, width, channels) is that of another one, and the
// labels (N, ...) are mixed by its area (Yun and others 2019); the box is one for all. Both keep their
// shapes. Throws ShapeError unless there is a batch of images with labels, and ValueError unless alpha is
// positive.
template <Dtype T, Dtype L>
std::pair<Array<T>, Array<L>> cutmix(const random::Key& key, const Array<T>& x, const Array<L>& labels,
                                     const MixOptions& options = {.alpha = 1}) {
  static_assert(is_floating_v<L>, "cutmix: the labels must be floating numbers");
  detail::check_batch("cutmix", x, labels, options.alpha);
  if (x.ndim() != 4)
    raise<ShapeError>({"cutmix: images must be (N, height, width, channels), shape ", x.shape()});
  const nax::detail::ComputeOn beside_x(x);
  const int height = static_cast<int>(x.shape(1)), width = static_cast<int>(x.shape(2));
  const random::Key keys = random::split(key, Shape{4});
  const Array<int> order = random::permutation(keys[1], static_cast<int>(x.shape(0)));
  const Array<bool> box = detail::draw_box(keys, options.alpha, height, width);
  return {Array<T>(where(box, Array<T>(take(x, order, {.axis = 0})), x)),
          detail::mixed(labels, Array<L>(take(labels, order, {.axis = 0})), detail::area_outside(box))};
}

}  // namespace image
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/image/mix-inl.hpp"
#endif
