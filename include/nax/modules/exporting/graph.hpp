#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nax/core/dtype.hpp"
#include "nax/core/shape.hpp"

// The graph as which a recorded function is written to files of other systems.
//
// A node is a whole row-major array: its dtype, its shape, the nodes that it is made of, which come before
// it. There are no strides and no places: operands of steps become nodes by reshape, transpose, slice, expand
// and take (operands.hpp). Operands of elementwise nodes have the node's shape, or 1 along some of its axes,
// or lack first axes. Equal nodes are one. C and ONNX write every kind of node but some functions, FFTs
// and factorisations, StableHLO all but some functions.
NAX_BEGIN
namespace io::detail {

// name, ONNX's operator, StableHLO's operation; null where a system has none, and gets what computes it
#define NAX_ELEMENTWISE_NODES(X)                       \
  X(negative, "Neg", "stablehlo.negate")               \
  X(absolute, "Abs", "stablehlo.abs")                  \
  X(sign, "Sign", "stablehlo.sign")                    \
  X(sqrt, "Sqrt", "stablehlo.sqrt")                    \
  X(floor, "Floor", "stablehlo.floor")                 \
  X(ceil, "Ceil", "stablehlo.ceil")                    \
  X(rint, "Round", "stablehlo.round_nearest_even")     \
  X(exp, "Exp", "stablehlo.exponential")               \
  X(log, "Log", "stablehlo.log")                       \
  X(tanh, "Tanh", "stablehlo.tanh")                    \
  X(expit, "Sigmoid", "stablehlo.logistic")            \
  X(sin, "Sin", "stablehlo.sine")                      \
  X(cos, "Cos", "stablehlo.cosine")                    \
  X(tan, "Tan", "chlo.tan")                            \
  X(asin, "Asin", "chlo.asin")                         \
  X(acos, "Acos", "chlo.acos")                         \
  X(atan, "Atan", "chlo.atan")                         \
  X(sinh, "Sinh", "chlo.sinh")                         \
  X(cosh, "Cosh", "chlo.cosh")                         \
  X(asinh, "Asinh", "chlo.asinh")                      \
  X(acosh, "Acosh", "chlo.acosh")                      \
  X(atanh, "Atanh", "chlo.atanh")                      \
  X(erf, "Erf", "chlo.erf")                            \
  X(erfc, nullptr, "chlo.erfc")                        \
  X(lgamma, nullptr, "chlo.lgamma")                    \
  X(exp2, nullptr, nullptr)                            \
  X(expm1, nullptr, "stablehlo.exponential_minus_one") \
  X(log2, nullptr, nullptr)                            \
  X(log10, nullptr, nullptr)                           \
  X(log1p, nullptr, "stablehlo.log_plus_one")          \
  X(cbrt, nullptr, "stablehlo.cbrt")                   \
  X(trunc, nullptr, nullptr)                           \
  X(signbit, nullptr, nullptr)                         \
  X(logical_not, "Not", "stablehlo.not")               \
  X(add, "Add", "stablehlo.add")                       \
  X(subtract, "Sub", "stablehlo.subtract")             \
  X(multiply, "Mul", "stablehlo.multiply")             \
  X(divide, "Div", "stablehlo.divide")                 \
  X(maximum, "Max", "stablehlo.maximum")               \
  X(minimum, "Min", "stablehlo.minimum")               \
  X(power, "Pow", "stablehlo.power")                   \
  X(hypot, nullptr, nullptr)                           \
  X(fmod, "Mod", "stablehlo.remainder")                \
  X(copysign, nullptr, nullptr)                        \
  X(shift_left, nullptr, "stablehlo.shift_left")       \
  X(shift_right, nullptr, "stablehlo.shift_right")     \
  X(real, nullptr, "stablehlo.real")                   \
  X(imag, nullptr, "stablehlo.imag")                   \
  X(pair, nullptr, "stablehlo.complex")                \
  X(logical_and, "And", "stablehlo.and")               \
  X(logical_or, "Or", "stablehlo.or")                  \
  X(logical_xor, "Xor", "stablehlo.xor")               \
  X(equal, "Equal", "stablehlo.compare")               \
  X(less, "Less", "stablehlo.compare")                 \
  X(less_equal, "LessOrEqual", "stablehlo.compare")    \
  X(select, "Where", "stablehlo.select") /* of a truth, and two of one dtype */

// Others, with what `numbers` says.
#define NAX_OTHER_NODES(X)                                                                                   \
  X(argument)                                                                                                \
  X(constant)                                                                                                \
  X(cast)                                                                                                    \
  X(reshape)                                                                                                 \
  X(transpose)   /* numbers: which axis of the operand each is */                                            \
  X(slice)       /* first, end and step of each axis */                                                      \
  X(reverse)     /* axes */                                                                                  \
  X(expand)      /* of an operand of as many axes or fewer */                                                \
  X(concatenate) /* axis */                                                                                  \
  X(matmul)      /* of operands with equal first axes */                                                     \
  X(sum)         /* axes, which stay with extent 1; so of the next three */                                  \
  X(product)                                                                                                 \
  X(max)                                                                                                     \
  X(min)                                                                                                     \
  X(cumsum)  /* axis, is it from the end? */                                                                 \
  X(argmax)  /* axis, which goes; the first of equal ones, as int32 */                                       \
  X(take)    /* of a table and indices in range: table[indices], along the first axis */                     \
  X(scatter) /* of a flat array, flat indices and flat values: these in its places */                        \
  X(scatter_add)                                                                                             \
  X(top)         /* axis, k, are they the greatest?: values in order */                                      \
  X(top_indices) /* their indices, as int64 */                                                               \
  X(convolve)    /* x (n, spatial..., c) and w (spatial..., c / groups, o); see ConvNumbers */               \
  X(max_pool)    /* (n, spatial..., c); as ConvNumbers, without groups; the window is last */                \
  X(softmax)     /* along the last axis */                                                                   \
  X(log_softmax)                                                                                             \
  X(fft)        /* of lines along the last axis; loops::FftKind, is it inverse?, n; inverse ones by 1 / n */ \
  X(cholesky)   /* of the lower triangles of matrices; the other one is not determined */                    \
  X(solve)      /* of triangular matrices, and right sides: lower?, is the diagonal 1? */                    \
  X(layer_norm) /* x, scale and bias along the last axis; `number` is added to variances */                  \
  X(parameter)  /* of a loop's body or a branch, flat: its number, and which: a carry, a row, a capture */   \
  X(loop)       /* see LoopNumbers */                                                                        \
  X(branches)   /* see BranchNumbers */                                                                      \
  X(part)       /* a result of a loop: which, of the last carries and the arrays of rows; or of branches */

enum class NodeKind : unsigned char {
#define NAX_NODE(name, ...) name,
  NAX_ELEMENTWISE_NODES(NAX_NODE) NAX_OTHER_NODES(NAX_NODE)
#undef NAX_NODE
};
constexpr bool is_elementwise(NodeKind kind) { return kind <= NodeKind::select; }

// The form that a graph is written in. Softmax and layer norm are nodes but for StableHLO.
enum class System : unsigned char { onnx, stablehlo, c };

constexpr bool has_function(System system, NodeKind kind) {
  constexpr const char* names[][2] = {
#define NAX_NODE(name, onnx, stablehlo) {onnx, stablehlo},
      NAX_ELEMENTWISE_NODES(NAX_NODE)
#undef NAX_NODE
  };
  return system == System::c || names[static_cast<int>(kind)][static_cast<int>(system)] != nullptr;
}

struct Node {
  NodeKind kind;
  std::vector<int> inputs;
  DType dtype;
  Dims shape;
  std::vector<std::int64_t> numbers = {};
  double number = 0;
  const void* data = nullptr;  // of a constant
};

// The numbers of a convolution or a pool: the groups, then five an axis; of a pool the window's extents
// follow.
struct ConvNumbers {
  const std::int64_t* from;
  std::int64_t groups() const { return from[0]; }
  std::int64_t stride(std::size_t axis) const { return from[1 + 5 * axis]; }
  std::int64_t low(std::size_t axis) const { return from[2 + 5 * axis]; }
  std::int64_t high(std::size_t axis) const { return from[3 + 5 * axis]; }
  std::int64_t lhs(std::size_t axis) const { return from[4 + 5 * axis]; }
  std::int64_t rhs(std::size_t axis) const { return from[5 + 5 * axis]; }
};

// The numbers of a loop. Its inputs are the first carries, arrays whose rows its turns read, and of its body,
// whose nodes stand before it, the next carries and rows of results. Turns go over rows from the last where
// it is reversed. A loop of no known turns asks before each: the last input is then the answer, a 0-d truth,
// of nodes whose parameters are the carries by the condition's own number; it has no rows.
struct LoopNumbers {
  const std::int64_t* from;
  std::int64_t number() const { return from[0]; }
  bool asks() const { return from[1] < 0; }
  std::int64_t turns() const { return from[1]; }
  bool reversed() const { return !asks() && from[2] != 0; }
  std::int64_t condition() const { return asks() ? from[2] : -1; }
  std::size_t carries() const { return static_cast<std::size_t>(from[3]); }
  std::size_t rows() const { return static_cast<std::size_t>(from[4]); }
  std::size_t results() const { return static_cast<std::size_t>(from[5]); }  // arrays of rows
  std::int64_t row(std::size_t i) const { return from[6 + i]; }  // the parameter of an array's rows
};

// The numbers of a choice among branches. Its inputs are which one it is, an int64 in range, arrays that the
// branches read, flat, and the results of each branch, whose nodes stand before it: those that depend on its
// parameters, which are numbered as the arrays are.
struct BranchNumbers {
  const std::int64_t* from;
  std::size_t branches() const { return static_cast<std::size_t>(from[0]); }
  std::size_t results() const { return static_cast<std::size_t>(from[1]); }
  std::size_t captured() const { return static_cast<std::size_t>(from[2]); }
  std::int64_t number(std::size_t branch) const { return from[3 + branch]; }
  // The input that is a result of a branch.
  std::size_t result(std::size_t branch, std::size_t k) const {
    return 1 + captured() + branch * results() + k;
  }
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<int> arguments, results;
  std::vector<std::shared_ptr<const char[]>> held;  // of constants
  std::map<const void*, std::string> names;         // of constants, by their data
  std::map<const void*, const void*> originals;     // of constants that stand for others, by their data

  const Node& operator[](int at) const { return nodes[static_cast<std::size_t>(at)]; }
  // Each appends a node and returns its number, or that of an equal one.
  NAX_ENGINE int add(Node node);
  NAX_ENGINE int elementwise(NodeKind kind, std::vector<int> inputs, DType dtype);
  int elementwise(NodeKind kind, std::vector<int> inputs) {
    const DType dtype = (*this)[inputs.back()].dtype;
    return elementwise(kind, std::move(inputs), dtype);
  }
  NAX_ENGINE int constant(const void* data, DType dtype, const Dims& shape);
  // Copies the bytes.
  NAX_ENGINE int own_constant(const void* data, DType dtype, const Dims& shape);
  NAX_ENGINE int number(double value, DType dtype);
  // Floats become integers as astype() has it: ONNX and C leave NaN and what is out of range open.
  NAX_ENGINE int cast(int x, DType dtype);
  NAX_ENGINE int reshape(int x, const Dims& shape);
  NAX_ENGINE int transpose(int x, const std::vector<std::int64_t>& axes);
  NAX_ENGINE int slice(int x, const Dims& first, const Dims& end, const Dims& step);
  NAX_ENGINE int expand(int x, const Dims& shape);
  NAX_ENGINE int reduce(NodeKind kind, int x, const std::vector<std::int64_t>& axes);
  // The nodes that the results need, in order.
  NAX_ENGINE std::vector<int> live() const;
  // Of each node the number of the innermost loop in whose turns it differs; -1 outside loops.
  NAX_ENGINE std::vector<std::int64_t> homes() const;

  System system = System::c;
  std::int64_t loops = 0;  // how many have begun

 private:
  NAX_ENGINE int rounded_towards_zero(int x, DType dtype);
  std::map<std::string, int> known_;
};

NAX_ENGINE std::int64_t elements_of(const Dims& shape);

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/exporting/graph-inl.hpp"
#endif
