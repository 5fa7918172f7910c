#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "exporting/nets.hpp"

// Branches, powers and shifts of integers, and sorts of NaN, for functions.hpp.
namespace exported {
using namespace nax;
using nets::A;
using nets::draw;
using I = Array<int>;

template <class Folder>
void add_choices(Folder& folder) {
  folder.add(
      "whole_powers",
      [](const I& i, const I& n) { return I(power(i, n) + power(i, 3) - power(I(abs(i)), 5)); },
      I{-2, 0, 5, -1, -1, 1, 3, 7}, I{3, 0, 2, -3, -2, -7, -1, 20});
  folder.add(
      "shifts",
      [](const I& i, const I& n) {
        const auto bytes = i.template astype<std::int8_t>() << n.template astype<std::int8_t>();
        const auto large = i.template astype<std::uint8_t>() >> n.template astype<std::uint8_t>();
        return I(((i << n) >> 2) + (i >> n) + I(bytes.template astype<int>()) +
                 I(large.template astype<int>()));
      },
      I{-200, 0, 255, -1, 77, 1 << 30}, I{3, 0, 40, 31, -2, 7});
  // Branches that read arrays from around them, one within another, and one in a loop.
  folder.add(
      "cond",
      [](const A& x) {
        const A scale = exp(A(x(0)));
        const auto inner = [&](const A& v) {
          return lax::cond(
              sum(v) > 0.f, [&](const A& w) { return A(w * scale + 1.f); },
              [](const A& w) { return A(w - 3.f); }, v);
        };
        const auto other = [&](const A& w) { return A(inner(A(w.T().T())) * 2.f); };
        return A(inner(x) + lax::cond(max(x) > 100.f, inner, other, A(-x)));
      },
      draw(1, {4, 6}));
  folder.add(
      "switch",
      [](const A& x, const I& i) {
        std::vector<A> all;
        for (int k = 0; k < 4; ++k)
          all.push_back(lax::switch_(I(i(k)),
                                     std::tuple{[](const A& w, const A& row) { return A(w + row); },
                                                [](const A& w, const A&) { return A(sin(w)); },
                                                [](const A&, const A& row) {
                                                  return A(broadcast_to(row, {4, 6}) * 2.f);
                                                }},
                                     x, A(x(1))));
        return stack(all);
      },
      draw(1, {4, 6}), I{-3, 1, 2, 7});
  folder.add(
      "cond_in_scan",
      [](const A& x) {
        const auto step = [&](const A& c, const A& row) {
          const A next = lax::cond(
              sum(row) > 0.f, [&](const A& w) { return A(w * 0.5f + row); },
              [&](const A& w) { return A(w + x(0)); }, c);
          return std::pair(next, A(next * 2.f));
        };
        const auto [last, rows] = lax::scan(step, A(x(1)), x);
        return concatenate({A(rows), A(last).reshape({1, 3})});
      },
      draw(1, {40, 3}));
  folder.add(
      "sorts_of_nan",
      [](const A& x) {
        return concatenate({sort(x), sort(x, {.descending = true}), argsort(x).astype<float>(),
                            argsort(x, {.descending = true}).astype<float>(), top_k(x, 4).values,
                            top_k(x, 4).indices.astype<float>()},
                           {.axis = 1});
      },
      A{{1, NAN, INFINITY, -INFINITY, NAN, INFINITY, 0, NAN}, {3, 2, NAN, 1, 0, NAN, -INFINITY, 3.4e38f}});
}

}  // namespace exported
