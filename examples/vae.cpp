// A variational autoencoder (Kingma and Welling, 2014): digits as points of 20 numbers, and back.
//
//   vae --data folder/of/mnist     # or --data drawn, for digits that the program draws
//
// Ten epochs of MNIST take 20 s on two cores. The bound of the test images is then 106.14 nats; peers/vae.py,
// the same in JAX, ends with 106.00. At the end it prints digits of points drawn at random.
#include <cmath>
#include <cstdio>

#include "support/drawn_digits.hpp"
#include "support/mnist.hpp"
#include "support/training.hpp"

using nax::Array, nax::slice;
namespace nn = nax::nn;

struct Vae {
  nn::Linear<float> hidden, mean, log_variance;  // images to distributions of z
  nn::Linear<float> wide, pixels;                // z to the log-odds of white pixels

  static Vae make(const nax::random::Key& key, std::int64_t units, std::int64_t latent) {
    const auto keys = nax::random::split(key, 5);
    const auto layer = [&](int i, std::int64_t in, std::int64_t out) {
      return nn::Linear<float>::make(keys[i], {.in = in, .out = out});
    };
    return {layer(0, 784, units), layer(1, units, latent), layer(2, units, latent), layer(3, latent, units),
            layer(4, units, 784)};
  }
  Array<float> decode(const Array<float>& z) const { return pixels(nn::relu(wide(z))); }
};

// The negative evidence lower bound of each image in nats, with one draw of z: mean + deviation * noise.
Array<float> bounds(const Vae& vae, const Array<float>& x, const Array<float>& noise) {
  const Array<float> h = nn::relu(vae.hidden(x)), mean = vae.mean(h), log_variance = vae.log_variance(h);
  const Array<float> odds = vae.decode(mean + nax::exp(0.5f * log_variance) * noise);
  const Array<float> divergence =  // from the standard normal distribution
      0.5f * nax::sum(nax::square(mean) + nax::exp(log_variance) - 1.f - log_variance, {.axis = -1});
  return nax::sum(nn::softplus(odds) - x * odds, {.axis = -1}) + divergence;
}

void print_digits(const Array<float>& odds) {
  const Array<float> white = nn::sigmoid(odds).reshape({-1, 28, 28});
  for (std::int64_t row = 2; row < 26; row += 2) {
    for (std::int64_t digit = 0; digit < white.shape(0); ++digit)
      for (std::int64_t column = 4; column < 24; ++column)
        std::putchar(" .:*#"[std::lround(4 * white(digit, row, column).item())]);
    std::putchar('\n');
  }
}

int main(int argc, char** argv) {
  examples::Training options{.steps = 4680, .batch_size = 128, .lr = 1e-3};
  std::int64_t units = 400, latent = 20, count = 60000;
  std::string data;
  CLI::App app("a variational autoencoder of digits");
  options.add_to(app);
  app.add_option("--units", units, "of the hidden layers")->check(CLI::PositiveNumber);
  app.add_option("--latent", latent, "numbers of a point")->check(CLI::PositiveNumber);
  app.add_option("--data", data, "folder of the four MNIST files; or 'drawn'");
  app.add_option("--examples", count, "train on the first so many")->check(CLI::Range(1, 60000));
  CLI11_PARSE(app, argc, argv);
  try {
    const auto devices = options.open();
    examples::Log log(options.log);
    const auto keys = nax::random::split(nax::random::key(options.seed), 4);
    Array<float> images, test;
    if (data == "drawn") {
      images = examples::draw_digits(nax::random::key(1), count).images;
      test = examples::draw_digits(nax::random::key(2), 1000).images;
    } else {
      const examples::Mnist mnist = examples::load_mnist(data);
      images = mnist.train_images(slice(0, count)), test = mnist.test_images;
    }

    const auto optimizer = nax::optim::adam(options.lr);
    const auto loss = [](const Vae& vae, const Array<float>& x, const Array<float>& noise) {
      return nax::mean(bounds(vae, x, noise));
    };
    const auto step = nax::optim::value_and_step(optimizer, loss, {.axis_name = "devices"});
    const Vae first = Vae::make(keys[0], units, latent);
    examples::OnDevices train(devices, std::pair{first, optimizer.init(first)},
                              [=](auto state, const Array<float>& x, const Array<float>& noise) {
                                auto [value, vae, memory] =
                                    step(std::move(state.first), std::move(state.second), x, noise);
                                return std::pair{std::pair{vae, memory}, value};
                              });
    auto batches = nax::data::from_arrays(images)
                       .shuffle({.key = keys[1]})
                       .batch(options.batch_size, {.drop_remainder = true})
                       .repeat()
                       .prefetch(2)
                       .iterator();
    double mean = 0;
    for (std::int64_t k = 0; k < options.steps; ++k) {
      const auto noise =
          nax::random::normal<float>(nax::random::fold_in(keys[2], k), {options.batch_size, latent});
      const double value = train(*batches.next(), noise);
      log.write({{"step", k + 1}, {"loss", value}});
      mean = k == 0 ? value : 0.99 * mean + 0.01 * value;
      if ((k + 1) % 468 == 0 || k + 1 == options.steps)
        std::printf("step %d  %.2f nats\n", static_cast<int>(k + 1), mean), std::fflush(stdout);
    }

    const Vae vae = train.state().first;
    const auto noise = nax::random::normal<float>(keys[3], {test.shape(0), latent});
    std::printf("test: %.2f nats\n\n", nax::mean(bounds(vae, test, noise)).item());
    print_digits(vae.decode(noise(slice(0, 4))));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vae: %s\n", error.what());
    return 2;
  }
}
