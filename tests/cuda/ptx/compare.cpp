#include "cuda/ptx/handlers.hpp"
#include "cuda/ptx/numbers.hpp"

// setp and set; tests of classes of floating numbers.
namespace ptx {
namespace {

enum Comparison : std::uint8_t {
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  ordered,
  unordered
};
struct Relation {
  Comparison comparison;
  bool or_nan;  // true where an operand is NaN
};

bool relation_of(std::string_view name, Relation& r) {
  static constexpr struct {
    std::string_view name;
    Relation relation;
  } all[] = {{"eq", {equal, false}},         {"ne", {unequal, false}},    {"lt", {less, false}},
             {"le", {less_equal, false}},    {"gt", {greater, false}},    {"ge", {greater_equal, false}},
             {"lo", {less, false}},          {"ls", {less_equal, false}}, {"hi", {greater, false}},
             {"hs", {greater_equal, false}}, {"equ", {equal, true}},      {"neu", {unequal, true}},
             {"ltu", {less, true}},          {"leu", {less_equal, true}}, {"gtu", {greater, true}},
             {"geu", {greater_equal, true}}, {"num", {ordered, false}},   {"nan", {unordered, true}}};
  for (const auto& one : all)
    if (one.name == name) return r = one.relation, true;
  return false;
}

template <class T>
bool holds(Relation r, T a, T b) {
  if (a != a || b != b) return r.or_nan;
  switch (r.comparison) {
    case equal:
      return a == b;
    case unequal:
      return a != b;
    case less:
      return a < b;
    case less_equal:
      return a <= b;
    case greater:
      return a > b;
    case greater_equal:
      return a >= b;
    case ordered:
      return true;
    case unordered:
      return false;
  }
  return false;
}

// Bits of mode: 0-2 comparison, 3 true for NaN, 4-5 how it joins with a predicate. Destinations: at[0],
// at[1]; operands: at[2], at[3], and the predicate at[4].
enum : std::uint8_t { join_and = 1, join_or = 2, join_xor = 3 };
template <class T>
T compared(const Thread& t, std::uint32_t slot) {
  return t.get<T>(slot);
}
template <class T>
bool result_of(const Thread& t, const Instruction& i) {
  const Relation r{static_cast<Comparison>(i.mode & 7), (i.mode & 8) != 0};
  if constexpr (is_small_float<T>)
    return holds(r, widen(t.get<T>(i.at[2])), widen(t.get<T>(i.at[3])));
  else if constexpr (std::is_same_v<T, float>)
    return holds(r, flush(t.get<T>(i.at[2]), i.bytes), flush(t.get<T>(i.at[3]), i.bytes));
  else
    return holds(r, t.get<T>(i.at[2]), t.get<T>(i.at[3]));
}
bool joined(const Thread& t, const Instruction& i, bool result) {
  const unsigned join = i.mode >> 4 & 3;
  if (join == 0) return result;
  const bool other = t.predicate(i.at[4]) != ((i.negated >> 4 & 1) != 0);
  return join == join_and ? result && other : join == join_or ? result || other : result != other;
}
template <class T>
void set_predicate(Thread& t, const Instruction& i) {
  const bool result = result_of<T>(t, i);
  const bool first = joined(t, i, result), second = joined(t, i, !result);
  if (i.at[0] != no_slot) t.put<std::uint64_t>(i.at[0], first);
  if (i.at[1] != no_slot) t.put<std::uint64_t>(i.at[1], second);
}
// As all bits, or as 1.0f where is_signed is false.
template <class T>
void set_number(Thread& t, const Instruction& i) {
  const bool result = joined(t, i, result_of<T>(t, i));
  if (i.is_signed)
    t.put<std::uint32_t>(i.at[0], result ? ~std::uint32_t{0} : 0);
  else
    t.put<float>(i.at[0], result ? 1.f : 0.f);
}

template <int wanted>
void test_class(Thread& t, const Instruction& i) {
  const double x = i.bytes == 8 ? t.get<double>(i.at[1]) : static_cast<double>(t.get<float>(i.at[1]));
  const bool tiny = i.bytes == 8 ? std::fpclassify(t.get<double>(i.at[1])) == FP_SUBNORMAL
                                 : std::fpclassify(t.get<float>(i.at[1])) == FP_SUBNORMAL;
  const bool result = wanted == 0   ? std::isfinite(x)
                      : wanted == 1 ? std::isinf(x)
                      : wanted == 2 ? !std::isnan(x)
                      : wanted == 3 ? std::isnan(x)
                      : wanted == 4 ? std::isfinite(x) && !tiny && x != 0
                                    : tiny;
  t.put<std::uint64_t>(i.at[0], result);
}

}  // namespace

bool decode_compare(const Words& w, Instruction& i) {
  if (w.root == "testp") {
    i.bytes = w.type() == "f64" ? 8 : 4;
    const std::string_view what = w.mods[0];
    i.run = what == "finite"       ? test_class<0>
            : what == "infinite"   ? test_class<1>
            : what == "number"     ? test_class<2>
            : what == "notanumber" ? test_class<3>
            : what == "normal"     ? test_class<4>
                                   : test_class<5>;
    return true;
  }
  if (w.root != "setp" && w.root != "set") return false;
  Relation r;
  if (w.mods.empty() || !relation_of(w.mods[0], r)) return false;
  i.mode = static_cast<std::uint8_t>(r.comparison | (r.or_nan ? 8 : 0));
  if (w.has("and")) i.mode |= join_and << 4;
  if (w.has("or")) i.mode |= join_or << 4;
  if (w.has("xor")) i.mode |= join_xor << 4;
  i.bytes = w.has("ftz") ? flushes : 0;
  const bool sets = w.root == "set";
  if (sets) {
    const std::string_view to = w.mods[w.mods.size() - 2];
    if (to != "f32" && to != "u32" && to != "s32") return false;
    i.is_signed = to != "f32";
  }
  const auto choose = [&]<class T>(std::type_identity<T>) {
    i.run = sets ? set_number<T> : set_predicate<T>;
  };
  return with_integer(w.type(), choose) || with_float(w.type(), choose);
}

}  // namespace ptx
