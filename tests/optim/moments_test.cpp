#include "nax/optim/moments.hpp"

#include <limits>

#include "nax/numpy/reductions/max_min.hpp"
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

// One step by a gradient of any size changes the parameters as it would those of type float.
template <class T, class Optimizer>
void check_first_step(const char* name, const Optimizer& optimizer) {
  const Array<float> p = {{1, 2}, {-2, .5}}, g = {{.25, -.5}, {2, 1}};
  const auto step = [&]<class U>(U) {
    const Array<U> params = p.astype<U>();
    return Array<float>(optim::step(optimizer, Array<U>(g.astype<U>()), optimizer.init(params), params)
                            .first.template astype<float>());
  };
  EXPECT_LT(max(abs(step(T()) - step(1.f))).item(), .02) << name;
}
template <class T>
void check_first_steps() {
  check_first_step<T>("adam", optim::adam(.1, {.eps = 1e-4}));
  check_first_step<T>("nadam", optim::nadam(.1, {.eps = 1e-4}));
  check_first_step<T>("adamax", optim::adamax(.1, {.eps = 1e-4}));
  check_first_step<T>("adabelief", optim::adabelief(.1, {.eps = 1e-2}));
  check_first_step<T>("yogi", optim::yogi(.1));
  check_first_step<T>("radam", optim::radam(.1, {.eps = 1e-4}));
  check_first_step<T>("amsgrad", optim::amsgrad(.1, {.eps = 1e-4}));
  check_first_step<T>("muon", optim::muon(.1));
  check_first_step<T>("ema", optim::chain(optim::ema(.999), optim::scale(-.1)));
  check_first_step<T>("adafactor", optim::adafactor(.1, {.min_dim_size_to_factor = 2, .eps = 1e-6}));
}
TEST(Moments, BeginInHalfTypesAsInFloat) {
  check_first_steps<bfloat16>();
  check_first_steps<half>();
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
