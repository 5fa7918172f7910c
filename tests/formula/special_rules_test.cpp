#include "formula/rules.hpp"

// Special functions, values and vjp: formulas have the bits of the compiled kernels.
namespace special_rules_test {

using namespace rules_of_formulas;
namespace rules = nax::rules;

TEST(FormulaSpecialRules, OfOneNumber) {
  check_1<rules::erf>();
  check_1<rules::erfc>();
  check_1<rules::erfinv>();
  check_1<rules::ndtr>();
  check_1<rules::ndtri>();
  check_1<rules::log_ndtr>();
  check_1<rules::lgamma>();
  check_1<rules::gamma>();
  check_1<rules::expit>();
  check_1<rules::log_expit>();
  check_1<rules::logit>();
  check_1<rules::entr>();
  check_1<rules::i0>();
  check_1<rules::i0e>();
  check_1<rules::i1>();
  check_1<rules::i1e>();
  check_1<rules::erfcx>();
  check_1<rules::dawsn>();
  check_1<rules::expi>();
  check_1<rules::sine_integral>();
  check_1<rules::cosine_integral>();
  check_1<rules::spence>();
  check_1<rules::fresnel_sine>();
  check_1<rules::fresnel_cosine>();
  check_1<rules::factorial>();
  check_1<rules::gammasgn>();
}
TEST(FormulaSpecialRules, OfMoreNumbers) {
  check_2<rules::xlogy>();
  check_2<rules::xlog1py>();
  check_2<rules::betaln>();
  check_2<rules::beta>();
  check_2<rules::owens_t>();
  check_2<rules::boxcox>();
  check_2<rules::boxcox1p>();
  check_2<rules::kl_div>();
  check_2<rules::rel_entr>();
  check_3<rules::betainc>();
}

}  // namespace special_rules_test
