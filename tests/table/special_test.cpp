// Special functions and activations.

#include "nax/special/special.hpp"

#include "nax/nn/activations.hpp"
#include "table/harness.hpp"

namespace special_test {
using namespace table;
namespace sp = nax::special;
namespace nn = nax::nn;
using Halves = Types<nax::half, nax::bfloat16>;

const bool special = add({
    unary("erf", NAX_FUNCTION(sp::erf), {}, Halves()),
    unary("erfc", NAX_FUNCTION(sp::erfc), {}, Halves()),
    with_ulps(64, unary("erfinv", NAX_FUNCTION(sp::erfinv), {-.8, .8}, Halves())),
    with_ulps(64, unary("lgamma", NAX_FUNCTION(sp::lgamma), {.6, 4}, Halves())),
    unary("expit", NAX_FUNCTION(sp::expit), {-3, 3}, Halves()),
    unary("logit", NAX_FUNCTION(sp::logit), {.2, .8}, Halves()),
    unrecorded(unary("ndtr", NAX_FUNCTION(sp::ndtr), {})),
    unrecorded(unary("gamma", NAX_FUNCTION(sp::gamma), {.6, 3})),
    unrecorded(unary("digamma", NAX_FUNCTION(sp::digamma), {.8, 4})),
    unrecorded(unary("polygamma", [](const auto& x) { return sp::polygamma(1, x); }, {.9, 4})),
    unrecorded(unary("log_expit", NAX_FUNCTION(sp::log_expit), {})),
    unrecorded(unary("entr", NAX_FUNCTION(sp::entr), {.3, 2})),
    unrecorded(binary("xlogy", NAX_FUNCTION(sp::xlogy), {.5, 2}, {.5, 2})),
    unrecorded(binary("xlog1py", NAX_FUNCTION(sp::xlog1py), {.5, 2}, {.5, 2})),
});

const bool activations = add({
    unary("relu", NAX_FUNCTION(nn::relu), {}, Halves()),
    with_ulps(64, unary(
                      "gelu", [](const auto& x) { return nn::gelu(x); }, {}, Halves())),
    with_ulps(64, unary("gelu.exact", [](const auto& x) { return nn::gelu(x, {.approximate = false}); }, {})),
    unary("silu", NAX_FUNCTION(nn::silu), {}, Halves()),
    unary("softplus", NAX_FUNCTION(nn::softplus), {}, Halves()),
    unrecorded(unary("relu6", NAX_FUNCTION(nn::relu6), {-2, 7.7})),
    unrecorded(unary("sigmoid", NAX_FUNCTION(nn::sigmoid), {})),
    unrecorded(unary("log_sigmoid", NAX_FUNCTION(nn::log_sigmoid), {})),
    unrecorded(unary("soft_sign", NAX_FUNCTION(nn::soft_sign), {})),
    unrecorded(unary("hard_tanh", NAX_FUNCTION(nn::hard_tanh), {})),
    unrecorded(unary("selu", NAX_FUNCTION(nn::selu), {})),
    unrecorded(
        unary("leaky_relu", [](const auto& x) { return nn::leaky_relu(x, {.negative_slope = .2}); }, {})),
    unrecorded(unary("elu", [](const auto& x) { return nn::elu(x, {.alpha = 2}); }, {})),
    unrecorded(unary("celu", [](const auto& x) { return nn::celu(x, {.alpha = 2}); }, {})),
});

}  // namespace special_test
