#include "formula/rules.hpp"

// Elementary operations, values and vjp: formulas have the bits of the compiled kernels.
namespace rules_test {

using namespace rules_of_formulas;
namespace rules = nax::rules;

TEST(FormulaRules, OfOneNumber) {
  check_1<rules::negative>();
  check_1<rules::square>();
  check_1<rules::reciprocal>();
  check_1<rules::absolute>();
  check_1<rules::fabs>();
  check_1<rules::sign>();
  check_1<rules::sqrt>();
  check_1<rules::rsqrt>();
  check_1<rules::cbrt>();
  check_1<rules::floor>();
  check_1<rules::ceil>();
  check_1<rules::trunc>();
  check_1<rules::rint>();
  check_1<rules::fraction>();
  check_1<rules::isfinite>();
  check_1<rules::isnan>();
  check_1<rules::isinf>();
  check_1<rules::isneginf>();
  check_1<rules::isposinf>();
}
TEST(FormulaRules, Exponentials) {
  check_1<rules::exp>();
  check_1<rules::exp2>();
  check_1<rules::expm1>();
  check_1<rules::log>();
  check_1<rules::log2>();
  check_1<rules::log10>();
  check_1<rules::log1p>();
  check_1<rules::sinh>();
  check_1<rules::cosh>();
  check_1<rules::tanh>();
  check_1<rules::arcsinh>();
  check_1<rules::arccosh>();
  check_1<rules::arctanh>();
  check_2<rules::logaddexp>();
  check_2<rules::logaddexp2>();
}
TEST(FormulaRules, Trigonometric) {
  check_1<rules::sin>();
  check_1<rules::cos>();
  check_1<rules::tan>();
  check_1<rules::arcsin>();
  check_1<rules::arccos>();
  check_1<rules::arctan>();
  check_1<rules::sinc>();
  check_1<rules::deg2rad>();
  check_1<rules::rad2deg>();
  check_1<rules::one_minus_square>();
  check_2<rules::arctan2>();
  check_2<rules::hypot>();
}
TEST(FormulaRules, OfTwoNumbers) {
  check_2<rules::add>();
  check_2<rules::subtract>();
  check_2<rules::multiply>();
  check_2<rules::scale>();
  check_2<rules::divide>();
  check_2<rules::mod>();
  check_2<rules::fmod>();
  check_2<rules::floor_divide>();
  check_2<rules::power>();
  check_2<rules::float_power>();
  check_2<rules::maximum>();
  check_2<rules::minimum>();
  check_2<rules::fmax>();
  check_2<rules::fmin>();
  check_2<rules::copysign>();
  check_2<rules::nextafter>();
  check_2<rules::heaviside>();
  check_3<rules::clip>();
  check_3<rules::add_scaled>();
  check_3<rules::round_decimals>();
  check_4<rules::nan_to_num>();
}
TEST(FormulaRules, Comparisons) {
  check_2<rules::equal>();
  check_2<rules::not_equal>();
  check_2<rules::less>();
  check_2<rules::less_equal>();
  check_2<rules::greater>();
  check_2<rules::greater_equal>();
}
TEST(FormulaRules, Activations) {
  check_1<rules::relu>();
  check_1<rules::relu6>();
  check_2<rules::leaky_relu>();
  check_2<rules::elu>();
  check_2<rules::celu>();
  check_1<rules::selu>();
  check_1<rules::gelu>();
  check_1<rules::gelu_tanh>();
  check_1<rules::silu>();
  check_1<rules::softplus>();
  check_1<rules::soft_sign>();
  check_1<rules::hard_tanh>();
}
template <class T>
void check_constants() {
  check(leaf<T>() / T(3));
  check(leaf<T>() / T(4));
  check(nax::power(leaf<T>(), 3));
  check(nax::power(leaf<T>(), -2));
  check(nax::where(leaf<T>() > T(0), nax::log(leaf<T>()), leaf<T>() * T(2)));
  check(nax::where(leaf<bool>(), leaf<T>(), leaf<T>()));
  check(nax::logical_and(leaf<T>() > T(0), !(leaf<T>() < T(1))));
  check((nax::exp(nax::sin(leaf<T>())) * leaf<T>() + T(1)) / nax::cosh(leaf<T>()));
}
TEST(FormulaRules, Expressions) {
  check_constants<float>();
  check_constants<double>();
}

}  // namespace rules_test
