#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "nax/core/error.hpp"

// A fuzzer consists of seeds, from which mutations start, and a function that takes any bytes. libFuzzer
// drives it under clang (libfuzzer.cpp), a loop of mutations elsewhere (mutations.cpp); both take -runs=,
// -max_total_time=, -seed= and names of files to try once.
namespace fuzz {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> seeds();

// Checks a condition that must hold for every input. (Not assert: release builds fuzz too.)
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

// Returns whether f reads its input. A malformed file is an IoError; any other exception ends the fuzzer.
template <class F>
bool reads(const F& f) {
  try {
    f();
    return true;
  } catch (const nax::IoError&) {
    return false;
  } catch (const std::exception& e) {
    must(false, e.what());
  }
  return false;
}

// `size` bytes behind a first one, by which a fuzzer chooses what it does with them.
template <class Container>
Bytes chosen(int choice, const Container& bytes) {
  Bytes out{static_cast<std::uint8_t>(choice)};
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
