#pragma once

#include "nax/devices/cuda/factor/solver_screen.hpp"

NAX_BEGIN
namespace cuda {

// R, row-major (rows, n), of column-major factors (m, n): zeros below the diagonal.
template <class R, int parts>
struct TakeUpper {
  const R* from;
  R* to;
  std::int64_t m, n, rows;
  constexpr void operator()(std::int64_t i) const {
    const std::int64_t column = i % n, row = i / n % rows, matrix = i / (n * rows);
    const bool there = row <= column && row < m;
    for (int p = 0; p < parts; ++p)
      to[i * parts + p] = there ? from[((matrix * n + column) * m + row) * parts + p] : R(0);
  }
};

// Householder vectors by geqrf, Q of them by orgqr (ungqr).
template <class T>
void factorise_qr(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  using E = solver_element_t<T>;
  using Calls = SolverCalls<T>;
  using R = real_t<T>;
  const char* const name = "qr";
  const std::int64_t k = std::min(f.m, f.n), width = f.complete ? f.m : k;
  T *const q = static_cast<T*>(to[0]), *const r = static_cast<T*>(to[1]);
  if (k == 0) {
    if (q && width > 0) fill_identity(device, f.batch, f.m, q);
    return;
  }
  const int m = int_of(name, f.m), n = int_of(name, f.n), columns = int_of(name, width),
            size = int_of(name, k);
  const UsedSolver used(name, device);
  const cusolverDnHandle_t solver = used;
  const Screen screen(device, f.batch);
  const Room<T> factors(device, f.batch * f.m * f.n), scales(device, f.batch * k);
  copy_matrices(device, dtype_of<T>, Dims(1, f.batch), f.m, f.n, from, row_major(f.m, f.n), factors.data(),
                column_major(f.m, f.n));
  screen.replace_bad(factors.data(), f.m, f.n, ReadPart::all);
  const auto element = [](T* data, std::int64_t at) { return reinterpret_cast<E*>(data + at); };
  int room = 0;
  Calls::geqrf_size(solver, m, n, element(factors.data(), 0), m, &room);
  {
    const Room<E> work(device, room);
    for (std::int64_t i = 0; i < f.batch; ++i)
      Calls::geqrf(solver, m, n, element(factors.data(), i * f.m * f.n), m, element(scales.data(), i * k),
                   work.data(), room, screen.info(i));
  }
  launch(device, f.batch * width * f.n,
         TakeUpper<R, real_parts<T>>{reals_of<R>(factors.data()), reals_of<R>(r), f.m, f.n, width});
  screen.spoil(r, width * f.n);
  if (!q) return;
  // In place where Q has no more columns.
  const std::int64_t stride = f.m * std::max(width, f.n);
  std::optional<Room<T>> wide;
  T* vectors = factors.data();
  if (width > f.n) {
    wide.emplace(device, f.batch * stride);
    vectors = wide->data();
    detail::accelerator_of(device).clear(device, vectors,
                                         static_cast<std::size_t>(f.batch * stride) * sizeof(T));
    copy_matrices(device, dtype_of<T>, Dims(1, f.batch), f.m, f.n, factors.data(), column_major(f.m, f.n),
                  vectors, {1, f.m, Dims(1, stride)});
  }
  Calls::orgqr_size(solver, m, columns, size, element(vectors, 0), m, element(scales.data(), 0), &room);
  const Room<E> work(device, room);
  for (std::int64_t i = 0; i < f.batch; ++i)
    Calls::orgqr(solver, m, columns, size, element(vectors, i * stride), m, element(scales.data(), i * k),
                 work.data(), room, screen.info(i));
  copy_matrices(device, dtype_of<T>, Dims(1, f.batch), f.m, width, vectors, {1, f.m, Dims(1, stride)}, q,
                row_major(f.m, width));
  screen.spoil(q, f.m * width);
}

}  // namespace cuda
NAX_END
