#include "cuda/ptx/grid.hpp"
#include "cuda/ptx/handlers.hpp"
#include "cuda/ptx/numbers.hpp"

// Loads, stores and atomic operations. The address is at[8] + offset.
namespace ptx {
namespace {

std::uint64_t address_of(const Thread& t, const Instruction& i) {
  return (i.at[8] == no_slot ? 0 : t.r[i.at[8]]) + static_cast<std::uint64_t>(i.offset);
}
// Shared addresses in registers of 32 bits wrap there.
std::uint64_t location(const Thread& t, const Instruction& i) {
  const std::uint64_t address = address_of(t, i);
  return i.space == Space::shared && address >> 56 == 0 ? static_cast<std::uint32_t>(address) : address;
}

template <class T>
void load(Thread& t, const Instruction& i) {
  const std::uint64_t address = location(t, i);
  const char* const from = reach(t, i, address, sizeof(T) * i.count, Access::read);
  for (unsigned k = 0; k < i.count; ++k) {
    T value;
    std::memcpy(&value, from + k * sizeof(T), sizeof(T));
    if (i.at[k] != no_slot) t.put<T>(i.at[k], value);
  }
  if (i.strong) acquire(t, address);
}
template <class T>
void store(Thread& t, const Instruction& i) {
  const std::uint64_t address = location(t, i);
  char* const to = reach(t, i, address, sizeof(T) * i.count, Access::write);
  if (i.releases) t.unfenced = false;
  if (i.strong) release(t, address);
  for (unsigned k = 0; k < i.count; ++k) {
    const T value = t.get<T>(i.at[k]);
    std::memcpy(to + k * sizeof(T), &value, sizeof(T));
  }
}

// cp.async: a copy to shared memory, of zeros where at[2] is zero, which is done as late as it may be: by the
// wait for it.
void copy_later(Thread& t, const Instruction& i) {
  t.copies.push_back(
      {&i, static_cast<std::uint32_t>(t.r[i.at[0]]), t.r[i.at[1]], t.get<std::uint32_t>(i.at[2])});
}
void end_copies(Thread& t, const Instruction&) {
  constexpr std::uint32_t bytes = 16;
  for (const Copy& copy : t.copies) {
    Instruction i = *copy.instruction;
    char data[bytes] = {};
    i.space = Space::global;
    if (copy.bytes == bytes)
      std::memcpy(data, reach(t, i, copy.from, bytes, Access::read), bytes);
    else if (copy.bytes != 0)
      t.fault("unsupported: a copy of " + std::to_string(copy.bytes) + " bytes");
    i.space = Space::shared;
    std::memcpy(reach(t, i, copy.to, bytes, Access::write), data, bytes);
  }
  t.copies.clear();
}

enum class Atomic { add, exchange, compare, least, most, both, either, differ, increment, decrement };
template <class T, Atomic op>
T combined(T old, T b, T c) {
  constexpr bool integral = std::is_integral_v<T>;
  if constexpr (op == Atomic::exchange) return b;
  if constexpr (op == Atomic::compare) return old == b ? c : old;
  if constexpr (op == Atomic::add) {
    if constexpr (integral)
      return static_cast<T>(static_cast<Unsigned<T>>(old) + static_cast<Unsigned<T>>(b));
    else
      return static_cast<T>(widen(old) + widen(b));
  }
  if constexpr (integral && op == Atomic::least) return std::min(old, b);
  if constexpr (integral && op == Atomic::most) return std::max(old, b);
  if constexpr (integral && op == Atomic::both) return old & b;
  if constexpr (integral && op == Atomic::either) return old | b;
  if constexpr (integral && op == Atomic::differ) return old ^ b;
  if constexpr (integral && op == Atomic::increment) return old >= b ? T(0) : static_cast<T>(old + 1);
  if constexpr (integral && op == Atomic::decrement) return old == 0 || old > b ? b : static_cast<T>(old - 1);
  return old;
}
template <class T, Atomic op>
void update(Thread& t, const Instruction& i) {
  const std::uint64_t address = location(t, i);
  char* const at = reach(t, i, address, sizeof(T), Access::update);
  if (i.releases) t.unfenced = false;
  acquire(t, address);
  release(t, address);
  T old;
  std::memcpy(&old, at, sizeof(T));
  const T now = combined<T, op>(old, t.get<T>(i.at[1]), i.at[2] == no_slot ? T() : t.get<T>(i.at[2]));
  std::memcpy(at, &now, sizeof(T));
  if (i.at[0] != no_slot) t.put<T>(i.at[0], old);
}
// Adds pairs of 16 bits.
template <class T>
void add_pair(Thread& t, const Instruction& i) {
  char* const at = reach(t, i, location(t, i), 4, Access::update);
  T old[2], by[2];
  std::memcpy(old, at, 4);
  const auto operand = t.get<std::uint32_t>(i.at[1]);
  std::memcpy(by, &operand, 4);
  std::uint32_t was;
  std::memcpy(&was, at, 4);
  for (int k = 0; k < 2; ++k) old[k] = static_cast<T>(widen(old[k]) + widen(by[k]));
  std::memcpy(at, old, 4);
  if (i.at[0] != no_slot) t.put(i.at[0], was);
}

template <class T>
bool pick_integer(const Words& w, Instruction& i) {
  using U = Unsigned<T>;
  if (w.has("add")) i.run = update<T, Atomic::add>;
  if (w.has("exch")) i.run = update<T, Atomic::exchange>;
  if (w.has("cas")) i.run = update<T, Atomic::compare>;
  if (w.has("min")) i.run = update<T, Atomic::least>;
  if (w.has("max")) i.run = update<T, Atomic::most>;
  if (w.has("and")) i.run = update<T, Atomic::both>;
  if (w.has("or")) i.run = update<T, Atomic::either>;
  if (w.has("xor")) i.run = update<T, Atomic::differ>;
  if (w.has("inc")) i.run = update<U, Atomic::increment>;
  if (w.has("dec")) i.run = update<U, Atomic::decrement>;
  return i.run;
}

void set_space(const Words& w, Instruction& i) {
  for (std::string_view m : w.mods) {
    if (m == "global" || m == "const") i.space = Space::global;
    if (m.substr(0, 6) == "shared") i.space = Space::shared;
    if (m == "local") i.space = Space::local;
    if (m.substr(0, 5) == "param" && i.space != Space::local) i.space = Space::param;
    if (m == "volatile" || m == "relaxed" || m == "acquire" || m == "release" || m == "acq_rel" ||
        m == "mmio")
      i.strong = true;
    if (m == "acquire" || m == "acq_rel") i.acquires = true;
    if (m == "release" || m == "acq_rel") i.releases = true;
  }
}

}  // namespace

bool decode_memory(const Words& w, Instruction& i) {
  if (w.root == "prefetch" || w.root == "prefetchu" || w.root == "applypriority" || w.root == "discard") {
    i.run = [](Thread&, const Instruction&) {};
    return true;
  }
  if (w.root == "cp") {
    if (!w.has("async")) return false;
    if (w.has("wait_all")) return i.run = end_copies, true;
    return w.has("cg") && w.has("shared") && w.has("global") && (i.run = copy_later, true);
  }
  if (w.root != "ld" && w.root != "st" && w.root != "ldu") return false;
  set_space(w, i);
  const std::string_view type = w.type() == "f32" ? "b32" : w.type() == "f64" ? "b64" : w.type();
  return with_small_integer(type, [&]<class T>(std::type_identity<T>) {
    i.bytes = sizeof(T);
    i.run = w.root == "st" ? store<T> : load<T>;
  });
}

bool decode_atomic(const Words& w, Instruction& i) {
  if (w.root != "atom" && w.root != "red") return false;
  set_space(w, i);
  i.strong = true;
  const std::string_view type = w.type();
  for (std::string_view m : w.mods)
    if (m == "v2" || m == "v4" || m == "async") return false;
  if (w.has("add")) {
    if (type == "f16x2") return i.run = add_pair<half>, true;
    if (type == "bf16x2") return i.run = add_pair<bfloat16>, true;
    if (with_float(type, [&]<class T>(std::type_identity<T>) { i.run = update<T, Atomic::add>; }))
      return true;
  }
  bool known = false;
  with_integer(type, [&]<class T>(std::type_identity<T>) { known = pick_integer<T>(w, i); });
  return known;
}

}  // namespace ptx
