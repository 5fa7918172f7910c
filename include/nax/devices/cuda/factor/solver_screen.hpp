#pragma once

#include "nax/devices/cuda/factor/solver_lu.hpp"

// Screens matrices around cuSOLVER's iterations: a matrix that is not finite, or whose factors are not found,
// has NaN in every element of its results, as on the host.
NAX_BEGIN
namespace cuda {

// Which elements of column-major matrices are read.
enum class ReadPart : std::uint8_t { all, lower, upper };

template <class R, int parts>
struct CheckFinite {
  const R* from;
  std::int64_t m, n;
  ReadPart part;
  int* bad;
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t matrix) const {
    int finite = 1;
    for (std::int64_t i = team.thread(); i < m * n; i += team.threads()) {
      const std::int64_t row = i % m, column = i / m;
      if ((part == ReadPart::lower && row < column) || (part == ReadPart::upper && row > column)) continue;
      for (int p = 0; p < parts; ++p)
        finite &= std::abs(from[(matrix * m * n + i) * parts + p]) <= std::numeric_limits<R>::max() ? 1 : 0;
    }
    finite = team.combine(finite, BothTrue());
    if (team.thread() == 0) bad[matrix] = finite ? 0 : 1;
  }
};

// Zeros in place of bad matrices of `size` reals.
template <class R>
struct ClearBad {
  const int* bad;
  R* to;
  std::int64_t size;
  constexpr void operator()(std::int64_t i) const {
    if (bad[i / size] != 0) to[i] = R(0);
  }
};
template <class R>
struct SpoilBad {
  const int *bad, *info;
  R* to;
  std::int64_t size;
  constexpr void operator()(std::int64_t i) const {
    if (bad[i / size] != 0 || info[i / size] != 0) to[i] = std::numeric_limits<R>::quiet_NaN();
  }
};

// The matrices of one factorisation.
class Screen {
 public:
  Screen(Device device, std::int64_t count)
      : device_(device), count_(count), bad_(device, count), info_(device, count) {}

  // Column-major matrices, before they are factored.
  template <class T>
  void replace_bad(T* matrices, std::int64_t m, std::int64_t n, ReadPart part) const {
    using R = real_t<T>;
    R* const reals = reals_of<R>(matrices);
    launch_teams(device_, count_, row_threads(m * n),
                 CheckFinite<R, real_parts<T>>{reals, m, n, part, bad_.data()});
    launch(device_, count_ * m * n * real_parts<T>, ClearBad<R>{bad_.data(), reals, m * n * real_parts<T>});
  }
  int* info(std::int64_t matrix) const { return info_.data() + matrix; }
  // Results of `size` elements a matrix; none where null.
  template <class T>
  void spoil(T* results, std::int64_t size) const {
    using R = real_t<T>;
    if (!results) return;
    size *= real_parts<T>;
    launch(device_, count_ * size, SpoilBad<R>{bad_.data(), info_.data(), reals_of<R>(results), size});
  }

 private:
  Device device_;
  std::int64_t count_;
  Room<int> bad_, info_;
};

}  // namespace cuda
NAX_END
