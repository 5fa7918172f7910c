#pragma once

#include <functional>

#include "nax/core/array.hpp"

// Programs of control flow under every transform, against JAX's numbers. The transforms are compiled once, in
// programs.cpp; a program costs its body.
namespace lax_programs {

using A = nax::Array<double>;
using Program = std::function<A(const A&)>;

// Compares a function from a vector to a number with the records `<name>/...`, also under checkpoint, which
// must not change a gradient. `forward_only`: JAX has no reverse mode for it (nax has one: its gradient must
// equal the forward one).
void check(const char* name, const Program& f, bool forward_only = false);

}  // namespace lax_programs
