#include "cuda/ptx/handlers.hpp"

// Logic, shifts, fields, permutations, moves and selections.
namespace ptx {
namespace {

template <class T>
constexpr auto both = [](T a, T b) { return static_cast<T>(a & b); };
template <class T>
constexpr auto either = [](T a, T b) { return static_cast<T>(a | b); };
template <class T>
constexpr auto differ = [](T a, T b) { return static_cast<T>(a ^ b); };
template <class T>
constexpr auto inverse = [](T a) { return static_cast<T>(~a); };
// Shifts by more than the width clamp.
template <class T>
constexpr auto left =
    [](T a, std::uint32_t by) -> T { return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(a << by); };
template <class T>
constexpr auto right = [](T a, std::uint32_t by) -> T {
  if (by >= 8 * sizeof(T)) return a < 0 ? static_cast<T>(-1) : T(0);
  return static_cast<T>(a >> by);
};
template <class T>
constexpr auto ones = [](T a) { return std::popcount(a); };
template <class T>
constexpr auto leading = [](T a) { return std::countl_zero(a); };
template <class T>
constexpr auto reversed = [](T a) {
  T r = 0;
  for (unsigned k = 0; k < 8 * sizeof(T); ++k) r = static_cast<T>(r << 1 | (a >> k & 1));
  return r;
};
template <class T, bool as_shift>
constexpr auto first_bit = [](T a) -> std::uint32_t {
  Unsigned<T> bits = static_cast<Unsigned<T>>(a < 0 ? ~a : a);
  if (bits == 0) return ~std::uint32_t{0};
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
  return as_shift ? zeros : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - zeros;
};
template <class T>
constexpr auto extract = [](T a, std::uint32_t position, std::uint32_t length) -> T {
  const unsigned width = 8 * sizeof(T), at = position & 0xFF, n = length & 0xFF;
  if (n == 0) return 0;
  const unsigned top = std::min(at + n - 1, width - 1);
  const bool fill = std::is_signed_v<T> && (static_cast<Unsigned<T>>(a) >> top & 1);
  Unsigned<T> r = 0;
  for (unsigned k = 0; k < width; ++k) {
    const bool bit = k < n && at + k < width ? static_cast<Unsigned<T>>(a) >> (at + k) & 1 : fill;
    r |= static_cast<Unsigned<T>>(Unsigned<T>{bit} << k);
  }
  return static_cast<T>(r);
};
template <class T>
void insert(Thread& t, const Instruction& i) {
  const T from = t.get<T>(i.at[1]);
  T to = t.get<T>(i.at[2]);
  const unsigned at = t.get<std::uint32_t>(i.at[3]) & 0xFF, n = t.get<std::uint32_t>(i.at[4]) & 0xFF;
  for (unsigned k = 0; k < n && at + k < 8 * sizeof(T); ++k) {
    const T one = static_cast<T>(T{1} << (at + k));
    to = static_cast<T>((to & ~one) | (from >> k & 1 ? one : T{0}));
  }
  t.put(i.at[0], to);
}
template <bool wraps>
constexpr auto mask_of = [](std::uint32_t a, std::uint32_t b) -> std::uint32_t {
  const std::uint32_t at = wraps ? a & 31 : std::min(a, 32u), n = wraps ? b & 31 : std::min(b, 32u);
  return static_cast<std::uint32_t>(((std::uint64_t{1} << n) - 1) << at);
};
template <bool to_left, bool clamps>
constexpr auto funnel = [](std::uint32_t low, std::uint32_t high, std::uint32_t by) -> std::uint32_t {
  const std::uint32_t n = clamps ? std::min(by, 32u) : by & 31;
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(to_left ? both << n >> 32 : both >> n);
};

void permute(Thread& t, const Instruction& i) {
  const std::uint64_t bytes = t.get<std::uint32_t>(i.at[1]) | std::uint64_t{t.get<std::uint32_t>(i.at[2])}
                                                                  << 32;
  const auto selector = t.get<std::uint32_t>(i.at[3]);
  std::uint32_t r = 0;
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t s = selector >> (4 * k) & 15;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (s & 7)) & 0xFF);
    if (s & 8) byte = byte & 0x80 ? 0xFF : 0;
    r |= byte << (8 * k);
  }
  t.put(i.at[0], r);
}
void by_table(Thread& t, const Instruction& i) {  // lop3
  const auto a = t.get<std::uint32_t>(i.at[1]), b = t.get<std::uint32_t>(i.at[2]),
             c = t.get<std::uint32_t>(i.at[3]);
  const auto table = t.get<std::uint32_t>(i.at[4]);
  std::uint32_t r = 0;
  for (int k = 0; k < 32; ++k)
    r |= (table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
  t.put(i.at[0], r);
}
void find_nth(Thread& t, const Instruction& i) {  // fns
  const auto mask = t.get<std::uint32_t>(i.at[1]), base = t.get<std::uint32_t>(i.at[2]);
  const auto n = t.get<std::int32_t>(i.at[3]);
  std::uint32_t found = ~std::uint32_t{0};
  if (n == 0) {
    if (mask >> base & 1) found = base;
  } else {
    int left = std::abs(n);
    for (int at = static_cast<int>(base); at >= 0 && at < 32 && left > 0; at += n > 0 ? 1 : -1)
      if (mask >> at & 1 && --left == 0) found = static_cast<std::uint32_t>(at);
  }
  t.put(i.at[0], found);
}

template <class T>
void move(Thread& t, const Instruction& i) {
  t.put<T>(i.at[0], t.get<T>(i.at[1]));
}
// count: how many parts there are; mode 1: the parts are the destination.
template <class Part>
void move_parts(Thread& t, const Instruction& i) {
  if (i.mode == 1) {
    const std::uint64_t whole = t.r[i.at[i.count]];
    for (unsigned k = 0; k < i.count; ++k)
      if (i.at[k] != no_slot) t.put(i.at[k], static_cast<Part>(whole >> (8 * sizeof(Part) * k)));
  } else {
    std::uint64_t whole = 0;
    for (unsigned k = 0; k < i.count; ++k)
      whole |= std::uint64_t{t.get<Part>(i.at[k + 1])} << (8 * sizeof(Part) * k);
    t.put(i.at[0], whole);
  }
}
template <class T>
void select(Thread& t, const Instruction& i) {
  const bool first = t.predicate(i.at[3]) != ((i.negated >> 3 & 1) != 0);
  t.put<T>(i.at[0], t.get<T>(i.at[first ? 1 : 2]));
}
template <class T>
void select_by_sign(Thread& t, const Instruction& i) {
  t.put<T>(i.at[0], t.get<T>(i.at[t.get<std::int32_t>(i.at[3]) >= 0 ? 1 : 2]));
}
bool operand(const Thread& t, const Instruction& i, int k) {
  return t.predicate(i.at[k]) != ((i.negated >> k & 1) != 0);
}
enum Logic { logic_and, logic_or, logic_xor, logic_not, logic_move };
template <Logic logic>
void of_predicates(Thread& t, const Instruction& i) {
  const bool a = operand(t, i, 1), b = logic < logic_not && operand(t, i, 2);
  const bool r = logic == logic_and   ? a && b
                 : logic == logic_or  ? a || b
                 : logic == logic_xor ? a != b
                                      : a != (logic == logic_not);
  t.put<std::uint64_t>(i.at[0], r);
}
void clock(Thread& t, const Instruction& i) { t.put<std::uint64_t>(i.at[0], t.grid_steps()); }

bool of_predicate(const Words& w, Instruction& i) {
  if (w.root == "and") i.run = of_predicates<logic_and>;
  if (w.root == "or") i.run = of_predicates<logic_or>;
  if (w.root == "xor") i.run = of_predicates<logic_xor>;
  if (w.root == "not") i.run = of_predicates<logic_not>;
  if (w.root == "mov") i.run = of_predicates<logic_move>;
  return i.run;
}

template <class T>
bool pick(const Words& w, Instruction& i) {
  using U = Unsigned<T>;
  if (w.root == "and") i.run = binary<both<U>, U, U, U>;
  if (w.root == "or") i.run = binary<either<U>, U, U, U>;
  if (w.root == "xor") i.run = binary<differ<U>, U, U, U>;
  if (w.root == "not") i.run = unary<inverse<U>, U, U>;
  if (w.root == "cnot") i.run = unary<[](U a) { return U(a == 0); }, U, U>;
  if (w.root == "shl") i.run = binary<left<U>, U, U, std::uint32_t>;
  if (w.root == "shr") i.run = binary<right<T>, T, T, std::uint32_t>;
  if (w.root == "popc") i.run = unary<ones<U>, std::uint32_t, U>;
  if (w.root == "clz") i.run = unary<leading<U>, std::uint32_t, U>;
  if (w.root == "brev") i.run = unary<reversed<U>, U, U>;
  if (w.root == "bfind")
    i.run = w.has("shiftamt") ? unary<first_bit<T, true>, std::uint32_t, T>
                              : unary<first_bit<T, false>, std::uint32_t, T>;
  if (w.root == "bfe") i.run = ternary<extract<T>, T, T, std::uint32_t, std::uint32_t>;
  if (w.root == "bfi") i.run = insert<U>;
  if (w.root == "selp") i.run = select<T>;
  if (w.root == "slct") i.run = select_by_sign<T>;
  if (w.root == "mov") i.run = move<T>;
  return i.run;
}

}  // namespace

bool decode_bits(const Words& w, Instruction& i) {
  const std::string_view type = w.type();
  if (type == "pred") return of_predicate(w, i);
  if (w.root == "shf") {
    const bool clamps = w.has("clamp");
    i.run =
        w.has("l")
            ? (clamps
                   ? ternary<funnel<true, true>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>
                   : ternary<funnel<true, false>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>)
            : (clamps
                   ? ternary<funnel<false, true>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>
                   : ternary<funnel<false, false>, std::uint32_t, std::uint32_t, std::uint32_t,
                             std::uint32_t>);
    return true;
  }
  if (w.root == "prmt" && w.mods.size() == 1) return i.run = permute, true;
  if (w.root == "lop3" && w.mods.size() == 1) return i.run = by_table, true;
  if (w.root == "fns") return i.run = find_nth, true;
  if (w.root == "bmsk") {
    i.run = w.has("wrap") ? binary<mask_of<true>, std::uint32_t, std::uint32_t, std::uint32_t>
                          : binary<mask_of<false>, std::uint32_t, std::uint32_t, std::uint32_t>;
    return true;
  }
  if (w.root == "mov" && i.mode == 2) return i.run = clock, true;
  if (w.root == "mov" && i.count > 1) {
    const int bytes = (type.substr(1) == "128"  ? 16
                       : type.substr(1) == "64" ? 8
                       : type.substr(1) == "32" ? 4
                                                : 2) /
                      i.count;
    if (bytes == 4) i.run = move_parts<std::uint32_t>;
    if (bytes == 2) i.run = move_parts<std::uint16_t>;
    if (bytes == 1) i.run = move_parts<std::uint8_t>;
    return i.run;
  }
  if (w.root == "mov" || w.root == "selp" || w.root == "slct") {  // floats are bits here
    const std::string_view bits = w.root == "slct" ? w.mods[0] : type;
    const std::string_view as = bits == "f32" || bits == "f16x2" || bits == "bf16x2" ? "b32"
                                : bits == "f64"                                      ? "b64"
                                : bits == "f16" || bits == "bf16"                    ? "b16"
                                                                                     : bits;
    bool known = false;
    with_integer(as, [&]<class T>(std::type_identity<T>) { known = pick<T>(w, i); });
    return known;
  }
  bool known = false;
  with_integer(type, [&]<class T>(std::type_identity<T>) { known = pick<T>(w, i); });
  return known;
}

}  // namespace ptx
