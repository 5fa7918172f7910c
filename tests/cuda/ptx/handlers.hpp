#pragma once

#include <type_traits>

#include "cuda/ptx/thread.hpp"

// Handlers from functions of numbers.
namespace ptx {

template <auto f, class R, class A>
void unary(Thread& t, const Instruction& i) {
  t.put<R>(i.at[0], static_cast<R>(f(t.get<A>(i.at[1]))));
}
template <auto f, class R, class A, class B>
void binary(Thread& t, const Instruction& i) {
  t.put<R>(i.at[0], static_cast<R>(f(t.get<A>(i.at[1]), t.get<B>(i.at[2]))));
}
template <auto f, class R, class A, class B, class C>
void ternary(Thread& t, const Instruction& i) {
  t.put<R>(i.at[0], static_cast<R>(f(t.get<A>(i.at[1]), t.get<B>(i.at[2]), t.get<C>(i.at[3]))));
}

// f(type_identity of the C++ type) for a type of PTX; false where it is of another family.
template <class F>
bool with_integer(std::string_view type, const F& f) {
  if (type == "s16") return f(std::type_identity<std::int16_t>()), true;
  if (type == "u16" || type == "b16") return f(std::type_identity<std::uint16_t>()), true;
  if (type == "s32") return f(std::type_identity<std::int32_t>()), true;
  if (type == "u32" || type == "b32") return f(std::type_identity<std::uint32_t>()), true;
  if (type == "s64") return f(std::type_identity<std::int64_t>()), true;
  if (type == "u64" || type == "b64") return f(std::type_identity<std::uint64_t>()), true;
  return false;
}
template <class F>
bool with_small_integer(std::string_view type, const F& f) {
  if (type == "s8") return f(std::type_identity<std::int8_t>()), true;
  if (type == "u8" || type == "b8") return f(std::type_identity<std::uint8_t>()), true;
  return with_integer(type, f);
}

// Integers that wrap around.
template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
struct WiderOf;
template <>
struct WiderOf<std::int16_t> : std::type_identity<std::int32_t> {};
template <>
struct WiderOf<std::uint16_t> : std::type_identity<std::uint32_t> {};
template <>
struct WiderOf<std::int32_t> : std::type_identity<std::int64_t> {};
template <>
struct WiderOf<std::uint32_t> : std::type_identity<std::uint64_t> {};
template <>
struct WiderOf<std::int64_t> : std::type_identity<__int128> {};
template <>
struct WiderOf<std::uint64_t> : std::type_identity<unsigned __int128> {};
template <class T>
using Wider = typename WiderOf<T>::type;

}  // namespace ptx
