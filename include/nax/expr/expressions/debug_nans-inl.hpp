#pragma once

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "nax/core/graph_recording.hpp"
#include "nax/core/half.hpp"
#include "nax/core/transfer.hpp"
#include "nax/expr/expressions/debug_nans.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void watch_numbers(unsigned bit, bool on) {
  odd_numbers_asked_for();
  if (on)
    odd_numbers_watched.fetch_or(bit);
  else
    odd_numbers_watched.fetch_and(~bit);
}

}  // namespace detail

NAX_ENGINE void debug_nans(bool on) { detail::watch_numbers(detail::odd_nan, on); }
NAX_ENGINE void debug_infs(bool on) { detail::watch_numbers(detail::odd_inf, on); }

namespace detail {

NAX_ENGINE unsigned odd_numbers_asked_for() {
  const auto is_on = [](const char* text) { return text && *text && std::string_view(text) != "0"; };
  static const bool read = [&] {
    odd_numbers_watched.fetch_or((is_on(std::getenv("NAX_DEBUG_NANS")) ? odd_nan : 0u) |
                                 (is_on(std::getenv("NAX_DEBUG_INFS")) ? odd_inf : 0u));
    odd_numbers_watched.fetch_and(~environment_unread);
    return true;
  }();
  static_cast<void>(read);
  return odd_numbers_watched.load(std::memory_order_relaxed);
}

template <class T>
unsigned odd_numbers_among(const ArrayBase& a, int parts) {
  const Layout& layout = layout_of(a);
  const T* const data = static_cast<const T*>(static_cast<const void*>(raw_data(a)));
  const std::size_t rank = layout.shape.size();
  Dims index(rank, 0);
  unsigned found = 0;
  std::int64_t at = 0;
  for (std::int64_t left = layout.size(); left > 0; --left) {
    for (int part = 0; part < parts; ++part) {
      const float x = static_cast<float>(data[at * parts + part]);
      if constexpr (std::is_same_v<T, double>) {
        const double wide = data[at * parts + part];
        found |= std::isnan(wide) ? odd_nan : std::isinf(wide) ? odd_inf : 0u;
      } else {
        found |= std::isnan(x) ? odd_nan : std::isinf(x) ? odd_inf : 0u;
      }
    }
    for (std::size_t axis = rank; axis-- > 0;) {
      at += layout.strides[axis];
      if (++index[axis] < layout.shape[axis]) break;
      at -= index[axis] * layout.strides[axis];
      index[axis] = 0;
    }
  }
  return found;
}

NAX_ENGINE unsigned odd_numbers_in(const ArrayBase& a_) {
  if (!watches_numbers() || graph_recording || !ArrayAccess::buffer(a_) || layout_of(a_).size() == 0)
    return 0;
  const ArrayBase a = on_host(a_);
  const unsigned found = [&]() -> unsigned {
    switch (a.dtype()) {
      case DType::float16:
        return odd_numbers_among<half>(a, 1);
      case DType::bfloat16:
        return odd_numbers_among<bfloat16>(a, 1);
      case DType::float32:
        return odd_numbers_among<float>(a, 1);
      case DType::float64:
        return odd_numbers_among<double>(a, 1);
      case DType::complex64:
        return odd_numbers_among<float>(a, 2);
      case DType::complex128:
        return odd_numbers_among<double>(a, 2);
      case DType::boolean:
      case DType::int8:
      case DType::int16:
      case DType::int32:
      case DType::int64:
      case DType::uint8:
      case DType::uint16:
      case DType::uint32:
      case DType::uint64:
        return 0;
    }
    return 0;
  }();
  return found & odd_numbers_watched.load(std::memory_order_relaxed);
}
NAX_ENGINE unsigned odd_numbers_in(const ArrayBase* const* arrays, int count) {
  unsigned found = 0;
  for (int i = 0; i < count; ++i) found |= odd_numbers_in(*arrays[i]);
  return found;
}

NAX_ENGINE std::string formula_text(const FormulaPart* formula, const void* constants,
                                    const std::vector<std::string>& names) {
  if (!formula) return {};
  const char* slot = static_cast<const char*>(constants);
  std::size_t leaves = 0;
  std::ostringstream text;
  const auto number = [&](DType type) {
    const auto read = [&]<class T>(T x) {
      std::memcpy(&x, slot, sizeof x);
      text << +x;
    };
    if (type == DType::float64)
      read(double());
    else if (type == DType::float32)
      read(float());
    else if (type == DType::int32)
      read(std::int32_t());
    else if (type == DType::int64)
      read(std::int64_t());
    else
      text << 'c';
    slot += formula_slot;
  };
  const auto write = [&](const auto& self) -> void {
    const FormulaPart& part = *formula++;
    if (part.arity == 0) {
      text << (leaves < names.size() ? names[leaves] : "x" + std::to_string(leaves));
      ++leaves;
    } else if (part.arity < 0) {
      number(part.dtype);
    } else {
      text << part.name << '(';
      for (int i = 0; i < part.arity; ++i) {
        if (i > 0) text << ", ";
        self(self);
      }
      text << ')';
    }
  };
  write(write);
  return text.str();
}

NAX_ENGINE void check_numbers(const char* name, const char* kind, unsigned before, const ArrayBase& result,
                              const ArrayBase* const* operands, int count, const FormulaPart* formula,
                              const void* constants, double flops) {
  if (operation_observer && count > 0) (*operation_observer)({name, result, operands, count, flops});
  const unsigned made = odd_numbers_in(result) & ~before;
  // A NaN of infinities that came in is made here; an infinity of a NaN is not.
  if (made == 0 || (made == odd_inf && before & odd_nan)) return;
  std::string of;
  for (int i = 0; i < count; ++i) {
    if (i > 0) of += ", ";
    if (formula) of += 'x' + std::to_string(i) + ' ';
    of += std::string(dtype_name(operands[i]->dtype())) + ' ' + to_string(operands[i]->shape());
  }
  raise<FloatingPointError>({name, kind, ": made ", made & odd_nan ? "NaN" : "an infinity", ", of shape ",
                             result.shape(),
                             formula ? ", by " + formula_text(formula, constants) : std::string(),
                             of.empty() ? "" : ", from ", of});
}

}  // namespace detail
NAX_END
