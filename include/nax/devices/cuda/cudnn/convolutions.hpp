#pragma once

#include <cstdlib>
#include <cstring>

#include "nax/backend/operations.hpp"
#include "nax/core/matmul_precision.hpp"
#include "nax/devices/cuda/conv/convolution_library.hpp"
#include "nax/devices/cuda/cudnn/plan.hpp"
#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/device/streams.hpp"

// Convolutions by cuDNN. nax's weights (kernel..., c / groups, o) are copied into cuDNN's order
// (o, kernel..., c / groups) first, and gradients of them back; arrays of channels last stay as they are.
//
// This is cuDNN's older interface, of descriptors and heuristics. The graph interface has the same kernels,
// at several times the code, and fuses what nax would have to know before it calls.
NAX_BEGIN
namespace cudnn {

using cuda::Scratch;

// The weights as cuDNN wants them, over (groups, rows of a group, taps, columns of a group). Rows are outputs
// and columns inputs, the other way round where the convolution is transposed.
struct Weights {
  Dims shape;
  loops::Operand theirs, own;

  // `g`: nax's, not transposed.
  Weights(const loops::ConvGeometry& g, bool flipped, DType dtype, const char* data, const Scratch& room) {
    const std::int64_t inputs = g.c / g.groups, outputs = g.o / g.groups, taps = g.taps();
    const auto dims = [](std::int64_t groups, std::int64_t rows, std::int64_t taps, std::int64_t columns) {
      Dims d(1, groups);
      d.push_back(rows), d.push_back(taps), d.push_back(columns);
      return d;
    };
    const std::int64_t rows = flipped ? inputs : outputs, columns = flipped ? outputs : inputs;
    shape = dims(g.groups, rows, taps, columns);
    theirs = {const_cast<char*>(data), dims(outputs, flipped ? g.o : 1, inputs * g.o, flipped ? 1 : g.o),
              dtype, dtype};
    own = {room.data(), dims(rows * taps * columns, taps * columns, columns, 1), dtype, dtype};
  }
};

// The elements of x that a convolution reads, in x itself and in an array of the extents that cuDNN gets.
struct PaddedInput {
  Dims shape;
  loops::Operand theirs, own;
  bool empty = false;

  PaddedInput(const loops::ConvGeometry& g, const Problem& p, const char* data, const Scratch& room) {
    std::int64_t at_theirs = 0, at_own = 0, size_theirs = g.c, size_own = g.c;
    Dims extents(5, 1), from(5, 1), to(5, 1);
    extents[4] = g.c;
    for (int axis = 2; axis >= 0; --axis) {
      const std::int64_t first = std::max(0, p.shift[axis]), skipped = std::max(0, -p.shift[axis]);
      const std::int64_t count = std::min(g.in[axis] - skipped, p.in[axis] - first);
      const auto place = static_cast<std::size_t>(axis + 1);
      empty = empty || count <= 0;
      extents[place] = count, from[place] = size_theirs, to[place] = size_own;
      at_theirs += skipped * size_theirs, at_own += first * size_own;
      size_theirs *= g.in[axis], size_own *= p.in[axis];
    }
    extents[0] = g.n, from[0] = size_theirs, to[0] = size_own;
    const auto bytes = static_cast<std::int64_t>(dtype_size(p.dtype));
    shape = extents;
    theirs = {const_cast<char*>(data) + at_theirs * bytes, from, p.dtype, p.dtype};
    own = {room.data() + at_own * bytes, to, p.dtype, p.dtype};
  }
};

inline std::size_t bytes_of_input(const Problem& p) {
  std::size_t bytes = dtype_size(p.dtype) * static_cast<std::size_t>(p.n) * static_cast<std::size_t>(p.c);
  for (const int extent : p.in) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

// The call itself: `to` is x, y or w, whichever the part makes. Returns false where no kernel runs after all.
inline bool run(Device device, Plan& plan, const Problem& p, const char* x, const char* w, const char* y,
                char* to) {
  const cuda::StreamInUse stream = cuda::use(device);
  const cudnnHandle_t handle = Handles::of(device);
  check(cudnnSetStream(handle, stream), "cudnnSetStream");
  std::optional<Scratch> room;
  if (plan.workspace > 0) room.emplace(device, plan.workspace);
  void* const workspace = room ? room->data() : nullptr;
  const double wide[] = {1, 0};
  const float narrow[] = {1, 0};
  const bool is_wide = p.dtype == DType::float64;
  const void* const one = is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0];
  const void* const zero = is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1];
  cudnnStatus_t code = CUDNN_STATUS_SUCCESS;
  const char* call = "cudnnConvolutionForward";
  switch (p.part) {
    case loops::ConvPart::forward:
      code = cudnnConvolutionForward(handle, one, plan.x.get(), x, plan.w.get(), w, plan.convolution.get(),
                                     static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm), workspace,
                                     plan.workspace, zero, plan.y.get(), to);
      break;
    case loops::ConvPart::input:
      call = "cudnnConvolutionBackwardData";
      code =
          cudnnConvolutionBackwardData(handle, one, plan.w.get(), w, plan.y.get(), y, plan.convolution.get(),
                                       static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm), workspace,
                                       plan.workspace, zero, plan.x.get(), to);
      break;
    case loops::ConvPart::weights:
      call = "cudnnConvolutionBackwardFilter";
      code = cudnnConvolutionBackwardFilter(handle, one, plan.x.get(), x, plan.y.get(), y,
                                            plan.convolution.get(),
                                            static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm),
                                            workspace, plan.workspace, zero, plan.w.get(), to);
      break;
  }
  if (lacks_kernel(code)) {
    plan.found = false;  // from now on
    return false;
  }
  check(code, call);
  return true;
}

// A cuda::ConvolutionLibrary.
inline bool convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& given, DType dtype,
                     const char* a, const char* b, char* to, bool accumulate) {
  using enum loops::ConvPart;
  static const bool wanted = [] {
    const char* const said = std::getenv("NAX_CUDNN");
    return !said || std::strcmp(said, "0") != 0;
  }();
  if (!wanted) return false;
  const bool flipped = is_dilated(given);
  const auto geometry = flipped ? transposed(given) : std::optional(given);
  if (!geometry) return false;
  const loops::ConvGeometry& g = *geometry;
  if (flipped) {
    part = part == forward ? input : part == input ? forward : weights;
    if (part == weights) std::swap(a, b);
  }
  const auto problem = problem_of(part, g, dtype, detail::uses_tensor_float32(dtype), flipped);
  if (!problem) return false;
  Plan& plan = plan_for(device, *problem);
  if (!plan.found) return false;

  detail::Accelerator& accelerator = detail::accelerator_of(device);
  const char* const x = part == input ? to : a;
  const std::int64_t weights_size = g.taps() * (g.c / g.groups) * g.o;
  const Scratch own_weights(device, static_cast<std::size_t>(weights_size) * dtype_size(dtype));
  const Weights w(given, flipped, dtype, part == weights ? to : b, own_weights);
  if (part != weights) backend::run(device, ops::Copy{w.shape, w.theirs, w.own});

  std::optional<Scratch> room;
  std::optional<PaddedInput> padded;
  if (problem->copies) {
    const std::size_t bytes = bytes_of_input(*problem);
    room.emplace(device, bytes);
    padded.emplace(g, *problem, x, *room);
    if (part != input) {
      accelerator.clear(device, room->data(), bytes);
      if (!padded->empty) backend::run(device, ops::Copy{padded->shape, padded->theirs, padded->own});
    }
  }
  const char* const read = padded ? room->data() : x;
  switch (part) {
    case forward:
      return run(device, plan, *problem, read, own_weights.data(), nullptr, to);
    case input: {
      if (!run(device, plan, *problem, nullptr, own_weights.data(), a, padded ? room->data() : to))
        return false;
      if (!padded) return true;
      // Elements that no output reads have the gradient 0.
      const std::int64_t places = g.n * g.in[0] * g.in[1] * g.in[2] * g.c;
      accelerator.clear(device, to, static_cast<std::size_t>(places) * dtype_size(dtype));
      if (!padded->empty) backend::run(device, ops::Copy{padded->shape, padded->own, padded->theirs});
      return true;
    }
    case weights:
      if (!run(device, plan, *problem, read, nullptr, b, own_weights.data())) return false;
      if (accumulate)
        backend::run(device, ops::Add{w.shape, w.theirs, w.own, w.theirs});
      else
        backend::run(device, ops::Copy{w.shape, w.own, w.theirs});
      return true;
  }
  return false;
}

}  // namespace cudnn
NAX_END
