#include "eigen.hpp"

int main() {
  bench::Rows all;
  for (const auto& family : {bench::eigen_product_rows, bench::eigen_step_rows, bench::eigen_array_rows})
    for (bench::Row& row : family()) all.push_back(std::move(row));
  return bench::serve(all);
}
