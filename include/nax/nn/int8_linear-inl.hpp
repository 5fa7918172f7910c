#pragma once

#include "nax/expr/expressions/debug_nans.hpp"
#include "nax/nn/int8_linear.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/program/record/recording.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::shared_ptr<const Int8Packing> Int8Packing::make(const ArrayBase& floats,
                                                                const ArrayBase& source, bool released,
                                                                bool turned) {
  const Layout& layout = layout_of(floats);
  auto made = std::make_shared<Int8Packing>();
  made->k = layout.shape[0], made->n = layout.shape[1];
  made->source = constant(source);
  made->released = released;
  made->turned = turned;
  const loops::Int8Weights sizes{made->k, made->n};
  const auto array = [](DType dtype, std::int64_t count) {
    Frame frame;
    frame.shape.push_back(count);
    return allocate_on_host(dtype, frame);
  };
  made->codes = array(DType::int8, sizes.columns() * sizes.steps());
  made->scales = array(DType::float32, sizes.columns());
  made->offsets = array(DType::int32, sizes.columns());
  if (!cpu::pack_int8(made->k, made->n, reinterpret_cast<const float*>(raw_data(floats)), layout.strides[0],
                      layout.strides[1], reinterpret_cast<std::int8_t*>(raw_data(made->codes)),
                      reinterpret_cast<float*>(raw_data(made->scales)),
                      reinterpret_cast<std::int32_t*>(raw_data(made->offsets))))
    raise<ValueError>({"quantize: weights hold a NaN or an infinity: shape ", source.shape()});
  return made;
}

NAX_ENGINE ArrayBase Int8Packing::floats() const {
  Frame frame;
  frame.shape.push_back(k), frame.shape.push_back(n);
  ArrayBase made = allocate_on_host(DType::float32, frame);
  const loops::Int8Weights packed = weights();
  float* to = reinterpret_cast<float*>(raw_data(made));
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < n; ++j) *to++ = packed.value(l, j);
  return made;
}

// Is w on a program's device an argument of the function that is recorded, as a whole? Bodies of loops and
// branches within it pass its address on.
inline bool is_program_argument(const ArrayBase& w) {
  if (!program::is_recording()) return false;
  program::Recorder* recorder = &program::Recorder::current();
  const void* const at = device_data(w);
  while (recorder->parent && !recorder->holds(at)) recorder = recorder->parent;
  if (recorder->parent || !recorder->holds(at)) return false;  // of a body: another array in each turn
  const program::Place place = recorder->place(at);
  return place.offset == 0 &&
         recorder->slots[static_cast<std::size_t>(place.slot)].kind == program::Slot::Kind::argument;
}

NAX_ENGINE ArrayBase int8_linear(const Int8Ref& packing, const ArrayBase& x_, const ArrayBase& w,
                                 const ArrayBase* bias, loops::Activation activation) {
  const Int8Packing& p = *packing;
  const bool foreign = on_program(w.device()),  // an argument of jit, perhaps
      made_of = foreign ? p.is_like(w) : p.made_of(w);
  ops::Int8Matmul form{0, {p.k, p.n}, activation, w.dtype(), nullptr};
  const auto fits = [&](const ArrayBase& a) {
    return !is_recorded(a) && !is_batched(a) && backend::has(a.device(), form);
  };
  check_operand("linear", x_);
  const bool of_k = x_.ndim() > 0 && x_.shape(-1) == p.k;
  if (!made_of || !of_k || (foreign && !is_program_argument(w)) || !fits(w) ||
      !backend::has(x_.device(), form) || (bias && (!fits(*bias) || layout_of(*bias).size() != p.n))) {
    if (made_of && of_k && p.released)
      raise<ValueError>(
          {"linear: the float weights were released by quantize, and are differentiated, mapped over, or "
           "used "
           "beside another device: shape ",
           w.shape()});
    return {};
  }
  const ArrayBase x = contiguous(x_, transforms_handled);
  ArrayBase row;
  if (bias) row = contiguous(*bias, transforms_handled);
  Frame frame = layout_of(x);
  frame.shape.back() = p.n;
  const Device device = bias ? device_for("linear", x, w, row) : device_for("linear", x, w);
  const ArrayBase made = allocate(DType::float32, frame, device);
  form.m = layout_of(x).size() / p.k;
  if (foreign) form.source = device_data(p.source);
  backend::run(device, form,
               {device_data(x), device_data(p.codes), device_data(p.scales), device_data(p.offsets),
                bias ? device_data(row) : nullptr, foreign ? device_data(w) : nullptr, device_data(made)});
  check_result("linear", made, {&x, &w}, form.flops());
  return made;
}

NAX_ENGINE Array<float> recorded_int8_linear(Array<float> z, const Int8Ref& packing, const Array<float>& x) {
  const auto floats = [packing] {
    const ArrayBase& w = packing->source;
    if (packing->released || w.dtype() != DType::float32) return typed<float>(packing->floats());
    const Array<float>& table = typed<float>(w);
    return packing->turned ? Array<float>(table.T()) : Array<float>(table.reshape({packing->k, packing->n}));
  };
  return record(std::move(z),
                wrt(
                    x, [=](const Array<float>& g) { return Array<float>(matmul(g, floats().T())); },
                    [=](const Array<float>& t) { return Array<float>(matmul(t, floats())); }));
}

}  // namespace detail
NAX_END
