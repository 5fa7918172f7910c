#pragma once

#include <cstring>
#include <memory>
#include <string>

#include "nax/ops/call.hpp"

// A table of all operations, for code that writes calls down, prints or verifies them.
NAX_BEGIN
namespace ops {

struct Facts {
  const char* (*name)(const void* form);
  void (*describe)(const void* form, Operands& operands);
  std::string (*identity)(const void* form);  // bytes that tell forms of equal operands apart
  double (*flops)(const void* form);
  std::shared_ptr<const void> (*keep)(const void* form);  // a copy
  bool (*may_fail)(const void* form);
};

namespace detail {

template <class T>
void append_bytes(std::string& to, const T& x) {
  if constexpr (requires { x.begin(); }) {
    append_bytes(to, x.size());
    for (const auto& one : x) append_bytes(to, one);
  } else {
    static_assert(std::is_trivially_copyable_v<T>);
    to.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
}

template <class Form>
struct FormFacts {
  static const Form& of(const void* form) { return *static_cast<const Form*>(form); }
  static const char* name(const void* form) {
    if constexpr (requires { of(form).name(); })
      return of(form).name();
    else
      return OpOf<Form>::name;
  }
  static void describe(const void* form, Operands& operands) { of(form).describe(operands); }
  static std::string identity(const void* form) {
    std::string bytes;
    of(form).fields([&](const auto&... field) { (append_bytes(bytes, field), ...); });
    return bytes;
  }
  static double flops(const void* form) {
    if constexpr (requires { of(form).flops(); })
      return of(form).flops();
    else
      return 0;
  }
  static std::shared_ptr<const void> keep(const void* form) { return std::make_shared<const Form>(of(form)); }
  static bool may_fail(const void* form) {
    if constexpr (requires { of(form).may_fail(); })
      return of(form).may_fail();
    else
      return false;
  }
  static constexpr Facts facts{name, describe, identity, flops, keep, may_fail};
};

}  // namespace detail

inline const Facts& facts(Op op) {
#define NAX_FACTS(name, Form) &detail::FormFacts<Form>::facts,
  static constexpr const Facts* table[] = {NAX_OPERATIONS(NAX_FACTS)};
#undef NAX_FACTS
  return *table[static_cast<int>(op)];
}

}  // namespace ops
NAX_END
