#include <memory>

#include "steps.hpp"

namespace bench {
namespace {

// A step on every device, with its share of the batch and the mean of all gradients.
template <class Activation>
Work train(const std::vector<std::int64_t>& sizes, std::int64_t batch) {
  const std::int64_t devices = nax::device_count();
  const auto x = uniform_array(1, {batch, sizes.front()}).reshape({devices, -1, sizes.front()});
  const auto y = labels(batch, sizes.back()).reshape({devices, -1, sizes.back()});
  const auto update = nax::pmap(
      [](Model model, const Array<float>& x, const Array<float>& y) {
        const auto value = train_step<Activation>(model, x, y, "devices");
        return std::pair{model, nax::pmean(value, "devices")};
      },
      {.axis_name = "devices"});
  const auto initial = [=] { return nax::device_put_replicated(initial_model(sizes), nax::devices()); };
  const auto model = std::make_shared<Model>(initial());
  return work([=] { *model = update(std::move(*model), x, y).first; },
              [=] {
                Model m = initial();
                for (int i = 0; i < 4; ++i) m = update(m, x, y).first;
                const auto [next, value] = update(m, x, y);
                return leaves_of(
                    nax::tree::map([](const auto& leaf) { return leaf(0); }, std::pair{next.params, value}));
              });
}

}  // namespace

Rows pmap_rows() {
  return {
      {"pmap_784-1024-1024-10_tanh_128",
       [] {
         return train<Tanh>({784, 1024, 1024, 10}, 128);
       }},
      {"pmap_784-512-512-10_tanh_128",
       [] {
         return train<Tanh>({784, 512, 512, 10}, 128);
       }},
      {"pmap_784-128-10_tanh_32",
       [] {
         return train<Tanh>({784, 128, 10}, 32);
       }},
  };
}

}  // namespace bench
