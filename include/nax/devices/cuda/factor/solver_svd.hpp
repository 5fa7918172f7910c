#pragma once

#include "nax/devices/cuda/factor/solver_screen.hpp"
#include "nax/devices/cuda/gemm/matmul_kernels.hpp"

// Singular values by gesvd, and adjugates by them.
NAX_BEGIN
namespace cuda {

// gesvd takes matrices that have as many rows as columns, or more. A wide one is given to it as it lies,
// which there is a^T = conj(v) s u^T, whose factors are vh and u, row-major; a tall one as a column-major
// copy.
template <class T>
void factorise_svd(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  using E = solver_element_t<T>;
  using Calls = SolverCalls<T>;
  using R = real_t<T>;
  const char* const name = "svd";
  const std::int64_t k = std::min(f.m, f.n), rows = f.complete ? f.m : k, columns = f.complete ? f.n : k;
  T *const u = static_cast<T*>(to[0]), *const vh = static_cast<T*>(to[2]);
  R* const s = static_cast<R*>(to[1]);
  if (k == 0) {
    if (f.complete && u && f.m > 0) fill_identity(device, f.batch, f.m, u);
    if (f.complete && vh && f.n > 0) fill_identity(device, f.batch, f.n, vh);
    return;
  }
  const bool wide = f.n >= f.m;
  const std::int64_t long_side = wide ? f.n : f.m, left_width = wide ? columns : rows;
  const int m = int_of(name, long_side), n = int_of(name, k);
  const UsedSolver used(name, device);
  const cusolverDnHandle_t solver = used;
  const Screen screen(device, f.batch);
  const Dims batch(1, f.batch);
  const Room<T> matrices(device, f.batch * f.m * f.n);
  copy_matrices(device, dtype_of<T>, batch, f.m, f.n, from, row_major(f.m, f.n), matrices.data(),
                wide ? row_major(f.m, f.n) : column_major(f.m, f.n));
  screen.replace_bad(matrices.data(), long_side, k, ReadPart::all);
  std::optional<Room<T>> left_copy, right_copy;
  T *left = vh, *right = u;
  if (u && !wide) {
    left = left_copy.emplace(device, f.batch * f.m * rows).data();
    right = right_copy.emplace(device, f.batch * k * k).data();
  }
  int room = 0;
  Calls::gesvd_size(solver, m, n, &room);
  const Room<E> work(device, room);
  const auto job = static_cast<signed char>(!u ? 'N' : f.complete ? 'A' : 'S');
  const auto element = [](T* data, std::int64_t at) {
    return data ? reinterpret_cast<E*>(data + at) : nullptr;
  };
  for (std::int64_t i = 0; i < f.batch; ++i)
    Calls::gesvd(solver, job, job, m, n, element(matrices.data(), i * f.m * f.n), m, s + i * k,
                 element(left, i * long_side * left_width), m, element(right, i * k * k), n, work.data(),
                 room, static_cast<R*>(nullptr), screen.info(i));
  if (u && !wide) {
    copy_matrices(device, dtype_of<T>, batch, f.m, rows, left, column_major(f.m, rows), u,
                  row_major(f.m, rows));
    copy_matrices(device, dtype_of<T>, batch, k, k, right, column_major(k, k), vh, row_major(k, k));
  }
  screen.spoil(s, k);
  screen.spoil(u, f.m * rows);
  screen.spoil(vh, columns * f.n);
}

// u (row-major, n x n): column j times the product of all singular values but the j-th.
template <class R, int parts>
struct ScaleByCofactors {
  const R* s;
  R* u;
  std::int64_t n;
  constexpr void operator()(std::int64_t i) const {
    const std::int64_t column = i % n, matrix = i / n;
    ScaledProduct<R, 1> product{{R(1)}, 0};
    for (std::int64_t j = 0; j < n; ++j)
      if (j != column) product.multiply(s + matrix * n + j);
    const R by = product.part(0);
    for (std::int64_t row = 0; row < n; ++row)
      for (int p = 0; p < parts; ++p) u[((matrix * n + row) * n + column) * parts + p] *= by;
  }
};
// to = x^H times the determinants of u and vh.
template <class R, int parts>
struct TurnCofactors {
  const R *x, *det_u, *det_vh;
  R* to;
  std::int64_t n;
  constexpr void operator()(std::int64_t i) const {
    const std::int64_t column = i % n, row = i / n % n, matrix = i / (n * n);
    const R* const at = x + ((matrix * n + column) * n + row) * parts;
    const R *const a = det_u + matrix * parts, *const b = det_vh + matrix * parts;
    if constexpr (parts == 1) {
      to[i] = at[0] * (a[0] * b[0]);
    } else {
      const R re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
      to[i * 2] = re * at[0] + im * at[1];
      to[i * 2 + 1] = im * at[0] - re * at[1];
    }
  }
};

// The adjugate of u s vh is that of vh, times that of s, times that of u: det(u) det(vh) (u adj(s) vh)^H,
// where s is diagonal.
template <class T>
void factorise_adjugate(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  using R = real_t<T>;
  constexpr int parts = real_parts<T>;
  const std::int64_t n = f.n, size = n * n;
  const Room<T> u(device, f.batch * size), vh(device, f.batch * size), x(device, f.batch * size),
      det_u(device, f.batch), det_vh(device, f.batch);
  const Room<R> s(device, f.batch * n);
  void* const factors[] = {u.data(), s.data(), vh.data()};
  loops::Factoring part = f;
  part.kind = loops::Factorisation::svd;
  factorise_svd(device, part, from, factors);
  part.kind = loops::Factorisation::det;
  void *const to_u[] = {det_u.data()}, *const to_vh[] = {det_vh.data()};
  factorise_det(device, part, static_cast<const T*>(u.data()), to_u);
  factorise_det(device, part, static_cast<const T*>(vh.data()), to_vh);
  launch(device, f.batch * n, ScaleByCofactors<R, parts>{s.data(), reals_of<R>(u.data()), n});
  const auto matrix = [&](T* data) { return Matrix{reinterpret_cast<char*>(data), size, n, 1}; };
  launch_matmul(device, dtype_of<T>, f.batch, n, n, n, matrix(u.data()), matrix(vh.data()), matrix(x.data()),
                false);
  launch(device, f.batch * size,
         TurnCofactors<R, parts>{reals_of<const R>(x.data()), reals_of<const R>(det_u.data()),
                                 reals_of<const R>(det_vh.data()), static_cast<R*>(to[0]), n});
}

}  // namespace cuda
NAX_END
