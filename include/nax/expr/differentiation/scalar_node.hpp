#pragma once

#include "nax/expr/differentiation/fused_node.hpp"

// The tape's node for a fused expression of numbers: leaves of no axes, on the host. It keeps the numbers
// themselves, so that their arrays may go. A sweep that no transform watches hands numbers on, and neither it
// nor the kernel that runs over one element makes an array; everything else (a watched sweep, cotangents with
// axes, forward mode) is done by the general node, made again from the numbers for as long as it takes.
NAX_BEGIN
namespace detail {

// The saved value of a leaf; its serial is 0 where no gradient flows into it.
class ScalarLeaf {
 public:
  ScalarLeaf() = default;
  ScalarLeaf(DType dtype, const void* value, std::uint64_t serial);
  void* value() { return value_; }
  const void* value() const { return value_; }
  std::uint64_t serial() const { return serial_; }

 private:
  alignas(scalar_bytes) unsigned char value_[scalar_bytes];
  std::uint64_t serial_;
};

// In the arena the leaves follow the node, and the constants follow the leaves.
class ScalarNode final : public Node {
 public:
  // `in`: where the leaves' values lie.
  static std::uint64_t record(const FusedType& type, const ArrayBase* const* leaves, const void* const* in,
                              const void* constants) {
    const std::size_t room = static_cast<std::size_t>(type.leaves) * sizeof(ScalarLeaf) +
                             static_cast<std::size_t>(type.constants) * constant_bytes;
    return recording.tape->emplace_with<ScalarNode>(room, type, leaves, in, constants);
  }
  ScalarNode(const FusedType& type, const ArrayBase* const* leaves, const void* const* in,
             const void* constants) noexcept;

  Watchers watchers(const Tape& tape) const override { return watchers_of(leaves(), type_.leaves, tape); }
  void add(ArrayBase& sum, const ArrayBase& term) const override { type_.root().op->add(sum, term); }

  void pull(const ArrayBase& g, Reverse& sweep) override {
    if (!recording.tape && layout_of(g).shape.empty() && known_number(g))
      pull_number({raw_data(g), g.dtype()}, sweep);
    else
      General(*this)->pull(g, sweep);
  }
  void push(Forward& sweep, std::size_t self) override {
    if (recording.tape || watches_numbers() || !push_numbers(sweep, self)) General(*this)->push(sweep, self);
  }

  NAX_ENGINE_VIRTUAL void pull_number(Number g, Reverse& sweep) override;

 private:
  // The general node of the same expression.
  class General {
   public:
    NAX_COMPILED_ONCE explicit General(const ScalarNode& node)
        : room_(new std::max_align_t[(FusedNode::bytes(node.type_) - 1) / sizeof(std::max_align_t) + 1]) {
      const FusedType& type = node.type_;
      LeafArrays numbers(type.leaves);
      const ArrayBase* leaves[max_leaves];
      for (int l = 0; l < type.leaves; ++l) {
        const ScalarLeaf& leaf = node.leaves()[l];
        leaves[l] = &numbers[l];
        if (type.reads >> l & 1) numbers[l] = array_of_number(type.kernels->stored[l], leaf.value());
        ArrayAccess::serial(numbers[l]) = leaf.serial();
      }
      node_ = new (room_.get()) FusedNode(type, leaves, node.constants());
    }
    ~General() { node_->~FusedNode(); }
    General(const General&) = delete;
    General& operator=(const General&) = delete;
    FusedNode* operator->() const { return node_; }

   private:
    std::unique_ptr<std::max_align_t[]> room_;
    FusedNode* node_;
  };

  ScalarLeaf* leaves() { return reinterpret_cast<ScalarLeaf*>(this + 1); }
  const ScalarLeaf* leaves() const { return reinterpret_cast<const ScalarLeaf*>(this + 1); }
  const void* constants() const { return leaves() + type_.leaves; }

  [[gnu::cold, gnu::noinline]] void pull_watched(Number g, Reverse& sweep) {
    General(*this)->pull(g.array(sweep.device()), sweep);
  }

  NAX_COMPILED_ONCE void pull_several(Number g, Reverse& sweep) {
    if (type_.is_sum) return pull_sum(g, sweep);
    const void* in[max_leaves];
    void* out[max_leaves];
    in[0] = out[0] = nullptr;  // g++ cannot know that there are leaves
    std::size_t nodes[max_leaves];
    ScalarLeaf shares[max_leaves];
    unsigned added = 0, apart = 0;
    const int count = type_.leaves;
    for (int l = 0; l < count; ++l) {
      const ScalarLeaf& leaf = leaves()[l];
      in[l] = leaf.value();
      out[l] = nullptr;
      nodes[l] = sweep.place(leaf.serial());
      if (nodes[l] == Tape::npos) continue;
      bool present = false;
      if (void* const sum = sweep.number_for(nodes[l], type_.kernels->stored[l], present)) {
        out[l] = sum;
        added |= static_cast<unsigned>(present) << l;
      } else {
        const int first = first_occurrence(leaves(), l);
        out[l] = shares[first].value();
        (first == l ? apart : added) |= 1u << l;
      }
    }
    type_.scalar_pull(constants(), in, g.value, out, added, nullptr, 1);
    if (apart) [[unlikely]]
      add_apart(apart, nodes, shares, sweep);
  }
  // The tangent, by the same kernel with the tangent of an array among the leaves in the cotangent's place,
  // one after the other. False, and nothing done, where these are not all numbers of the result's type, or
  // where a derivative of zero may have met an infinite one.
  NAX_COMPILED_ONCE bool push_numbers(Forward& sweep, std::size_t self) {
    const int count = type_.leaves;
    const DType result = type_.kernels->result;
    const void* in[max_leaves];
    const ArrayBase* tangents[max_leaves];
    bool any = false;
    for (int l = 0; l < count; ++l) {
      in[l] = leaves()[l].value();
      tangents[l] = sweep.find(leaves()[l].serial());
      if (!tangents[l]) continue;
      any = true;
      if (!layout_of(*tangents[l]).shape.empty() || !known_number(*tangents[l]) ||
          tangents[l]->dtype() != result || type_.kernels->stored[l] != result)
        return false;
    }
    if (!any) return true;
    alignas(scalar_bytes) unsigned char sum[scalar_bytes] = {};
    unsigned done = 0;
    for (int first = 0; first < count; ++first) {
      if (!tangents[first] || done >> first & 1) continue;
      const Number t{raw_data(*tangents[first]), result};
      if (type_.is_sum) {
        t.give(sum, done != 0);
        done |= 1u << first;
        continue;
      }
      void* out[max_leaves] = {};
      unsigned added = 0;
      bool present = done != 0;
      for (int l = first; l < count; ++l) {
        if (!tangents[l] || leaves()[l].serial() != leaves()[first].serial()) continue;
        out[l] = sum;
        added |= static_cast<unsigned>(present) << l;
        present = true;
        done |= 1u << l;
      }
      type_.scalar_pull(constants(), in, t.value, out, added, nullptr, 1);
    }
    if (Number{sum, result}.is_nan()) return false;
    sweep.put(self, array_of_number(result, sum));
    return true;
  }
  // The cotangent itself is the share of either array of a sum.
  void pull_sum(Number g, Reverse& sweep) {
    for (int l = 0; l < 2; ++l)
      if (const std::size_t node = sweep.place(leaves()[l].serial()); node != Tape::npos)
        sweep.add_number_at(node, g);
  }
  // Adds a share that the kernel wrote to the leaf's sum, for leaves whose sum is no number.
  [[gnu::cold, gnu::noinline]] void add_apart(unsigned apart, const std::size_t* nodes,
                                              const ScalarLeaf* shares, Reverse& sweep) {
    for (int l = 0; apart >> l; ++l)
      if (apart >> l & 1)
        sweep.add_at(nodes[l], Number{shares[l].value(), type_.kernels->stored[l]}.array(sweep.device()));
  }

  const FusedType& type_;
};
static_assert(sizeof(ScalarNode) % 16 == 0 && sizeof(ScalarLeaf) == 16);

// Numbers need no loop.
NAX_COMPILED_ONCE void evaluate_scalar(const KernelTable& table, const void* constants,
                                       const ArrayBase* const* leaves, ArrayBase& result) {
  const void* in[max_leaves];
  const int count = table.leaves;
  for (int l = 0; l < count; ++l) {
    const BufferRef& leaf = ArrayAccess::buffer(*leaves[l]);
    if (!leaf) [[unlikely]]  // of an expression that was moved from
      throw_moved_from(table.name);
    in[l] = static_cast<char*>(leaf->host_data()) +
            ArrayAccess::offset(*leaves[l]) * static_cast<std::int64_t>(dtype_size(table.stored[l]));
  }
  Buffer* const buffer = Buffer::allocate(dtype_size(table.result), host_device());
  ArrayAccess::buffer(result).adopt(buffer);
  ArrayAccess::dtype(result) = table.result;
  table.scalar_forward(constants, in, buffer->host_data(), 1);
  if (watches_operations()) [[unlikely]]
    check_numbers(table.name, "", odd_numbers_in(leaves, count), result, leaves, count, table.formula,
                  constants);
  if (!table.fused_type || !(recording.tape || recording.caller) || !any_on_tape(table, leaves)) return;
  const FusedType& type = table.fused_type();
  ArrayAccess::serial(result) = type.scalar_pull ? ScalarNode::record(type, leaves, in, constants)
                                                 : record_fused(type, leaves, constants, result);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/scalar_node-inl.hpp"
#endif
