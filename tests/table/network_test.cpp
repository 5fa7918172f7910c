// Losses and layers of networks, one-hot labels.

#include "nax/nn/layers.hpp"
#include "nax/nn/losses.hpp"
#include "nax/nn/one_hot.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "table/harness.hpp"

namespace network_test {
using namespace table;
namespace nn = nax::nn;

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases,
       Smooth smooth = Smooth::twice) {
  return unrecorded(row(std::move(name), f, std::move(cases), smooth));
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand logits = {{3, 4}}, labels = {{3}, 0, 3, true};

Row one_hot(const char* name, std::int64_t classes, std::int64_t axis) {
  return row(
      name,
      [=](const Operands& x) {
        return nn::one_hot<double>(x[0].astype<std::int32_t>(), classes, {.axis = axis});
      },
      {{labels}, {{{2, 3}, -1, 4, true}}}, Smooth::no);
}

const bool losses = add({
    of("softmax_cross_entropy", OF(nn::softmax_cross_entropy(x[0], x[1])), {{logits, logits}}),
    of("softmax_cross_entropy_with_integer_labels",
       OF(nn::softmax_cross_entropy_with_integer_labels(x[0], x[1].astype<std::int32_t>())),
       {{logits, labels}}),
    of("sigmoid_binary_cross_entropy", OF(nn::sigmoid_binary_cross_entropy(x[0], x[1])), {{logits, {{4}}}}),
    of("squared_error", OF(nn::squared_error(x[0], x[1])), {{logits, {{4}}}}),
    of("l2_loss", OF(nn::l2_loss(x[0], x[1])), {{logits, {{4}}}}),
    of("huber_loss", OF(nn::huber_loss(x[0], x[1])), {{logits, {{4}}}}),
});

const bool layers = add({
    of("linear", OF(nn::linear(x[0], x[1], x[2])), {{{{3, 2}}, {{2, 4}}, {{4}}}, {{{2}}, {{2, 3}}, {{3}}}}),
    of("standardize", OF(nn::standardize(x[0])), {{logits}}),
    of("layer_norm", OF(nn::layer_norm(x[0], x[1], x[2])), {{logits, {{4}}, {{4}}}}),
    one_hot("one_hot.4", 4, -1),
    one_hot("one_hot.4.axis=0", 4, 0),
    one_hot("one_hot.outside", 3, -1),
});

}  // namespace network_test

#undef OF
