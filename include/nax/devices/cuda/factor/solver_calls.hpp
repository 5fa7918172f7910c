#pragma once

#include <complex>

#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/device/streams.hpp"
#include "nax/devices/cuda/factor/solver_handle.hpp"

// The calls of cuSOLVER and cuBLAS by element type. Sizes are ints there, matrices column-major.
NAX_BEGIN
namespace cuda {

// Calls, and throws DeviceError that names the call where it fails.
template <class F>
struct CheckedCall {
  F* call;
  const char* name;
  template <class... A>
  void operator()(A... arguments) const {
    check(call(arguments...), name);
  }
};

template <class T>
struct SolverCalls;
#define NAX_SOLVER_CALL(name, function) static constexpr CheckedCall name{function, #function};
#define NAX_SOLVER_CALLS(type, element, L, orthogonal, symmetric)          \
  template <>                                                              \
  struct SolverCalls<type> {                                               \
    using Element = element;                                               \
    NAX_SOLVER_CALL(potrf_size, cusolverDn##L##potrf_bufferSize)           \
    NAX_SOLVER_CALL(potrf, cusolverDn##L##potrf)                           \
    NAX_SOLVER_CALL(potrf_batched, cusolverDn##L##potrfBatched)            \
    NAX_SOLVER_CALL(getrf_size, cusolverDn##L##getrf_bufferSize)           \
    NAX_SOLVER_CALL(getrf, cusolverDn##L##getrf)                           \
    NAX_SOLVER_CALL(getrs, cusolverDn##L##getrs)                           \
    NAX_SOLVER_CALL(geqrf_size, cusolverDn##L##geqrf_bufferSize)           \
    NAX_SOLVER_CALL(geqrf, cusolverDn##L##geqrf)                           \
    NAX_SOLVER_CALL(orgqr_size, cusolverDn##L##orthogonal##gqr_bufferSize) \
    NAX_SOLVER_CALL(orgqr, cusolverDn##L##orthogonal##gqr)                 \
    NAX_SOLVER_CALL(syevd_size, cusolverDn##L##symmetric##evd_bufferSize)  \
    NAX_SOLVER_CALL(syevd, cusolverDn##L##symmetric##evd)                  \
    NAX_SOLVER_CALL(gesvd_size, cusolverDn##L##gesvd_bufferSize)           \
    NAX_SOLVER_CALL(gesvd, cusolverDn##L##gesvd)                           \
    NAX_SOLVER_CALL(trsm, cublas##L##trsm)                                 \
    NAX_SOLVER_CALL(trsm_batched, cublas##L##trsmBatched)                  \
    NAX_SOLVER_CALL(getrf_batched, cublas##L##getrfBatched)                \
    NAX_SOLVER_CALL(getrs_batched, cublas##L##getrsBatched)                \
  };
NAX_SOLVER_CALLS(float, float, S, or, sy)
NAX_SOLVER_CALLS(double, double, D, or, sy)
NAX_SOLVER_CALLS(std::complex<float>, cuComplex, C, un, he)
NAX_SOLVER_CALLS(std::complex<double>, cuDoubleComplex, Z, un, he)
#undef NAX_SOLVER_CALLS
inline constexpr CheckedCall geev_size{cusolverDnXgeev_bufferSize, "cusolverDnXgeev_bufferSize"};
inline constexpr CheckedCall geev{cusolverDnXgeev, "cusolverDnXgeev"};
#undef NAX_SOLVER_CALL

template <class T>
using solver_element_t = typename SolverCalls<T>::Element;
static_assert(sizeof(cuComplex) == sizeof(std::complex<float>) &&
              sizeof(cuDoubleComplex) == sizeof(std::complex<double>));

// f(type_identity of the element type). Throws DeviceError for another dtype.
template <class F>
void with_solver_type(const char* function, DType dtype, const F& f) {
  if (dtype == DType::float32) return f(std::type_identity<float>());
  if (dtype == DType::float64) return f(std::type_identity<double>());
  if (dtype == DType::complex64) return f(std::type_identity<std::complex<float>>());
  if (dtype == DType::complex128) return f(std::type_identity<std::complex<double>>());
  raise<DeviceError>({function, ": ", dtype_name(dtype), " has no form for the GPU"});
}

// A size or a number of matrices as the libraries take it. Throws DeviceError where it is too large.
inline int int_of(const char* function, std::int64_t size) {
  if (size > INT32_MAX)
    raise<DeviceError>({function, ": ", std::to_string(size), " is more than cuSOLVER takes"});
  return static_cast<int>(size);
}

// Handles that work on the calling thread's stream, the card current while they live. cuSOLVER's calls are no
// part of graphs: its documentation promises none. jit calls such a function as it is.
class UsedSolver {
 public:
  UsedSolver(const char* function, Device device)
      : stream_((detail::check_recordable(function), use(device))) {
    handle_ = SolverHandles::of(device);
    check(cusolverDnSetStream(handle_, stream_), "cusolverDnSetStream");
  }
  operator cusolverDnHandle_t() const { return handle_; }

 private:
  const StreamInUse stream_;
  cusolverDnHandle_t handle_;
};
// cuBLAS' calls are recorded. A graph has workspace of its own, since replays and the handle's other calls
// are in no order.
class UsedBlas {
 public:
  explicit UsedBlas(Device device) : stream_(use(device)), handle_(CardHandles<Blas>::of(device)) {
    check(cublasSetStream(handle_, stream_), "cublasSetStream");  // and takes the handle's own workspace
    if (!detail::graph_recording) return;
    workspace_.emplace(device, workspace_bytes);
    check(cublasSetWorkspace(handle_, workspace_->data(), workspace_bytes), "cublasSetWorkspace");
  }
  UsedBlas(const UsedBlas&) = delete;
  UsedBlas& operator=(const UsedBlas&) = delete;
  cublasHandle_t handle() const { return handle_; }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{4} << 20;
  const StreamInUse stream_;
  cublasHandle_t handle_;
  std::optional<Scratch> workspace_;
};

// Memory for `count` elements, for as long as the stream needs it. Never empty: the libraries want addresses.
template <class T>
class Room {
 public:
  Room(Device device, std::int64_t count)
      : memory_(device, static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  Scratch memory_;
};

}  // namespace cuda
NAX_END
