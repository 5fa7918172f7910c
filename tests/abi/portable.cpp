// A program for any x86-64, linked to an engine that brings kernels for further instructions: prints which it
// took, then numbers.
#include <cstdio>
#include <nax/core/further_kernels.hpp>
#include <string>

std::string portable();

int main() {
  std::puts(nax_shared::further_kernels ? nax_shared::further_kernels : "baseline");
  std::printf("%s", portable().c_str());
}
