// Products of matrices and tensors: every rank, mapped in every way.

#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/products/einsum.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "table/harness.hpp"

namespace products_test {
using namespace table;
using nax::Shape;

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : "x") + std::to_string(n);
  return text.empty() ? "0d" : text;
}
// One row for each pair of shapes, named as the records are.
template <class F>
std::vector<Row> ranks(const std::string& name, F f, const std::vector<std::pair<Shape, Shape>>& shapes) {
  std::vector<Row> rows;
  for (const auto& [a, b] : shapes)
    rows.push_back(row(name + "." + shape_text(a) + "." + shape_text(b),
                       [f](const Operands& x) { return f(x[0], x[1]); }, {{{a}, {b}}}));
  return rows;
}

const bool matmul = add(ranks("matmul", NAX_FUNCTION(nax::matmul),
                              {{{4}, {4}},
                               {{3, 4}, {4}},
                               {{4}, {4, 5}},
                               {{3, 4}, {4, 5}},
                               {{2, 3, 4}, {4}},
                               {{4}, {2, 4, 5}},
                               {{2, 3, 4}, {4, 5}},
                               {{3, 4}, {2, 4, 5}},
                               {{2, 3, 4}, {2, 4, 5}},
                               {{2, 1, 3, 4}, {5, 4, 2}},
                               {{1, 3, 4}, {6, 4, 2}},
                               {{0, 4}, {4, 5}},
                               {{3, 0}, {0, 5}},
                               {{0, 3, 4}, {4, 2}},
                               {{1, 1}, {1, 1}}}));
const bool dot = add(ranks("dot", NAX_FUNCTION(nax::dot),
                           {{{4}, {4}},
                            {{3, 4}, {4}},
                            {{4}, {4, 2}},
                            {{3, 4}, {4, 5}},
                            {{2, 3, 4}, {4}},
                            {{2, 3, 4}, {5, 4, 2}},
                            {{}, {3}},
                            {{2, 2}, {}},
                            {{}, {}},
                            {{0}, {0}}}));
const bool inner = add(ranks("inner", NAX_FUNCTION(nax::inner),
                             {{{4}, {4}}, {{3, 4}, {4}}, {{3, 4}, {5, 4}}, {{2, 3, 4}, {5, 4}}, {{}, {3}}}));
const bool vdot = add(ranks("vdot", NAX_FUNCTION(nax::vdot), {{{4}, {4}}, {{2, 3}, {2, 3}}, {{}, {}}}));
const bool outer =
    add(ranks("outer", NAX_FUNCTION(nax::outer), {{{3}, {4}}, {{2, 2}, {3}}, {{}, {3}}, {{0}, {3}}}));

Row tensordot(const char* tag, const nax::TensordotOptions& options, Shape a, Shape b) {
  return row(std::string("tensordot.") + tag,
             [options](const Operands& x) { return nax::tensordot(x[0], x[1], options); }, {{{a}, {b}}});
}
const bool tensors = add({
    tensordot("2x3x4.3x4x5", {}, {2, 3, 4}, {3, 4, 5}),
    tensordot("axes=0.2x3.2", {.axes = 0}, {2, 3}, {2}),
    tensordot("axes=1.2x3x4.4x5", {.axes = 1}, {2, 3, 4}, {4, 5}),
    tensordot("axes=([1,0],[0,1]).2x3x4.3x2x5", {.axes = {{1, 0}, {0, 1}}}, {2, 3, 4}, {3, 2, 5}),
    tensordot("axes=([-1],[0]).2x3.3x4", {.axes = {-1, 0}}, {2, 3}, {3, 4}),
    unrecorded(row("vecdot", [](const Operands& x) { return nax::vecdot(x[0], x[1]); },
                   {{{{3, 4}}, {{4}}}, {{{4}}, {{4}}}})),
    unrecorded(row("vecdot.axis", [](const Operands& x) { return nax::vecdot(x[0], x[1], {.axis = 0}); },
                   {{{{3, 4}}, {{3, 4}}}})),
    unrecorded(row("kron", [](const Operands& x) { return nax::kron(x[0], x[1]); },
                   {{{{2, 3}}, {{3, 2}}}, {{{2}}, {{2, 2}}}})),
});

Row einsum(const std::string& subscripts, std::vector<Shape> shapes) {
  std::string name = "einsum." + subscripts;
  std::vector<Operand> operands;
  for (const Shape& shape : shapes) {
    name += "." + shape_text(shape);
    operands.push_back({shape});
  }
  return row(name,
             [=](const Operands& x) {
               return x.size() == 1   ? nax::einsum(subscripts, x[0])
                      : x.size() == 2 ? nax::einsum(subscripts, x[0], x[1])
                                      : nax::einsum(subscripts, x[0], x[1], x[2]);
             },
             {operands});
}
const bool sums = add({
    einsum("ij,jk->ik", {{2, 3}, {3, 4}}),
    einsum("ij,jk", {{2, 3}, {3, 4}}),
    einsum("ij,kj->ik", {{2, 3}, {4, 3}}),
    einsum("bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}),
    einsum("bij,jk->bik", {{2, 3, 4}, {4, 5}}),
    einsum("i,i->", {{5}, {5}}),
    einsum("i,j->ij", {{3}, {4}}),
    einsum("ij->ji", {{2, 3}}),
    einsum("ij->", {{2, 3}}),
    einsum("ij->j", {{2, 3}}),
    einsum("ii->i", {{4, 4}}),
    einsum("ii", {{4, 4}}),
    einsum("ij,ij->i", {{2, 3}, {2, 3}}),
    einsum("ij,ij->", {{2, 3}, {2, 3}}),
    einsum("...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}),
    einsum("...i->...", {{2, 3, 4}}),
    einsum("bqhd,bkhd->bhqk", {{2, 3, 2, 4}, {2, 5, 2, 4}}),
    einsum("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}),
    einsum("i,ij,j->", {{3}, {3, 4}, {4}}),
    einsum("bi,bo->io", {{4, 3}, {4, 2}}),
    einsum("ijk,jil->kl", {{2, 3, 4}, {3, 2, 5}}),
    einsum("iij->j", {{3, 3, 2}}),
    einsum("ba", {{2, 3}}),
});

}  // namespace products_test
