#pragma once

#include <string_view>

#include "nax/core/abi.hpp"

// Functions of C that files of save_c call. `@T` stands for the type of elements, `@S` for a letter that
// tells the types apart, `@M` for the ending of its mathematical functions, `@L` for the type's least number.
// A file holds those that it calls.
NAX_BEGIN
namespace io::detail {

struct CHelper {
  std::string_view name, text;
};

inline constexpr std::string_view c_prologue = R"c(
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* some loops stay as they are */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif
#if defined(__cplusplus)
#define ALIGNED alignas(64)
#else
#define ALIGNED _Alignas(64)
#endif

/* Vectors of GNU C; single numbers for other compilers. */
#if !defined(__GNUC__)
#define VECTOR_OF(type, name) typedef type name
#elif defined(__AVX512F__)
#define VECTOR_OF(type, name) typedef type name __attribute__((vector_size(64), may_alias))
#elif defined(__AVX__)
#define VECTOR_OF(type, name) typedef type name __attribute__((vector_size(32), may_alias))
#else
#define VECTOR_OF(type, name) typedef type name __attribute__((vector_size(16), may_alias))
#endif
)c";

// The bytes of constants from a file beside the source; `@N` stands for the function's name.
inline constexpr std::string_view c_data = R"c(
/* Its path: of the folder of the compiler's call, or those of -I. */
#ifndef DATA_PATH
#define DATA_PATH "@N.bin"
#endif
#if defined(__APPLE__)
__asm__(".const_data\n.balign 64\n_@N_data:\n.incbin \"" DATA_PATH "\"\n.text\n");
#elif defined(__GNUC__)
__asm__(".section .rodata\n.balign 64\n@N_data:\n.incbin \"" DATA_PATH "\"\n.previous\n");
#else
#error "@N.bin is included by GNU C's assembler"
#endif
extern const unsigned char @N_data[] __attribute__((visibility("hidden")));
)c";

inline constexpr CHelper c_helpers[] = {
    {"power", R"c(
/* Wraps around. A negative power is truncated. */
static @T power_@S(@T x, @T n) {
  uint64_t product = 1, factor = (uint64_t)x, bits = (uint64_t)n;
  if (!(n >= 1 || n == 0)) return x == 1 ? 1 : x + 1 == 0 ? (n % 2 == 0 ? 1 : x) : 0;
  for (; bits != 0; bits >>= 1, factor *= factor)
    if (bits & 1) product *= factor;
  return (@T)product;
}
)c"},
    {"pack", R"c(
/* Panels of as many columns of b (k, n) as 64 bytes hold, each panel row by row; columns past the end are 0. */
static void pack_@S(const @T* b, ptrdiff_t row, ptrdiff_t column, @T* to, ptrdiff_t n, ptrdiff_t k) {
  const ptrdiff_t wide = 64 / (ptrdiff_t)sizeof(@T);
  for (ptrdiff_t j = 0; j < n; j += wide)
    for (ptrdiff_t p = 0; p < k; ++p, to += wide)
      for (ptrdiff_t l = 0; l < wide; ++l) to[l] = j + l < n ? b[p * row + (j + l) * column] : 0;
}
)c"},
    {"gemm", R"c(
VECTOR_OF(@T, vector_@S);
enum { wide_@S = 64 / sizeof(@T), vectors_@S = 64 / sizeof(vector_@S) };

static void put_@S(const vector_@S* sums, @T* c, ptrdiff_t n, int add) {
  ALIGNED @T s[wide_@S];
  memcpy(s, sums, sizeof s);
  if (n > wide_@S) n = wide_@S;
  if (add)
    for (ptrdiff_t l = 0; l < n; ++l) c[l] += s[l];
  else
    for (ptrdiff_t l = 0; l < n; ++l) c[l] = s[l];
}
/* Six rows of a times one panel. */
static void rows_@S(const @T* a, ptrdiff_t lda, const @T* b, @T* c, ptrdiff_t ldc, ptrdiff_t n, ptrdiff_t k,
                    int add) {
  vector_@S s[6][vectors_@S];
  memset(s, 0, sizeof s);
  for (ptrdiff_t p = 0; p < k; ++p, b += wide_@S)
    UNROLL for (int v = 0; v < vectors_@S; ++v) {
      const vector_@S w = ((const vector_@S*)b)[v];
      UNROLL for (int i = 0; i < 6; ++i) s[i][v] += a[i * lda + p] * w;
    }
  for (int i = 0; i < 6; ++i) put_@S(s[i], c + i * ldc, n, add);
}
/* One row of a times four panels. */
static void four_@S(const @T* a, const @T* b, @T* c, ptrdiff_t n, ptrdiff_t k, int add) {
  vector_@S s[4][vectors_@S];
  memset(s, 0, sizeof s);
  for (ptrdiff_t p = 0; p < k; ++p, b += wide_@S)
    UNROLL for (int j = 0; j < 4; ++j)
      UNROLL for (int v = 0; v < vectors_@S; ++v)
        s[j][v] += a[p] * ((const vector_@S*)(b + j * k * wide_@S))[v];
  for (int j = 0; j < 4; ++j) put_@S(s[j], c + j * wide_@S, n - j * wide_@S, add);
}
/* One row of a times one panel, four rows of which are added up apart. */
static void one_@S(const @T* a, const @T* b, @T* c, ptrdiff_t n, ptrdiff_t k, int add) {
  vector_@S s[4][vectors_@S];
  memset(s, 0, sizeof s);
  ptrdiff_t p = 0;
  for (; p + 4 <= k; p += 4, b += 4 * wide_@S)
    UNROLL for (int j = 0; j < 4; ++j)
      UNROLL for (int v = 0; v < vectors_@S; ++v)
        s[j][v] += a[p + j] * ((const vector_@S*)(b + j * wide_@S))[v];
  for (ptrdiff_t left = k % 4; left > 0; --left, ++p, b += wide_@S)
    for (int v = 0; v < vectors_@S; ++v) s[0][v] += a[p] * ((const vector_@S*)b)[v];
  for (int v = 0; v < vectors_@S; ++v) s[0][v] = (s[0][v] + s[1][v]) + (s[2][v] + s[3][v]);
  put_@S(s[0], c, n, add);
}
/* c (m, n) = a (m, k) times b, which is packed; or += with `add`. */
static void gemm_@S(const @T* a, ptrdiff_t lda, const @T* b, @T* c, ptrdiff_t ldc, ptrdiff_t m, ptrdiff_t n,
                    ptrdiff_t k, int add) {
  const ptrdiff_t sixes = m - m % 6;
  for (ptrdiff_t j = 0; j < n && sixes > 0; j += wide_@S)
    for (ptrdiff_t i = 0; i < sixes; i += 6)
      rows_@S(a + i * lda, lda, b + j * k, c + i * ldc + j, ldc, n - j, k, add);
  for (ptrdiff_t i = sixes; i < m; ++i) {
    ptrdiff_t j = 0;
    for (; j + 3 * wide_@S < n; j += 4 * wide_@S) four_@S(a + i * lda, b + j * k, c + i * ldc + j, n - j, k, add);
    for (; j < n; j += wide_@S) one_@S(a + i * lda, b + j * k, c + i * ldc + j, n - j, k, add);
  }
}
)c"},
    {"product", R"c(
static void product_@S(const @T* a, ptrdiff_t row, ptrdiff_t column, const @T* b, ptrdiff_t down,
                       ptrdiff_t across, @T* c, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k) {
  for (ptrdiff_t i = 0; i < m; ++i)
    for (ptrdiff_t j = 0; j < n; ++j) {
      @T s = 0;
      for (ptrdiff_t p = 0; p < k; ++p) s = (@T)(s + a[i * row + p * column] * b[p * down + j * across]);
      c[i * n + j] = s;
    }
}
)c"},
    {"windows", R"c(
/* Three axes: extents in, of the window and out, strides, low padding, dilations of input and window. */
typedef struct {
  ptrdiff_t n, in[3], window[3], out[3], stride[3], low[3], lhs[3], rhs[3], c, o, groups;
} windows;

/* Where in the input an element of a window lies; -1 outside it. */
static ptrdiff_t window_place(const windows* g, int axis, ptrdiff_t out, ptrdiff_t at) {
  const ptrdiff_t x = out * g->stride[axis] - g->low[axis] + at * g->rhs[axis];
  if (x < 0 || x % g->lhs[axis] != 0) return -1;
  return x / g->lhs[axis] < g->in[axis] ? x / g->lhs[axis] : -1;
}
)c"},
    {"convolve", R"c(
/* Of whole inputs, a product for each row of outputs and place of the kernel, whose matrices are packed. */
static void convolve_@S(const @T* x, const @T* w, @T* y, const windows* g) {
  const ptrdiff_t panel = (g->o + wide_@S - 1) / wide_@S * wide_@S * g->c;
  memset(y, 0, sizeof(@T) * (size_t)(g->n * g->out[0] * g->out[1] * g->out[2] * g->o));
  for (ptrdiff_t n = 0; n < g->n; ++n)
    for (ptrdiff_t z = 0; z < g->out[0]; ++z)
      for (ptrdiff_t r = 0; r < g->out[1]; ++r, y += g->out[2] * g->o)
        for (ptrdiff_t a = 0; a < g->window[0]; ++a)
          for (ptrdiff_t b = 0; b < g->window[1]; ++b) {
            const ptrdiff_t from_z = window_place(g, 0, z, a), from_y = window_place(g, 1, r, b);
            if (from_z < 0 || from_y < 0) continue;
            const @T* const row = x + ((n * g->in[0] + from_z) * g->in[1] + from_y) * g->in[2] * g->c;
            for (ptrdiff_t e = 0; e < g->window[2]; ++e) {
              ptrdiff_t first = 0, end = g->out[2];
              while (first < end && window_place(g, 2, first, e) < 0) ++first;
              while (first < end && window_place(g, 2, end - 1, e) < 0) --end;
              if (first < end)
                gemm_@S(row + window_place(g, 2, first, e) * g->c, g->stride[2] * g->c,
                        w + ((a * g->window[1] + b) * g->window[2] + e) * panel, y + first * g->o, g->o,
                        end - first, g->o, g->c, 1);
            }
          }
}
)c"},
    {"convolve_any", R"c(
static void convolve_any_@S(const @T* x, const @T* w, @T* y, const windows* g) {
  const ptrdiff_t c = g->c / g->groups, o = g->o / g->groups;
  memset(y, 0, sizeof(@T) * (size_t)(g->n * g->out[0] * g->out[1] * g->out[2] * g->o));
  for (ptrdiff_t n = 0; n < g->n; ++n)
    for (ptrdiff_t z = 0; z < g->out[0]; ++z)
      for (ptrdiff_t r = 0; r < g->out[1]; ++r)
        for (ptrdiff_t q = 0; q < g->out[2]; ++q, y += g->o)
          for (ptrdiff_t a = 0; a < g->window[0]; ++a)
            for (ptrdiff_t b = 0; b < g->window[1]; ++b)
              for (ptrdiff_t e = 0; e < g->window[2]; ++e) {
                const ptrdiff_t i = window_place(g, 0, z, a), j = window_place(g, 1, r, b),
                                k = window_place(g, 2, q, e);
                if (i < 0 || j < 0 || k < 0) continue;
                const @T* const from = x + (((n * g->in[0] + i) * g->in[1] + j) * g->in[2] + k) * g->c;
                const @T* by = w + ((a * g->window[1] + b) * g->window[2] + e) * c * g->o;
                for (ptrdiff_t l = 0; l < c; ++l, by += g->o)
                  for (ptrdiff_t group = 0; group < g->groups; ++group)
                    for (ptrdiff_t m = group * o; m < (group + 1) * o; ++m)
                      y[m] += from[group * c + l] * by[m];
              }
}
)c"},
    {"max_pool", R"c(
static void max_pool_@S(const @T* x, @T* y, const windows* g) {
  for (ptrdiff_t n = 0; n < g->n; ++n)
    for (ptrdiff_t z = 0; z < g->out[0]; ++z)
      for (ptrdiff_t r = 0; r < g->out[1]; ++r)
        for (ptrdiff_t q = 0; q < g->out[2]; ++q, y += g->c) {
          for (ptrdiff_t l = 0; l < g->c; ++l) y[l] = @L;
          for (ptrdiff_t a = 0; a < g->window[0]; ++a)
            for (ptrdiff_t b = 0; b < g->window[1]; ++b)
              for (ptrdiff_t e = 0; e < g->window[2]; ++e) {
                const ptrdiff_t i = window_place(g, 0, z, a), j = window_place(g, 1, r, b),
                                k = window_place(g, 2, q, e);
                if (i < 0 || j < 0 || k < 0) continue;
                const @T* const from = x + (((n * g->in[0] + i) * g->in[1] + j) * g->in[2] + k) * g->c;
                for (ptrdiff_t l = 0; l < g->c; ++l)
                  if (from[l] > y[l] || from[l] != from[l]) y[l] = from[l];
              }
        }
}
)c"},
    {"softmax", R"c(
static void softmax_@S(const @T* x, @T* y, ptrdiff_t rows, ptrdiff_t n, int logs) {
  for (; rows > 0; --rows, x += n, y += n) {
    @T most = x[0];
    for (ptrdiff_t i = 1; i < n; ++i) most = x[i] > most || x[i] != x[i] ? x[i] : most;
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; ++i) sum += y[i] = exp@M(x[i] - most);
    const @T by = (@T)(logs ? log(sum) : 1 / sum);
    for (ptrdiff_t i = 0; i < n; ++i) y[i] = logs ? x[i] - most - by : y[i] * by;
  }
}
)c"},
    {"layer_norm", R"c(
static void layer_norm_@S(const @T* x, const @T* scale, const @T* bias, @T* y, ptrdiff_t rows, ptrdiff_t n,
                          double epsilon) {
  for (; rows > 0; --rows, x += n, y += n) {
    double sum = 0, squares = 0;
    for (ptrdiff_t i = 0; i < n; ++i) sum += x[i];
    const @T mean = (@T)(sum / (double)n);
    for (ptrdiff_t i = 0; i < n; ++i) squares += (double)(x[i] - mean) * (x[i] - mean);
    const @T by = (@T)(1 / sqrt(squares / (double)n + epsilon));
    for (ptrdiff_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * by * scale[i] + bias[i];
  }
}
)c"},
    {"order", R"c(
/* The order of n elements: stable, NaNs greatest, by merging runs. `order` has place for 2 n. */
static ptrdiff_t* order_@S(const @T* x, ptrdiff_t step, ptrdiff_t n, int greatest, ptrdiff_t* order) {
  ptrdiff_t *from = order, *to = order + n;
  for (ptrdiff_t i = 0; i < n; ++i) from[i] = i;
  for (ptrdiff_t run = 1; run < n; run *= 2) {
    for (ptrdiff_t first = 0; first < n; first += 2 * run) {
      const ptrdiff_t middle = first + run < n ? first + run : n, end = middle + run < n ? middle + run : n;
      ptrdiff_t i = first, j = middle, k = first;
      while (i < middle && j < end) {
        const @T a = x[from[greatest ? i : j] * step], b = x[from[greatest ? j : i] * step];
        to[k++] = (a < b || (b != b && a == a)) ? from[j++] : from[i++];
      }
      while (i < middle) to[k++] = from[i++];
      while (j < end) to[k++] = from[j++];
    }
    ptrdiff_t* const other = from;
    from = to, to = other;
  }
  return from;
}
)c"},
};

}  // namespace io::detail
NAX_END
