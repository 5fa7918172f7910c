#include "steps.hpp"

#include <memory>

namespace bench {
namespace {

// advance(model) is a step.
template <class Advance>
Work train_by(const std::vector<std::int64_t>& sizes, const Advance& advance) {
  const auto model = std::make_shared<Model>(initial_model(sizes));
  return work([=] { advance(*model); },
              [=] {
                Model m = initial_model(sizes);
                for (int i = 0; i < 4; ++i) advance(m);
                const auto value = advance(m);
                return leaves_of(std::pair{m.params, value});
              });
}

template <class Activation>
Work train(const std::vector<std::int64_t>& sizes, std::int64_t batch) {
  const auto x = uniform_array(1, {batch, sizes.front()}), y = labels(batch, sizes.back());
  return train_by(sizes, [=](Model& m) { return train_step<Activation>(m, x, y); });
}

// Trains by one jitted function, which gets the model and gives the next one.
template <class Activation>
Work train_jitted(const std::vector<std::int64_t>& sizes, std::int64_t batch) {
  const auto x = uniform_array(1, {batch, sizes.front()}), y = labels(batch, sizes.back());
  const auto step =
      nax::jit(nax::optim::value_and_step(optimizer(), loss<Activation>), {.donate_argnums = {0, 1}});
  return train_by(sizes, [=](Model& m) {
    Array<float> value;
    std::tie(value, m.params, m.state) = step(std::move(m.params), std::move(m.state), x, y);
    return value;
  });
}

// The gradient of each example's own loss.
Work per_example(std::int64_t batch) {
  const std::vector<std::int64_t> sizes = {784, 128, 10};
  const auto params = initial_params(sizes);
  const auto x = uniform_array(1, {batch, sizes.front()}), y = labels(batch, sizes.back());
  return calls([=] {
    return nax::vmap(nax::grad(loss<Tanh>), {.in_axes = {nax::none, 0, 0}})(params, x, y);
  });
}

}  // namespace

Rows step_rows() {
  return {
      {"step_784-1024-1024-10_tanh_128",
       [] {
         return train<Tanh>({784, 1024, 1024, 10}, 128);
       }},
      {"step_784-512-512-10_relu_128",
       [] {
         return train<Relu>({784, 512, 512, 10}, 128);
       }},
      {"step_784-128-10_tanh_32",
       [] {
         return train<Tanh>({784, 128, 10}, 32);
       }},
      {"step_16-16-4_tanh_8",
       [] {
         return train<Tanh>({16, 16, 4}, 8);
       }},
      {"jit_step_784-1024-1024-10_tanh_128",
       [] {
         return train_jitted<Tanh>({784, 1024, 1024, 10}, 128);
       }},
      {"jit_step_784-128-10_tanh_32",
       [] {
         return train_jitted<Tanh>({784, 128, 10}, 32);
       }},
      {"jit_step_16-16-4_tanh_8",
       [] {
         return train_jitted<Tanh>({16, 16, 4}, 8);
       }},
      {"per_example_gradients_784-128-10_32", [] { return per_example(32); }},
  };
}

}  // namespace bench
