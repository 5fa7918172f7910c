#pragma once

#include <string>
#include <vector>

#include "nax/formula/formula.hpp"

// A formula as the text of a kernel, in CUDA C++ that a host's compiler takes, too. Each step is one
// statement with the rounding that `interpret` gives it: products and sums are fused where the formula says
// fma, so the text is compiled without contraction (--fmad=false, -ffp-contract=off). Functions of lanes are
// called by their names, as the compiler's library has them.
//
// The kernel nax_formula takes its parameters as one struct of 8-byte words, in this order:
//   positions; elements along the only axis of a loop in pieces;
//   the extents of `rank` axes; for rank > 1 the magic numbers and shifts of their divisors (cuda::Divisor);
//   for each operand its address and `rank` strides in bytes; the numbers, a word each: those of a formula
//   are doubles, others lie in their first bytes.
// On the host nax_call(words) runs all positions.
NAX_BEGIN
namespace formula {

enum class TextAccess : unsigned char {
  unread,    // takes no part
  row,       // elements lie next to each other along the last axis, at addresses that pieces may have
  repeated,  // one element along the last axis
  strided    // anywhere
};
struct TextOperand {
  DType stored;  // no complex one
  TextAccess access;

  bool operator==(const TextOperand&) const = default;
};
struct TextRequest {
  const Formula* formula;             // lowered
  int leaves, numbers;                // inputs [leaves, leaves + numbers) are parameters, not operands
  std::vector<TextOperand> operands;  // the other inputs, in order, then the results
  int rank;                           // of the loop
  int per;                            // elements of a position along the last axis; > 1: none is strided
};

inline constexpr int text_block_threads = 256;

// Computations as text: what stands between loads and stores.
struct TextBody {
  struct Input {
    std::string type;
    std::string number;  // of a parameter, of the word $; empty: an operand
    bool read = false;
  };
  struct Result {
    std::string type, value;
  };
  std::string functions;   // that statements call
  std::string statements;  // element j of input i is xi[j]
  std::vector<Input> inputs;
  std::vector<Result> results;
};
// Throws ValueError for a formula that is not lowered, or calls a function that has no text.
NAX_ENGINE TextBody text_body(const Formula& f, int leaves, int numbers);
// `operands`: of the inputs that are no parameters, in order, then of the results.
NAX_ENGINE std::string kernel_text(const TextBody& body, const std::vector<TextOperand>& operands, int rank,
                                   int per);

NAX_ENGINE std::string kernel_text(const TextRequest& request);

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/text-inl.hpp"
#endif
