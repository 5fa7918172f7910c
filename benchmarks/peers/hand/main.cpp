#include "hand.hpp"

int main() {
  bench::Rows all;
  for (const auto& family : {bench::hand_peak_rows, bench::hand_elementwise_rows, bench::hand_reduction_rows,
                             bench::hand_layout_rows})
    for (bench::Row& row : family()) all.push_back(std::move(row));
  return bench::serve(all);
}
