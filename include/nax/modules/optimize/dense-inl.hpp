#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "nax/modules/optimize/dense.hpp"

NAX_BEGIN
namespace optimize::detail {

NAX_ENGINE std::string to_string(InText number) {
  if (std::isnan(number.value)) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%g", number.value);
  return text;
}

NAX_ENGINE double norm(const Vector& a) {
  const double largest = norm_inf(a);
  if (!(largest > 0) || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double x : a) sum += (x / largest) * (x / largest);
  return largest * std::sqrt(sum);
}
NAX_ENGINE double norm_inf(const Vector& a) {
  double largest = 0;
  for (const double x : a) {
    if (std::isnan(x)) return x;
    largest = std::max(largest, std::fabs(x));
  }
  return largest;
}
NAX_ENGINE bool all_finite(const Vector& a) {
  return std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); });
}

NAX_ENGINE Vector times(const Matrix& a, const Vector& x) {
  Vector y(a.rows);
  for (std::size_t j = 0; j < a.columns; ++j) {
    const double* c = a.column(j);
    for (std::size_t i = 0; i < a.rows; ++i) y[i] += c[i] * x[j];
  }
  return y;
}
NAX_ENGINE Vector transpose_times(const Matrix& a, const Vector& x) {
  Vector y(a.columns);
  for (std::size_t j = 0; j < a.columns; ++j) {
    const double* c = a.column(j);
    double sum = 0;
    for (std::size_t i = 0; i < a.rows; ++i) sum += c[i] * x[i];
    y[j] = sum;
  }
  return y;
}

NAX_ENGINE PivotedQr pivoted_qr(Matrix a, Vector f) {
  const std::size_t m = a.rows, n = a.columns, k = std::min(m, n);
  PivotedQr qr;
  qr.order.resize(n);
  std::iota(qr.order.begin(), qr.order.end(), std::size_t{0});
  Vector rest(n), whole(n);  // the norms of what is left of the columns
  const auto column_norm = [&](std::size_t j, std::size_t from) {
    return norm(Vector(a.column(j) + from, a.column(j) + m));
  };
  for (std::size_t j = 0; j < n; ++j) whole[j] = rest[j] = column_norm(j, 0);
  for (std::size_t j = 0; j < k; ++j) {
    const std::size_t best = static_cast<std::size_t>(
        std::max_element(rest.begin() + static_cast<std::ptrdiff_t>(j), rest.end()) - rest.begin());
    if (best != j) {
      std::swap_ranges(a.column(j), a.column(j) + m, a.column(best));
      std::swap(qr.order[j], qr.order[best]);
      rest[best] = rest[j];
      whole[best] = whole[j];
    }
    double* v = a.column(j);
    double length = column_norm(j, j);
    if (length == 0) continue;
    if (v[j] < 0) length = -length;
    for (std::size_t i = j; i < m; ++i) v[i] /= length;
    v[j] += 1;
    const auto reflect = [&](double* c) {
      double sum = 0;
      for (std::size_t i = j; i < m; ++i) sum += v[i] * c[i];
      sum /= v[j];
      for (std::size_t i = j; i < m; ++i) c[i] -= sum * v[i];
    };
    for (std::size_t c = j + 1; c < n; ++c) {
      reflect(a.column(c));
      if (rest[c] == 0) continue;
      const double part = a(j, c) / rest[c];
      rest[c] *= std::sqrt(std::max(0., 1 - part * part));
      if (const double lost = rest[c] / whole[c];
          0.05 * lost * lost <= std::numeric_limits<double>::epsilon())
        whole[c] = rest[c] = column_norm(c, j + 1);
    }
    reflect(f.data());
    v[j] = -length;
  }
  qr.r = Matrix(k, n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i <= std::min(j, k - 1) && k > 0; ++i) qr.r(i, j) = a(i, j);
  qr.qtf.assign(f.begin(), f.begin() + static_cast<std::ptrdiff_t>(k));
  return qr;
}

// The number of leading columns of R that count as independent: a column of small numbers may be one of them.
inline std::size_t rank_of(const PivotedQr& qr, double rcond) {
  const auto is_dependent = [&](std::size_t j) {
    const double rest = std::fabs(qr.r(j, j)), whole = norm(Vector(qr.r.column(j), qr.r.column(j) + j + 1));
    return rest == 0 || (rest <= rcond * std::fabs(qr.r(0, 0)) && rest <= rcond * whole);
  };
  std::size_t rank = 0;
  while (rank < qr.r.rows && !is_dependent(rank)) ++rank;
  return rank;
}
NAX_ENGINE bool is_singular(const PivotedQr& qr) { return rank_of(qr, rank_tolerance) < qr.r.columns; }

NAX_ENGINE Vector least_squares_solution(const PivotedQr& qr, double rcond, const Vector& d) {
  const std::size_t n = qr.r.columns, rank = rank_of(qr, rcond);
  const auto solved = [&](const double* right) {
    Vector y(right, right + rank);
    for (std::size_t j = rank; j-- > 0;) {
      y[j] /= qr.r(j, j);
      for (std::size_t i = 0; i < j; ++i) y[i] -= qr.r(i, j) * y[j];
    }
    return y;
  };
  Vector y = solved(qr.qtf.data()), z(n - rank);
  if (rank > 0 && rank < n) {  // y - W z solves as well, z at the dependent columns
    const auto weight = [&](std::size_t j) { return d.empty() ? 1 : d[qr.order[j]]; };
    Matrix w(n, n - rank);
    Vector right(n);
    for (std::size_t i = 0; i < rank; ++i) right[i] = weight(i) * y[i];
    for (std::size_t c = 0; c < n - rank; ++c) {
      const Vector column = solved(qr.r.column(rank + c));
      for (std::size_t i = 0; i < rank; ++i) w(i, c) = weight(i) * column[i];
      w(rank + c, c) = weight(rank + c);
    }
    z = least_squares_solution(pivoted_qr(w, std::move(right)), 0);
    const Vector moved = times(w, z);
    for (std::size_t i = 0; i < rank; ++i) y[i] -= moved[i] / weight(i);
  }
  Vector x(n);
  for (std::size_t j = 0; j < n; ++j) x[qr.order[j]] = j < rank ? y[j] : z[j - rank];
  return x;
}

// Solves a x = b, D x = 0 by least squares, from a's factorisation: `s` becomes the lower factor (its
// transpose is R of the whole system), and x is permuted back. MINPACK's qrsolv; R is n x n.
inline Vector solve_damped(const Matrix& r, const std::vector<std::size_t>& order, const Vector& d,
                           const Vector& qtb, Matrix& s, Vector& diagonal) {
  const std::size_t n = r.columns;
  s = Matrix(n, n);
  diagonal.assign(n, 0);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) s(i, j) = r(j, i);
  Vector y = qtb;
  Vector row(n);
  for (std::size_t j = 0; j < n; ++j) {
    if (d[order[j]] != 0) {
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(j), row.end(), 0.);
      row[j] = d[order[j]];
      double extra = 0;
      for (std::size_t k = j; k < n; ++k) {
        if (row[k] == 0) continue;
        const double h = std::hypot(s(k, k), row[k]), c = s(k, k) / h, t = row[k] / h;
        s(k, k) = h;
        const double both = c * y[k] + t * extra;
        extra = c * extra - t * y[k];
        y[k] = both;
        for (std::size_t i = k + 1; i < n; ++i) {
          const double one = c * s(i, k) + t * row[i];
          row[i] = c * row[i] - t * s(i, k);
          s(i, k) = one;
        }
      }
    }
    diagonal[j] = s(j, j);
  }
  std::size_t rank = 0;
  while (rank < n && diagonal[rank] != 0) ++rank;
  for (std::size_t j = rank; j < n; ++j) y[j] = 0;
  for (std::size_t j = rank; j-- > 0;) {
    double sum = 0;
    for (std::size_t i = j + 1; i < rank; ++i) sum += s(i, j) * y[i];
    y[j] = (y[j] - sum) / diagonal[j];
  }
  Vector x(n);
  for (std::size_t j = 0; j < n; ++j) x[order[j]] = y[j];
  return x;
}

NAX_ENGINE Vector trust_region_step(const PivotedQr& given, const Vector& d, double delta, double& par) {
  const std::size_t n = given.r.columns;
  // Fewer residuals than parameters: rows of zeros make R square.
  Matrix r(n, n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < given.r.rows; ++i) r(i, j) = given.r(i, j);
  Vector qtf = given.qtf;
  qtf.resize(n);

  const auto scaled = [&](const Vector& x) {
    Vector y(n);
    for (std::size_t j = 0; j < n; ++j) y[j] = d[j] * x[j];
    return y;
  };
  const auto negative = [](Vector x) {
    for (double& v : x) v = -v;
    return x;
  };
  // Gauss and Newton's step; that of least |D p| where R is singular.
  Vector x = least_squares_solution(given, rank_tolerance, d);
  Vector dx = scaled(x);
  double length = norm(dx), excess = length - delta;
  if (excess <= 0.1 * delta) {
    par = 0;
    return negative(x);
  }
  double lower = 0;
  if (!is_singular(given)) {
    Vector w(n);
    for (std::size_t j = 0; j < n; ++j) w[j] = d[given.order[j]] * (dx[given.order[j]] / length);
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < j; ++i) sum += r(i, j) * w[i];
      w[j] = (w[j] - sum) / r(j, j);
    }
    const double size = norm(w);
    lower = excess / delta / size / size;
  }
  Vector w(n);
  for (std::size_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i <= j; ++i) sum += r(i, j) * qtf[i];
    w[j] = sum / d[given.order[j]];
  }
  const double gradient = norm(w), tiny = std::numeric_limits<double>::min();
  double upper = gradient / delta;
  if (upper == 0) upper = tiny / std::min(delta, 0.1);
  par = std::min(std::max(par, lower), upper);
  if (par == 0) par = gradient / length;
  Matrix s;
  Vector diagonal, damping(n);
  for (int step = 1;; ++step) {
    if (par == 0) par = std::max(tiny, 0.001 * upper);
    const double root = std::sqrt(par);
    for (std::size_t j = 0; j < n; ++j) damping[j] = root * d[j];
    x = solve_damped(r, given.order, damping, qtf, s, diagonal);
    dx = scaled(x);
    length = norm(dx);
    const double before = excess;
    excess = length - delta;
    if (std::fabs(excess) <= 0.1 * delta || (lower == 0 && excess <= before && before < 0) || step == 10 ||
        !std::isfinite(length))
      return negative(x);
    for (std::size_t j = 0; j < n; ++j) w[j] = d[given.order[j]] * (dx[given.order[j]] / length);
    for (std::size_t j = 0; j < n; ++j) {
      w[j] /= diagonal[j];
      for (std::size_t i = j + 1; i < n; ++i) w[i] -= s(i, j) * w[j];
    }
    const double size = norm(w), correction = excess / delta / size / size;
    if (excess > 0) lower = std::max(lower, par);
    if (excess < 0) upper = std::min(upper, par);
    par = std::max(lower, par + correction);
  }
}

NAX_ENGINE bool cholesky_in_place(Matrix& a) {
  const std::size_t n = a.rows;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i) a(i, j) -= a(i, k) * a(j, k);
    if (!(a(j, j) > 0)) return false;
    const double pivot = std::sqrt(a(j, j));
    for (std::size_t i = j; i < n; ++i) a(i, j) /= pivot;
  }
  return true;
}
NAX_ENGINE void solve_cholesky(const Matrix& l, Vector& b) {
  const std::size_t n = l.rows;
  for (std::size_t j = 0; j < n; ++j) {
    b[j] /= l(j, j);
    for (std::size_t i = j + 1; i < n; ++i) b[i] -= l(i, j) * b[j];
  }
  for (std::size_t j = n; j-- > 0;) {
    for (std::size_t i = j + 1; i < n; ++i) b[j] -= l(i, j) * b[i];
    b[j] /= l(j, j);
  }
}

NAX_ENGINE Matrix normal_inverse(const PivotedQr& qr, double rcond) {
  const std::size_t n = qr.r.columns;
  if (rank_of(qr, rcond) < n) return Matrix();
  Matrix inverse(n, n);  // of R
  for (std::size_t k = 0; k < n; ++k) {
    inverse(k, k) = 1;
    for (std::size_t j = k + 1; j-- > 0;) {
      inverse(j, k) /= qr.r(j, j);
      for (std::size_t i = 0; i < j; ++i) inverse(i, k) -= qr.r(i, j) * inverse(j, k);
    }
  }
  Matrix out(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = std::max(i, j); k < n; ++k) sum += inverse(i, k) * inverse(j, k);
      out(qr.order[i], qr.order[j]) = sum;
    }
  return out;
}

NAX_ENGINE void symmetric_eigen(Matrix a, Vector& values, Matrix& vectors) {
  const std::size_t n = a.rows;
  vectors = Matrix(n, n);
  for (std::size_t i = 0; i < n; ++i) vectors(i, i) = 1;
  const double whole = norm(a.data);
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < j; ++i) off = std::max(off, std::fabs(a(i, j)));
    if (!(off > 1e-17 * whole)) break;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = (theta < 0 ? -1. : 1.) / (std::fabs(theta) + std::hypot(theta, 1.));
        const double c = 1 / std::hypot(t, 1.), s = t * c;
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a(i, p), y = a(i, q);
          a(i, p) = c * x - s * y;
          a(i, q) = s * x + c * y;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a(p, i), y = a(q, i);
          a(p, i) = c * x - s * y;
          a(q, i) = s * x + c * y;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const double x = vectors(i, p), y = vectors(i, q);
          vectors(i, p) = c * x - s * y;
          vectors(i, q) = s * x + c * y;
        }
      }
  }
  values.resize(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a(i, i);
}

NAX_ENGINE bool solve_general(Matrix a, Vector& b) {
  const std::size_t n = a.rows;
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t pivot = j;
    for (std::size_t i = j + 1; i < n; ++i)
      if (std::fabs(a(i, j)) > std::fabs(a(pivot, j))) pivot = i;
    if (!(std::fabs(a(pivot, j)) > 0) || !std::isfinite(a(pivot, j))) return false;
    if (pivot != j) {
      for (std::size_t k = 0; k < n; ++k) std::swap(a(j, k), a(pivot, k));
      std::swap(b[j], b[pivot]);
    }
    for (std::size_t i = j + 1; i < n; ++i) {
      const double part = a(i, j) / a(j, j);
      if (part == 0) continue;
      for (std::size_t k = j + 1; k < n; ++k) a(i, k) -= part * a(j, k);
      b[i] -= part * b[j];
    }
  }
  for (std::size_t j = n; j-- > 0;) {
    for (std::size_t k = j + 1; k < n; ++k) b[j] -= a(j, k) * b[k];
    b[j] /= a(j, j);
  }
  return all_finite(b);
}

}  // namespace optimize::detail
NAX_END
