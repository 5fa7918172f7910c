#pragma once

// Rows in idiomatic Eigen: results go into existing matrices, with noalias().

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "../../support/data.hpp"
#include "../../support/row.hpp"

namespace bench {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row1 = Eigen::Matrix<float, 1, Eigen::Dynamic>;

inline Matrix matrix(std::uint32_t seed, Eigen::Index rows, Eigen::Index columns, float low = -1,
                     float high = 1) {
  const std::vector<float> v = uniform(seed, rows * columns, low, high);
  return Eigen::Map<const Matrix>(v.data(), rows, columns);
}

template <class M>
void append(std::vector<float>& all, const M& m) {
  all.insert(all.end(), m.data(), m.data() + m.size());
}

// A row from a function that assigns to a matrix.
template <class F>
Work assigns(F f) {
  const auto out = std::make_shared<Matrix>();
  return work([=] { f(*out); },
              [=] {
                f(*out);
                std::vector<float> all;
                append(all, *out);
                return all;
              });
}

Rows eigen_product_rows();
Rows eigen_step_rows();
Rows eigen_array_rows();

}  // namespace bench
