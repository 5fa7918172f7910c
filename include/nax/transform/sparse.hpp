#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>

#include "nax/numpy/conversion/eigen.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/sparsity.hpp"
#include "nax/transform/vmap.hpp"
#include "nax/tree/static.hpp"

// Jacobians and Hessians most of whose elements are zero.
namespace Eigen {
template <class Scalar, int options, class Index>
class SparseMatrix;
}  // namespace Eigen

NAX_BEGIN

// A matrix in compressed rows (SciPy's csr_array): row i has elements data[k] in columns indices[k], k from
// indptr[i] to indptr[i + 1].
template <class T>
struct SparseMatrix {
  Array<T> data;
  Array<std::int32_t> indices, indptr;
  tree::Static<Shape> shape;

  // As an array of two axes. Differentiable.
  Array<T> todense() const {
    const std::vector<std::int32_t> starts = indptr.to_vector(), columns = indices.to_vector();
    const std::int64_t m = (*shape)[0], n = (*shape)[1];
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int32_t at = detail::nth(starts, i); at < detail::nth(starts, i + 1); ++at)
        places.push_back(i * n + detail::nth(columns, at));
    return zeros<T>({m * n}).at(asarray(places)).set(data).reshape({m, n});
  }
};

// A read-only Eigen::SparseMatrix, rows first, over the elements of a matrix, which must outlive it. Include
// <Eigen/SparseCore> to call it. Throws ValueError for a matrix that vmap batches.
template <class T>
auto as_eigen(const SparseMatrix<T>& a) {
  using Matrix = Eigen::SparseMatrix<T, 1, std::int32_t>;
  if constexpr (requires { sizeof(Matrix); })
    return Eigen::Map<const Matrix, 0, Eigen::Stride<0, 0>>((*a.shape)[0], (*a.shape)[1], a.data.size(),
                                                            a.indptr.data(), a.indices.data(), a.data.data());
  else
    static_assert(sizeof(T) == 0, "as_eigen of a SparseMatrix: include <Eigen/SparseCore> first");
}

struct SparseJacobianOptions {
  SparsityPattern pattern = {};           // found where none is given
  std::vector<std::int32_t> colors = {};  // of columns; those of one color share no row
  std::string_view mode = "auto";         // "forward" by columns, "reverse" by rows, "auto": of fewer colors
};

namespace detail {

// A function of an array as one of its vector, which gives a vector.
template <class F, class T>
struct OnFlat {
  F f;
  Shape shape;
  Array<T> operator()(const Array<T>& x) const {
    const Array<T> y = f(Array<T>(x.reshape(shape)));
    return y.reshape({y.size()});
  }
};

// The values of a sparse Jacobian's elements, for a program.
template <class F, class T>
struct ElementsOfJacobian {
  OnFlat<F, T> f;
  bool forward;
  Array<T> seeds;  // one row a color
  Array<std::int64_t> places;

  std::pair<Array<T>, Array<T>> operator()(const Array<T>& x) const {
    if (forward) {
      const auto linear = linearize(f, x);
      const auto& push = linear.second;
      return {linear.first, elements_by([&](const Array<T>& t) { return push(t); }, linear.first.size())};
    }
    const auto linear = vjp(f, x);
    const auto& pull = linear.second;
    return {linear.first, elements_by([&](const Array<T>& t) { return std::get<0>(pull(t)); }, x.size())};
  }

  // A few seeds at a time: what depends on these alone is small then, and a program holds it computed.
  template <class Pass>
  Array<T> elements_by(const Pass& pass, std::int64_t length) const {
    const std::int64_t count = seeds.shape(0), few = 16384 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t at_once =
        std::max({(count + 15) / 16, few / std::max<std::int64_t>(length, 1), std::int64_t{1}});
    std::vector<Array<T>> parts;
    for (std::int64_t first = 0; first < count; first += at_once) {
      const Array<T> some = seeds(slice(first, std::min(first + at_once, count)));
      parts.push_back(Array<T>(vmap(pass)(some)).reshape({some.shape(0) * length}));
    }
    return parts.empty() ? zeros<T>({0}) : Array<T>(take(concatenate(parts), places));
  }
};

// A point near x with elements of the same signs.
template <class T>
Array<T> probe_point(const Array<T>& x, std::uint64_t seed) {
  std::vector<T> values = x.to_vector();
  const std::vector<double> by = probe_numbers(seed, x.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += static_cast<T>(0.02 * by[i]) * (values[i] == 0 ? T(1) : std::abs(values[i]));
  return asarray(values);
}

// Where the Jacobian is not zero at x or at points near it. By blocks of columns.
template <class F, class T>
SparsityPattern probed_pattern(const F& f, const Array<T>& x, std::int64_t m) {
  const std::int64_t n = x.size();
  const std::int64_t block = std::clamp<std::int64_t>((std::int64_t(1) << 16) / std::max<std::int64_t>(m, 1),
                                                      1, std::max<std::int64_t>(n, 1));
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(m));
  std::vector<char> found(static_cast<std::size_t>(m));
  std::vector<Array<T>> points{x, probe_point(x, 1), probe_point(x, 2)};
  std::vector<Pushforward<Array<T>, std::tuple<Array<T>>>> pushes;
  for (const Array<T>& at : points) pushes.push_back(linearize(f, at).second);
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t count = std::min(block, n - first);
    std::vector<T> seeds(static_cast<std::size_t>(count * n));
    for (std::int64_t k = 0; k < count; ++k) seeds[k * n + first + k] = T(1);
    const Array<T> tangents = asarray(seeds, Shape{count, n});
    std::vector<std::vector<T>> columns;
    for (const auto& push : pushes)
      columns.push_back(vmap([&](const Array<T>& t) { return push(t); })(tangents).to_vector());
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t i = 0; i < m; ++i)
        for (const auto& of : columns)
          if (const T value = of[k * m + i]; value != T(0) && std::isfinite(value)) {
            nth(rows, i).push_back(static_cast<std::int32_t>(first + k));
            break;
          }
  }
  return pattern_of_rows(rows);
}

template <class F, class T>
class SparseJacobian {
 public:
  // `precision`: the least that f's numbers differ by, relatively.
  SparseJacobian(const char* function, F f, const Array<T>& at, const SparseJacobianOptions& o,
                 double precision = std::numeric_limits<T>::epsilon())
      : function_(function), x_shape_(at.shape()), least_(std::sqrt(precision)) {
    const RecordOn off(nullptr);
    const OnFlat<F, T> flat{std::move(f), x_shape_};
    const Array<T> x = at.reshape({at.size()});
    const std::int64_t n = x.size();
    y_shape_ = Array<T>(flat.f(at)).shape();
    const std::int64_t m = y_shape_.count();
    if (o.mode != "auto" && o.mode != "forward" && o.mode != "reverse")
      raise<ValueError>({function, ": mode must be 'auto', 'forward' or 'reverse', not '", o.mode, "'"});
    const SparsityPattern pattern = o.pattern.empty() ? probed_pattern(flat, x, m) : o.pattern;
    check_pattern(function, pattern, m, n);
    bool forward = o.mode != "reverse";
    Coloring coloring;
    if (!o.colors.empty()) {
      if (!forward) raise<ValueError>({function, ": colors are those of columns, mode is 'reverse'"});
      coloring = checked_colors(function, o.colors, pattern, n);
    } else {
      if (forward) coloring = color_columns(pattern, n);
      if (o.mode != "forward") {
        const Coloring rows = color_columns(transposed(pattern, n), m);
        if (!forward || rows.count < coloring.count) coloring = rows, forward = false;
      }
    }
    const std::int64_t width = forward ? n : m, height = forward ? m : n;
    std::vector<T> seeds(static_cast<std::size_t>(coloring.count * width));
    for (std::int64_t j = 0; j < width; ++j)
      detail::nth(seeds, detail::nth(coloring.colors, j) * width + j) = T(1);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int32_t k = detail::nth(pattern.indptr(), i); k < detail::nth(pattern.indptr(), i + 1); ++k) {
        const std::int64_t j = detail::nth(pattern.indices(), k);
        places.push_back(forward ? detail::nth(coloring.colors, j) * height + i
                                 : detail::nth(coloring.colors, i) * height + j);
      }
    colors_ = coloring.count;
    matrix_.indices = asarray(pattern.indices());
    matrix_.indptr = asarray(pattern.indptr());
    matrix_.shape = Shape{m, n};
    elements_ = std::make_shared<const Elements>(jit(ElementsOfJacobian<F, T>{
        flat, forward, asarray(seeds, Shape{coloring.count, width}), asarray(places)}));
    for (const std::uint64_t seed : {3u, 4u}) check(flat, seed == 3 ? x : probe_point(x, seed), seed);
  }

  // {f(x), the Jacobian}.
  std::pair<Array<T>, SparseMatrix<T>> operator()(const Array<T>& x) const {
    if (x.shape() != x_shape_)
      raise<ShapeError>({function_, ": x must have shape ", x_shape_, ", not ", x.shape()});
    auto [y, data] = (*elements_)(x.reshape({x.size()}));
    SparseMatrix<T> matrix = matrix_;
    matrix.data = std::move(data);
    return {y.reshape(y_shape_), std::move(matrix)};
  }
  // The number of passes of a call.
  std::int64_t colors() const { return colors_; }

 private:
  // Compares a product with that of the function itself.
  void check(const OnFlat<F, T>& f, const Array<T>& x, std::uint64_t seed) const {
    const std::vector<double> numbers = probe_numbers(seed, x.size());
    const std::vector<T> along(numbers.begin(), numbers.end());
    const std::vector<T> wanted = jvp(f, std::tuple{x}, std::tuple{asarray(along)}).second.to_vector();
    const std::vector<T> data = (*elements_)(x).second.to_vector();
    const std::vector<std::int32_t> indptr = matrix_.indptr.to_vector(),
                                    indices = matrix_.indices.to_vector();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      double sum = 0, size = 0;
      for (std::int32_t k = indptr[i]; k < indptr[i + 1]; ++k) {
        sum += static_cast<double>(data[k]) * numbers[indices[k]];
        size += std::abs(static_cast<double>(data[k]));
      }
      const double error = std::abs(sum - static_cast<double>(wanted[i]));
      if (error > least_ * (size + std::abs(static_cast<double>(wanted[i]))))
        raise<ValueError>({function_, ": pattern: row ", i, " has derivatives outside of the pattern"});
    }
  }

  using Elements = decltype(jit(std::declval<ElementsOfJacobian<F, T>>()));
  const char* function_;
  Shape x_shape_, y_shape_;
  double least_;            // error of a row that is taken for one, of the size of its terms
  SparseMatrix<T> matrix_;  // without its data
  std::shared_ptr<const Elements> elements_;
  std::int64_t colors_ = 0;
};

}  // namespace detail

// A function of x that returns the pair {f(x), the Jacobian as a SparseMatrix}, of shape (f(x).size(),
// x.size()). x and f(x) are arrays of one type, float or double, whose shapes later calls keep. Finds once
// where elements are not zero, by derivatives at x and two points near it, in blocks of columns; a branch
// that none of these takes needs `.pattern`. Colors columns (or rows) greedily; a call is one recorded
// program with a pass for each color: jac.colors(). Differentiable, goes under vmap and jit. Throws
// ValueError where a given pattern misses derivatives at a random point, does not fit the shapes, or does not
// go with `.colors`; ShapeError for x of another shape.
template <class F, class X>
auto sparse_jacobian(F f, const X& x, const SparseJacobianOptions& options = {}) {
  using T = typename X::value_type;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "sparse_jacobian: x must be an array of float or double");
  return detail::SparseJacobian<F, T>("sparse_jacobian", std::move(f), detail::as_array(x), options);
}

// A function of x that returns the pair {gradient, Hessian as a SparseMatrix} of f, which returns one number;
// the Hessian has shape (x.size(), x.size()). As sparse_jacobian of grad(f), and throws what that throws.
template <class F, class X>
auto sparse_hessian(F f, const X& x, const SparseJacobianOptions& options = {}) {
  using T = typename X::value_type;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "sparse_hessian: x must be an array of float or double");
  auto gradient = grad(std::move(f));
  return detail::SparseJacobian<decltype(gradient), T>("sparse_hessian", std::move(gradient),
                                                       detail::as_array(x), options);
}

NAX_END
