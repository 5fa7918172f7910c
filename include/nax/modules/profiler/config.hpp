#pragma once

#include <iostream>

#include "nax/core/devices.hpp"
#include "nax/core/version.hpp"

NAX_BEGIN
namespace detail {

#define NAX_TEXT_(...) #__VA_ARGS__
#define NAX_TEXT(...) NAX_TEXT_(__VA_ARGS__)

// How a file was compiled.
struct BuildFacts {
  const char* instructions = NAX_TEXT(NAX_ABI);
  const char* compiler =
#if defined(__VERSION__)
#if !defined(__clang__)
      "g++ "
#endif
      __VERSION__;
#else
      "unknown";
#endif
#if defined(NAX_CALLS_LIBRARY)
  const char* linked = "nax::nax";
#else
  const char* linked = "headers only";
#endif
#if defined(__OPTIMIZE__)
  bool optimised = true;
#else
  bool optimised = false;
#endif
};
#undef NAX_TEXT
#undef NAX_TEXT_

NAX_ENGINE void show_config(const BuildFacts& facts, std::ostream& out);

}  // namespace detail

// Prints how this file was compiled, and what the program found: version, compiler, instruction sets,
// processor, Eigen, LAPACK, machine code, threads, devices and memory. For reports of faults.
inline void show_config(std::ostream& out = std::cout) { detail::show_config(detail::BuildFacts(), out); }

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/profiler/config-inl.hpp"
#endif
