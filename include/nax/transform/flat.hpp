#pragma once

#include <memory>
#include <vector>

#include "nax/transform/call.hpp"
#include "nax/transform/jvp.hpp"

// Functions from lists of arrays to lists of arrays, with their types erased, and their derivatives, which are such
// functions again. grad of grad of pmap needs derivatives to any order of one function without a type for each.
namespace nax::detail {

using Arrays = std::vector<ArrayBase>;

struct FlatFunction {
  virtual ~FlatFunction() = default;
  virtual Arrays call(Arrays inputs) const = 0;
};
using FlatRef = std::shared_ptr<const FlatFunction>;

inline bool is_inexact(DType dtype) { return dtype_kind(dtype) >= Kind::floating; }

// f(Array<T>) for the floating type that `a` has.
template <class F>
auto with_type(const ArrayBase& a, F f) {
  switch (a.dtype()) {
    case DType::float16: return f(Array<half>(a));
    case DType::bfloat16: return f(Array<bfloat16>(a));
    case DType::float64: return f(Array<double>(a));
    case DType::complex64: return f(Array<std::complex<float>>(a));
    case DType::complex128: return f(Array<std::complex<double>>(a));
    default: return f(Array<float>(a));
  }
}

inline ArrayBase flat_zeros(const ArrayBase& like) {
  return with_type(like, [](auto x) -> ArrayBase {
    return zeros_over<typename decltype(x)::value_type>(layout_of(x));
  });
}
inline ArrayBase flat_seed(const ArrayBase& cotangent, const ArrayBase& result) {
  return with_type(cotangent, [&](auto g) -> ArrayBase { return seed(g, layout_of(result)); });
}
inline ArrayBase flat_sum_levels(const ArrayBase& x, const Levels& made, const Levels& kept) {
  return with_type(x, [&](auto a) -> ArrayBase { return sum_levels(a, made, kept); });
}

// A function recorded at a point: what a sweep in either direction needs.
struct FlatRecord {
  TapeRef tape;
  std::size_t mark = 0, count = 0, end = 0;
  Arrays inputs, outputs;

  // Runs f on inputs of its own.
  static FlatRecord make(const FlatFunction& f, const Arrays& at, const TapeScope& scope) {
    FlatRecord r;
    r.tape = scope.tape();
    r.mark = scope.mark();
    for (const ArrayBase& x : at) {
      ArrayBase input = x;
      if (is_inexact(x.dtype())) {
        input = with_type(x, [&](auto a) -> ArrayBase {
          make_input(a, *scope.tape());
          return a;
        });
        ++r.count;
      }
      r.inputs.push_back(std::move(input));
    }
    r.outputs = f.call(r.inputs);
    r.end = scope.tape()->size();
    return r;
  }
  // Cotangents of the floating outputs in, of the floating inputs out.
  Arrays pull(const Arrays& cotangents) const {
    const Sweeping sweeping;
    Reverse sweep(*tape, mark, false);
    std::size_t i = 0;
    for (const ArrayBase& out : outputs) {
      if (!is_inexact(out.dtype())) continue;
      const ArrayBase& g = cotangents[i++];
      if (serial_of(out) && holds_value(g)) sweep.add(serial_of(out), flat_seed(g, out));
    }
    sweep.run(mark + count);
    Arrays shares;
    for (const ArrayBase& x : inputs) {
      if (!is_inexact(x.dtype())) continue;
      const ArrayBase* g = sweep.find(serial_of(x));
      shares.push_back(g ? *g : flat_zeros(x));
    }
    return shares;
  }
  Arrays push(const Arrays& tangents) const {
    const Sweeping sweeping;
    Forward sweep(*tape, mark);
    std::size_t i = 0;
    for (const ArrayBase& x : inputs)
      if (is_inexact(x.dtype())) sweep.put(tape->find(serial_of(x)), flat_seed(tangents[i++], x));
    sweep.run(mark + count, end);
    Arrays result;
    for (const ArrayBase& out : outputs) {
      if (!is_inexact(out.dtype())) continue;
      const ArrayBase* t = sweep.find(serial_of(out));
      result.push_back(t ? *t : flat_zeros(out));
    }
    return result;
  }
};

// (inputs..., cotangents of the floating outputs...) -> cotangents of the floating inputs.
struct FlatVjp final : FlatFunction {
  FlatRef f;
  std::size_t inputs;
  FlatVjp(FlatRef function, std::size_t n) : f(std::move(function)), inputs(n) {}
  Arrays call(Arrays all) const override {
    const Arrays at(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(inputs));
    const Arrays cotangents(all.begin() + static_cast<std::ptrdiff_t>(inputs), all.end());
    const TapeScope scope;
    const FlatRecord record = FlatRecord::make(*f, at, scope);
    const SweepScope sweeping(scope.outermost());
    return record.pull(cotangents);
  }
};

// (inputs..., tangents of the floating inputs...) -> tangents of the floating outputs.
struct FlatJvp final : FlatFunction {
  FlatRef f;
  std::size_t inputs;
  FlatJvp(FlatRef function, std::size_t n) : f(std::move(function)), inputs(n) {}
  Arrays call(Arrays all) const override {
    const Arrays at(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(inputs));
    const Arrays tangents(all.begin() + static_cast<std::ptrdiff_t>(inputs), all.end());
    const TapeScope scope;
    const FlatRecord record = FlatRecord::make(*f, at, scope);
    const SweepScope sweeping(scope.outermost());
    return record.push(tangents);
  }
};

}  // namespace nax::detail
