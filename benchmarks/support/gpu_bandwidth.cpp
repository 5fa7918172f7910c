// gpu_bandwidth [elements [once]]: seconds of each kind of kernel on the first GPU, a line of JSON each.
// `bytes` are those that a perfect kernel would move (each operand read once, the result written once),
// `flops` what it would add and multiply; 0 where that is no measure. gpu_day_torch.py has rows of the same
// names. With `once` each runs once and nothing is timed, for a profiler.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nax/nax.hpp>
#include <string>
#include <vector>

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
// Of rounds of at least 20 milliseconds each, the median.
double seconds_of(const Row& row) {
  const Device gpu = devices("cuda")[0];
  const auto wait = [&] {
    block_until_ready(device_put(zeros<float>({1}), gpu));
  };  // of this thread's stream
  const auto round = [&](int calls) {
    wait();
    const double begin = now();
    for (int i = 0; i < calls; ++i) row.run();
    wait();
    return (now() - begin) / calls;
  };
  round(3);  // a function of jit is recorded by its second call
  const int calls = std::clamp(static_cast<int>(.02 / round(1)), 2, 2000);
  std::vector<double> rounds;
  for (int i = 0; i < 5; ++i) rounds.push_back(round(calls));
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

Array<float> normal(std::int64_t key, const Shape& shape) { return random::normal(random::key(key), shape); }

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
  const Array<bfloat16> h = x.astype<bfloat16>();
  const Array<int> places = random::randint(random::key(4), {rows}, 0, static_cast<int>(rows));
  const Array<float> a = normal(6, {m, m}), b = normal(7, {m, m}),
                     many = normal(8, {batch * 8, m / 8, m / 8});
  const Array<bfloat16> ah = a.astype<bfloat16>(), bh = b.astype<bfloat16>();
  const Array<bfloat16> q = normal(9, {batch, time, heads, 64}).astype<bfloat16>();
  const std::int64_t side = std::max<std::int64_t>(8, m / 64);
  const Array<float> images = normal(10, {batch * 4, side, side, 64}), filter = normal(11, {3, 3, 64, 64});
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
      {"bandwidth", "add bfloat16", 6 * n, 0, [&] { eval(h + h); }},
      {"bandwidth", "add a row", 8 * n, 0, [&] { eval(x + row); }},
      {"bandwidth", "add a column", 8 * n, 0, [&] { eval(x + column); }},
      {"bandwidth", "tanh of x y + row", 12 * n, 0, [&] { eval(tanh(x * y + row)); }},
      {"bandwidth", "to bfloat16", 6 * n, 0, [&] { x.astype<bfloat16>(); }},
      {"bandwidth", "copy of the transpose", 8 * n, 0, [&] { eval(x.T() + 0.f); }},
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
      {"norms", "log_softmax", 8 * n, 0, [&] { nn::log_softmax(x); }},
      {"conv", "conv 3x3 of 64", 0, 2 * pixels * 9 * 64 * 64,
       [&] { nn::conv(images, filter, {.padding = "SAME"}); }},
      {"conv", "max_pool 2x2", 5 * pixels * 64, 0,
       [&] {
         nn::max_pool(images, {2, 2}, {.strides = {2, 2}});
       }},
      {"scatter", "add rows at indices", 16 * n, 0, [&] { x.at(places).add(y); }},
      {"scatter", "segment_sum of rows", 8 * n, 0,
       [&] { lax::segment_sum(x, places, {.num_segments = rows}); }},
      {"jit", "ten layers of 32, replayed", 0, 0, [&] { replayed(small); }},
      {"jit", "ten layers of 32, called", 0, 0, [&] { chain(small); }},
      {"jit", "one addition of 32 x 32", 0, 0, [&] { eval(small + small); }},
  };
  for (const Row& r : list) {
    if (argc > 2) {
      r.run();
      continue;
    }
    const double s = seconds_of(r);
    std::printf(
        "{\"group\": \"%s\", \"kernel\": \"%s\", \"bytes\": %.0f, \"flops\": %.0f, \"seconds\": %.9g}\n",
        r.group, r.name, r.bytes, r.flops, s);
    std::fflush(stdout);
  }
}
