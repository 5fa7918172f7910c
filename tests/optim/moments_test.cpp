#include "nax/optim/moments.hpp"

#include <limits>

#include "nax/optim/factored.hpp"
#include "nax/optim/muon.hpp"
#include "nax/optim/scaling.hpp"
#include "optim/train.hpp"

namespace moments_test {

using namespace nax;
using train::check;

TEST(Moments, StepAsOptax) {
  check("nadam", optim::nadam(0.1));
  check("nadamw", optim::nadamw(0.1, {.weight_decay = 0.1}));
  check("adamax", optim::adamax(0.1));
  check("adamaxw", optim::adamaxw(0.1, {.weight_decay = 0.1}));
  check("adabelief", optim::adabelief(0.1));
  check("yogi", optim::yogi(0.1));
  check("radam", optim::radam(0.1, {.b2 = 0.9, .eps = 1e-3}));
  check("amsgrad", optim::amsgrad(0.1, {.b2 = 0.5}));
}

TEST(Layerwise, StepAsOptax) {
  check("lamb", optim::lamb(0.1, {.weight_decay = 0.1}));
  check("lars", optim::lars(0.1, {.weight_decay = 0.1, .trust_coefficient = 0.1}));
  check("muon", optim::muon(0.1, {.weight_decay = 0.1}));
  check("chain.ema.scale", optim::chain(optim::ema(0.9), optim::scale(-0.3)));
  check("chain.clip_by_block_rms=0.5.sgd", optim::chain(optim::clip_by_block_rms(0.5), optim::sgd(0.1)));
}

TEST(Adafactor, StepsAsOptax) {
  check("adafactor", optim::adafactor(0.1));
  check("adafactor.factored",
        optim::adafactor(0.1, {.min_dim_size_to_factor = 2, .multiply_by_parameter_scale = false}));
}

TEST(Adafactor, KeepsRowsAndColumns) {
  const auto state = optim::scale_by_factored_rms({.min_dim_size_to_factor = 2}).init(zeros<float>({3, 5}));
  EXPECT_EQ(state.v_row.shape(), (Shape{3}));
  EXPECT_EQ(state.v_col.shape(), (Shape{5}));
  EXPECT_EQ(state.v.shape(), (Shape{0}));
}

TEST(Muon, OrthogonalisesMatrices) {
  const Array<double> x = reshape(sin(square(arange<double>(12))), {4, 3});
  const Array<double> q = optim::orthogonalize_via_newton_schulz(x, {2, -1.5, 0.5}, 40);
  const Array<double> gram = matmul(transpose(q), q);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(gram(i, j).item(), i == j, 1e-6);
  EXPECT_THROW(optim::orthogonalize_via_newton_schulz(zeros<float>({3}), {2, -1.5, 0.5}), ShapeError);
}

}  // namespace moments_test
