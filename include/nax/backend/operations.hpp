#pragma once

#include <initializer_list>

#include "nax/ops/call.hpp"

// Who carries out operations. The host's are in backend/cpu/operations-inl.hpp. Those of a GPU are compiled
// once a program, in the source file that the target nax::cuda adds to it; all other files reach them through
// this interface, whichever compiler saw them. A recording's (program/record/operations.hpp) write calls
// down.
NAX_BEGIN
namespace backend {

class Operations {
 public:
  // Operands are collapsed over shapes by the callee. Throws DeviceError where the device has no such
  // operation.
  virtual ops::Verdict run(const ops::Call& call) = 0;
  // Whether the device has the operation for such a form; with addresses, for operands that lie like these.
  // Where it has not, functions compute the same by others.
  virtual bool has(const ops::Call& call) const = 0;

 protected:
  ~Operations() = default;
};

// The tables of all platforms but the host's, by number; a library that brings one puts it here before main.
inline constinit Operations* provided_operations[platform_count] = {};
NAX_ENGINE Operations& host_operations();
inline Operations& operations(Device device) {
  Operations* const provided = provided_operations[static_cast<int>(device.platform)];
  return provided ? *provided : host_operations();
}

// Runs an operation on a device: run(device, ops::Sort{lines, dtype, descending}, {from, to}). Addresses of
// operands are of the device, in the form's order.
template <class Form>
ops::Verdict run(Device device, const Form& form, std::initializer_list<const void*> data) {
  return operations(device).run({ops::OpOf<Form>::value, device, &form, data.begin()});
}
template <class Form>
bool has(Device device, const Form& form) {
  return operations(device).has({ops::OpOf<Form>::value, device, &form, nullptr});
}
template <class Form>
bool has(Device device, const Form& form, std::initializer_list<const void*> data) {
  return operations(device).has({ops::OpOf<Form>::value, device, &form, data.begin()});
}
// Of elements of this dtype, where that is all that a device asks.
template <class Form>
bool has(Device device, DType dtype) {
  Form form{};
  form.dtype = dtype;
  return has(device, form);
}
// The addresses are the form's.
inline ops::Verdict run(Device device, const ops::Copy& form) {
  return run(device, form, {form.from.data, form.to.data});
}
inline ops::Verdict run(Device device, const ops::Add& form) {
  return run(device, form, {form.a.data, form.b.data, form.to.data});
}
inline ops::Verdict run(Device device, const ops::Reduce& form) {
  return run(device, form, {form.from.data, form.to.data});
}
inline ops::Verdict run(Device device, const ops::WrapIndices& form) {
  return run(device, form, {form.from.data, form.to.data});
}
inline ops::Verdict run(Device device, const ops::JoinIndices& form) {
  return run(device, form, {form.a.data, form.b.data, form.to.data});
}
template <class Form>
requires requires(const Form& f) { f.loop; }
ops::Verdict run(Device device, const Form& form) {
  const loops::Operand* const x = form.loop.operands;
  return run(device, form, {x[0].data, x[1].data, x[2].data});
}

}  // namespace backend
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/operations-inl.hpp"
#endif
