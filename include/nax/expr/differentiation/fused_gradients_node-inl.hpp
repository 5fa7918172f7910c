#pragma once

#include "nax/expr/differentiation/fused_gradients_node.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE FusedGradientsNode::Form FusedGradientsNode::form_of(const Layout& layout, const Frame& frame) {
  if (layout == frame && layout.is_contiguous()) return Form::run;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis)
    if (layout.shape[axis] != 1 && layout.strides[axis] != 0) return Form::other;
  return layout.levels.empty() ? Form::number : Form::other;
}

NAX_ENGINE bool FusedGradientsNode::give_shares(const FusedType& type, const PackedArray* leaves,
                                                const void* constants, const ArrayBase& g, Reverse& sweep) {
  const KernelTable& table = *type.kernels;
  if (layout_of(g).size() < 2 * block || !table.plain || !Number::holds(table.result) || on_accelerator(g))
    return false;
  const Frame own = frame_of_leaves(type.name, leaves, table.leaves);
  if (!own.levels.empty() || !fits(layout_of(g), own)) return false;
  std::size_t nodes[max_leaves];
  bool any = false;
  for (int l = 0; l < table.leaves; ++l) {
    const Layout& layout = leaves[l].layout();
    if (form_of(layout, own) == Form::other || (type.carries >> l & 1 && !Number::holds(table.stored[l])))
      return false;
    nodes[l] = sweep.place(leaves[l].serial());
    if (nodes[l] != Tape::npos && (!(layout == own) || table.stored[l] != table.result)) return false;
    any = any || nodes[l] != Tape::npos;
  }
  if (!any) return true;

  ArrayBase of_leaves[max_leaves];
  shares_of(table, type.pull, constants, leaves, own, operand_over(g, own, table.result_lane), of_leaves,
            [&](int l) { return nodes[l] != Tape::npos; });
  std::vector<int> slot_of(static_cast<std::size_t>(table.leaves), -1);
  std::vector<ArrayBase> shares;
  std::vector<std::size_t> takers;
  for (int l = 0; l < table.leaves; ++l) {
    if (nodes[l] == Tape::npos) continue;
    if (const int first = first_occurrence(leaves, l); first != l) {
      slot_of[static_cast<std::size_t>(l)] = slot_of[static_cast<std::size_t>(first)];
      continue;
    }
    slot_of[static_cast<std::size_t>(l)] = static_cast<int>(shares.size());
    takers.push_back(nodes[l]);
    shares.push_back(std::move(of_leaves[l]));
  }

  Tape& tape = *recording.tape;
  const std::uint64_t serial =
      tape.emplace<FusedGradientsNode>(type, leaves, constants, g, own, std::move(slot_of), shares.size());
  auto* const call = static_cast<CallNode*>(&tape[tape.find(serial)]);
  for (std::size_t slot = 0; slot < shares.size(); ++slot) {
    ArrayAccess::serial(shares[slot]) = tape.emplace<OutputNode>(call, serial, slot, shares.size());
    sweep.add_at(takers[slot], std::move(shares[slot]));
  }
  return true;
}

NAX_ENGINE FusedGradientsNode::FusedGradientsNode(const FusedType& type, const PackedArray* leaves,
                                                  const void* constants, const ArrayBase& g, Frame frame,
                                                  std::vector<int> slot_of, std::size_t count)
    : type_(type),
      leaves_(type.leaves),
      g_(g),
      frame_(std::move(frame)),
      slot_of_(std::move(slot_of)),
      count_(count),
      constants_(static_cast<std::size_t>(type.constants) * constant_bytes / sizeof(double)) {
  unpack_leaves(type, leaves, leaves_);
  copy_constants(constants, type.constants, constants_.data());
}

NAX_ENGINE Watchers FusedGradientsNode::watchers(const Tape& tape) const {
  Watchers all = tape.watchers(serial_of(g_));
  for (int l = 0; l < type_.leaves; ++l) all |= tape.watchers(serial_of(leaves_[l]));
  return all;
}

// The results by the operations one at a time, recorded where leaves or g are.
NAX_ENGINE std::vector<ArrayBase> FusedGradientsNode::recorded_shares(const LeafArrays& leaves,
                                                                      const ArrayBase& g) const {
  std::vector<ArrayBase> shares(count_);
  RecordedSteps(type_, leaves, constants_.data()).pull(g, [&](const Step& leaf, const ArrayBase& share) {
    const int slot = slot_of_[static_cast<std::size_t>(leaf.slot)];
    if (slot < 0) return;
    const Frame over = layout_of(leaves[leaf.slot]);
    ArrayBase& sum = shares[static_cast<std::size_t>(slot)];
    ArrayBase term = leaf.share_of_leaf(share, over, over);
    if (holds_value(sum))
      type_.root().op->add(sum, term);
    else
      sum = std::move(term);
  });
  return shares;
}

NAX_ENGINE std::vector<ArrayBase> FusedGradientsNode::recompute() const {
  return recorded_shares(leaves_, g_);
}

NAX_ENGINE ArrayBase FusedGradientsNode::run_of(const ArrayBase& a) const {
  if (form_of(layout_of(a), frame_) == Form::run) return constant(a);
  Frame row;
  row.shape.push_back(block);
  const ArrayBase repeated = allocate(a.dtype(), row, g_.device());
  const std::int64_t zero = 0, one = 1;
  cpu::strided_copy(dtype_size(a.dtype()), 1, &block, raw_data(repeated), &one, raw_data(a), &zero);
  return repeated;
}

// A range of elements: the operations run on these, recorded from the inputs that move.
class FusedGradientsNode::Block {
 public:
  Block(const FusedGradientsNode& node, const Runs& runs, std::int64_t first, std::int64_t count)
      : first_(first), count_(count) {
    LeafArrays leaves(node.type_.leaves);
    for (int i = 0; i < node.inputs(); ++i) {
      if (const int same = node.first_of(i); same != i) {
        inputs_.push_back(inputs_[static_cast<std::size_t>(same)]);
      } else {
        inputs_.push_back(of(runs.values[static_cast<std::size_t>(i)]));
        if (runs.moves[static_cast<std::size_t>(i)]) record(inputs_.back());
      }
      if (i < node.type_.leaves) leaves[i] = inputs_.back();
    }
    shares_ = node.recorded_shares(leaves, inputs_.back());
  }
  Tape& tape() { return *scope_.tape(); }
  std::size_t mark() const { return scope_.mark(); }
  std::size_t end_of_inputs() const { return mark() + moving_; }
  std::uint64_t serial(int input) const { return serial_of(inputs_[static_cast<std::size_t>(input)]); }
  std::uint64_t serial_of_share(std::size_t slot) const { return serial_of(shares_[slot]); }

  // The block of a run.
  ArrayBase of(const ArrayBase& run) const {
    Frame row;
    row.shape.push_back(count_);
    const bool repeated = layout_of(run).size() == block;  // no array of the node's is that small
    return view(run, Layout::contiguous(row), repeated ? 0 : first_);
  }
  // Copies a block, or zeros where there is none, to its place in an array.
  void put(const ArrayBase* from, const ArrayBase& array) const {
    const std::size_t bytes = dtype_size(array.dtype());
    void* const to = raw_data(of(array));
    const std::int64_t one = 1;
    if (from)
      cpu::strided_copy(bytes, 1, &count_, to, &one, raw_data(*from), layout_of(*from).strides.data());
    else
      std::memset(to, 0, static_cast<std::size_t>(count_) * bytes);
  }

 private:
  void record(ArrayBase& x) {
    ArrayAccess::serial(x) = x.dtype() == DType::float32
                                 ? tape().emplace<LeafNode>(std::uint64_t{0}, Levels(), Levels())
                                 : tape().emplace<LeafNode>(std::uint64_t{0}, Levels(), Levels());
    ++moving_;
  }

  const TapeScope scope_;
  std::int64_t first_, count_;
  std::size_t moving_ = 0;
  std::vector<ArrayBase> inputs_, shares_;
};

// Nothing is recorded meanwhile but by the blocks.
NAX_ENGINE void FusedGradientsNode::for_each_block(const Runs& runs, FunctionRef<void(Block&)> f) const {
  parallel_for(frame_.size(), block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += block) {
      Block one(*this, runs, at, std::min(block, end - at));
      const RecordOn off(nullptr);
      f(one);
    }
  });
}

NAX_ENGINE std::vector<ArrayBase> FusedGradientsNode::push_call(Forward& sweep) {
  Runs runs;
  std::vector<ArrayBase> inner;  // the tangents of the inputs that move
  bool any = false;
  for (int i = 0; i < inputs(); ++i) {
    const ArrayBase* const tangent = first_of(i) == i ? sweep.find(serial_of(input(i))) : nullptr;
    if (recording.tape || (tangent && !fits(layout_of(*tangent), layout_of(input(i)))))
      return RecomputedCall::push_call(sweep);
    any = any || tangent;
    runs.values.push_back(run_of(input(i)));
    runs.moves.push_back(tangent);
    inner.push_back(tangent ? run_of(*tangent) : ArrayBase());
  }
  if (!any) return {};
  std::vector<ArrayBase> tangents;
  for (std::size_t slot = 0; slot < count_; ++slot)
    tangents.push_back(allocate(type_.kernels->result, frame_, g_.device()));
  for_each_block(runs, [&](Block& one) {
    Forward own(one.tape(), one.mark());
    for (int i = 0; i < inputs(); ++i)
      if (const auto& tangent = inner[static_cast<std::size_t>(i)]; holds_value(tangent))
        own.put(one.tape().find(one.serial(i)), one.of(tangent));
    own.run(one.mark(), one.tape().size());
    for (std::size_t slot = 0; slot < count_; ++slot)
      one.put(own.find(one.serial_of_share(slot)), tangents[slot]);
  });
  return tangents;
}

NAX_ENGINE void FusedGradientsNode::pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) {
  Runs runs;
  std::vector<ArrayBase> outer, gradients;
  bool fit = !recording.tape;
  for (const ArrayBase& cotangent : cotangents) {
    fit = fit && (!holds_value(cotangent) || fits(layout_of(cotangent), frame_));
    outer.push_back(fit && holds_value(cotangent) ? run_of(cotangent) : ArrayBase());
  }
  for (int i = 0; fit && i < inputs(); ++i) {
    const bool wanted = first_of(i) == i && sweep.wants(serial_of(input(i)));
    fit = !wanted || layout_of(input(i)) == frame_;
    runs.values.push_back(run_of(input(i)));
    runs.moves.push_back(wanted);
    gradients.push_back(wanted && fit ? allocate(input(i).dtype(), frame_, g_.device()) : ArrayBase());
  }
  if (!fit) return RecomputedCall::pull_call(std::move(cotangents), sweep);
  for_each_block(runs, [&](Block& one) {
    Reverse own(one.tape(), one.mark(), true);
    for (std::size_t slot = 0; slot < count_; ++slot)
      if (holds_value(outer[slot])) own.add(one.serial_of_share(slot), one.of(outer[slot]));
    own.run(one.end_of_inputs());
    for (int i = 0; i < inputs(); ++i)
      if (const auto& gradient = gradients[static_cast<std::size_t>(i)]; holds_value(gradient))
        one.put(own.find(one.serial(i)), gradient);
  });
  for (int i = 0; i < inputs(); ++i)
    if (ArrayBase& gradient = gradients[static_cast<std::size_t>(i)]; holds_value(gradient))
      sweep.add(serial_of(input(i)), std::move(gradient));
}

}  // namespace detail
NAX_END
