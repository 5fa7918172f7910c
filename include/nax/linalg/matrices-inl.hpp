#pragma once

#include "nax/linalg/matrices.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_square(const char* function, const ArrayBase& a) {
  check_operand(function, a);
  if (a.ndim() < 2 || a.shape(-1) != a.shape(-2))
    raise<ShapeError>({function, ": the last two axes must be square, shape ", a.shape()});
}

NAX_ENGINE void factorise(loops::Factoring what, const ArrayBase& a,
                          std::initializer_list<const ArrayBase*> results) {
  const Layout& layout = layout_of(a);
  const bool row_major = layout.is_contiguous();
  const ArrayBase rows = row_major ? ArrayBase() : contiguous(a, transforms_handled);
  const std::size_t rank = layout.shape.size();
  what.batch = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) what.batch *= layout.shape[i];
  what.m = layout.shape[rank - 2];
  what.n = layout.shape[rank - 1];
  const auto to = [&](std::size_t i) {
    return i < results.size() && results.begin()[i] ? device_data(*results.begin()[i]) : nullptr;
  };
  backend::run(a.device(), ops::Factorise{what, a.dtype()},
               {device_data(row_major ? a : rows), to(0), to(1), to(2)});
}

NAX_ENGINE ArrayBase solved_sylvester(const ops::Sylvester& form, const ArrayBase& a, const ArrayBase& b,
                                      const ArrayBase& q, const Frame& leading) {
  const auto over_batches = [&](const ArrayBase& x) {
    const Layout& layout = layout_of(x);
    Frame whole = leading;
    whole.shape.append(layout.shape.end() - 2, layout.shape.end());
    return layout.shape == whole.shape ? contiguous(x, transforms_handled) : copy_over(x, whole);
  };
  Frame frame = leading;
  frame.shape.push_back(form.m), frame.shape.push_back(form.n);
  ArrayBase result = allocate(q.dtype(), frame, device_for("solve_sylvester", a, b, q));
  if (layout_of(result).size() == 0) return result;
  const ArrayBase left = over_batches(a), right = over_batches(b), rest = over_batches(q);
  backend::run(result.device(), form,
               {device_data(left), device_data(right), device_data(rest), device_data(result)});
  return result;
}

NAX_ENGINE ArrayBase triangle(const ArrayBase& x, bool lower, double diagonal) {
  ArrayBase result = allocate(x.dtype(), layout_of(x), device_for("triangle", x));
  if (layout_of(x).size() > 0)
    factorise({.kind = loops::Factorisation::triangle, .lower = lower, .diagonal = diagonal}, x, {&result});
  const auto same = [=](const ArrayBase& g) { return triangle(g, lower, diagonal); };
  return record(std::move(result), wrt(x, same, same));
}

}  // namespace detail
NAX_END
