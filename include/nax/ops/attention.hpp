#pragma once

#include <cstdint>

#include "nax/loops/attention.hpp"
#include "nax/ops/operands.hpp"

// Attention and its derivatives.
// Forms are explained in forms.hpp.
NAX_BEGIN
namespace ops {

// Describes the operands that both read. Strides are in the form, addresses in the call.
struct AttentionForm {
  loops::Attention what;
  DType dtype;

  // Numbers of rows of logits, for derivatives, are never rounded to half types.
  DType kept() const { return dtype == DType::float64 ? dtype : DType::float32; }
  std::int64_t query_size() const { return what.batch * what.queries * what.heads * what.width; }
  std::int64_t key_size() const { return what.batch * what.keys * what.groups * what.width; }
  std::int64_t kept_size() const { return what.batch * what.queries * what.heads * 2; }
  // A product of queries and keys, and one of weights and values.
  double flops() const { return 4. * static_cast<double>(query_size()) * static_cast<double>(what.keys); }

  void rows(Operands& o, const loops::AttentionRows& x, std::int64_t n, std::int64_t heads) const {
    o.add({dtype, false, false, dims({what.batch, n, heads, what.width}), dims({x.batch, x.row, x.head, 1})});
  }
  // Operands 0 to 6: query, key, value, and the optional bias, mask and lengths of queries and of keys.
  void describe_operands(Operands& o) const {
    const loops::Attention& f = what;
    rows(o, f.q, f.queries, f.heads), rows(o, f.k, f.keys, f.groups), rows(o, f.v, f.keys, f.groups);
    const auto plane = [&](const loops::AttentionPlane& x, DType type) {
      o.add({type, false, true, dims({f.batch, f.heads, f.queries, f.keys}),
             dims({x.batch, x.head, x.row, x.column})});
    };
    plane(f.bias, dtype), plane(f.mask, DType::boolean);
    for (const loops::AttentionLengths* x : {&f.query_lengths, &f.key_lengths})
      o.add({DType::int32, false, true, dims({f.batch}), dims({x->batch})});
  }
  void fields(const auto& each) const { each(what.scale, what.causal, what.window, what.left, what.right); }
  // `what` with the addresses that a call has for these operands. Data: has at(i), an address.
  template <class Call>
  loops::Attention placed(const Call& c) const {
    loops::Attention f = what;
    f.q.data = c.template out<char>(0), f.k.data = c.template out<char>(1);
    f.v.data = c.template out<char>(2), f.bias.data = c.in(3), f.mask.data = c.in(4);
    f.query_lengths.data = c.template in<std::int32_t>(5),
    f.key_lengths.data = c.template in<std::int32_t>(6);
    return f;
  }

 private:
  static Dims dims(std::initializer_list<std::int64_t> x) { return Dims(x.begin(), x.end()); }
};

// to (row-major) = softmax(scale q k^T + bias) v. Operands: those, to, and, optional, what derivatives need:
// (batch, queries, heads, 2) numbers of rows of logits, which the device's own operation below reads.
struct Attend : AttentionForm {
  void describe(Operands& o) const {
    describe_operands(o);
    o.writes(dtype, query_size()), o.may_write(kept(), kept_size());
  }
  const char* name() const { return "dot_product_attention"; }
};
// The cotangents of query, key and value, row-major, from that of the result. Operands: those, the result,
// what Attend kept, the result's cotangent, and the three cotangents.
struct AttendGradient : AttentionForm {
  loops::AttentionRows out, g;

  void describe(Operands& o) const {
    describe_operands(o);
    rows(o, out, what.queries, what.heads);
    o.reads(kept(), kept_size());
    rows(o, g, what.queries, what.heads);
    o.writes(dtype, query_size()), o.writes(dtype, key_size()), o.writes(dtype, key_size());
  }
  const char* name() const { return "attention_gradient"; }
  double flops() const { return 2.5 * AttentionForm::flops(); }
};

}  // namespace ops
NAX_END
