// gpu_bandwidth [elements [once]]: seconds of each kind of kernel on the first GPU, a line of JSON each.
// `bytes` are those that a perfect kernel would move (each operand read once, the result written once),
// `flops` what it would add and multiply; 0 where that is no measure. gpu_day_torch.py has rows of the same
// names. `spread` is the greatest round less the least, of their median; `clock` (MHz) and `watts` are the
// card's while it computes. With `once` each runs once and nothing is timed, for a profiler.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nax/nax.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "card_state.hpp"

using namespace nax;

namespace {

struct Row {
  const char *group, *name;
  double bytes, flops;
  std::function<void()> run;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
struct Timing {
  double seconds, spread;
  bench::CardState card;
};
// Of rounds of at least 20 milliseconds each, the median.
Timing timing_of(const Row& row) {
  const Device gpu = devices("cuda")[0];
  const auto wait = [&] {
    block_until_ready(device_put(zeros<float>({1}), gpu));
  };  // of this thread's stream
  bench::CardState card;
  const auto round = [&](int calls) {
    wait();
    const double begin = now();
    for (int i = 0; i < calls; ++i) row.run();
    card = bench::card_state();
    wait();
    return (now() - begin) / calls;
  };
  round(3);  // a function of jit is recorded by its second call
  const int calls = std::clamp(static_cast<int>(.02 / round(1)), 2, 2000);
  std::vector<double> rounds;
  for (int i = 0; i < 5; ++i) rounds.push_back(round(calls));
  std::sort(rounds.begin(), rounds.end());
  const double median = rounds[rounds.size() / 2];
  return {median, (rounds.back() - rounds.front()) / median, card};
}
void measure(const Row& row, bool once) {
  if (once) return row.run();
  const Timing t = timing_of(row);
  std::printf(
      "{\"group\": \"%s\", \"kernel\": \"%s\", \"bytes\": %.0f, \"flops\": %.0f, \"seconds\": %.9g, "
      "\"spread\": %.3g, \"clock\": %.0f, \"watts\": %.0f}\n",
      row.group, row.name, row.bytes, row.flops, t.seconds, t.spread, t.card.megahertz, t.card.watts);
  std::fflush(stdout);
}

Array<float> normal(std::int64_t key, const Shape& shape) { return random::normal(random::key(key), shape); }

// For 2^26 elements: 16k rows of 50k classes, and 65k words of 50k in 768 features.
void measure_losses(std::int64_t elements, bool once) {
  const bool small = elements < (1 << 24);
  const std::int64_t rows = small ? 8 : 16384, words = small ? 64 : 50304, features = small ? 16 : 768;
  const double all = static_cast<double>(rows * words), read = static_cast<double>(4 * rows * features);
  const auto labels_of = [](std::int64_t count, std::int64_t classes) {
    return Array<int>(random::randint(random::key(13), {count}, 0, static_cast<int>(classes)));
  };
  {
    const Array<float> logits = normal(14, {rows, words});
    const Array<int> labels = labels_of(rows, words);
    const auto loss = [&](const Array<float>& x) {
      return Array<float>(mean(nn::softmax_cross_entropy_with_integer_labels(x, labels)));
    };
    measure({"losses", "cross entropy", 4 * all, 0, [&] { loss(logits); }}, once);
    measure({"losses", "gradient of cross entropy", 8 * all, 0, [&] { grad(loss)(logits); }}, once);
  }
  const Array<float> table = normal(15, {words, features}), weights = normal(16, {4 * rows, features});
  const Array<int> text = labels_of(4 * rows, words);
  measure({"losses", "gradient of an embedding",
           4 * (read + static_cast<double>(words * features)) + 8. * 4 * static_cast<double>(rows), 0,
           [&] { grad([&](const Array<float>& t) { return sum(t(text) * weights); })(table); }},
          once);
}

// Causal attention with its gradients, 16k positions in all (for 2^26 elements).
void measure_attention(std::int64_t elements, bool once) {
  const bool small = elements < (1 << 24);
  constexpr const char* names[] = {"attention and gradients, 2k", "attention and gradients, 8k",
                                   "attention and gradients, 16k"};
  int row = 0;
  for (const std::int64_t length : {2048, 8192, 16384}) {
    const std::int64_t time = small ? length / 256 : length, batch = small ? 1 : 16384 / length,
                       heads = small ? 1 : 16;
    const Array<bfloat16> q = normal(17, {batch, time, heads, 64}).astype<bfloat16>();
    const double t = static_cast<double>(time), flops = 7. * static_cast<double>(batch * heads) * t * t * 64;
    measure({"attention", names[row++], 0, flops,
             [&] {
               grad<0, 1, 2>([](const auto& a, const auto& b, const auto& c) {
                 return sum(nn::dot_product_attention(a, b, c, {.is_causal = true}));
               })(q, q, q);
             }},
            once);
  }
}

// Adam of 2 elements' numbers, and copies between the host and the card.
void measure_steps(std::int64_t elements, bool once) {
  const double n = static_cast<double>(elements);
  {
    Array<float> p = normal(18, {2 * elements});
    const Array<float> g = p * .01f;
    const auto adam = optim::adam(1e-3);
    auto state = adam.init(p);
    measure({"steps", "Adam", 7 * 8 * n, 0,
             [&] { std::tie(p, state) = optim::step(adam, g, std::move(state), std::move(p)); }},
            once);
  }
  const Array<float> there = normal(19, {elements}), here = device_put(there, devices("cpu")[0]);
  measure({"steps", "upload", 4 * n, 0, [&] { device_put(here, devices("cuda")[0]); }}, once);
  measure({"steps", "download", 4 * n, 0, [&] { device_put(there, devices("cpu")[0]); }}, once);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t columns = 1024, elements = argc > 1 ? std::atoll(argv[1]) : std::int64_t{1} << 26,
                     rows = std::max<std::int64_t>(1, elements / columns);
  const double n = static_cast<double>(rows * columns), k = static_cast<double>(columns);
  // Of the products: 4096 for 2^26 elements.
  std::int64_t m = 8;
  while (4 * m * m <= elements / 4) m *= 2;
  const std::int64_t batch = std::max<std::int64_t>(1, m / 512), heads = 16,
                     time = std::max<std::int64_t>(8, m / 2);
  const double mm = static_cast<double>(m), tt = static_cast<double>(time), bb = static_cast<double>(batch);
  set_default_device(devices("cuda")[0]);
  const Array<float> x = normal(1, {rows, columns}), y = x + 1.f, row = normal(2, {columns}),
                     column = normal(3, {rows, 1}), scale = ones({columns});
  const Array<bfloat16> h = x.astype<bfloat16>(), h2 = y.astype<bfloat16>(), hs = scale.astype<bfloat16>(),
                        hrow = row.astype<bfloat16>();
  const Array<int> places = random::randint(random::key(4), {rows}, 0, static_cast<int>(rows));
  const Array<float> a = normal(6, {m, m}), b = normal(7, {m, m}),
                     many = normal(8, {batch * 8, m / 8, m / 8});
  const Array<bfloat16> ah = a.astype<bfloat16>(), bh = b.astype<bfloat16>();
  const Array<bfloat16> q = normal(9, {batch, time, heads, 64}).astype<bfloat16>();
  const std::int64_t side = std::max<std::int64_t>(8, m / 64);
  const Array<float> images = normal(10, {batch * 4, side, side, 64}), filter = normal(11, {3, 3, 64, 64});
  const Array<float> pictures = normal(20, {batch * 32, side, side, 64});  // more than a cache holds
  const double pixels = static_cast<double>(images.size()) / 64;
  const Array<float> small = normal(12, {32, 32});
  const auto chain = [](const Array<float>& v) {
    Array<float> w = v;
    for (int i = 0; i < 10; ++i) w = nn::softmax(matmul(w, v));
    return w;
  };
  const auto replayed = jit(chain);
  const Row list[] = {
      {"bandwidth", "add", 12 * n, 0, [&] { eval(x + y); }},
      {"bandwidth", "add bfloat16", 6 * n, 0, [&] { eval(h + h2); }},
      {"bandwidth", "add a row", 8 * n, 0, [&] { eval(x + row); }},
      {"bandwidth", "add a column", 8 * n, 0, [&] { eval(x + column); }},
      {"bandwidth", "tanh of x y + row", 12 * n, 0, [&] { eval(tanh(x * y + row)); }},
      {"bandwidth", "to bfloat16", 6 * n, 0, [&] { x.astype<bfloat16>(); }},
      {"bandwidth", "copy of the transpose", 8 * n, 0, [&] { copy(x.T()); }},
      {"bandwidth", "rows by index", 8 * n, 0, [&] { take(x, places, {.axis = 0}); }},
      {"bandwidth", "sum", 4 * n, 0, [&] { sum(x); }},
      {"bandwidth", "sum of rows", 4 * n, 0, [&] { sum(x, {.axis = 1}); }},
      {"bandwidth", "sum of columns", 4 * n, 0, [&] { sum(x, {.axis = 0}); }},
      {"bandwidth", "argmax", 4 * n, 0, [&] { argmax(x); }},
      {"bandwidth", "cumsum", 8 * n, 0, [&] { cumsum(x); }},
      {"bandwidth", "cumsum of columns", 8 * n, 0, [&] { cumsum(x, {.axis = 0}); }},
      {"bandwidth", "sort", 8 * n, 0, [&] { sort(x.reshape({-1})); }},
      {"bandwidth", "sort of rows", 8 * n, 0, [&] { sort(x, {.axis = 1}); }},
      {"bandwidth", "softmax of rows", 8 * n, 0, [&] { nn::softmax(x); }},
      {"bandwidth", "normal", 4 * n, 0,
       [&] {
         random::normal(random::key(5), {rows, columns});
       }},
      {"bandwidth", "gradient of a row", 4 * n + 8 * k, 0,
       [&] { grad([&](const Array<float>& b) { return sum(x * b); })(row); }},
      {"products", "matmul float", 12 * mm * mm, 2 * mm * mm * mm, [&] { matmul(a, b); }},
      {"products", "matmul float, transposed", 12 * mm * mm, 2 * mm * mm * mm, [&] { matmul(a.T(), b); }},
      {"products", "matmul bfloat16", 6 * mm * mm, 2 * mm * mm * mm, [&] { matmul(ah, bh); }},
      {"products", "many products", 12 * bb * 8 * mm * mm / 64, 2 * bb * 8 * mm * mm * mm / 512,
       [&] { matmul(many, many); }},
      {"attention", "attention bfloat16", 0, 4 * bb * 16 * tt * tt * 64,
       [&] { nn::dot_product_attention(q, q, q); }},
      {"attention", "causal attention bfloat16", 0, 2 * bb * 16 * tt * tt * 64,
       [&] { nn::dot_product_attention(q, q, q, {.is_causal = true}); }},
      {"norms", "layer norm", 8 * n, 0, [&] { nn::layer_norm(x, scale, row); }},
      {"norms", "gradient of layer norm", 12 * n, 0,
       [&] { grad([&](const Array<float>& v) { return sum(nn::layer_norm(v, scale, row) * y); })(x); }},
      {"norms", "softmax bfloat16", 4 * n, 0, [&] { nn::softmax(h); }},
      {"norms", "layer norm bfloat16", 4 * n, 0, [&] { nn::layer_norm(h, hs, hrow); }},
      {"norms", "gradient of layer norm bfloat16", 6 * n, 0,
       [&] { grad([&](const Array<bfloat16>& v) { return sum(nn::layer_norm(v, hs, hrow) * h2); })(h); }},
      {"norms", "log_softmax", 8 * n, 0, [&] { nn::log_softmax(x); }},
      {"conv", "conv 3x3 of 64", 0, 2 * pixels * 9 * 64 * 64,
       [&] { nn::conv(images, filter, {.padding = "SAME"}); }},
      {"conv", "max_pool 2x2", 5 * pixels * 64 * 8, 0,
       [&] {
         nn::max_pool(pictures, {2, 2}, {.strides = {2, 2}});
       }},
      {"scatter", "add rows at indices", 16 * n, 0, [&] { x.at(places).add(y); }},
      {"scatter", "segment_sum of rows", 8 * n, 0,
       [&] { lax::segment_sum(x, places, {.num_segments = rows}); }},
      {"jit", "ten layers of 32, replayed", 0, 0, [&] { replayed(small); }},
      {"jit", "ten layers of 32, called", 0, 0, [&] { chain(small); }},
      {"jit", "one addition of 32 x 32", 0, 0, [&] { eval(small + small); }},
  };
  const bool once = argc > 2;
  for (const Row& r : list) measure(r, once);
  measure_losses(elements, once);
  measure_attention(elements, once);
  measure_steps(elements, once);
}
