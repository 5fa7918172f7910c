// Fourier transforms. The rows are functions of real numbers: complex operands come as two, complex results
// as their parts side by side.

#include "nax/fft.hpp"

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "table/harness.hpp"

namespace fft_test {
using namespace table;
namespace ft = nax::fft;
using Complex = Array<std::complex<double>>;

Complex joined(const Operands& x) { return x[0] + x[1] * std::complex<double>(0, 1); }
Real parts(const Complex& y) {
  return nax::concatenate({Real(nax::real(y)), Real(nax::imag(y))}, {.axis = -1});
}

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases) {
  return unrecorded(row(std::move(name), f, std::move(cases)));
}
#define COMPLEX(call)                    \
  [](const Operands& operands) -> Real { \
    const Complex x = joined(operands);  \
    return parts(ft::call);              \
  }
#define TO_REAL(call)                    \
  [](const Operands& operands) -> Real { \
    const Complex x = joined(operands);  \
    return ft::call;                     \
  }
#define FROM_REAL(call)                  \
  [](const Operands& operands) -> Real { \
    const Real& x = operands[0];         \
    return parts(ft::call);              \
  }
std::vector<Operand> two(const nax::Shape& shape) { return {{shape}, {shape}}; }
std::vector<Operand> one(const nax::Shape& shape) { return {{shape}}; }

const bool rows = add({
    of("fft", COMPLEX(fft(x)), {two({4}), two({2, 5}), two({0, 3})}),
    of("fft.axis", COMPLEX(fft(x, {.n = 4, .axis = 0, .norm = "ortho"})), {two({3, 2}), two({5, 1})}),
    of("fft.real", FROM_REAL(fft(x, {.n = 5})), {one({4})}),
    of("ifft", COMPLEX(ifft(x, {.n = 3})), {two({4}), two({2, 2})}),
    of("rfft", FROM_REAL(rfft(x)), {one({6}), one({2, 5}), one({1})}),
    of("rfft.axis", FROM_REAL(rfft(x, {.n = 4, .axis = -2, .norm = "forward"})), {one({3, 2})}),
    of("irfft", TO_REAL(irfft(x)), {two({4}), two({2, 3})}),
    of("irfft.odd", TO_REAL(irfft(x, {.n = 5, .axis = 0, .norm = "ortho"})), {two({3, 2}), two({4})}),
    of("hfft", TO_REAL(hfft(x)), {two({3})}),
    of("ihfft", FROM_REAL(ihfft(x)), {one({5})}),
    of("fft2", COMPLEX(fft2(x)), {two({2, 3})}),
    of("ifft2", COMPLEX(ifft2(x, {.s = {3, 2}})), {two({2, 2, 2})}),
    of("rfft2", FROM_REAL(rfft2(x)), {one({3, 4})}),
    of("irfft2", TO_REAL(irfft2(x, {.s = {2, 4}})), {two({2, 3})}),
    of("fftn", COMPLEX(fftn(x, {.axes = {0, -1}})), {two({2, 1, 3})}),
    of("ifftn", COMPLEX(ifftn(x, {.norm = "forward"})), {two({2, 3})}),
    of("rfftn", FROM_REAL(rfftn(x, {.s = {2, 3}})), {one({2, 4})}),
    of("irfftn", TO_REAL(irfftn(x, {.axes = {1, 0}})), {two({2, 3})}),
    of("fftshift", [](const Operands& x) -> Real { return ft::fftshift(x[0], {.axes = 0}); }, {one({3, 2})}),
    of("ifftshift", [](const Operands& x) -> Real { return ft::ifftshift(x[0]); }, {one({3, 2})}),
});

}  // namespace fft_test

#undef COMPLEX
#undef TO_REAL
#undef FROM_REAL
