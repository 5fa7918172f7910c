#include "nax/optim/adagrad.hpp"
#include "nax/optim/lion.hpp"
#include "nax/optim/rmsprop.hpp"
#include "optim/train.hpp"

namespace adaptive_test {
using namespace nax;
using train::check;

TEST(Adaptive, StepAsOptax) {
  check("rmsprop", optim::rmsprop(0.1));
  check("rmsprop.momentum=0.9", optim::rmsprop(0.01, {.momentum = 0.9}));
  check("rmsprop.eps_in_sqrt=false.nesterov",
        optim::rmsprop(0.01, {.eps = 1e-3, .eps_in_sqrt = false, .momentum = 0.9, .nesterov = true}));
  check("adagrad", optim::adagrad(0.5));
  check("lion", optim::lion(0.05));
}

}  // namespace adaptive_test
