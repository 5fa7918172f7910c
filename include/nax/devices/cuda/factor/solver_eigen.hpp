#pragma once

#include <memory>

#include "nax/devices/cuda/factor/solver_screen.hpp"

// Eigenvalues: of Hermitian matrices by syevd (heevd), of others by geev.
NAX_BEGIN
namespace cuda {

template <class T>
void factorise_eigh(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  using E = solver_element_t<T>;
  using Calls = SolverCalls<T>;
  using R = real_t<T>;
  const char* const name = "eigh";
  if (f.n == 0) return;
  const int n = int_of(name, f.n);
  const std::int64_t size = f.n * f.n;
  const UsedSolver used(name, device);
  const cusolverDnHandle_t solver = used;
  R* const values = static_cast<R*>(to[0]);
  T* const vectors = static_cast<T*>(to[1]);
  const Screen screen(device, f.batch);
  const Room<T> matrices(device, f.batch * size);
  const Dims batch(1, f.batch);
  copy_matrices(device, dtype_of<T>, batch, f.n, f.n, from, row_major(f.n, f.n), matrices.data(),
                column_major(f.n, f.n));
  screen.replace_bad(matrices.data(), f.n, f.n, f.lower ? ReadPart::lower : ReadPart::upper);
  E* const first = reinterpret_cast<E*>(matrices.data());
  const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const cublasFillMode_t triangle = f.lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  int room = 0;
  Calls::syevd_size(solver, mode, triangle, n, first, n, values, &room);
  const Room<E> work(device, room);
  for (std::int64_t i = 0; i < f.batch; ++i)
    Calls::syevd(solver, mode, triangle, n, first + i * size, n, values + i * f.n, work.data(), room,
                 screen.info(i));
  screen.spoil(values, f.n);
  if (!vectors) return;
  copy_matrices(device, dtype_of<T>, batch, f.n, f.n, matrices.data(), column_major(f.n, f.n), vectors,
                row_major(f.n, f.n));
  screen.spoil(vectors, size);
}

// Eigenvectors as geev leaves them in column-major matrices (real ones: of a pair of eigenvalues, the first
// with a positive imaginary part, the real and the imaginary parts in two columns) -> row-major complex
// ones of norm 1 whose largest component is real, and a mark of where it is. Columns that are real stay so.
template <class R, int parts>
struct FinishVectors {
  const R* from;
  const R* values;  // complex
  R* to;            // complex
  R* marks;
  std::int64_t n;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t column = i % n, matrix = i / n;
    std::int64_t source = column;
    R turn = R(0);  // of the imaginary part
    bool pair = false;
    if constexpr (parts == 1) {
      const R imaginary = values[i * 2 + 1];
      pair = imaginary != R(0);
      turn = imaginary < R(0) ? R(-1) : R(1);
      if (pair && imaginary < R(0) && column > 0) --source;
    }
    const auto component = [&](std::int64_t row, int part) {
      const R* const at = from + ((matrix * n + source) * n + row) * parts;
      if constexpr (parts == 2) return at[part];
      if (part == 0) return at[0];
      return pair && source + 1 < n ? turn * at[n] : R(0);
    };
    R sum = R(0), most = R(-1);
    bool real = parts == 1;
    std::int64_t largest = 0;
    for (std::int64_t row = 0; row < n; ++row) {
      const R re = component(row, 0), im = component(row, 1), size = re * re + im * im;
      if (im != R(0)) real = false;
      sum += size;
      if (size > most) most = size, largest = row;
    }
    const R norm = std::sqrt(sum), re = component(largest, 0), im = component(largest, 1),
            size = std::hypot(re, im);
    const R c = real ? R(1) : re / size, s = real ? R(0) : -im / size;
    for (std::int64_t row = 0; row < n; ++row) {
      const R x = component(row, 0) / norm, y = component(row, 1) / norm;
      R* const at = to + ((matrix * n + row) * n + column) * 2;
      at[0] = x * c - y * s;
      at[1] = row == largest ? R(0) : x * s + y * c;
      marks[(matrix * n + row) * n + column] = row == largest ? R(1) : R(0);
    }
  }
};

template <class T>
constexpr cudaDataType solver_type() {
  if constexpr (std::is_same_v<T, float>) return CUDA_R_32F;
  if constexpr (std::is_same_v<T, double>) return CUDA_R_64F;
  if constexpr (std::is_same_v<T, std::complex<float>>) return CUDA_C_32F;
  return CUDA_C_64F;
}

// geev computes in part on the host.
template <class T>
void factorise_eig(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  using R = real_t<T>;
  using C = complex_t<T>;
  if (f.n == 0) return;
  const std::int64_t n = f.n, size = n * n;
  const UsedSolver used("eig", device);
  const cusolverDnHandle_t solver = used;
  const cusolverDnParams_t options = SolverOptions::of_this_thread();
  C *const values = static_cast<C*>(to[0]), *const vectors = static_cast<C*>(to[1]);
  const Screen screen(device, f.batch);
  const Room<T> matrices(device, f.batch * size), found(device, vectors ? f.batch * size : 0);
  copy_matrices(device, dtype_of<T>, Dims(1, f.batch), n, n, from, row_major(n, n), matrices.data(),
                column_major(n, n));
  screen.replace_bad(matrices.data(), n, n, ReadPart::all);
  constexpr cudaDataType type = solver_type<T>(), complex = solver_type<C>();
  constexpr cusolverEigMode_t none = CUSOLVER_EIG_MODE_NOVECTOR;
  const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : none;
  std::size_t on_device = 0, on_host = 0;
  geev_size(solver, options, none, mode, n, type, matrices.data(), n, complex, values, type, nullptr, n, type,
            found.data(), n, type, &on_device, &on_host);
  const Room<char> work(device, static_cast<std::int64_t>(on_device));
  const std::unique_ptr<char[]> host(new char[on_host + 1]);
  for (std::int64_t i = 0; i < f.batch; ++i) {
    geev(solver, options, none, mode, n, type, matrices.data() + i * size, n, complex, values + i * n, type,
         nullptr, n, type, found.data() + (vectors ? i * size : 0), n, type, work.data(), on_device,
         host.get(), on_host, screen.info(i));
    // The host's work area is in use until the stream has passed the call.
    detail::accelerator_of(device).synchronize(device);
  }
  screen.spoil(values, n);
  if (!vectors) return;
  R* const marks = static_cast<R*>(to[2]);
  launch(device, f.batch * n,
         FinishVectors<R, real_parts<T>>{reals_of<const R>(found.data()), reals_of<const R>(values),
                                         reals_of<R>(vectors), marks, n});
  screen.spoil(vectors, size);
  screen.spoil(marks, size);
}

}  // namespace cuda
NAX_END
