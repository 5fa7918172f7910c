#pragma once

#include <cstdint>
#include <optional>

#include "nax/backend/index_mode.hpp"
#include "nax/core/accelerator.hpp"
#include "nax/loops/convolution.hpp"
#include "nax/loops/factoring.hpp"
#include "nax/loops/fft_lines.hpp"
#include "nax/loops/leaf_steps.hpp"
#include "nax/loops/linear.hpp"
#include "nax/loops/linear_systems.hpp"
#include "nax/loops/lines.hpp"
#include "nax/loops/product.hpp"
#include "nax/loops/reduce_kind.hpp"
#include "nax/loops/row_functions.hpp"
#include "nax/loops/select_loop.hpp"
#include "nax/loops/windows.hpp"
#include "nax/rules/draw.hpp"
#include "nax/rules/sampler.hpp"

// Operations of a device besides expressions: data in, data out. Operands are addresses on `device`, dtypes
// and layouts; no parameter is an element type of C++. The host's are in backend/cpu/operations.hpp. Those of
// a GPU are compiled once a program, in the source file that the target nax::cuda adds to it; all other files
// reach them through this interface, whichever compiler saw them.
//
// Operands are collapsed over `shape` by the callee. Lines are of row-major data.
NAX_BEGIN
namespace backend {

using loops::BatchAxis, loops::Product, loops::ReduceKind;

// A matrix of a batch: element (i, j) of matrix b lies at data + (b * batch + i * row + j * column) elements.
struct Matrix {
  char* data;
  std::int64_t batch, row, column;
};

// Keys to draw from: an array on the device, or one.
struct Keys {
  const std::uint64_t* many;
  std::uint64_t one;
};

// Operations that a device may lack. Functions ask at their doors (need_part).
enum class Part : std::uint8_t {
  fft,
  convolutions,
  windows,
  factorisations,
  bins,
  samplers,
  permutations,
  softmax,  // functions of rows: softmax, log_softmax, logsumexp, cross entropy, their gradients
  moments   // variances, normalisation, their gradients
};

constexpr Part part_of(loops::RowFunction function) {
  switch (function) {
    case loops::RowFunction::softmax:
    case loops::RowFunction::log_softmax:
    case loops::RowFunction::logsumexp:
    case loops::RowFunction::softmax_gradient:
    case loops::RowFunction::log_softmax_gradient:
    case loops::RowFunction::cross_entropy:
    case loops::RowFunction::cross_entropy_gradient:
      return Part::softmax;
    case loops::RowFunction::variance:
    case loops::RowFunction::standardize:
    case loops::RowFunction::standardize_gradient:
    case loops::RowFunction::layer_norm_gradient:
    case loops::RowFunction::rms_norm:
    case loops::RowFunction::rms_norm_gradient:
      break;
  }
  return Part::moments;
}

class Operations {
 public:
  virtual bool has(Part part) const = 0;

  // to = from, converting where the stored types differ.
  virtual void copy(Device device, const Dims& shape, const loops::Operand& from,
                    const loops::Operand& to) = 0;

  // to = a + b, of one type.
  virtual void add(Device device, const Dims& shape, const loops::Operand& a, const loops::Operand& b,
                   const loops::Operand& to) = 0;

  // to, row-major, = the reduction of `from` over the axes that `reduced` marks, where `to` has stride 0. The
  // accumulators' type is that in which `to` is stored; no elements give the identity.
  virtual void reduce(Device device, ReduceKind kind, const Dims& shape, const Dims& reduced,
                      const loops::Operand& from, const loops::Operand& to) = 0;

  // c = a b for each matrix of a batch; of (m, k), (k, n) and (m, n).
  virtual void matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n,
                      std::int64_t k, const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate) = 0;
  // c = the products of matrices over `count` axes before them, added up over those that are summed. The
  // elements of c lie side by side. Where a device says nothing else, many calls of matmul.
  NAX_ENGINE_VIRTUAL virtual void contract(Device device, DType dtype, const Product& p,
                                           const BatchAxis* axes, int count, char* a, char* b, char* c,
                                           bool accumulate);

  // ---- places that indices name; index arrays are int64 on the device, row-major where given by address

  // The values of the loop = its data at the indices, and the other way, where of several values for a place
  // the last stays, or all are added in order. A loop without indices has no address of them.
  virtual void gather(Device device, const loops::SelectLoop& loop) = 0;
  virtual void scatter(Device device, const loops::SelectLoop& loop, bool add) = 0;
  // to = from, of any integer type, counted from the front of an axis; `to` is row-major. Returns whether an
  // index was dropped: yes, no, or none where only `to` says.
  virtual std::optional<bool> wrap_indices(Device device, IndexMode mode, std::int64_t extent,
                                           const Dims& shape, const loops::Operand& from,
                                           const loops::Operand& to) = 0;
  // to = a * extent + b.
  virtual void join_indices(Device device, std::int64_t extent, const Dims& shape, const loops::Operand& a,
                            const loops::Operand& b, const loops::Operand& to) = 0;
  // to = offsets with these strides, of row-major positions over these extents.
  virtual void index_offsets(Device device, std::int64_t n, const Dims& extents, const Dims& strides,
                             const std::int64_t* from, std::int64_t* to) = 0;
  // ranks = how many indices of its line equal each one and come before (or after) it.
  virtual void index_ranks(Device device, std::int64_t lines, std::int64_t n, bool after,
                           const std::int64_t* index, std::int64_t* ranks) = 0;
  // to = from where the rank is this one, dropped elsewhere.
  virtual void keep_ranked(Device device, std::int64_t n, const std::int64_t* ranks, std::int64_t rank,
                           const std::int64_t* from, std::int64_t* to) = 0;
  // Writes the places where the mask holds, ascending, to what `room` returns for their number.
  virtual void true_positions(Device device, std::int64_t n, const bool* mask, const Room& room) = 0;
  // to = 1 at the place in its line that the label of the line names, 0 elsewhere; labels of any integer
  // type.
  virtual void one_hot(Device device, const loops::Lines& lines, DType label, const char* labels, DType dtype,
                       char* to) = 0;

  // ---- lines of row-major arrays

  // to = the place in its line of the first greatest (least) element: the first NaN where there is one.
  virtual void arg_reduce(Device device, bool greatest, const loops::Lines& lines, DType dtype,
                          const char* from, std::int32_t* to) = 0;
  // Running sums or products, in the type of the result.
  virtual void scan(Device device, bool product, const loops::Lines& lines, bool reverse, DType from_type,
                    const char* from, DType to_type, char* to) = 0;
  // to = the place in its line of the greatest (least) element so far: the first of equal ones as the scan
  // goes; a NaN stays.
  virtual void running_best(Device device, bool greatest, const loops::Lines& lines, bool reverse,
                            DType dtype, const char* from, std::int64_t* to) = 0;
  // to[i] = factor[i] to[i - 1] + term[i].
  virtual void linear_scan(Device device, const loops::Lines& lines, bool reverse, DType dtype,
                           const char* factor, const char* term, char* to) = 0;
  // order = the places in its line from which each element of the sorted line comes; NaN is last. Stable.
  virtual void argsort(Device device, const loops::Lines& lines, DType dtype, bool descending,
                       const char* from, std::int32_t* order) = 0;
  // to = the sorted lines; dtype has an order.
  virtual void sort(Device device, const loops::Lines& lines, DType dtype, bool descending, const char* from,
                    char* to) = 0;
  // order = the places of the k greatest elements of each line, in descending order; lines.inner is 1.
  virtual void top_k(Device device, const loops::Lines& lines, DType dtype, std::int64_t k, const char* from,
                     std::int32_t* order) = 0;
  // The element at `rank` is where a sort would put it, none larger before it, none smaller behind.
  virtual void partition(Device device, const loops::Lines& lines, DType dtype, std::int64_t rank,
                         const char* from, char* to) = 0;
  virtual void argpartition(Device device, const loops::Lines& lines, DType dtype, std::int64_t rank,
                            const char* from, std::int32_t* order) = 0;
  // to = how many of the n sorted elements come before each of `count` ones (or, right, do not come after).
  virtual void search(Device device, DType dtype, bool right, std::int64_t n, const char* sorted,
                      std::int64_t count, const char* sought, std::int32_t* to) = 0;

  // ---- random numbers

  // out = `size` elements, n from each key.
  virtual void draw(Device device, const detail::Draw& draw, const Keys& keys, std::int64_t n, DType dtype,
                    std::int64_t size, char* out) = 0;
  // to = the keys that these make of those numbers.
  virtual void fold_in(Device device, std::int64_t n, const std::uint64_t* keys, const std::uint32_t* numbers,
                       std::uint64_t* to) = 0;

  // ---- parts that a device may lack (see has)

  // The transforms of lines of real numbers of dtype `real`, or of complex ones with such parts.
  inline virtual void fft(Device device, const loops::FftLines& lines, DType real, const char* from,
                          char* to);

  // Whether convolve() takes elements of this floating type as they are.
  virtual bool convolves(DType dtype) const { return dtype == DType::float32 || dtype == DType::float64; }
  // to = the part of a convolution of a and b; the weights' is added to what is there when `accumulate`.
  inline virtual void convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry,
                               DType dtype, const char* a, const char* b, char* to, bool accumulate);

  // to = the place of the first greatest (least) element of each window of row-major arrays, NaN before all
  // others; -1 where a window holds none.
  inline virtual void best_in_windows(Device device, const loops::Windows& windows, bool greatest,
                                      std::int64_t examples, DType dtype, const char* from, std::int64_t* to);

  // The factors of matrices, one address a result.
  inline virtual void factorise(Device device, const loops::Factoring& what, DType dtype, const char* from,
                                void* const* to);
  // rows (m a line) = the order that k swaps a line make of 0, 1, ... m - 1: row i with row swaps[i]. Returns
  // whether a swap names no row: yes, no, or none where the device does not say, which leaves such a swap
  // out.
  inline virtual std::optional<bool> order_of_swaps(Device device, std::int64_t lines, std::int64_t k,
                                                    std::int64_t m, const std::int32_t* swaps,
                                                    std::int32_t* rows);
  // x = a^-1 b for the matrices of a batch; a^-1 where b is null, of general matrices.
  inline virtual void solve(Device device, const loops::LinearSystems& systems, DType dtype, const char* a,
                            const char* b, char* x);

  // to (rows, length) = how often (int32) each number below `length` occurs in a row of n bins of this
  // integer type; with weights (n a row, of dtype `added`) their sums, in the type that such elements add up
  // in.
  inline virtual void count_bins(Device device, std::int64_t rows, std::int64_t n, DType type,
                                 const char* bins, DType added, const char* weights, std::int64_t length,
                                 char* to);

  // The function of row-major rows, of dtype float32 or float64; most_operands and most_results addresses.
  inline virtual void rows(Device device, const loops::Rows& what, DType dtype, const char* const* from,
                           char* const* to);

  // to = for each of `rows` keys the first `kept` of the shuffled positions of each line, int32 or int64.
  inline virtual void shuffle(Device device, const loops::Lines& lines, std::int64_t kept,
                              const std::uint64_t* keys, std::int64_t rows, DType dtype, char* to);

  // out = n elements from each of `rows` keys, by rejection. Row-major parameters have one for each.
  inline virtual void sample(Device device, nax::detail::Sampler kind, const std::uint64_t* keys,
                             std::int64_t rows, std::int64_t n, DType dtype, const char* const* parameters,
                             char* out);

 protected:
  ~Operations() = default;
};

// The tables of all platforms but the host's, by number; a library that brings one puts it here before main.
inline constinit Operations* provided_operations[platform_count] = {};
NAX_ENGINE Operations& host_operations();
inline Operations& operations(Device device) {
  Operations* const provided = provided_operations[static_cast<int>(device.platform)];
  return provided ? *provided : host_operations();
}

inline void Operations::fft(Device device, const loops::FftLines&, DType, const char*, char*) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::convolve(Device device, loops::ConvPart, const loops::ConvGeometry&, DType,
                                 const char*, const char*, char*, bool) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::best_in_windows(Device device, const loops::Windows&, bool, std::int64_t, DType,
                                        const char*, std::int64_t*) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::factorise(Device device, const loops::Factoring&, DType, const char*, void* const*) {
  nax::detail::throw_no_device_form(device);
}
inline std::optional<bool> Operations::order_of_swaps(Device device, std::int64_t, std::int64_t, std::int64_t,
                                                      const std::int32_t*, std::int32_t*) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::count_bins(Device device, std::int64_t, std::int64_t, DType, const char*, DType,
                                   const char*, std::int64_t, char*) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::sample(Device device, nax::detail::Sampler, const std::uint64_t*, std::int64_t,
                               std::int64_t, DType, const char* const*, char*) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::shuffle(Device device, const loops::Lines&, std::int64_t, const std::uint64_t*,
                                std::int64_t, DType, char*) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::rows(Device device, const loops::Rows&, DType, const char* const*, char* const*) {
  nax::detail::throw_no_device_form(device);
}
inline void Operations::solve(Device device, const loops::LinearSystems&, DType, const char*, const char*,
                              char*) {
  nax::detail::throw_no_device_form(device);
}

// Operations of GPUs that the host has in other forms.
class AcceleratorOperations : public Operations {
 public:
  // to = the sums of floating elements over the axes that `reduced` marks, divided by `divisor`.
  virtual void divided_sum(Device device, const Dims& shape, const Dims& reduced, const loops::Operand& from,
                           const loops::Operand& to, double divisor) = 0;
  // A step of an optimiser for `count` leaves of a floating dtype, none of them empty.
  virtual void step_leaves(Device device, DType dtype, const loops::StepNumbers& numbers,
                           const loops::LeafStep* leaves, int count) = 0;
  // c = the activation of a b plus a row of p.n biases, side by side; `before`, laid out as c, = what the
  // activation is applied to, where it is not null. Returns false, and does nothing, where no kernel does
  // this.
  virtual bool linear(Device /*device*/, DType /*dtype*/, const Product& /*p*/,
                      loops::Activation /*activation*/, const char* /*a*/, const char* /*b*/,
                      const char* /*bias*/, char* /*c*/, char* /*before*/) {
    return false;
  }
  // c = a b, and sums[j] = the sum of column j of b. Returns false, and does nothing, where no kernel does
  // this.
  virtual bool product_and_sums(Device /*device*/, DType /*dtype*/, const Product& /*p*/, const char* /*a*/,
                                const char* /*b*/, char* /*c*/, char* /*sums*/) {
    return false;
  }

 protected:
  ~AcceleratorOperations() = default;
};

inline AcceleratorOperations& accelerator_operations(Device device) {
  return static_cast<AcceleratorOperations&>(*provided_operations[static_cast<int>(device.platform)]);
}

}  // namespace backend
namespace detail {

// At the door of a function: throws DeviceError that names it where the device of an array lacks the part.
template <class... A>
void need_part(const char* function, backend::Part part, const A&... array) {
  const auto check = [&](Device device) {
    if (!backend::operations(device).has(part)) throw_no_device_form(function, device);
  };
  (check(array.device()), ...);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/operations-inl.hpp"
#include "nax/backend/operations-inl.hpp"
#endif
