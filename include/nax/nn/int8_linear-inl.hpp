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
  const cpu::Int8Weights sizes{made->k, made->n};
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
  cpu::unpack_int8(weights(), reinterpret_cast<float*>(raw_data(made)));
  return made;
}

// A product within a program; `at`: x, codes, scales, offsets, the module's weights where they are an
// argument, the bias where there is one, y. `w`, `bias`: where these are, -1: nowhere.
class Int8Work final : public program::Work {
 public:
  Int8Work(Int8Ref packing, std::int64_t m, loops::Activation activation, int w, int bias)
      : packing_(std::move(packing)), m_(m), activation_(activation), w_(w), bias_(bias) {}
  void run(void* const* at) const override {
    if (w_ >= 0 && at[w_] != device_data(packing_->source)) throw program::Unforeseen();
    cpu::int8_product_kernel()(m_, static_cast<const float*>(at[0]),
                               {packing_->k, packing_->n, static_cast<const std::int8_t*>(at[1]),
                                static_cast<const float*>(at[2]), static_cast<const std::int32_t*>(at[3])},
                               bias_ >= 0 ? static_cast<const float*>(at[bias_]) : nullptr, activation_,
                               static_cast<float*>(at[4 + (w_ >= 0) + (bias_ >= 0)]));
  }

 private:
  const Int8Ref packing_;
  const std::int64_t m_;
  const loops::Activation activation_;
  const int w_, bias_;
};

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
  const bool foreign = on_accelerator(w),  // an argument of jit, perhaps
      made_of = foreign ? on_program(w.device()) && p.is_like(w) : p.made_of(w);
  const auto is_fixed = [](const ArrayBase& a) { return !is_recorded(a) && !is_batched(a); };
  const auto is_near = [](const ArrayBase& a) { return !on_accelerator(a) || on_program(a.device()); };
  const auto serves = [&] {
    return made_of && (!foreign || is_program_argument(w)) && is_fixed(w) && is_near(x_) && x_.ndim() > 0 &&
           x_.shape(-1) == p.k &&
           (!bias || (is_fixed(*bias) && is_near(*bias) && layout_of(*bias).size() == p.n));
  };
  check_operand("linear", x_);
  if (!serves()) {
    if (made_of && p.released && x_.ndim() > 0 && x_.shape(-1) == p.k)
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
  const bool records = on_program(x.device()) || foreign || (bias && on_program(row.device()));
  ArrayBase made = allocate(DType::float32, frame, records ? program::device : device_for("linear", x));
  const std::int64_t m = layout_of(x).size() / p.k;
  const double flops = 2. * static_cast<double>(m) * static_cast<double>(p.k) * static_cast<double>(p.n);
  if (records) {
    program::Recorder& recorder = program::Recorder::current();
    program::Step step;
    step.name = "int8_linear";
    const auto add = [&](const ArrayBase& a, std::int64_t count, bool written) {
      step.operands.push_back(
          {recorder.place(device_data(a)), written, a.dtype(), Dims(1, count), Dims(1, 1)});
      return static_cast<int>(step.operands.size()) - 1;
    };
    const auto whole = [&](const ArrayBase& a, bool written) { return add(a, layout_of(a).size(), written); };
    whole(x, false), whole(p.codes, false), whole(p.scales, false), whole(p.offsets, false);
    const int of_w = foreign ? add(w, 1, false) : -1, of_bias = bias ? whole(row, false) : -1;
    whole(made, true);
    program::Attributes attributes;
    attributes << activation << m << of_w << of_bias << &p;
    step.attributes = '\2' + std::move(attributes).text();
    step.comparable = true;
    step.unforeseen = foreign;
    step.flops = flops;
    step.work = std::make_shared<const Int8Work>(packing, m, activation, of_w, of_bias);
    recorder.add(std::move(step));
  } else {
    cpu::int8_product_kernel()(m, reinterpret_cast<const float*>(raw_data(x)), p.weights(),
                               bias ? reinterpret_cast<const float*>(raw_data(row)) : nullptr, activation,
                               reinterpret_cast<float*>(raw_data(made)));
  }
  check_result("linear", made, {&x, &w}, flops);
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
