#include "nax/numpy/products/einsum.hpp"
#include "reductions/check.hpp"

namespace einsum_golden_test {

using A = nax::Array<float>;

A in(const std::string& name, int i) { return check::input<float>(name + "/in" + std::to_string(i)); }

TEST(EinsumGolden, TwoOperands) {
  for (const char* record :
       {"ij,jk->ik.2x3.3x4", "ij,jk.2x3.3x4", "ij,kj->ik.2x3.4x3", "bij,bjk->bik.2x3x4.2x4x5",
        "bij,jk->bik.2x3x4.4x5", "i,i->.5.5", "i,j->ij.3.4", "ij,ij->i.2x3.2x3", "ij,ij->.2x3.2x3",
        "...ij,...jk->...ik.2x1x3x4.5x4x2", "bqhd,bkhd->bhqk.2x3x2x4.2x5x2x4", "bi,bo->io.4x3.4x2",
        "ijk,jil->kl.2x3x4.3x2x5"}) {
    const std::string name = std::string("einsum.") + record + "/f32";
    std::string spec = record;
    const std::size_t dots =
        spec.find('.', spec.rfind("...") == std::string::npos ? 0 : spec.rfind("...") + 3);
    spec = spec.substr(0, dots);
    check::expect(name, nax::einsum(spec, in(name, 0), in(name, 1)));
  }
}

TEST(EinsumGolden, OneAndThreeOperands) {
  for (const char* record : {"ij->ji.2x3", "ij->.2x3", "ij->j.2x3", "ii->i.4x4", "ii.4x4", "...i->....2x3x4",
                             "iij->j.3x3x2", "ba.2x3"}) {
    const std::string name = std::string("einsum.") + record + "/f32", text = record;
    const std::size_t digit = text.find_first_of("0123456789");
    check::expect(name, nax::einsum(text.substr(0, digit - 1), in(name, 0)));
  }
  for (const char* record : {"ij,jk,kl->il.2x3.3x4.4x2", "i,ij,j->.3.3x4.4"}) {
    const std::string name = std::string("einsum.") + record + "/f32", text = record;
    check::expect(name, nax::einsum(text.substr(0, text.find('.')), in(name, 0), in(name, 1), in(name, 2)));
  }
}

TEST(DotGolden, Ranks) {
  for (const char* shapes :
       {"0.0", "0d.0d", "0d.3", "2x2.0d", "2x3x4.4", "2x3x4.5x4x2", "3x4.4", "3x4.4x5", "4.4", "4.4x2"}) {
    const std::string name = std::string("dot.") + shapes + "/f32";
    check::expect(name, nax::dot(in(name, 0), in(name, 1)));
  }
  for (const char* shapes : {"0d.3", "2x3x4.5x4", "3x4.4", "3x4.5x4", "4.4"}) {
    const std::string name = std::string("inner.") + shapes + "/f32";
    check::expect(name, nax::inner(in(name, 0), in(name, 1)));
  }
  for (const char* shapes : {"0d.0d", "2x3.2x3", "4.4"}) {
    const std::string name = std::string("vdot.") + shapes + "/c64";
    using C = std::complex<float>;
    check::expect(name, nax::vdot(check::input<C>(name + "/in0"), check::input<C>(name + "/in1")));
  }
  for (const char* shapes : {"0d.3", "2x2.3", "3.4"}) {
    const std::string name = std::string("outer.") + shapes + "/f32";
    check::expect(name, nax::outer(in(name, 0), in(name, 1)));
  }
}

TEST(TensordotGolden, Axes) {
  const auto one = [](const std::string& tag, const nax::TensordotOptions& options) {
    const std::string name = "tensordot." + tag + "/f32";
    check::expect(name, nax::tensordot(in(name, 0), in(name, 1), options));
  };
  one("2x3x4.3x4x5", {});
  one("axes=([-1],[0]).2x3.3x4", {.axes = {-1, 0}});
  one("axes=([0],[1]).3x2.4x3", {.axes = {0, 1}});
  one("axes=([1,0],[0,1]).2x3x4.3x2x5", {.axes = {{1, 0}, {0, 1}}});
  one("axes=0.2x3.2", {.axes = 0});
  one("axes=1.2x3x4.4x5", {.axes = 1});
}

}  // namespace einsum_golden_test
