#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "nax/backend/cpu/gemm/int8_product.hpp"
#include "nax/core/where_used.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/rules/activations.hpp"

// Linear layers by int8 weights (backend/cpu/gemm/int8_product.hpp), which nn::quantize() makes of a model's
// floats.
//
// A module that has such weights keeps them in a field that is no part of its tree: transforms, optimisers
// and files see the floats alone, and copies of the module share it. Each packing holds the array that it was
// made of. So no function writes into that array's memory, and a module whose weights are another array, by
// an update or a file, is told by the address: it computes with its floats.
NAX_BEGIN
namespace detail {

class Int8Packing {
 public:
  // Of floats (k, n); `source`: the module's array. Throws ValueError where an element is not finite.
  NAX_ENGINE static std::shared_ptr<const Int8Packing> make(const ArrayBase& floats, const ArrayBase& source,
                                                            bool released, bool turned);
  loops::Int8Weights weights() const {
    const auto at = [](const ArrayBase& a) { return static_cast<const void*>(raw_data(a)); };
    return {k, n, static_cast<const std::int8_t*>(at(codes)), static_cast<const float*>(at(scales)),
            static_cast<const std::int32_t*>(at(offsets))};
  }
  // Row-major floats (k, n), by the codes.
  NAX_ENGINE ArrayBase floats() const;
  // Is this the array that it was made of?
  bool made_of(const ArrayBase& w) const {
    return ArrayAccess::buffer(w).get() == ArrayAccess::buffer(source).get() &&
           ArrayAccess::offset(w) == ArrayAccess::offset(source) && is_like(w) &&
           layout_of(w).strides == layout_of(source).strides;
  }
  bool is_like(const ArrayBase& w) const {
    return w.dtype() == source.dtype() &&
           static_cast<const Frame&>(layout_of(w)) == static_cast<const Frame&>(layout_of(source));
  }

  std::int64_t k = 0, n = 0;
  ArrayBase source, codes, scales, offsets;
  bool released = false;  // the source has no elements but NaN
  bool turned = false;    // the source is (n, k)
};
using Int8Ref = std::shared_ptr<const Int8Packing>;

// The types of weights that are quantised.
template <class T>
inline constexpr bool is_int8_source =
    std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

// The packings of a module's matrices, none at first.
template <int count>
class Int8Field {
 public:
  const Int8Ref& operator[](int i) const { return packings_[i]; }
  Int8Ref& operator[](int i) { return packings_[i]; }

  friend constexpr auto tree_fields(Int8Field&) { return std::tie(); }
  // Tells modules apart for jit; 0 where there are none.
  friend std::uint64_t tree_mark(const Int8Field& x) {
    std::uint64_t mark = 0;
    for (const Int8Ref& one : x.packings_)
      mark = mark * 0x9e37'79b9'7f4a'7c15 + reinterpret_cast<std::uintptr_t>(one.get());
    return mark;
  }

 private:
  Int8Ref packings_[count] = {};
};

// The activation of x w + bias for float32 x (..., k): not recorded. An array without a buffer where the
// packing does not serve: w is another array, or w or the bias is differentiated or batched, or an operand
// lies on a device without this operation. Within jit it is one step; where w is an argument of the function,
// each call compares its address, and is unforeseen for another one. Throws ValueError where the packing does
// not serve and the floats were released.
NAX_ENGINE ArrayBase int8_linear(const Int8Ref& packing, const ArrayBase& x, const ArrayBase& w,
                                 const ArrayBase* bias, loops::Activation activation);

// The product with a derivative with respect to x: that of the product with the floats (the codes' where
// these were released).
NAX_ENGINE Array<float> recorded_int8_linear(Array<float> z, const Int8Ref& packing, const Array<float>& x);

// The activation of x w + bias by int8 weights, in float, w of any shape of (k, n)'s size; none where they do
// not serve.
template <class T>
std::optional<Array<T>> int8_linear(const Int8Ref& packing, const Array<T>& x, const Array<T>& w,
                                    const std::optional<Array<T>>& bias,
                                    loops::Activation activation = loops::Activation::identity) {
  if constexpr (is_int8_source<T>) {
    cpu::provide<cpu::Int8ProductKernel, float>();
    using Floats = where_used_t<Array<float>, T>;
    const Floats rows = as_type<float>(x);
    std::optional<Floats> row;
    if (bias) row = as_type<float>(*bias);
    const bool recorded = is_recorded(rows);
    ArrayBase made = int8_linear(packing, handle_of(rows), handle_of(w), row ? &*row : nullptr,
                                 recorded ? loops::Activation::identity : activation);
    if (!ArrayAccess::buffer(made)) return std::nullopt;
    Floats y = typed<float>(std::move(made));
    if (recorded) {
      y = recorded_int8_linear(std::move(y), packing, rows);
      switch (activation) {
        case loops::Activation::identity:
          break;
        case loops::Activation::relu:
          y = make_expr<rules::relu>(y);
          break;
        case loops::Activation::gelu:
          y = make_expr<rules::gelu_tanh>(y);
          break;
        case loops::Activation::gelu_exact:
          y = make_expr<rules::gelu>(y);
          break;
      }
    }
    return as_type<T>(y);
  } else {
    return std::nullopt;
  }
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/nn/int8_linear-inl.hpp"
#endif
