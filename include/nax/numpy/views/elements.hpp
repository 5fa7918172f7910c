#pragma once

#include <vector>

#include "nax/core/array.hpp"
#include "nax/tape/tape.hpp"

// The one door to raw elements. An array under a transform is more than its elements: who reads those by
// address reads past grad and jvp (the result has no derivative) and past vmap (there is a hidden axis, and
// the first example is taken for all). So functions ask here, and an array that is recorded or batched is
// refused, unless the caller says `transforms_handled`: "I record the derivative, or there is none (indices,
// comparisons), and I walk all hidden axes". Who does not think of it fails in the first test under grad or
// vmap, in every build; it costs one compare.
//
// raw_data and device_data, below, ask nothing: they are for kernels' callers, which carry transforms out.
// Which files these are is listed in tests/misuse/elements_test.cpp.
NAX_BEGIN
namespace detail {

struct TransformsHandled {};
inline constexpr TransformsHandled transforms_handled;

// Does a transform see more of the array than its elements?
inline bool is_transformed(const ArrayBase& a) { return (serial_of(a) | layout_of(a).levels.size()) != 0; }

[[noreturn, gnu::cold]] NAX_ENGINE void throw_past_transform();
// An array that outlived its transform is a constant again.
[[gnu::cold]] NAX_COMPILED_ONCE void check_read(const ArrayBase& a) {
  if (is_batched(a) || is_recorded(a)) throw_past_transform();
}
// Precondition of writing: the array was allocated for it, hidden axes included, and has no other holder yet.
[[gnu::cold]] NAX_COMPILED_ONCE void check_write(const ArrayBase& a) {
  if (is_recorded(a) || (is_batched(a) && !ArrayAccess::buffer(a).unique())) throw_past_transform();
}

// The elements of an array on the host, for reading (elements<const T>) or writing a fresh result
// (elements<T>).
template <class T>
T* elements(const ArrayBase& a) {
  if (is_transformed(a)) [[unlikely]] {
    if constexpr (std::is_const_v<T>)
      check_read(a);
    else
      check_write(a);
  }
  return reinterpret_cast<T*>(raw_data(a));
}
template <class T>
T* elements(const ArrayBase& a, TransformsHandled) {
  return reinterpret_cast<T*>(raw_data(a));
}

[[noreturn, gnu::cold]] inline void throw_not_mapped(const char* function, const char* operand) {
  raise<ValueError>(
      {function, ": ", operand, " must be the same for all examples of a vmap; it is batched by one here"});
}
[[noreturn, gnu::cold]] inline void throw_not_differentiable(const char* function, const char* operand) {
  raise<ValueError>({function, ": not differentiable with regard to ", operand,
                     "; pass stop_gradient of it if it is meant to be a constant"});
}

// At the door of a function that reads the values of an operand and handles no transform of it: throws
// ValueError naming both.
NAX_ENGINE void need_plain(const char* function, const char* operand, const ArrayBase& a);
// The values of such an operand, row-major.
template <class T>
std::vector<T> plain_values(const char* function, const char* operand, const Array<T>& a) {
  need_plain(function, operand, a);
  return a.to_vector();
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void throw_past_transform() {
  throw ValueError(
      "elements: a function of nax would read an array's elements past the grad, jvp or vmap that it is "
      "under, and give wrong derivatives or one example's values for all; please report which");
}

NAX_ENGINE void need_plain(const char* function, const char* operand, const ArrayBase& a) {
  if (!is_transformed(a)) [[likely]]
    return;
  if (is_batched(a)) throw_not_mapped(function, operand);
  if (is_recorded(a)) throw_not_differentiable(function, operand);
}

}  // namespace detail
NAX_END
#endif
