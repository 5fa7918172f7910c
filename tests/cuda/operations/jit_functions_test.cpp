#include <functional>

#include "both_devices.hpp"

// Functions of every kind, recorded and replayed on the emulated GPU, against direct calls: values and
// gradients.
namespace jit_functions_test {
using namespace nax;
using both_devices::gpu;
using F = Array<float>;
using Function = std::function<F(const F&)>;

const std::vector<std::pair<const char*, Function>> functions = {
    {"elementwise", [](const F& x) { return F(tanh(x * 2.f + 1.f) / (1.f + exp(-x))); }},
    {"where", [](const F& x) { return F(where(x > 0.f, sqrt(abs(x)), x * x)); }},
    {"sum", [](const F& x) { return sum(x, {.axis = 0}); }},
    {"mean of squares", [](const F& x) { return mean(square(x)); }},
    {"max", [](const F& x) { return max(x, {.axis = -1, .keepdims = true}); }},
    {"var", [](const F& x) { return var(x, {.axis = 1}); }},
    {"logsumexp", [](const F& x) { return logsumexp(x, {.axis = -1}); }},
    {"softmax", [](const F& x) { return nn::softmax(x); }},
    {"layer_norm", [](const F& x) { return nn::layer_norm(x, ones<float>({6}), zeros<float>({6})); }},
    {"cumsum", [](const F& x) { return cumsum(x, {.axis = 1}); }},
    {"prod", [](const F& x) { return prod(x, {.axis = 0}); }},
    {"sort", [](const F& x) { return sort(x, {.axis = 0}); }},
    {"matmul", [](const F& x) { return matmul(x, x.T()); }},
    {"einsum", [](const F& x) { return einsum("ij,kj->ik", x, F(x * 2.f)); }},
    {"transpose", [](const F& x) { return F(x.T() + 1.f); }},
    {"slice", [](const F& x) { return F(x(slice(1, 3), slice(none, none, 2)) * 3.f); }},
    {"gather",
     [](const F& x) {
       return take(x, Array<int>{2, 0, 2}, {.axis = 1});
     }},
    {"take_along_axis", [](const F& x) { return take_along_axis(x, argsort(x, {.axis = 1}), 1); }},
    {"at.add", [](const F& x) { return x.at(1, _).add(5.f); }},
    {"concatenate",
     [](const F& x) {
       return concatenate({x, F(x * 2.f)}, {.axis = 1});
     }},
    {"pad",
     [](const F& x) {
       return pad(x, {{1, 2}, {0, 1}});
     }},
    {"flip", [](const F& x) { return flip(x, {.axis = 1}); }},
    {"broadcast",
     [](const F& x) {
       return F(broadcast_to(x, {3, 4, 6}) * 2.f);
     }},
    {"one_hot", [](const F& x) { return nn::one_hot(argmax(x, {.axis = -1}), 6); }},
    {"normal",
     [](const F& x) {
       return F(x + random::normal(random::key(3), {4, 6}));
     }},
    {"vmap", [](const F& x) { return vmap([](const F& row) { return F(row / sum(row * row)); })(x); }},
    {"scalar", [](const F& x) { return F(sum(x) * 2.f); }},
    {"constant", [](const F&) { return full({2}, 7.f); }},
    {"itself", [](const F& x) { return x; }},
};

TEST(JitFunctions, EqualDirectCalls) {
  const detail::ComputeOn there(gpu());
  for (const auto& [name, f] : functions) {
    SCOPED_TRACE(name);
    const auto loss = [&f = f](const F& x) { return sum(square(f(x))); };
    const auto fast = jit(f);
    const auto slope = jit(grad(loss));
    for (int i = 0; i < 4; ++i) try {
        const F x =
            device_put(F(both_devices::waves(24).reshape({4, 6}) * (1.f + static_cast<float>(i))), gpu());
        EXPECT_EQ(fast(x).to_vector(), F(f(x)).to_vector());
        EXPECT_EQ(fast(x).shape(), F(f(x)).shape());
        EXPECT_EQ(slope(x).to_vector(), grad(loss)(x).to_vector());
      } catch (const Error& error) {
        ADD_FAILURE() << name << ": " << error.what();
      }
  }
}

}  // namespace jit_functions_test
