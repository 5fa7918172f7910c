// nax's side of compare.py.
#include "rows.hpp"

int main() {
  bench::Rows all;
  for (const auto& family :
       {bench::matmul_rows, bench::step_rows, bench::pmap_rows, bench::elementwise_rows,
        bench::reduction_rows, bench::layout_rows, bench::random_rows, bench::transform_rows,
        bench::network_rows, bench::small_rows, bench::second_order_rows, bench::dispatch_rows})
    for (bench::Row& row : family()) all.push_back(std::move(row));
  return bench::serve(all);
}
