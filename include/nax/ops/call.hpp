#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "nax/core/accelerator.hpp"
#include "nax/ops/forms.hpp"

// An operation of a device as data: its form (forms.hpp) and the addresses of its operands.
NAX_BEGIN
namespace ops {

struct Call {
  Op op;
  Device device;
  const void* form;         // of the type that `op` names
  const void* const* data;  // operands in the form's order; null for one that is not given

  template <class T = char>
  const T* in(int operand) const {
    return static_cast<const T*>(data[operand]);
  }
  template <class T = char>
  T* out(int operand) const {
    return static_cast<T*>(const_cast<void*>(data[operand]));
  }
};

// Is something wrong with the elements: yes, no, or none where only the results say.
using Verdict = std::optional<bool>;

// Calls to.run(form, call) with the form in its own type.
template <class To>
Verdict dispatch(To& to, const Call& call) {
  const auto run = [&](const auto& form) -> Verdict {
    if constexpr (std::is_void_v<decltype(to.run(form, call))>) {
      to.run(form, call);
      return false;
    } else {
      return to.run(form, call);
    }
  };
  switch (call.op) {
#define NAX_CASE(name, Form) \
  case Op::name:             \
    return run(*static_cast<const Form*>(call.form));
    NAX_OPERATIONS(NAX_CASE)
#undef NAX_CASE
  }
  return false;
}

// The operand with the address that a call has for it.
inline loops::Operand placed(loops::Operand x, const void* at) {
  x.data = static_cast<char*>(const_cast<void*>(at));
  return x;
}

}  // namespace ops
NAX_END
