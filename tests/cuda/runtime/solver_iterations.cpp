#include "cuda/runtime/solver_calls.hpp"
#include "nax/backend/cpu/factor/eigen_dense.hpp"

// cuSOLVER's QR, eigenvalues and singular values on the stand-in of the runtime, by Eigen.
using namespace stand_in;

namespace {

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
Eigen::Map<Dense<T>, 0, Eigen::OuterStride<>> matrix(T* a, int m, int n, int lead) {
  return {a, m, n, Eigen::OuterStride<>(lead)};
}
template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return std::conj(x);
}

cusolverStatus_t tell_size(bool good, int m, int n, int* size) {
  if (!good || m < 0 || n < 0 || !size) return refused();
  *size = work_size(m, n);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* scales, T* work, int size,
                       int* info) {
  const int k = std::min(m, n);
  if (!handle || lda < std::max(1, m) || size < work_size(m, n) ||
      !lie_on_card({{a, extent(m, n, lda)}, {scales, k}, {work, size}, {info, 1}}))
    return refused();
  return submitted(handle, [=] {
    using H = typename Host<T>::type;
    spoil(work, size);
    auto x = matrix(numbers(a), m, n, lda);
    const Eigen::HouseholderQR<Dense<H>> factors{Dense<H>(x)};
    x = factors.matrixQR();
    for (int i = 0; i < k; ++i) numbers(scales)[i] = conjugate(factors.hCoeffs()(i));
    *info = 0;
  });
}
template <class T>
cusolverStatus_t orgqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* scales,
                       T* work, int size, int* info) {
  if (!handle || n > m || k > n || lda < std::max(1, m) || size < work_size(m, n) ||
      !lie_on_card({{a, extent(m, n, lda)}, {scales, k}, {work, size}, {info, 1}}))
    return refused();
  return submitted(handle, [=] {
    using H = typename Host<T>::type;
    spoil(work, size);
    auto x = matrix(numbers(a), m, n, lda);
    Dense<H> q = Dense<H>::Identity(m, n);
    for (int i = k; i-- > 0;) {  // q = (1 - scale v v^H) q
      Dense<H> v = Dense<H>::Zero(m, 1);
      v(i) = H(1);
      v.bottomRows(m - i - 1) = x.col(i).bottomRows(m - i - 1);
      q -= numbers(scales)[i] * v * (v.adjoint() * q);
    }
    x = q;
    *info = 0;
  });
}
template <class T, class R>
cusolverStatus_t syevd(cusolverDnHandle_t handle, bool vectors, bool upper, int n, T* a, int lda, R* w,
                       T* work, int size, int* info) {
  if (!handle || lda < std::max(1, n) || size < work_size(n, n) ||
      !lie_on_card({{a, extent(n, n, lda)}, {w, n}, {work, size}, {info, 1}}))
    return refused();
  return submitted(handle, [=] {
    using H = typename Host<T>::type;
    spoil(work, size);
    auto x = matrix(numbers(a), n, n, lda);
    Dense<H> lower = x;
    if (upper) lower.adjointInPlace();
    const Eigen::SelfAdjointEigenSolver<Dense<H>> factors(lower);
    *info = factors.info() == Eigen::Success ? 0 : 1;
    for (int i = 0; i < n; ++i) w[i] = factors.eigenvalues()(i);
    x.setConstant(H(R(77)));  // what was there is lost
    if (vectors) x = factors.eigenvectors();
  });
}
template <class T, class R>
cusolverStatus_t gesvd(cusolverDnHandle_t handle, char left, char right, int m, int n, T* a, int lda, R* s,
                       T* u, int ldu, T* vt, int ldvt, T* work, int size, int* info) {
  const bool vectors = left != 'N';
  const int width = left == 'A' ? m : n;
  if (!handle || m < n || left != right || (left != 'N' && left != 'S' && left != 'A') ||
      lda < std::max(1, m) || size < work_size(m, n) || ldu < std::max(1, m) || ldvt < std::max(1, n) ||
      !lie_on_card({{a, extent(m, n, lda)}, {s, n}, {work, size}, {info, 1}}) ||
      (vectors && !lie_on_card({{u, extent(m, width, ldu)}, {vt, extent(n, n, ldvt)}})))
    return refused();
  return submitted(handle, [=] {
    using H = typename Host<T>::type;
    spoil(work, size);
    auto x = matrix(numbers(a), m, n, lda);
    const unsigned options = !vectors      ? 0
                             : left == 'A' ? Eigen::ComputeFullU | Eigen::ComputeFullV
                                           : Eigen::ComputeThinU | Eigen::ComputeThinV;
    const Eigen::JacobiSVD<Dense<H>> factors(Dense<H>(x), options);
    x.setConstant(H(R(77)));
    for (int i = 0; i < n; ++i) s[i] = factors.singularValues()(i);
    *info = 0;
    if (!vectors) return;
    matrix(numbers(u), m, width, ldu) = factors.matrixU();
    matrix(numbers(vt), n, n, ldvt) = factors.matrixV().adjoint();
  });
}

// LAPACK's order: real eigenvectors of pairs lie in two columns, of which the first is that of the eigenvalue
// with a positive imaginary part.
template <class H>
void find_eigenvalues(bool vectors, int n, H* a, int lda, void* w, H* v, int ldv, int* info) {
  using R = typename Eigen::NumTraits<H>::Real;
  using C = std::complex<R>;
  auto x = matrix(a, n, n, lda);
  constexpr bool real = std::is_floating_point_v<H>;
  const std::conditional_t<real, Eigen::EigenSolver<Dense<H>>, Eigen::ComplexEigenSolver<Dense<H>>> factors(
      Dense<H>(x), vectors);
  x.setConstant(H(R(77)));
  *info = factors.info() == Eigen::Success ? 0 : 1;
  for (int i = 0; i < n; ++i) static_cast<C*>(w)[i] = factors.eigenvalues()(i);
  if (!vectors) return;
  auto to = matrix(v, n, n, ldv);
  if constexpr (real) {
    for (int i = 0; i < n; ++i) {
      const Eigen::Matrix<C, Eigen::Dynamic, 1> column = factors.eigenvectors().col(i);
      to.col(i) = column.real();
      if (factors.eigenvalues()(i).imag() > 0 && i + 1 < n) to.col(++i) = column.imag();
    }
  } else {
    to = factors.eigenvectors();
  }
}
bool are_types(cudaDataType a, cudaDataType w, cudaDataType vl, cudaDataType vr, cudaDataType computed) {
  const cudaDataType complex = a == CUDA_R_32F || a == CUDA_C_32F ? CUDA_C_32F : CUDA_C_64F;
  return w == complex && vl == a && vr == a && computed == a;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* options) {
  *options = reinterpret_cast<cusolverDnParams_t>(new int(0));
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t options) {
  delete reinterpret_cast<int*>(options);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t options,
                                            cusolverEigMode_t left, cusolverEigMode_t, long n, cudaDataType a,
                                            const void*, long lda, cudaDataType w, const void*,
                                            cudaDataType vl, const void*, long, cudaDataType vr, const void*,
                                            long ldvr, cudaDataType computed, size_t* on_device,
                                            size_t* on_host) {
  if (!handle || !options || left != CUSOLVER_EIG_MODE_NOVECTOR || lda < std::max(1l, n) || ldvr < 1 ||
      !are_types(a, w, vl, vr, computed))
    return refused();
  *on_device = static_cast<std::size_t>(n) * 40 + 3;
  *on_host = static_cast<std::size_t>(n) * 16;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t options,
                                 cusolverEigMode_t left, cusolverEigMode_t right, long n, cudaDataType type,
                                 void* a, long lda, cudaDataType type_w, void* w, cudaDataType type_vl, void*,
                                 long, cudaDataType type_vr, void* v, long ldv, cudaDataType computed,
                                 void* device_work, size_t on_device, void* host_work, size_t on_host,
                                 int* info) {
  const bool vectors = right == CUSOLVER_EIG_MODE_VECTOR;
  if (!handle || !options || left != CUSOLVER_EIG_MODE_NOVECTOR || lda < std::max(1l, n) ||
      (vectors && ldv < std::max(1l, n)) || !are_types(type, type_w, type_vl, type_vr, computed) ||
      on_device < static_cast<std::size_t>(n) * 40 + 3 || on_host < static_cast<std::size_t>(n) * 16)
    return refused();
  const auto run = [&]<class H>(H) {
    using C = std::complex<typename Eigen::NumTraits<H>::Real>;
    if (!lie_on_card({{static_cast<H*>(a), extent(n, n, lda)},
                      {static_cast<C*>(w), n},
                      {static_cast<char*>(device_work), static_cast<std::int64_t>(on_device)},
                      {info, 1}}) ||
        (vectors && !lie_on_card({{static_cast<H*>(v), extent(n, n, ldv)}})))
      return refused();
    return submitted(handle, [=] {
      std::memset(device_work, 0xEE, on_device);
      std::memset(host_work, 0xEE, on_host);
      find_eigenvalues(vectors, static_cast<int>(n), static_cast<H*>(a), static_cast<int>(lda), w,
                       static_cast<H*>(v), static_cast<int>(ldv), info);
    });
  };
  switch (type) {
    case CUDA_R_32F:
      return run(float());
    case CUDA_R_64F:
      return run(double());
    case CUDA_C_32F:
      return run(std::complex<float>());
    case CUDA_C_64F:
      return run(std::complex<double>());
    default:
      return refused();
  }
}

#define STAND_IN_ITERATIONS(T, R, L, orthogonal, symmetric)                                                  \
  cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T*, int lda,     \
                                                   int* size) {                                              \
    return tell_size(handle && lda >= std::max(1, m), m, n, size);                                           \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* scales,   \
                                        T* work, int size, int* info) {                                      \
    return geqrf(handle, m, n, a, lda, scales, work, size, info);                                            \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##L##orthogonal##gqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int,   \
                                                             const T*, int lda, const T*, int* size) {       \
    return tell_size(handle && lda >= std::max(1, m), m, n, size);                                           \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##L##orthogonal##gqr(cusolverDnHandle_t handle, int m, int n, int k, T* a,      \
                                                  int lda, const T* scales, T* work, int size, int* info) {  \
    return orgqr(handle, m, n, k, a, lda, scales, work, size, info);                                         \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##L##symmetric##evd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,    \
                                                            cublasFillMode_t, int n, const T*, int lda,      \
                                                            const R*, int* size) {                           \
    return tell_size(handle && lda >= std::max(1, n), n, n, size);                                           \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##L##symmetric##evd(cusolverDnHandle_t handle, cusolverEigMode_t mode,          \
                                                 cublasFillMode_t fill, int n, T* a, int lda, R* w, T* work, \
                                                 int size, int* info) {                                      \
    return syevd(handle, mode == CUSOLVER_EIG_MODE_VECTOR, fill == CUBLAS_FILL_MODE_UPPER, n, a, lda, w,     \
                 work, size, info);                                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* size) {     \
    return tell_size(handle && m >= n, m, n, size);                                                          \
  }                                                                                                          \
  cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t handle, signed char left, signed char right,      \
                                        int m, int n, T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt,   \
                                        T* work, int size, R*, int* info) {                                  \
    return gesvd(handle, static_cast<char>(left), static_cast<char>(right), m, n, a, lda, s, u, ldu, vt,     \
                 ldvt, work, size, info);                                                                    \
  }
STAND_IN_ITERATIONS(float, float, S, or, sy)
STAND_IN_ITERATIONS(double, double, D, or, sy)
STAND_IN_ITERATIONS(cuComplex, float, C, un, he)
STAND_IN_ITERATIONS(cuDoubleComplex, double, Z, un, he)
#undef STAND_IN_ITERATIONS
}
