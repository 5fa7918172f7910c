#pragma once

#include <cmath>

#include "nax/devices/cuda/rows/row_parts.hpp"

// Variances and normalised rows.
NAX_BEGIN
namespace cuda {

struct Moments {
  double mean, squares;  // the sum of squares about the mean
};
// variance or standardize.
template <loops::RowFunction what, class S, int per>
struct MomentsRule {
  using T = RowNumber<S>;
  using State = Moments;
  static constexpr bool writes_numbers = what == loops::RowFunction::variance;

  template <class OneTeam>
  static constexpr Moments state(const OneTeam& team, const RowPart<S>& p) {
    const double mean = row_total<per, T>(
                            team, p.size, [](T a) { return a; }, p.from(0)) /
                        static_cast<double>(p.size);
    const T m = static_cast<T>(mean);
    return {mean, row_total<per, T>(
                      team, p.size, [=](T a) { return (a - m) * (a - m); }, p.from(0))};
  }
  template <class OneTeam>
  static constexpr Moments join(const OneTeam& team, const Moments* states, const RowCut& cut,
                                std::int64_t length) {
    double total = 0, squares = 0;
    for (std::int64_t i = team.thread(); i < cut.parts; i += team.threads())
      total += states[i].mean * static_cast<double>(cut.size(i, length));
    const double mean = team.combine(total, RowSum()) / static_cast<double>(length);
    for (std::int64_t i = team.thread(); i < cut.parts; i += team.threads()) {
      const double moved = states[i].mean - mean;
      squares += states[i].squares + moved * moved * static_cast<double>(cut.size(i, length));
    }
    return {mean, team.combine(squares, RowSum())};
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const Moments& all) {
    using std::sqrt;
    const T mean = static_cast<T>(all.mean), squares = static_cast<T>(all.squares);
    if constexpr (what == loops::RowFunction::variance) {
      p.write_number(team, 0, squares / p.operands.number);
    } else {
      const T inverse = T(1) / sqrt(squares / static_cast<T>(p.length()) + p.operands.number);
      p.write_number(team, 1, mean);
      p.write_number(team, 2, inverse);
      if (p.operands.from[1])
        write_row<per>(
            team, p.size, p.to(0), [=](T a, T by, T plus) { return (a - mean) * inverse * by + plus; },
            p.from(0), p.shared(1), p.shared(2));
      else
        write_row<per>(
            team, p.size, p.to(0), [=](T a) { return (a - mean) * inverse; }, p.from(0));
    }
  }
};

template <class S, int per>
struct RmsNormRule : RowOfTwoSums {
  using T = RowNumber<S>;
  template <class OneTeam>
  static constexpr TwoSums state(const OneTeam& team, const RowPart<S>& p) {
    return {row_total<per, T>(
                team, p.size, [](T a) { return a * a; }, p.from(0)),
            0};
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const TwoSums& all) {
    using std::sqrt;
    const T squares = static_cast<T>(all.first);
    const T inverse = T(1) / sqrt(squares / static_cast<T>(p.length()) + p.operands.number);
    p.write_number(team, 1, inverse);
    write_row<per>(
        team, p.size, p.to(0), [=](T a, T by) { return a * inverse * by; }, p.from(0), p.shared(1));
  }
};

// out = inverse (g - mean(g) - y mean(g y)), the mean of g only where the rows were centred, by the sums of g
// and g y over rows of `length`; g and y are functions of the elements of the rows x. `adds`: out += that.
template <bool centred, int per, class T, class S, class OneTeam, class G, class Y, class... Rows>
constexpr void write_normalized_gradient(const OneTeam& team, std::int64_t n, std::int64_t length,
                                         const TwoSums& sums, const G& g, const Y& y, T inverse, bool adds,
                                         S* out, const Rows*... x) {
  const T mean = centred ? static_cast<T>(sums.first) / static_cast<T>(length) : T(0);
  const T along = static_cast<T>(sums.second) / static_cast<T>(length);
  write_or_add_row<per>(
      team, n, adds, out, [=](auto... a) { return inverse * (g(a...) - mean - y(a...) * along); }, x...);
}

template <class S, int per>
struct StandardizeGradientRule : RowOfTwoSums {
  using T = RowNumber<S>;
  template <class OneTeam>
  static constexpr TwoSums state(const OneTeam& team, const RowPart<S>& p) {
    return row_sums<per, T>(
        team, p.size, [](T a, T) { return a; }, [](T, T b) { return b; }, p.from(0), p.from(1));
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const TwoSums& all) {
    write_normalized_gradient<true, per>(
        team, p.size, p.length(), all, [](T a, T) { return a; }, [](T, T b) { return b; }, p.number(2), false,
        p.to(0), p.from(0), p.from(1));
  }
};

}  // namespace cuda
NAX_END
