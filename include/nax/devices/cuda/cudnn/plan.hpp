#pragma once

#include <map>
#include <memory>

#include "nax/devices/cuda/cudnn/handle.hpp"
#include "nax/devices/cuda/cudnn/problem.hpp"

// Which of cuDNN's kernels computes a convolution, by its heuristics; each thread keeps the answers.
//
// Of the kernels that the heuristics name, best first, the first is taken whose sums have an order of their
// own (results repeat exactly) and whose workspace is bounded. float32 is multiplied in full unless
// set_matmul_precision says "tensorfloat32"; 16-bit types are multiplied by tensor cores and add up in
// float32.
NAX_BEGIN
namespace cudnn {

inline constexpr std::size_t most_workspace = std::size_t{256} << 20;

struct Plan {
  Tensor x, y;
  Filter w;
  Convolution convolution;
  int algorithm = 0;  // of the enumeration that belongs to the part
  std::size_t workspace = 0;
  bool found = false;
};

inline cudnnDataType_t type_of(DType dtype) {
  return dtype == DType::float64    ? CUDNN_DATA_DOUBLE
         : dtype == DType::float16  ? CUDNN_DATA_HALF
         : dtype == DType::bfloat16 ? CUDNN_DATA_BFLOAT16
                                    : CUDNN_DATA_FLOAT;
}

// (n, channels, extents...) as cuDNN names the axes, lying channels last.
inline Tensor tensor_of(const Problem& p, const int (&extents)[3], int channels) {
  int shape[5] = {p.n, channels}, strides[5] = {}, stride = channels;
  strides[1] = 1;
  for (int axis = 2, at = p.axes + 1; at >= 2; --axis, --at) {
    shape[at] = extents[axis];
    strides[at] = stride;
    stride *= extents[axis];
  }
  strides[0] = stride;
  Tensor made = make_tensor();
  check(cudnnSetTensorNdDescriptor(made.get(), type_of(p.dtype), p.axes + 2, shape, strides),
        "cudnnSetTensorNdDescriptor");
  return made;
}

// FMA_MATH alone keeps float32 from being rounded to TF32; DEFAULT_MATH may round it, and lets tensor cores
// of float64 multiply.
inline cudnnMathType_t math_of(const Problem& p) {
  if (p.dtype == DType::float32) return p.tensor_float32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  return p.dtype == DType::float64 ? CUDNN_DEFAULT_MATH : CUDNN_TENSOR_OP_MATH;
}

inline void describe(Plan& plan, const Problem& p) {
  plan.x = tensor_of(p, p.in, p.c);
  plan.y = tensor_of(p, p.out, p.o);
  int shape[5] = {p.o, p.c / p.groups};
  const int first = 3 - p.axes;
  std::copy(p.kernel + first, p.kernel + 3, shape + 2);
  plan.w = make_filter();
  check(cudnnSetFilterNdDescriptor(plan.w.get(), type_of(p.dtype), CUDNN_TENSOR_NHWC, p.axes + 2, shape),
        "cudnnSetFilterNdDescriptor");
  plan.convolution = make_convolution();
  check(cudnnSetConvolutionNdDescriptor(plan.convolution.get(), p.axes, p.pad + first, p.stride + first,
                                        p.dilation + first,
                                        p.flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
                                        p.dtype == DType::float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
        "cudnnSetConvolutionNdDescriptor");
  check(cudnnSetConvolutionGroupCount(plan.convolution.get(), p.groups), "cudnnSetConvolutionGroupCount");
  check(cudnnSetConvolutionMathType(plan.convolution.get(), math_of(p)), "cudnnSetConvolutionMathType");
}

// ask(most, count, results) is a call of the heuristics.
template <class Result, class Ask>
void choose(Plan& plan, const char* call, const Ask& ask) {
  constexpr int most = 16;
  Result results[most];
  int count = 0;
  const cudnnStatus_t code = ask(most, &count, results);
  if (lacks_kernel(code)) return;
  check(code, call);
  for (int i = 0; i < count && !plan.found; ++i) {
    const Result& one = results[i];
    if (one.status != CUDNN_STATUS_SUCCESS || one.determinism != CUDNN_DETERMINISTIC ||
        one.memory > most_workspace)
      continue;
    plan.algorithm = static_cast<int>(one.algo);
    plan.workspace = one.memory;
    plan.found = true;
  }
}

inline Plan make_plan(Device device, const Problem& p) {
  const cuda::OnCard on(device);  // the handle is of the card that is current while it is made
  Plan plan;
  describe(plan, p);
  const cudnnHandle_t handle = Handles::of(device);
  const auto x = plan.x.get(), y = plan.y.get();
  const auto w = plan.w.get();
  const auto convolution = plan.convolution.get();
  switch (p.part) {
    case loops::ConvPart::forward:
      choose<cudnnConvolutionFwdAlgoPerf_t>(
          plan, "cudnnGetConvolutionForwardAlgorithm_v7", [&](int most, int* count, auto* results) {
            return cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, convolution, y, most, count, results);
          });
      break;
    case loops::ConvPart::input:
      choose<cudnnConvolutionBwdDataAlgoPerf_t>(plan, "cudnnGetConvolutionBackwardDataAlgorithm_v7",
                                                [&](int most, int* count, auto* results) {
                                                  return cudnnGetConvolutionBackwardDataAlgorithm_v7(
                                                      handle, w, y, convolution, x, most, count, results);
                                                });
      break;
    case loops::ConvPart::weights:
      choose<cudnnConvolutionBwdFilterAlgoPerf_t>(plan, "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
                                                  [&](int most, int* count, auto* results) {
                                                    return cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                                                        handle, x, y, convolution, w, most, count, results);
                                                  });
      break;
  }
  return plan;
}

inline Plan& plan_for(Device device, const Problem& p) {
  using Key = std::pair<int, Problem>;
  auto& plans = detail::per_thread<std::map<Key, Plan>>();
  const Key key{cuda::card_of(device), p};
  if (const auto known = plans.find(key); known != plans.end()) return known->second;
  if (plans.size() >= 1024) plans.clear();  // a program whose shapes never repeat
  return plans.emplace(key, make_plan(device, p)).first->second;
}

}  // namespace cudnn
NAX_END
