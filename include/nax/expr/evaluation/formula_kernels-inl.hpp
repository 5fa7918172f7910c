#pragma once

#include <memory>
#include <mutex>

#include "nax/core/at_fork.hpp"
#include "nax/expr/evaluation/formula_kernels.hpp"
#include "nax/formula/array_loop.hpp"

NAX_BEGIN
namespace detail {

// ---- variants

enum class FormulaWork : unsigned char {
  forward,
  map,
  pull,
  pull_valued,
  pull_one,
  pull_one_summed,
  shares,
  tangent
};

NAX_ENGINE FormulaVariant::FormulaVariant(std::uint64_t k, std::vector<std::uint64_t> numbers,
                                          const formula::Formula& f, const ExpressionSymbols& symbols,
                                          bool differentiates, bool sums)
    : key(k), known(std::move(numbers)), plan(f), serves(differentiates) {
  const std::vector<DType>& types = plan.kernel().types();
  std::vector<formula::Access> accesses(types.size(), formula::Access::contiguous);
  for (const DType type : types) strides.push_back(static_cast<std::int64_t>(dtype_size(type)));
  for (int i = symbols.leaves; i < symbols.leaves + symbols.numbers; ++i) {
    accesses[static_cast<std::size_t>(i)] = formula::Access::repeated;
    strides[static_cast<std::size_t>(i)] = 0;
  }
  if (sums) accesses.back() = formula::Access::summed;
  code = plan.kernel().code(accesses.data());
}
using OwnVariant = std::unique_ptr<const FormulaVariant>;

inline const FormulaVariant* find_variant(const FormulaVariant* v, std::uint64_t key,
                                          const ExpressionSymbols& symbols, const void* constants) {
  while (v && !(v->key == key && (!symbols.may_know || are_known(symbols, constants, v->known)))) v = v->next;
  return v;
}
template <class Make>
[[gnu::noinline]] const FormulaVariant* make_variant(FormulaVariants& all, const ExpressionSymbols& symbols,
                                                     std::uint64_t key, const void* constants,
                                                     OwnVariant* own, const Make& make) {
  constexpr int most = 64;
  static ForkMutex& mutex = *new ForkMutex;
  const std::lock_guard lock(mutex);
  if (const auto* const v = find_variant(all.load(), key, symbols, constants)) return v;
  int count = 0;
  for (const FormulaVariant* v = all.load(); v; v = v->next) ++count;
  if (count >= most && !own) return nullptr;
  bool serves = true;
  const formula::Formula f = make(serves);
  const bool sums = key >> 60 == static_cast<std::uint64_t>(FormulaWork::pull_one_summed);
  auto made =
      std::make_unique<FormulaVariant>(key, known_numbers(symbols, constants), f, symbols, serves, sums);
  const FormulaVariant* const variant = made.get();
  if (count >= most) {
    *own = std::move(made);
  } else {
    made->next = all.load();
    all.store(made.release(), std::memory_order_release);
  }
  return variant;
}
// The variant of a key, for the numbers that its formula knows. make(serves) gives the formula. Where numbers
// change all the time, there are too many: the next is `own`, for this call alone, or null.
template <class Make>
const FormulaVariant* variant_of(FormulaVariants& all, const ExpressionSymbols& symbols, std::uint64_t key,
                                 const void* constants, OwnVariant* own, const Make& make) {
  const FormulaVariant* const found =
      find_variant(all.load(std::memory_order_acquire), key, symbols, constants);
  return found ? found : make_variant(all, symbols, key, constants, own, make);
}

// Leaves, numbers, the cotangent, and gradients that are added to.
using InputPlaces = const void * [max_leaves + most_numbers + 1 + max_leaves];
inline const void** list_inputs(const ExpressionSymbols& symbols, const void* constants,
                                const void* const* leaves, const void** to) {
  for (int l = 0; l < symbols.leaves; ++l) *to++ = leaves[l];
  for (int k = 0; k < symbols.numbers; ++k)
    *to++ = static_cast<const char*>(constants) + static_cast<std::size_t>(k) * constant_bytes;
  return to;
}
struct SeparateLeaves {
  short inputs[max_leaves];
  explicit SeparateLeaves(int count) {
    for (int l = 0; l < count; ++l) inputs[l] = static_cast<short>(l);
  }
};
constexpr std::uint64_t key_of(FormulaWork work) { return static_cast<std::uint64_t>(work) << 60; }

// ---- values

NAX_ENGINE void run_forward(FormulaSlot& slot, const void* constants, const void* const* leaves, void* out,
                            std::int64_t n) {
  const ExpressionSymbols& symbols = *slot.symbols;
  OwnVariant own;
  const FormulaVariant& variant = *variant_of(
      slot.variants, symbols, key_of(FormulaWork::forward), constants, &own,
      [&](bool&) { return formula_of(symbols, constants, SeparateLeaves(symbols.leaves).inputs); });
  InputPlaces in;
  list_inputs(symbols, constants, leaves, in);
  variant.run(in, &out, n);
}

NAX_ENGINE bool run_broadcast(FormulaSlot& slot, const void* constants, const ArrayBase* const* leaves,
                              const Frame& frame, const ArrayBase& result) {
  constexpr std::int64_t least = 512;
  const ExpressionSymbols& symbols = *slot.symbols;
  if (frame.size() < least) return false;
  bool whole = true;
  for (int l = 0; l < symbols.leaves; ++l) {
    const Layout& layout = layout_of(*leaves[l]);
    if (!layout.shape.empty() && layout.shape.back() > 1 && layout.strides.back() != 1) return false;
    whole = whole && layout == frame && layout.is_contiguous();
  }
  if (whole) return false;
  OwnVariant own;
  const FormulaVariant& variant =
      *variant_of(slot.variants, symbols, key_of(FormulaWork::map), constants, &own, [&](bool&) {
        return formula_of(symbols, constants, SeparateLeaves(symbols.leaves).inputs, FormulaOperands::stored);
      });
  SmallVector<char*, 32> at;
  std::vector<loops::Operand> operands;
  operands.reserve(static_cast<std::size_t>(symbols.leaves + symbols.numbers + 1));
  const auto add = [&](const void* data, Dims strides) {
    at.push_back(static_cast<char*>(const_cast<void*>(data)));
    operands.push_back({nullptr, std::move(strides)});
  };
  for (int l = 0; l < symbols.leaves; ++l)
    add(raw_data(*leaves[l]), strides_over(layout_of(*leaves[l]), frame));
  for (int k = 0; k < symbols.numbers; ++k)
    add(static_cast<const char*>(constants) + static_cast<std::size_t>(k) * constant_bytes,
        Dims(frame.shape.size(), 0));
  add(raw_data(result), layout_of(result).strides);
  formula::ArrayLoop(variant.plan.kernel(), frame.shape, std::move(operands)).run(at.data());
  return true;
}

// ---- gradients

// Leaf by leaf: the first whose gradient lies at the same place, or 15 where none is wanted.
class WantedGradients {
 public:
  WantedGradients(const ExpressionSymbols& symbols, void* const* grads, unsigned added)
      : count_(symbols.leaves), added_(added) {
    for (int l = 0; l < count_; ++l) {
      first_[l] = none;
      if (!grads[l]) continue;
      int k = 0;
      while (grads[k] != grads[l]) ++k;
      first_[l] = static_cast<unsigned char>(k);
    }
  }
  std::uint64_t key(FormulaWork work) const {
    std::uint64_t key = added_ & ((1u << count_) - 1);
    for (int l = 0; l < count_; ++l) key |= static_cast<std::uint64_t>(first_[l]) << (12 + 4 * l);
    return key | key_of(work);
  }
  bool is_first(int l) const { return first_[l] == l; }
  bool adds(int l) const { return added_ >> l & 1; }
  int first(int l) const { return first_[l]; }

 private:
  static constexpr unsigned char none = 15;
  static_assert(max_leaves <= 12);
  int count_;
  unsigned added_;
  unsigned char first_[max_leaves];
};

inline formula::Formula stored_pull_formula(const ExpressionSymbols& symbols, const void* constants,
                                            const WantedGradients& wanted, bool valued,
                                            FormulaOperands operands = FormulaOperands::lanes) {
  const SeparateLeaves separate(symbols.leaves);
  SymbolWalk walk(symbols, constants, separate.inputs, operands);
  const std::vector<int> shares = walk.pull_leaves(walk.cotangent(walk.inputs()));
  std::vector<int> results;
  int more = 1;
  for (int l = 0; l < symbols.leaves; ++l) {
    if (!wanted.is_first(l)) continue;
    int sum = wanted.adds(l) ? walk.recorder().input(walk.inputs() + more++) : -1;
    for (int k = l; k < symbols.leaves; ++k)
      if (wanted.first(k) == l) sum = walk.added(sum, shares[static_cast<std::size_t>(k)]);
    results.push_back(walk.share_or_zero(sum, l));
  }
  if (valued) results.push_back(walk.value());
  return walk.finish(results, more);
}

NAX_ENGINE void run_pull(FormulaSlot& slot, const void* constants, const void* const* leaves, const void* g,
                         void* const* grads, unsigned added, void* values, std::int64_t n) {
  const ExpressionSymbols& symbols = *slot.symbols;
  const WantedGradients wanted(symbols, grads, added);
  InputPlaces in;
  void* out[max_leaves + 1];
  const void** to_in = list_inputs(symbols, constants, leaves, in);
  void** to_out = out;
  *to_in++ = g;
  for (int l = 0; l < symbols.leaves; ++l) {
    if (!wanted.is_first(l)) continue;
    if (wanted.adds(l)) *to_in++ = grads[l];
    *to_out++ = grads[l];
  }
  const bool valued = values != nullptr;
  if (valued) *to_out++ = values;
  if (to_out == out) return;
  OwnVariant own;
  const FormulaVariant& variant = *variant_of(
      slot.variants, symbols, wanted.key(valued ? FormulaWork::pull_valued : FormulaWork::pull), constants,
      &own, [&](bool&) { return stored_pull_formula(symbols, constants, wanted, valued); });
  variant.run(in, out, n);
}

// Scales the gradient, and adds `count` values up where a sum is wanted.
template <class T>
void finish_pull_one(const void* g, void* grad, std::int64_t n, const void* values, std::int64_t count,
                     void* sum) {
  if (const T seed = *static_cast<const T*>(g); seed != T(1)) simd::scale_run(seed, static_cast<T*>(grad), n);
  if (!sum) return;
  using Packet = simd::Packet<T>;
  const T* const from = static_cast<const T*>(values);
  Packet total(T(0));
  std::int64_t i = 0;
  for (; i + Packet::size <= count; i += Packet::size) total = total + Packet::load(from + i);
  if (i < count) total = total + Packet::load(from + i, count - i);
  *static_cast<T*>(sum) = simd::reduce_add(total);
}

NAX_ENGINE void run_pull_one(FormulaSlot& slot, const void* constants, const void* const* leaves,
                             const void* g, void* const* grads, void* values, bool summed, std::int64_t n) {
  const ExpressionSymbols& symbols = *slot.symbols;
  OwnVariant own;
  const FormulaWork work = summed ? FormulaWork::pull_one_summed : FormulaWork::pull_one;
  const FormulaVariant& variant =
      *variant_of(slot.variants, symbols, key_of(work), constants, &own, [&](bool&) {
        const short inputs[max_leaves] = {};  // all are one
        SymbolWalk walk(symbols, constants, inputs);
        const int share = walk.pull(walk.recorder().constant(1))[0];
        return walk.finish({share < 0 ? walk.recorder().constant(0) : share, walk.value()}, 0);
      });
  const void* same[max_leaves];
  for (int l = 0; l < symbols.leaves; ++l) same[l] = leaves[0];
  InputPlaces in;
  list_inputs(symbols, constants, same, in);
  // One packet of sums, or, without code, the values: a caller that wants the sum hands over no more
  // elements.
  cpu::Tile tile;
  std::int64_t count = n;
  if (summed && variant.code) {
    count = 64 / static_cast<std::int64_t>(dtype_size(symbols.type));
    std::memset(tile.bytes, 0, 64);
  }
  void* const out[] = {grads[0], summed ? tile.bytes : values};
  variant.run(in, out, n);
  if (symbols.type == DType::float32)
    finish_pull_one<float>(g, grads[0], n, out[1], count, summed ? values : nullptr);
  else
    finish_pull_one<double>(g, grads[0], n, out[1], count, summed ? values : nullptr);
}

}  // namespace detail
NAX_END
