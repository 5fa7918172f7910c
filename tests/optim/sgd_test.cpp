#include "nax/optim/sgd.hpp"

#include "optim/train.hpp"

namespace sgd_test {
using namespace nax;
using train::check, train::expect_near, train::record;

TEST(Sgd, StepsAsOptax) {
  check("sgd", optim::sgd(0.1));
  check("sgd.momentum=0.9", optim::sgd(0.1, {.momentum = 0.9}));
  check("sgd.momentum=0.9.nesterov", optim::sgd(0.1, {.momentum = 0.9, .nesterov = true}));
  check("sgd.schedule", optim::sgd(optim::exponential_decay(0.2, 5, 0.5)));
  check("chain.clip_by_global_norm=1.sgd", optim::chain(optim::clip_by_global_norm(1), optim::sgd(0.3)));
  check("chain.add_decayed_weights=0.1.sgd", optim::chain(optim::add_decayed_weights(0.1), optim::sgd(0.1)));
  expect_near(optim::global_norm(std::pair{record("adam/in0"), record("adam/in1")}), record("global_norm"),
              "norm", 1e-6);
}

TEST(Sgd, ErrorsNameTheArgument) {
  const auto plain = optim::sgd(0.1), heavy = optim::sgd(0.1, {.momentum = 0.9});
  const Array<float> p = {1, 2};
  EXPECT_THROW(heavy.update(p, plain.init(p)), ValueError);
  using Layers = std::vector<Array<float>>;
  const Layers two = {p, p}, one = {p};
  try {
    optim::apply_updates(two, one);
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("apply_updates: the trees differ"), std::string::npos) << e.what();
  }
}

}  // namespace sgd_test
