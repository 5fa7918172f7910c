#pragma once

#include <memory>
#include <optional>

#include "nax/nn/softmax.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"

// softmax_cross_entropy of rows as one operation, and its derivative with regard to the logits as another.
// Where another transform watches, derivatives are written with recorded functions.
NAX_BEGIN
namespace detail {

template <class T>
bool has_cross_entropy_rows(const Array<T>& x, const Array<T>& labels, const AxisMarks& visible) {
  return has_rows<T>(x.device()) && layout_of(x).size() > 0 &&
         static_cast<const Frame&>(layout_of(x)) == static_cast<const Frame&>(layout_of(labels)) &&
         marks_suffix(visible);
}

// The number that all elements of a cotangent are, where that is known without a look at a GPU's memory.
template <class T>
std::optional<T> number_everywhere(const Array<T>& g) {
  const T* const number = static_cast<const T*>(known_number(g));
  return number ? std::optional<T>(*number) : std::nullopt;
}

template <class T>
struct CrossEntropyRows {
  using Number = lane_t<T>;
  Array<T> x, labels;
  Array<Number> greatest, logarithms;
  AxisMarks visible;

  Array<T> gradient_of_x(const Array<T>& g, const Frame& of_value) const {
    if (is_recorded(g) || is_recorded(x) || is_recorded(labels) ||
        !(static_cast<const Frame&>(layout_of(g)) == of_value)) {
      const Array<T> weight = sum_over<T>(labels, visible, true, 1);
      const auto shares = make_expr<rules::multiply>(softmax_over(x, visible), weight);
      return evaluate(make_expr<rules::multiply>(over_rows(g), make_expr<rules::subtract>(shares, labels)));
    }
    constexpr auto function = loops::RowFunction::cross_entropy_gradient;
    const std::optional<T> number = number_everywhere(g);
    const ArrayBase from_g = number ? ArrayBase() : contiguous(g, transforms_handled),
                    from_x = contiguous(x, transforms_handled),
                    from_labels = contiguous(labels, transforms_handled);
    const Device device = number ? device_for("softmax_cross_entropy", x, labels)
                                 : device_for("softmax_cross_entropy", x, labels, g);
    const ArrayBase result = allocate(dtype_of<T>, layout_of(x), device);
    provide_rows<function, T>();
    run_rows(function, marked_count(visible, layout_of(x)), static_cast<double>(number.value_or(T(0))),
             {&from_x, &from_labels, &greatest, &logarithms, number ? nullptr : &from_g}, {&result});
    return typed<T>(result);
  }
  Array<T> gradient_of_labels(const Array<T>& g) const {
    return evaluate(
        make_expr<rules::negative>(make_expr<rules::multiply>(over_rows(g), log_softmax_over(x, visible))));
  }

 private:
  Array<T> over_rows(const Array<T>& g) const {
    const Frame frame = layout_of(x);
    return typed<T>(unreduce(constant_beside(g, x.device()), frame, over_frame(visible, frame), false));
  }
};

template <class T>
struct PullCrossEntropy {
  static constexpr bool takes_constants = true;
  std::shared_ptr<const CrossEntropyRows<T>> of;
  Frame rows;
  bool to_labels;
  Array<T> operator()(const Array<T>& g) const {
    return to_labels ? of->gradient_of_labels(g) : of->gradient_of_x(g, rows);
  }
};

// Precondition: has_cross_entropy_rows(x, labels, visible).
template <class T>
Array<T> cross_entropy_rows(const Array<T>& x, const Array<T>& labels, const AxisMarks& visible) {
  constexpr auto function = loops::RowFunction::cross_entropy;
  const Frame frame = layout_of(x), rows = reduced_frame(frame, over_frame(visible, frame), false);
  const Device device = device_for("softmax_cross_entropy", x, labels);
  const bool recorded = is_recorded(x) || is_recorded(labels);
  const ArrayBase from_x = contiguous(x, transforms_handled),
                  from_labels = contiguous(labels, transforms_handled);
  CrossEntropyRows<T> kept{x, labels, {}, {}, visible};
  Array<T> result = typed<T>(allocate(dtype_of<T>, rows, device));
  if (recorded) {
    kept.greatest = typed<lane_t<T>>(allocate(dtype_of<lane_t<T>>, rows, device));
    kept.logarithms = typed<lane_t<T>>(allocate(dtype_of<lane_t<T>>, rows, device));
  }
  provide_rows<function, T>();
  run_rows(function, marked_count(visible, frame), 0, {&from_x, &from_labels},
           {&result, recorded ? &kept.greatest : nullptr, recorded ? &kept.logarithms : nullptr});
  check_result("softmax_cross_entropy", result, {&x, &labels});
  if (!recorded) return result;
  const auto shared = std::make_shared<const CrossEntropyRows<T>>(std::move(kept));
  return record(std::move(result), wrt(x, PullCrossEntropy<T>{shared, rows, false}),
                wrt(labels, PullCrossEntropy<T>{shared, rows, true}));
}

}  // namespace detail
NAX_END
