#include <map>

#include "cuda/ptx/barriers.hpp"
#include "cuda/ptx/handlers.hpp"

// Instructions for which the threads of a warp wait for each other: shuffles, votes, matches, reductions.
namespace ptx {
namespace {

// The slot of the mask is at[8].
void wait(Thread& t, const Instruction& i) { wait_for_warp(t, i, t.get<std::uint32_t>(i.at[8])); }

template <class F>
void for_lanes(Warp& warp, std::uint32_t lanes, const F& f) {
  for (std::uint32_t lane = 0; lane < warp.size; ++lane)
    if (lanes >> lane & 1) f(warp.thread(lane), lane);
}
// Each thread has its own instruction, of one kind.
const Instruction& its(const Thread& t) { return *t.waits; }

enum ShuffleMode : std::uint8_t { up, down, butterfly, indexed };
void shuffle(Warp& warp, const Instruction&, std::uint32_t lanes) {
  std::uint32_t values[32] = {};
  for_lanes(warp, lanes,
            [&](Thread& t, std::uint32_t lane) { values[lane] = t.get<std::uint32_t>(its(t).at[2]); });
  for_lanes(warp, lanes, [&](Thread& t, std::uint32_t lane) {
    const Instruction& i = its(t);
    const auto b = t.get<std::uint32_t>(i.at[3]) & 31;
    const auto c = t.get<std::uint32_t>(i.at[4]);
    const std::uint32_t segment = c >> 8 & 31, clamp = c & 31;
    const std::uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    std::uint32_t from = 0;
    bool inside = false;
    switch (static_cast<ShuffleMode>(i.mode)) {
      case up:
        from = lane - b, inside = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(last);
        break;
      case down:
        from = lane + b, inside = from <= last;
        break;
      case butterfly:
        from = lane ^ b, inside = from <= last;
        break;
      case indexed:
        from = first | (b & ~segment), inside = from <= last;
        break;
    }
    if (!inside) from = lane;
    if (!(lanes >> from & 1))
      t.fault("shuffle: lane " + std::to_string(lane) + " reads lane " + std::to_string(from) +
              ", which is not in the mask or has ended");
    t.put(i.at[0], values[from]);
    if (i.at[1] != no_slot) t.put<std::uint64_t>(i.at[1], inside);
  });
}

enum VoteMode : std::uint8_t { all_of, any_of, uniform, ballot };
void vote(Warp& warp, const Instruction&, std::uint32_t lanes) {
  std::uint32_t yes = 0;
  for_lanes(warp, lanes, [&](Thread& t, std::uint32_t lane) {
    if (t.predicate(its(t).at[1]) != ((its(t).negated >> 1 & 1) != 0)) yes |= std::uint32_t{1} << lane;
  });
  for_lanes(warp, lanes, [&](Thread& t, std::uint32_t) {
    const Instruction& i = its(t);
    const std::uint64_t result = i.mode == all_of   ? yes == lanes
                                 : i.mode == any_of ? yes != 0
                                 : i.mode == ballot ? yes
                                                    : yes == 0 || yes == lanes;
    t.put(i.at[0], result);
  });
}

template <class T, bool all>
void match(Warp& warp, const Instruction&, std::uint32_t lanes) {
  std::map<T, std::uint32_t> same;
  for_lanes(warp, lanes,
            [&](Thread& t, std::uint32_t lane) { same[t.get<T>(its(t).at[2])] |= std::uint32_t{1} << lane; });
  for_lanes(warp, lanes, [&](Thread& t, std::uint32_t) {
    const Instruction& i = its(t);
    const bool one = same.size() == 1;
    t.put<std::uint32_t>(i.at[0], all ? (one ? lanes : 0) : same[t.get<T>(i.at[2])]);
    if (i.at[1] != no_slot) t.put<std::uint64_t>(i.at[1], one);
  });
}

enum ReduxMode : std::uint8_t { sum, least, most, both, either, differ };
template <class T>
void reduce(Warp& warp, const Instruction& first, std::uint32_t lanes) {
  T result = 0;
  bool begun = false;
  for_lanes(warp, lanes, [&](Thread& t, std::uint32_t) {
    const T x = t.get<T>(its(t).at[1]);
    if (!begun)
      result = x;
    else
      switch (static_cast<ReduxMode>(first.mode)) {
        case sum:
          result = static_cast<T>(static_cast<std::uint32_t>(result) + static_cast<std::uint32_t>(x));
          break;
        case least:
          result = std::min(result, x);
          break;
        case most:
          result = std::max(result, x);
          break;
        case both:
          result &= x;
          break;
        case either:
          result |= x;
          break;
        case differ:
          result ^= x;
          break;
      }
    begun = true;
  });
  for_lanes(warp, lanes, [&](Thread& t, std::uint32_t) { t.put<T>(its(t).at[0], result); });
}

void synchronise(Warp& warp, const Instruction&, std::uint32_t lanes) { warp.clocks.join(lanes); }
void elect(Warp& warp, const Instruction&, std::uint32_t lanes) {
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(lanes));
  for_lanes(warp, lanes, [&](Thread& t, std::uint32_t lane) {
    if (its(t).at[0] != no_slot) t.put(its(t).at[0], leader);
    if (its(t).at[1] != no_slot) t.put<std::uint64_t>(its(t).at[1], lane == leader);
  });
}

// Kernels may not rely on which threads of a warp run together: here each runs alone.
void active(Thread& t, const Instruction& i) { t.put<std::uint32_t>(i.at[0], std::uint32_t{1} << t.lane); }

}  // namespace

// Moves the mask, which is the last operand, to at[8]: `k` is its place.
static void set_mask(Instruction& i, int k) {
  i.at[8] = i.at[k];
  i.at[k] = no_slot;
  i.run = wait;
}

bool decode_warp(const Words& w, Instruction& i) {
  if (w.root == "activemask") return i.run = active, true;
  if (w.root == "bar" && w.has("warp")) {
    set_mask(i, 0);
    return i.group = synchronise, true;
  }
  if (!w.has("sync")) return false;
  if (w.root == "shfl") {
    set_mask(i, 5);
    i.group = shuffle;
    i.mode = w.has("up") ? up : w.has("down") ? down : w.has("bfly") ? butterfly : indexed;
    return true;
  }
  if (w.root == "vote") {
    set_mask(i, 2);
    i.group = vote;
    i.mode = w.has("ballot") ? ballot : w.has("all") ? all_of : w.has("any") ? any_of : uniform;
    return true;
  }
  if (w.root == "match") {
    set_mask(i, 3);
    const bool all = w.has("all"), wide = w.type() == "b64";
    i.group = wide ? (all ? match<std::uint64_t, true> : match<std::uint64_t, false>)
                   : (all ? match<std::uint32_t, true> : match<std::uint32_t, false>);
    return true;
  }
  if (w.root == "redux") {
    set_mask(i, 2);
    i.mode = w.has("add")   ? sum
             : w.has("min") ? least
             : w.has("max") ? most
             : w.has("and") ? both
             : w.has("or")  ? either
                            : differ;
    i.group = w.type() == "s32" ? reduce<std::int32_t> : reduce<std::uint32_t>;
    return w.type() == "s32" || w.type() == "u32" || w.type() == "b32";
  }
  if (w.root == "elect") {
    set_mask(i, 2);
    return i.group = elect, true;
  }
  return false;
}

}  // namespace ptx
