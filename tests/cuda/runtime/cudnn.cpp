#include "cuda/runtime/cudnn.hpp"

#include <cudnn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cuda/runtime/runtime.hpp"
#include "nax/core/half.hpp"

namespace cudnn_stand_in {

Kernels kernels = Kernels::all;
long convolutions = 0, live_objects = 0;
bool in_full = false;

constexpr std::size_t workspace_bytes = 768;
constexpr int algorithm = 1;  // of each part

}  // namespace cudnn_stand_in

using namespace cudnn_stand_in;

struct cudnnContext {
  cudaStream_t stream = nullptr;
  int card = -1;
};
// Axes are (n, c, spatial...); of filters (o, c, spatial...).
struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int axes = 0, shape[5] = {}, strides[5] = {};
  std::size_t bytes() const;
};
struct cudnnFilterStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int axes = 0, shape[5] = {};
  std::size_t bytes() const;
};
struct cudnnConvolutionStruct {
  int axes = 0, pad[3] = {}, stride[3] = {}, dilation[3] = {}, groups = 1;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  bool flips = false;
};

namespace {

std::size_t size_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}
bool is_known(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF ||
         type == CUDNN_DATA_BFLOAT16;
}

struct Convolution {
  cudnnTensorStruct x, y;
  cudnnFilterStruct w;
  cudnnConvolutionStruct how;

  // Checks, as cuDNN does, that the descriptors belong together.
  bool is_valid() const {
    const bool wide = x.type == CUDNN_DATA_DOUBLE;
    if (x.type != y.type || x.type != w.type || x.axes != y.axes || x.axes != w.axes ||
        how.axes != x.axes - 2 || how.compute != (wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
      return false;
    if (x.shape[0] != y.shape[0] || x.shape[1] != w.shape[1] * how.groups || y.shape[1] != w.shape[0] ||
        w.shape[0] % how.groups != 0)
      return false;
    for (int axis = 0; axis < how.axes; ++axis) {
      const int reach = (w.shape[axis + 2] - 1) * how.dilation[axis] + 1;
      const int padded = x.shape[axis + 2] + 2 * how.pad[axis];
      if (padded < reach || (padded - reach) / how.stride[axis] + 1 != y.shape[axis + 2]) return false;
    }
    return lies_channels_last(x) && lies_channels_last(y);
  }

  // Calls f(place in x, place in w, place in y) for each product of elements.
  template <class F>
  void for_each(const F& f) const {
    const int inputs = w.shape[1], outputs = w.shape[0] / how.groups;
    int taps = 1, places = 1;
    for (int axis = 2; axis < w.axes; ++axis) taps *= w.shape[axis], places *= y.shape[axis];
    for (int n = 0; n < x.shape[0]; ++n)
      for (int o = 0; o < w.shape[0]; ++o)
        for (int place = 0; place < places; ++place)
          for (int tap = 0; tap < taps; ++tap) {
            std::int64_t from = std::int64_t{n} * x.strides[0], to = std::int64_t{n} * y.strides[0] + o;
            bool inside = true;
            for (int axis = how.axes - 1, p = place, k = tap; axis >= 0; --axis) {
              const int at = p % y.shape[axis + 2], of = k % w.shape[axis + 2];
              p /= y.shape[axis + 2], k /= w.shape[axis + 2];
              const int reads = how.flips ? w.shape[axis + 2] - 1 - of : of;
              const int read = at * how.stride[axis] + reads * how.dilation[axis] - how.pad[axis];
              inside = inside && read >= 0 && read < x.shape[axis + 2];
              from += std::int64_t{read} * x.strides[axis + 2];
              to += std::int64_t{at} * y.strides[axis + 2];
            }
            if (!inside) continue;
            for (int i = 0; i < inputs; ++i)
              f(from + o / outputs * inputs + i, (std::int64_t{o} * taps + tap) * inputs + i, to);
          }
  }

 private:
  static bool lies_channels_last(const cudnnTensorStruct& t) {
    int stride = t.shape[1];
    if (t.strides[1] != 1) return false;
    for (int axis = t.axes - 1; axis >= 2; stride *= t.shape[axis--])
      if (t.strides[axis] != stride) return false;
    return t.strides[0] == stride;
  }
};

double get(const char* data, cudnnDataType_t type, std::int64_t i) {
  if (type == CUDNN_DATA_DOUBLE) return reinterpret_cast<const double*>(data)[i];
  if (type == CUDNN_DATA_FLOAT) return static_cast<double>(reinterpret_cast<const float*>(data)[i]);
  if (type == CUDNN_DATA_HALF)
    return static_cast<double>(static_cast<float>(reinterpret_cast<const nax::half*>(data)[i]));
  return static_cast<double>(static_cast<float>(reinterpret_cast<const nax::bfloat16*>(data)[i]));
}
void put(char* data, cudnnDataType_t type, std::int64_t i, double x) {
  if (type == CUDNN_DATA_DOUBLE)
    reinterpret_cast<double*>(data)[i] = x;
  else if (type == CUDNN_DATA_FLOAT)
    reinterpret_cast<float*>(data)[i] = static_cast<float>(x);
  else if (type == CUDNN_DATA_HALF)
    reinterpret_cast<nax::half*>(data)[i] = static_cast<nax::half>(static_cast<float>(x));
  else
    reinterpret_cast<nax::bfloat16*>(data)[i] = static_cast<nax::bfloat16>(static_cast<float>(x));
}

// Is it memory of a card that holds so many bytes?
bool holds(const void* address, std::size_t bytes) {
  const stand_in::Memory memory = stand_in::memory_at(address);
  return memory.begin && memory.card >= 0 && !memory.freed &&
         static_cast<const char*>(address) + bytes <= memory.begin + memory.bytes;
}

enum class Part { forward, input, weights };

cudnnStatus_t launch(cudnnHandle_t handle, Part part, const Convolution& c, const void* one, const void* x,
                     const void* w, const void* y, void* to, int algo, void* workspace, std::size_t bytes,
                     const void* zero) {
  if (kernels == Kernels::none || kernels == Kernels::none_runs) return CUDNN_STATUS_NOT_SUPPORTED;
  const bool wide = c.x.type == CUDNN_DATA_DOUBLE;
  const auto number = [&](const void* at) {
    return wide ? *static_cast<const double*>(at) : static_cast<double>(*static_cast<const float*>(at));
  };
  const std::size_t sizes[] = {c.x.bytes(), c.w.bytes(), c.y.bytes()};
  const void* const operands[] = {part == Part::input ? to : x, part == Part::weights ? to : w,
                                  part == Part::forward ? to : y};
  for (int i = 0; i < 3; ++i)
    if (!holds(operands[i], sizes[i])) return CUDNN_STATUS_BAD_PARAM;
  if (!c.is_valid() || algo != algorithm || bytes < workspace_bytes || !holds(workspace, bytes) ||
      number(one) != 1 || number(zero) != 0)
    return CUDNN_STATUS_BAD_PARAM;
  ++convolutions;
  in_full = c.how.math == CUDNN_FMA_MATH;
  const cudaError_t code = stand_in::launch(handle->stream, [=] {
    std::memset(workspace, 0xA5, bytes);
    const auto type = c.x.type;
    const char *const from_x = static_cast<const char*>(x), *const from_w = static_cast<const char*>(w),
                      *const from_y = static_cast<const char*>(y);
    std::vector<double> sums(sizes[part == Part::forward ? 2 : part == Part::input ? 0 : 1] / size_of(type));
    c.for_each([&](std::int64_t in, std::int64_t by, std::int64_t out) {
      if (part == Part::forward)
        sums[static_cast<std::size_t>(out)] += get(from_x, type, in) * get(from_w, type, by);
      else if (part == Part::input)
        sums[static_cast<std::size_t>(in)] += get(from_y, type, out) * get(from_w, type, by);
      else
        sums[static_cast<std::size_t>(by)] += get(from_x, type, in) * get(from_y, type, out);
    });
    for (std::size_t i = 0; i < sums.size(); ++i)
      put(static_cast<char*>(to), type, static_cast<std::int64_t>(i), sums[i]);
  });
  return code == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

// The answer of the heuristics.
template <class Result>
cudnnStatus_t name_kernels(const Convolution& c, int most, int* count, Result* results) {
  if (!c.is_valid()) return CUDNN_STATUS_BAD_PARAM;
  *count = 0;
  if (kernels == Kernels::none) return CUDNN_STATUS_NOT_SUPPORTED;
  const auto add = [&](int algo, cudnnStatus_t status, cudnnDeterminism_t determinism, std::size_t memory) {
    if (*count == most) return;
    Result& one = results[(*count)++];
    one = {};
    one.algo = static_cast<decltype(one.algo)>(algo);
    one.status = status;
    one.determinism = determinism;
    one.memory = memory;
    one.mathType = c.how.math;
  };
  if (kernels == Kernels::in_order) {
    add(0, CUDNN_STATUS_SUCCESS, CUDNN_NON_DETERMINISTIC, 0);
    add(2, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC, std::size_t{1} << 40);
    add(3, CUDNN_STATUS_NOT_SUPPORTED, CUDNN_DETERMINISTIC, 0);
  }
  add(algorithm, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC, workspace_bytes);
  return CUDNN_STATUS_SUCCESS;
}

template <class T>
cudnnStatus_t make(T** to) {
  *to = new T();
  ++live_objects;
  return CUDNN_STATUS_SUCCESS;
}
template <class T>
cudnnStatus_t destroy(T* object) {
  delete object;
  --live_objects;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

std::size_t cudnnTensorStruct::bytes() const {
  std::size_t size = size_of(type);
  for (int axis = 0; axis < axes; ++axis) size *= static_cast<std::size_t>(shape[axis]);
  return size;
}
std::size_t cudnnFilterStruct::bytes() const {
  std::size_t size = size_of(type);
  for (int axis = 0; axis < axes; ++axis) size *= static_cast<std::size_t>(shape[axis]);
  return size;
}

extern "C" {

const char* cudnnGetErrorString(cudnnStatus_t) { return "of the stand-in"; }
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  const cudnnStatus_t made = make(handle);
  return cudaGetDevice(&(*handle)->card) == cudaSuccess ? made : CUDNN_STATUS_INTERNAL_ERROR;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  cudaDeviceSynchronize();
  return destroy(handle);
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (stand_in::card_of_stream(stream) != handle->card) return CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* t) { return make(t); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t t) { return destroy(t); }
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t t, cudnnDataType_t type, int axes,
                                         const int* shape, const int* strides) {
  if (!is_known(type) || axes < 4 || axes > 5) return CUDNN_STATUS_BAD_PARAM;
  t->type = type, t->axes = axes;
  std::copy(shape, shape + axes, t->shape);
  std::copy(strides, strides + axes, t->strides);
  return *std::min_element(shape, shape + axes) < 1 ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* w) { return make(w); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t w) { return destroy(w); }
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t w, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int axes, const int* shape) {
  if (!is_known(type) || format != CUDNN_TENSOR_NHWC || axes < 4 || axes > 5) return CUDNN_STATUS_BAD_PARAM;
  w->type = type, w->axes = axes;
  std::copy(shape, shape + axes, w->shape);
  return *std::min_element(shape, shape + axes) < 1 ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* c) { return make(c); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t c) { return destroy(c); }
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t c, int axes, const int* pad,
                                              const int* stride, const int* dilation,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t compute) {
  if (axes < 2 || axes > 3) return CUDNN_STATUS_BAD_PARAM;
  c->axes = axes, c->compute = compute, c->flips = mode == CUDNN_CONVOLUTION;
  std::copy(pad, pad + axes, c->pad);
  std::copy(stride, stride + axes, c->stride);
  std::copy(dilation, dilation + axes, c->dilation);
  const bool fits = *std::min_element(pad, pad + axes) >= 0 &&
                    *std::min_element(stride, stride + axes) >= 1 &&
                    *std::min_element(dilation, dilation + axes) >= 1;
  return fits ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t c, int groups) {
  c->groups = groups;
  return groups < 1 ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t c, cudnnMathType_t math) {
  c->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t c,
                                                     const cudnnTensorDescriptor_t y, const int most,
                                                     int* count, cudnnConvolutionFwdAlgoPerf_t* results) {
  return name_kernels({*x, *y, *w, *c}, most, count, results);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, const cudnnFilterDescriptor_t w,
                                                          const cudnnTensorDescriptor_t y,
                                                          const cudnnConvolutionDescriptor_t c,
                                                          const cudnnTensorDescriptor_t x, const int most,
                                                          int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return name_kernels({*x, *y, *w, *c}, most, count, results);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                            const cudnnTensorDescriptor_t y,
                                                            const cudnnConvolutionDescriptor_t c,
                                                            const cudnnFilterDescriptor_t w, const int most,
                                                            int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return name_kernels({*x, *y, *w, *c}, most, count, results);
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* one, const cudnnTensorDescriptor_t xs,
                                      const void* x, const cudnnFilterDescriptor_t ws, const void* w,
                                      const cudnnConvolutionDescriptor_t c, cudnnConvolutionFwdAlgo_t algo,
                                      void* workspace, size_t bytes, const void* zero,
                                      const cudnnTensorDescriptor_t ys, void* y) {
  return launch(handle, Part::forward, {*xs, *ys, *ws, *c}, one, x, w, nullptr, y, algo, workspace, bytes,
                zero);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* one,
                                           const cudnnFilterDescriptor_t ws, const void* w,
                                           const cudnnTensorDescriptor_t ys, const void* y,
                                           const cudnnConvolutionDescriptor_t c,
                                           cudnnConvolutionBwdDataAlgo_t algo, void* workspace, size_t bytes,
                                           const void* zero, const cudnnTensorDescriptor_t xs, void* x) {
  return launch(handle, Part::input, {*xs, *ys, *ws, *c}, one, nullptr, w, y, x, algo, workspace, bytes,
                zero);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* one,
                                             const cudnnTensorDescriptor_t xs, const void* x,
                                             const cudnnTensorDescriptor_t ys, const void* y,
                                             const cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void* workspace,
                                             size_t bytes, const void* zero, const cudnnFilterDescriptor_t ws,
                                             void* w) {
  return launch(handle, Part::weights, {*xs, *ys, *ws, *c}, one, x, nullptr, y, w, algo, workspace, bytes,
                zero);
}
}
