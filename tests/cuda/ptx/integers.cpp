#include <algorithm>
#include <cstdlib>
#include <limits>

#include "cuda/ptx/handlers.hpp"

// Arithmetic of integers.
namespace ptx {
namespace {

template <class T>
constexpr auto add =
    [](T a, T b) { return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b)); };
template <class T>
constexpr auto subtract =
    [](T a, T b) { return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b)); };
template <class T>
constexpr auto low = [](T a, T b) {
  return static_cast<T>(std::uint64_t{static_cast<Unsigned<T>>(a)} *
                        std::uint64_t{static_cast<Unsigned<T>>(b)});
};
template <class T>
constexpr auto high = [](T a, T b) { return static_cast<T>((Wider<T>{a} * Wider<T>{b}) >> (8 * sizeof(T))); };
// Division by zero has no defined result: all bits are set, as cards do.
template <class T>
constexpr auto divide = [](T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  return static_cast<T>(static_cast<Wider<T>>(a) / b);
};
template <class T>
constexpr auto remainder = [](T a, T b) { return b == 0 ? a : static_cast<T>(static_cast<Wider<T>>(a) % b); };
template <class T>
constexpr auto least = [](T a, T b) { return std::min(a, b); };
template <class T>
constexpr auto most = [](T a, T b) { return std::max(a, b); };
template <class T>
constexpr auto negative = [](T a) { return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a)); };
template <class T>
constexpr auto absolute = [](T a) { return a < 0 ? negative<T>(a) : a; };
template <class T>
constexpr auto low_add = [](T a, T b, T c) { return add<T>(low<T>(a, b), c); };
template <class T>
constexpr auto high_add = [](T a, T b, T c) { return add<T>(high<T>(a, b), c); };
template <class T>
constexpr auto wide = [](T a, T b) { return static_cast<Wider<T>>(Wider<T>{a} * Wider<T>{b}); };
template <class T>
constexpr auto wide_add = [](T a, T b, Wider<T> c) {
  return static_cast<Unsigned<Wider<T>>>(Wider<T>{a} * Wider<T>{b}) + static_cast<Unsigned<Wider<T>>>(c);
};
template <class T>
constexpr auto distance =
    [](T a, T b, T c) { return static_cast<T>((a < b ? subtract<T>(b, a) : subtract<T>(a, b)) + c); };
constexpr auto add_saturated = [](std::int32_t a, std::int32_t b) {
  return std::clamp<std::int64_t>(std::int64_t{a} + b, INT32_MIN, INT32_MAX);
};
constexpr auto subtract_saturated = [](std::int32_t a, std::int32_t b) {
  return std::clamp<std::int64_t>(std::int64_t{a} - b, INT32_MIN, INT32_MAX);
};

// Instructions of many words: the carry goes from one to the next.
enum : std::uint8_t { reads_carry = 1, writes_carry = 2 };
template <class T, bool borrows>
void add_with_carry(Thread& t, const Instruction& i) {
  using U = Unsigned<T>;
  const U a = t.get<U>(i.at[1]), b = t.get<U>(i.at[2]);
  const unsigned __int128 in = i.mode & reads_carry && t.carry ? 1 : 0;
  const unsigned __int128 full =
      borrows ? static_cast<unsigned __int128>(a) - b - in : static_cast<unsigned __int128>(a) + b + in;
  if (i.mode & writes_carry) t.carry = (full >> (8 * sizeof(T))) != 0;
  t.put<U>(i.at[0], static_cast<U>(full));
}
template <class T, bool of_high>
void multiply_with_carry(Thread& t, const Instruction& i) {
  using U = Unsigned<T>;
  const T a = t.get<T>(i.at[1]), b = t.get<T>(i.at[2]);
  const U product = static_cast<U>(of_high ? high<T>(a, b) : low<T>(a, b));
  const unsigned __int128 full = static_cast<unsigned __int128>(product) + t.get<U>(i.at[3]) +
                                 (i.mode & reads_carry && t.carry ? 1u : 0u);
  if (i.mode & writes_carry) t.carry = (full >> (8 * sizeof(T))) != 0;
  t.put<U>(i.at[0], static_cast<U>(full));
}

template <class T>
bool pick(const Words& w, Instruction& i) {
  const bool to_high = w.has("hi");
  if (w.root == "addc" || w.root == "subc" || w.root == "madc") i.mode |= reads_carry;
  if (w.has("cc")) i.mode |= writes_carry;
  if (i.mode != 0) {
    if (w.root == "add" || w.root == "addc")
      i.run = add_with_carry<T, false>;
    else if (w.root == "sub" || w.root == "subc")
      i.run = add_with_carry<T, true>;
    else if (w.root == "mad" || w.root == "madc")
      i.run = to_high ? multiply_with_carry<T, true> : multiply_with_carry<T, false>;
    return i.run;
  }
  if (w.has("sat")) {
    if (w.root == "add") i.run = binary<add_saturated, std::int32_t, std::int32_t, std::int32_t>;
    if (w.root == "sub") i.run = binary<subtract_saturated, std::int32_t, std::int32_t, std::int32_t>;
    return i.run && std::is_same_v<T, std::int32_t>;
  }
  if (w.has("relu")) return false;
  if (w.root == "add") i.run = binary<add<T>, T, T, T>;
  if (w.root == "sub") i.run = binary<subtract<T>, T, T, T>;
  if (w.root == "div") i.run = binary<divide<T>, T, T, T>;
  if (w.root == "rem") i.run = binary<remainder<T>, T, T, T>;
  if (w.root == "min") i.run = binary<least<T>, T, T, T>;
  if (w.root == "max") i.run = binary<most<T>, T, T, T>;
  if (w.root == "neg") i.run = unary<negative<T>, T, T>;
  if (w.root == "abs") i.run = unary<absolute<T>, T, T>;
  if (w.root == "sad") i.run = ternary<distance<T>, T, T, T, T>;
  if (w.root == "mul") {
    if constexpr (sizeof(T) < 8)
      if (w.has("wide")) i.run = binary<wide<T>, Wider<T>, T, T>;
    if (w.has("lo")) i.run = binary<low<T>, T, T, T>;
    if (to_high) i.run = binary<high<T>, T, T, T>;
  }
  if (w.root == "mad") {
    if constexpr (sizeof(T) < 8)
      if (w.has("wide")) i.run = ternary<wide_add<T>, Wider<T>, T, T, Wider<T>>;
    if (w.has("lo")) i.run = ternary<low_add<T>, T, T, T, T>;
    if (to_high) i.run = ternary<high_add<T>, T, T, T, T>;
  }
  return i.run;
}

// Sums of products of bytes.
template <class A, class B>
void dot_of_bytes(Thread& t, const Instruction& i) {
  const auto a = t.get<std::uint32_t>(i.at[1]), b = t.get<std::uint32_t>(i.at[2]);
  std::uint32_t sum = t.get<std::uint32_t>(i.at[3]);
  for (int k = 0; k < 32; k += 8)
    sum += static_cast<std::uint32_t>(static_cast<A>(a >> k) * static_cast<B>(b >> k));
  t.put(i.at[0], sum);
}

}  // namespace

bool decode_integer(const Words& w, Instruction& i) {
  if (w.root == "dp4a" && w.mods.size() == 2) {
    const bool a = w.mods[0] == "s32", b = w.mods[1] == "s32";
    i.run = a ? (b ? dot_of_bytes<std::int8_t, std::int8_t> : dot_of_bytes<std::int8_t, std::uint8_t>)
              : (b ? dot_of_bytes<std::uint8_t, std::int8_t> : dot_of_bytes<std::uint8_t, std::uint8_t>);
    return true;
  }
  bool known = false;
  with_integer(w.type(), [&]<class T>(std::type_identity<T>) { known = pick<T>(w, i); });
  return known;
}

}  // namespace ptx
