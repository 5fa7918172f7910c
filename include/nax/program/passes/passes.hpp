#pragma once

#include <atomic>
#include <vector>

#include "nax/program/record/recording.hpp"

// Passes over a program's steps. `results`: the slots that come out (or Place::constant), numbered anew where
// a pass joins slots. Each of the later ones has its bodies in a file of its name, x-inl.hpp.
NAX_BEGIN
namespace program {

struct Output;

namespace detail {

// How many steps write to each slot.
NAX_ENGINE std::vector<int> writers(const std::vector<Slot>& slots, const std::vector<Step>& steps);

// Bytes of the elements that the operand names; one that indices choose from counts as large as the loop.
NAX_ENGINE double bytes_of(const Operand& x);
// Runs the steps that compute constants of constants alone, and holds the results that other steps read.
// Small arrays become constants, and those that are no larger than what their steps read.
NAX_ENGINE void find_constants(std::vector<Slot>& slots, std::vector<Step>& steps,
                               const std::vector<int>& results,
                               std::vector<std::shared_ptr<const char[]>>& held);
// Of steps that compute the same one stays.
NAX_ENGINE void join_equal_steps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                 std::vector<int>& results);
// Drops what no result needs.
NAX_ENGINE void drop_dead_steps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                const std::vector<int>& results);
// Can the step write `to` where its operand `from` lies, element by element?
inline bool overlays(const Step& step, const Operand& from, const Operand& to) {
  return step.in_place && !from.across && !from.written && to.written && from.dtype == to.dtype &&
         from.place.offset == 0 && to.place.offset == 0 && from.strides == to.strides;
}
// Is it a copy of x to a y of the same layout? In one place it does nothing.
NAX_ENGINE bool is_copy_of_layout(const Step& step, const Operand& x, const Operand& y);
// Moves steps that may throw Unforeseen before all others where they need but small arrays. So the first
// layer of a decoder may write over its cache: the checks of the later ones have come before.
NAX_ENGINE void move_checks_first(const std::vector<Slot>& slots, std::vector<Step>& steps);
// For each result, the argument in whose memory it may be written, or -1. A step that may throw Unforeseen
// comes before the first write, since the function is called with the arguments then. Steps that compute with
// few elements read them first where that lets them write over an argument.
NAX_ENGINE std::vector<int> find_donations(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                           const std::vector<Argument>& arguments,
                                           const std::vector<int>& results, std::size_t result_count);
// Offsets of temporary slots in one block of memory, where those share room that do not live at the same
// time; the bytes of the block.
NAX_ENGINE std::size_t plan_memory(const std::vector<Slot>& slots, const std::vector<Step>& steps,
                                   std::vector<std::int64_t>& offsets);

// Lets steps read an array where they read its copy, and drops steps that make nothing but copies. Gradients
// of sums are copies of the cotangent. Returns for each slot the one that is read in its place.
NAX_ENGINE std::vector<int> forward_copies(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                           const std::vector<int>& results);

// Makes copies of barriers, which are forwarded: they have kept apart what is computed anew.
NAX_ENGINE void drop_barriers(const std::vector<Slot>& slots, std::vector<Step>& steps,
                              const std::vector<int>& results);

// Joins arrays of pieces: arrays that are zero but for parts that copies write. Cotangents of slices are such
// arrays. Of
//   p = zeros(); p[part] = add(p[part], x)
//   q = zeros(); q[other part] = add(q[other part], y)
//   r = add(p, q)
// there remain, where the parts do not overlap and nothing else reads p and q,
//   r = zeros(); r[part] = copy(x); r[other part] = copy(y)
// and no zeros where the parts cover r.
NAX_ENGINE void join_pieces(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results);

// Lets products add to arrays: of
//   t = matmul(a, b); d = add(c, t)
// one step stays, d = matmul_add(a, b, c), where nothing else reads t. d lies where c lies if c is read no
// more.
NAX_ENGINE void accumulate_products(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                    const std::vector<int>& results);

// With formulas only (NAX_USES_FORMULAS):

// Fuses maps: steps that are computed element by element over the same elements become one step, whose
// formula computes each element of all results in one pass. What no other step needs is not stored.
NAX_ENGINE void fuse_maps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                          const std::vector<int>& results);

// Fuses reductions with maps: a step that reduces what a map gives computes that map itself, element by
// element while it reduces, and reductions and maps that read the same are one pass over it. Comes after
// fuse_maps.
NAX_ENGINE void fuse_reductions(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                const std::vector<int>& results);

// Lets maps write into parts of arrays: of
//   t = map(a); r[part] = copy(t)
// there remains r[part] = map(a), where nothing else reads t. So arrays that are joined are never stored
// apart.
NAX_ENGINE void write_pieces(const std::vector<Slot>& slots, std::vector<Step>& steps,
                             const std::vector<int>& results);

// Splits maps of joined arrays. Of
//   r[0:4] = copy(x); r[4:8] = copy(y); t = map(r); u = other(t[0:4])
// there remain t0 = map(x); u = other(t0), and t1 = map(y) where something reads it. Parts are boxes of r
// that no later copy touches, so a padded array has one: what it was before. A map is split only if each of
// its results is read part by part, or by maps that are split, too. Outputs that are views of one part become
// outputs of that part's own array.
// `results`: the outputs' slots, as in other passes. Steps that write what nothing reads may remain.
NAX_ENGINE void split_maps(std::vector<Slot>& slots, std::vector<Step>& steps, std::vector<int>& results,
                           std::vector<Output>& outputs);

// Pads an array that is a piece of several others, so that these are views of it. Of
//   b, c = map(a)
//   p = zeros(); p[1:] = copy(b)
//   q = zeros(); q[:-1] = copy(c)
//   r = add(p, q)
// where c is b times numbers, there remain
//   b = map(a)
//   d[:1] = copy(0); d[-1:] = copy(0); d[1:-1] = copy(b)
//   q = multiply(d[1:])
//   r = add(d[:-1], q)
// Gradients of stencils are such sums: what was an array of zeros a slice is one map. All maps that read p
// and q read them whole, and d is little larger than they are.
NAX_ENGINE void pad_pieces(std::vector<Slot>& slots, std::vector<Step>& steps,
                           const std::vector<int>& results);

// False leaves small arrays to the other passes, which their tests need.
inline constinit std::atomic<bool> spells_small{true};

// Makes numbers of small arrays: steps one after the other over arrays of a few elements (maps, products,
// reductions, copies, zeros) become one step, whose formula computes each element by itself. What they hand
// to one another stays in registers.
NAX_ENGINE void spell_small(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results);

}  // namespace detail
}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/accumulate_products-inl.hpp"
#include "nax/program/passes/forward_copies-inl.hpp"
#include "nax/program/passes/join_pieces-inl.hpp"
#include "nax/program/passes/move_checks-inl.hpp"
#include "nax/program/passes/passes-inl.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/program/passes/pad_pieces-inl.hpp"
#include "nax/program/passes/spell_small-inl.hpp"
#include "nax/program/passes/split_maps-inl.hpp"
#include "nax/program/passes/step_groups-inl.hpp"
#include "nax/program/passes/write_pieces-inl.hpp"
#endif
#endif
