#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "nax/program/passes/pieces.hpp"
#include "nax/program/replay/walks.hpp"

// The parts of an array that copies write.
NAX_BEGIN
namespace program::detail {

// An operand's place in a part, and its strides where the part is an array of its own.
struct InPart {
  std::int64_t offset;  // in bytes
  Dims strides;
};

// A box of a joined array, and the operand that was copied there: without axes of extent 1, and axes that
// both walk as one are one.
struct JoinedPart {
  Operand from, to;                  // one shape, of one axis at least
  std::optional<Intervals> touched;  // none where it is not known

  JoinedPart(const Operand& source, const Operand& target) : from(source), to(target) {
    Dims shape, a, b;
    for (std::size_t axis = 0; axis < target.shape.size(); ++axis) {
      const std::int64_t n = target.shape[axis], sa = source.strides[axis], sb = target.strides[axis];
      if (n == 1) continue;
      if (!shape.empty() && a.back() == sa * n && b.back() == sb * n)
        shape.back() *= n, a.back() = sa, b.back() = sb;
      else
        shape.push_back(n), a.push_back(sa), b.push_back(sb);
    }
    if (shape.empty()) shape = Dims(1, 1), a = b = Dims(1, 1);
    from.shape = to.shape = shape;
    from.strides = a, to.strides = b;
    touched = intervals_of(to);
  }

  std::int64_t element() const { return static_cast<std::int64_t>(dtype_size(to.dtype)); }
  std::int64_t bytes() const { return size_of(to.shape) * element(); }
  // Are its lines for maps? Measured: short ones are not.
  bool has_lines() const {
    constexpr std::int64_t least = 16;
    const std::int64_t n = to.shape.back(), stride = from.strides.back();
    if (size_of(to.shape) == 0 || to.strides.back() != 1) return false;
    for (const std::int64_t s : to.strides)
      if (s <= 0) return false;
    return to.shape.size() == 1 ? stride == 0 || stride == 1 || n == 1
                                : (stride == 0 || stride == 1) && n >= least;
  }
  // Do both share elements? Yes where it is not known.
  bool overlaps(const JoinedPart& other) const {
    return !touched || !other.touched || !joined(*touched, *other.touched);
  }
  // Elements of the joined array that all lie in this part, else none.
  std::optional<InPart> find(std::int64_t offset, const Dims& shape, const Dims& strides, DType dtype) const {
    if (static_cast<std::int64_t>(dtype_size(dtype)) != element() || size_of(shape) == 0) return std::nullopt;
    const std::int64_t distance = offset - to.place.offset;
    if (distance < 0 || distance % element() != 0) return std::nullopt;
    const auto begin = steps_of(distance / element());
    if (!begin) return std::nullopt;
    const Dims own = Layout::row_major(to.shape);
    Dims low = *begin, high = *begin;
    InPart found{dot(*begin, own) * element(), Dims(shape.size(), 0)};
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1 || strides[axis] == 0) continue;
      const auto steps = steps_of(std::abs(strides[axis]));
      if (!steps) return std::nullopt;
      const std::int64_t sign = strides[axis] < 0 ? -1 : 1;
      for (std::size_t k = 0; k < low.size(); ++k)
        (sign < 0 ? low : high)[k] += sign * (shape[axis] - 1) * (*steps)[k];
      found.strides[axis] = sign * dot(*steps, own);
    }
    for (std::size_t k = 0; k < low.size(); ++k)
      if (low[k] < 0 || high[k] >= to.shape[k]) return std::nullopt;
    return found;
  }

 private:
  static std::int64_t dot(const Dims& a, const Dims& b) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
  }
  // A distance in elements as steps along the part's axes.
  std::optional<Dims> steps_of(std::int64_t distance) const {
    std::vector<std::size_t> axes(to.shape.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::sort(axes.begin(), axes.end(),
              [&](std::size_t i, std::size_t j) { return to.strides[i] > to.strides[j]; });
    Dims steps(axes.size(), 0);
    for (const std::size_t k : axes) steps[k] = distance / to.strides[k], distance %= to.strides[k];
    if (distance != 0) return std::nullopt;
    return steps;
  }
};

}  // namespace program::detail
NAX_END
