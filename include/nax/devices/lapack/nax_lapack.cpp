// The source of nax::lapack: factorisations of a LAPACK in place of Eigen's. Compiled with the program's
// own sources, as nax::cuda's is.
//
// LAPACK is Fortran's: matrices are column-major, so that a row-major one is its transpose there; all
// arguments are addresses, and the lengths of character arguments follow at the end (a LAPACK that takes none
// ignores them). Workspace is asked for by a first call with a size of -1.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

#include "nax/backend/cpu/factor/lapack.hpp"
#include "nax/backend/cpu/maps/transpose.hpp"

#define NAX_LAPACK_REAL(T, p)                                                                                \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                          \
  void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);        \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*,    \
                 T*, const int*, int*, int*, std::size_t);                                                   \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, \
                 int*, std::size_t, std::size_t);                                                            \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,            \
                const int*, T*, const int*, int*, std::size_t, std::size_t);                                 \
  void p##gees_(const char*, const char*, int (*)(const T*, const T*), const int*, T*, const int*, int*, T*, \
                T*, T*, const int*, T*, const int*, int*, int*, std::size_t, std::size_t);
#define NAX_LAPACK_COMPLEX(T, p)                                                                           \
  void p##geqrf_(const int*, const int*, std::complex<T>*, const int*, std::complex<T>*, std::complex<T>*, \
                 const int*, int*);                                                                        \
  void p##ungqr_(const int*, const int*, const int*, std::complex<T>*, const int*, const std::complex<T>*, \
                 std::complex<T>*, const int*, int*);                                                      \
  void p##gesdd_(const char*, const int*, const int*, std::complex<T>*, const int*, T*, std::complex<T>*,  \
                 const int*, std::complex<T>*, const int*, std::complex<T>*, const int*, T*, int*, int*,   \
                 std::size_t);                                                                             \
  void p##heevd_(const char*, const char*, const int*, std::complex<T>*, const int*, T*, std::complex<T>*, \
                 const int*, T*, const int*, int*, const int*, int*, std::size_t, std::size_t);            \
  void p##geev_(const char*, const char*, const int*, std::complex<T>*, const int*, std::complex<T>*,      \
                std::complex<T>*, const int*, std::complex<T>*, const int*, std::complex<T>*, const int*,  \
                T*, int*, std::size_t, std::size_t);                                                       \
  void p##gees_(const char*, const char*, int (*)(const std::complex<T>*), const int*, std::complex<T>*,   \
                const int*, int*, std::complex<T>*, std::complex<T>*, const int*, std::complex<T>*,        \
                const int*, T*, int*, int*, std::size_t, std::size_t);
extern "C" {
NAX_LAPACK_REAL(float, s)
NAX_LAPACK_REAL(double, d)
NAX_LAPACK_COMPLEX(float, c)
NAX_LAPACK_COMPLEX(double, z)
}
#undef NAX_LAPACK_REAL
#undef NAX_LAPACK_COMPLEX

NAX_BEGIN
namespace cpu {
namespace {

template <class T>
struct Routines;
#define NAX_LAPACK_ROUTINES(T, p, orthogonal, symmetric) \
  template <>                                            \
  struct Routines<T> {                                   \
    static constexpr auto geqrf = p##geqrf_;             \
    static constexpr auto orgqr = p##orthogonal##qr_;    \
    static constexpr auto gesdd = p##gesdd_;             \
    static constexpr auto syevd = p##symmetric##evd_;    \
    static constexpr auto geev = p##geev_;               \
    static constexpr auto gees = p##gees_;               \
  };
NAX_LAPACK_ROUTINES(float, s, org, sy)
NAX_LAPACK_ROUTINES(double, d, org, sy)
NAX_LAPACK_ROUTINES(std::complex<float>, c, ung, he)
NAX_LAPACK_ROUTINES(std::complex<double>, z, ung, he)
#undef NAX_LAPACK_ROUTINES

// The size that a query answered, which in single precision may have been rounded down.
template <class T>
int answered(T size) {
  return static_cast<int>(std::ceil(std::real(size) * (1 + std::numeric_limits<real_t<T>>::epsilon())));
}
// `routine(work, size)` returns LAPACK's info: called for the size of its workspace, then for its work.
template <class T, class Routine>
bool with_workspace(const Routine& routine) {
  T best{};
  const int query = -1;
  if (routine(&best, &query) != 0) return false;
  const int size = std::max(1, answered(best));
  std::vector<T> work(static_cast<std::size_t>(size));
  return routine(work.data(), &size) == 0;
}

// Sizes are ints there, those of workspaces too, which are up to five times a matrix's.
bool fits(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t most = 1 << 28;
  return m <= most && n <= most && m * n <= most;
}

// out[j * m + i] = a[i * n + j]
template <class T>
void transpose(const T* a, std::int64_t m, std::int64_t n, T* out) {
  const std::int64_t shape[] = {m, n}, to[] = {1, m}, from[] = {n, 1};
  strided_copy(2, shape, out, to, a, from);
}
template <class T>
std::vector<T> transposed(const T* a, std::int64_t m, std::int64_t n) {
  std::vector<T> out(static_cast<std::size_t>(m * n));
  transpose(a, m, n, out.data());
  return out;
}

template <class T>
bool qr_by_lapack(const T* a, std::int64_t m, std::int64_t n, bool complete, T* q, T* r) {
  if (!fits(m, std::max(m, n))) return false;
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), size = std::min(rows, columns);
  const int k = complete ? rows : size;
  std::vector<T> x = transposed(a, m, n), tau(static_cast<std::size_t>(size));
  int info = 0;
  if (!with_workspace<T>([&](T* work, const int* room) {
        Routines<T>::geqrf(&rows, &columns, x.data(), &rows, tau.data(), work, room, &info);
        return info;
      }))
    return false;
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = i <= j && i < size ? x[j * m + i] : T(0);
  if (!q) return true;
  x.resize(static_cast<std::size_t>(m * k));
  if (!with_workspace<T>([&](T* work, const int* room) {
        Routines<T>::orgqr(&rows, &k, &size, x.data(), &rows, tau.data(), work, room, &info);
        return info;
      }))
    return false;
  transpose(x.data(), k, m, q);
  return true;
}

// LAPACK sees a^T = conj(v) s u^T, whose factors, column-major, are vh and u, row-major.
template <class T>
bool svd_by_lapack(const T* a, std::int64_t m, std::int64_t n, bool full, T* u, real_t<T>* s, T* vh) {
  if (!fits(std::max(m, n), full ? std::max(m, n) : std::min(m, n))) return false;
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), k = std::min(rows, columns);
  const int width = full ? columns : k;
  const char job = !u ? 'N' : full ? 'A' : 'S';
  std::vector<T> x(a, a + m * n);
  std::vector<int> places(static_cast<std::size_t>(8 * k));
  T unused{};
  T* const left = u ? vh : &unused;
  T* const right = u ? u : &unused;
  std::vector<real_t<T>> reals;
  if constexpr (is_complex_v<T>) {
    const auto least = static_cast<std::size_t>(k), most = static_cast<std::size_t>(std::max(rows, columns));
    reals.resize(least * std::max(5 * least + 7, 2 * most + 2 * least + 1));
  }
  return with_workspace<T>([&](T* work, const int* room) {
    int info = 0;
    if constexpr (is_complex_v<T>)
      Routines<T>::gesdd(&job, &rows, &columns, x.data(), &rows, s, left, &rows, right, &width, work, room,
                         reals.data(), places.data(), &info, 1);
    else
      Routines<T>::gesdd(&job, &rows, &columns, x.data(), &rows, s, left, &rows, right, &width, work, room,
                         places.data(), &info, 1);
    return info;
  });
}

// LAPACK sees conj(a), the triangles swapped.
template <class T>
bool eigh_by_lapack(const T* a, std::int64_t n, bool lower, real_t<T>* w, T* v) {
  if (!fits(n, n)) return false;
  const int size = static_cast<int>(n);
  const char job = v ? 'V' : 'N', triangle = lower ? 'U' : 'L';
  std::vector<T> x(a, a + n * n);
  std::vector<int> places(1);
  std::vector<real_t<T>> reals(1);
  int info = 0, places_room = -1, reals_room = -1;
  const bool done = with_workspace<T>([&](T* work, const int* room) {
    if constexpr (is_complex_v<T>)
      Routines<T>::syevd(&job, &triangle, &size, x.data(), &size, w, work, room, reals.data(), &reals_room,
                         places.data(), &places_room, &info, 1, 1);
    else
      Routines<T>::syevd(&job, &triangle, &size, x.data(), &size, w, work, room, places.data(), &places_room,
                         &info, 1, 1);
    if (*room == -1) {
      reals.resize(static_cast<std::size_t>(reals_room = std::max(1, answered(reals[0]))));
      places.resize(static_cast<std::size_t>(places_room = std::max(1, places[0])));
    }
    return info;
  });
  if (!done || !v) return done;
  if constexpr (is_complex_v<T>)
    for (T& element : x) element = std::conj(element);
  transpose(x.data(), n, n, v);
  return true;
}

template <class T>
bool eig_by_lapack(const T* a, std::int64_t n, complex_t<T>* w, complex_t<T>* v) {
  if (!fits(n, n)) return false;
  const int size = static_cast<int>(n), one = 1;
  const char none = 'N', job = v ? 'V' : 'N';
  std::vector<T> x = transposed(a, n, n), vectors(v ? static_cast<std::size_t>(n * n) : 1);
  const int height = v ? size : 1;
  T unused{};
  if constexpr (is_complex_v<T>) {
    std::vector<real_t<T>> reals(static_cast<std::size_t>(2 * n));
    if (!with_workspace<T>([&](T* work, const int* room) {
          int info = 0;
          Routines<T>::geev(&none, &job, &size, x.data(), &size, w, &unused, &one, vectors.data(), &height,
                            work, room, reals.data(), &info, 1, 1);
          return info;
        }))
      return false;
    if (v) transpose(vectors.data(), n, n, v);
  } else {
    std::vector<T> real(static_cast<std::size_t>(n)), imag(static_cast<std::size_t>(n));
    if (!with_workspace<T>([&](T* work, const int* room) {
          int info = 0;
          Routines<T>::geev(&none, &job, &size, x.data(), &size, real.data(), imag.data(), &unused, &one,
                            vectors.data(), &height, work, room, &info, 1, 1);
          return info;
        }))
      return false;
    for (std::int64_t j = 0; j < n; ++j) w[j] = {real[j], imag[j]};
    if (!v) return true;
    // Of a pair of conjugates the columns are the real and the imaginary part of the first's vector.
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const T here = vectors[j * n + i];
        if (imag[j] > 0) {
          v[i * n + j] = {here, vectors[(j + 1) * n + i]};
          v[i * n + j + 1] = {here, -vectors[(j + 1) * n + i]};
        } else if (!(imag[j] < 0)) {
          v[i * n + j] = here;
        }
      }
  }
  return true;
}

template <class T>
bool schur_by_lapack(const T* a, std::int64_t n, T* t, T* z) {
  if (!fits(n, n)) return false;
  const int size = static_cast<int>(n);
  const char job = 'V', unsorted = 'N';
  std::vector<T> x = transposed(a, n, n), vectors(static_cast<std::size_t>(n * n));
  std::vector<T> values(static_cast<std::size_t>(2 * n));
  std::vector<real_t<T>> reals(static_cast<std::size_t>(n));
  int sorted = 0;
  if (!with_workspace<T>([&](T* work, const int* room) {
        int info = 0;
        if constexpr (is_complex_v<T>)
          Routines<T>::gees(&job, &unsorted, nullptr, &size, x.data(), &size, &sorted, values.data(),
                            vectors.data(), &size, work, room, reals.data(), nullptr, &info, 1, 1);
        else
          Routines<T>::gees(&job, &unsorted, nullptr, &size, x.data(), &size, &sorted, values.data(),
                            values.data() + n, vectors.data(), &size, work, room, nullptr, &info, 1, 1);
        return info;
      }))
    return false;
  transpose(x.data(), n, n, t);
  transpose(vectors.data(), n, n, z);
  return true;
}

template <class T>
bool provide() {
  static constexpr Lapack<T> routines = {qr_by_lapack<T>, svd_by_lapack<T>, eigh_by_lapack<T>,
                                         eig_by_lapack<T>, schur_by_lapack<T>};
  lapack<T> = &routines;
  return true;
}
[[maybe_unused]] const bool provided = provide<float>() && provide<double>() &&
                                       provide<std::complex<float>>() && provide<std::complex<double>>();

}  // namespace
}  // namespace cpu
NAX_END
